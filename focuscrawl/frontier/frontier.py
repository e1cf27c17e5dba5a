"""The frontier without Scrapy: the best URL among the hosts that may be fetched now.

On disk a queued URL is a row of the crawl's file until the page it gave is stored in the same transaction that deletes
the row; handing a URL out writes nothing. In memory each host has a heap of its best entries, and one more heap holds
the best entry of each host that is free, so adding and taking cost a logarithm, whatever the number of scores.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import inf
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.store.store import Store

# What is known of a URL. KNOWN: seen, but not waiting (refused, or fallen off the end): it may come back.
KNOWN, QUEUED, COLD, IN_FLIGHT, CLAIMED, DONE = range(6)

#: So many entries are put back at a time, in a few tenths of a second; a trap may have filled the top of the queue.
PUT_BACK = 1_000
#: Waiting URLs that are read and scored anew together: all of a long crawl would fill the memory.
RESCORED = 10_000

#: What is added to the id of a host for its second queue, which is in memory only: there are fewer hosts than this.
SECOND = 1 << 30

#: When a host may be fetched: a time, 0 for now, inf for not before it is released.
FreeAt = Callable[[str], float]
#: What the score of a URL that has come to the top is multiplied by: 1 leaves it there, 0 takes it out of the queue.
Damper = Callable[[str], float]
#: How a second sighting changes the score of a queued URL: (old, new) -> score.
Merge = Callable[[float, float], float]


class Candidate(NamedTuple):
    """A URL offered to the frontier."""

    url_id: int
    url: str
    score: float
    depth: int
    via: int | None = None
    request: str | None = None


class Entry(NamedTuple):
    """A URL taken from the frontier."""

    url_id: int
    url: str
    score: float
    rank: float
    depth: int
    via: int | None
    request: str | None
    damping: float = 1.0


_ENTRY = ", ".join(Entry._fields)
_RESCORE = "UPDATE frontier SET score = ?, rank = ?, cold = ?, damping = ? WHERE url_id = ?"


class _Host:
    __slots__ = ("cold", "floor", "heap", "in_flight", "known", "name", "pages", "place", "shown")

    def __init__(self, name: str, pages: int = 0) -> None:
        self.name = name
        self.pages = pages
        self.in_flight = 0
        #: Whether it answered the last time it was asked; a stranger has yet to.
        self.known = pages > 0
        #: (-rank, url id) of the entries in memory, and how many more are on disk only, none better than `floor`.
        self.heap: list[tuple[float, int]] = []
        self.cold = 0
        self.floor: tuple[float, int] = (inf, 0)
        #: Where the host stands: "" without entries, or in the heap or set of that name.
        self.place = ""
        #: The one entry in the heap of free hosts that counts.
        self.shown: tuple[float, int] | None = None


class Frontier:
    """Keeps the waiting URLs in best-first order, host by host.

    *size* bounds the number of waiting URLs, the worst fall off. *ageing* is subtracted per page fetched before a URL
    was entered, which lets old entries rise. Each run of *hosts_per_batch* URLs comes from that many hosts, as far as
    there are so many. *pages_per_host* closes a host. With a *batch* above 1 the best so many are taken before what was
    found meanwhile is looked at. What ranks below the *floor* is held until something raises it. *hot* entries a host
    stay in memory, the rest on disk.
    """

    def __init__(
        self,
        store: Store,
        *,
        size: int = 0,
        ageing: float = 0.0,
        hosts_per_batch: int = 0,
        pages_per_host: int = 0,
        batch: int = 1,
        floor: float = -inf,
        hot: int = 10_000,
        any_scheme: bool = True,
        merge: Merge = max,
    ) -> None:
        self.store = store
        self.size = size
        self.ageing = ageing
        self.hosts_per_batch = hosts_per_batch
        self.pages_per_host = pages_per_host
        self.batch = batch
        self.floor = floor
        self.hot = hot
        self.any_scheme = any_scheme
        self.merge = merge
        #: Called with an entry that has come to the top; its answer is the entry's score now.
        self.rescorer: Callable[[Entry], float] | None = None
        #: Called with a URL that has come to the top; its answer says how far to put it back.
        self.damper: Damper | None = None
        #: URLs that fell off the end, and those refused because their host was full, or by the damper.
        self.dropped = 0
        self.host_full = 0
        self.damped_out = 0
        self.queued = 0
        self._ids: dict[int, int] = {}
        self._state = bytearray(1)  # by URL id; ids begin at 1
        self._rank = array("d", [0.0])
        self._host_of = array("I", [0])
        self._hosts: dict[int, _Host] = {}  # by host id
        self._last_host = 0
        self._host_ids: dict[str, int] = {}
        #: (-rank, url id, host id) of the best entry of each free host: of strangers, and of those that are known.
        self._ready: tuple[list[tuple[float, int, int]], list[tuple[float, int, int]]] = ([], [])
        #: Most requests under way to strangers once somebody is known.
        self.most_strangers = inf
        self._flying = self._strangers = 0
        self._any_known = False
        self._waiting: list[tuple[float, int]] = []  # (time, host id)
        self._worst: list[tuple[float, int]] = []  # (rank, -url id), only with a size
        self._overfull: set[int] = set()  # hosts with more entries in memory than they should have
        self._benched: list[int] = []  # hosts that had their turn in this run
        self._used: set[int] = set()
        #: URLs on their way again, which wait for another host than their row says: they stay in memory.
        self._moved: set[int] = set()
        #: The second queues of hosts, in which those wait.
        self._second: dict[int, int] = {}
        #: URLs whose rank is lower than their score and age make it.
        self._damped: set[int] = set()
        #: URLs that may be fetched although there is a floor, and perhaps some that were, or have fallen below it.
        self._open: set[int] = set()
        #: URLs that gave no answer in an earlier run: they are tried again when nothing else is left.
        self._tried: set[int] = set()
        self._pending: list[int] = []
        self._batch_left = batch
        self._put_back = 0
        self._pages = 0
        self._load()

    def _load(self) -> None:
        store = self.store
        # ids may have gaps: what was numbered in a transaction that failed is not there
        for host_id, name, pages in store.execute("SELECT id, name, pages FROM host"):
            self._hosts[host_id] = _Host(name, pages)
            self._last_host = max(self._last_host, host_id)
            self._host_ids[name] = host_id
            self._any_known = self._any_known or pages > 0
        count = store.execute("SELECT ifnull(max(id), 0) FROM url").fetchone()[0]
        self._state.extend(bytes(count))
        self._rank.extend(array("d", bytes(8 * count)))
        self._host_of.extend(array("I", bytes(self._host_of.itemsize * count)))
        for url_id, key, host_id, done in store.execute("SELECT id, key, host, done FROM url"):
            self._ids[key] = url_id
            self._state[url_id] = DONE if done else KNOWN
            self._host_of[url_id] = host_id
        self._pages = store.pages.count()
        self._tried = store.tried_before()
        query = "SELECT url_id, host, rank, cold, damping FROM frontier"
        for url_id, host_id, rank, cold, damping in store.execute(query):
            self._rank[url_id] = rank
            if damping < 1:
                self._damped.add(url_id)
            if rank >= self.floor > -inf:
                self._open.add(url_id)
            self.queued += 1
            host = self._hosts[host_id]
            if url_id in self._tried:
                self._state[url_id] = QUEUED
                continue
            if cold:
                self._state[url_id] = COLD
                host.cold += 1
                host.floor = min(host.floor, (-rank, url_id))
            else:
                self._state[url_id] = QUEUED
                host.heap.append((-rank, url_id))
            if self.size:
                self._worst.append((rank, -url_id))
        heapify(self._worst)
        for host_id, host in self._hosts.items():
            heapify(host.heap)
            self._put_ready(host_id)
        self._resume_run()

    def __len__(self) -> int:
        return self.queued

    @property
    def damped(self) -> int:
        """How many waiting URLs are damped."""
        return len(self._damped)

    def has_open(self) -> bool:
        """Whether anything waits that is not held."""
        if self.floor == -inf:
            return self.queued > 0
        while self._open:
            url_id = next(iter(self._open))
            if self._state[url_id] in (QUEUED, COLD) and self._rank[url_id] >= self.floor:
                return True
            self._open.discard(url_id)
        return False

    # ---- what is known

    def identify(self, found: Sequence[str], keys: Sequence[int] | None = None) -> list[int]:
        """The ids of URLs; those never seen are entered. Call inside a transaction."""
        new: list[tuple[int, int, str, int]] = []
        result: list[int] = []
        ids = self._ids
        for index, url in enumerate(found):
            key = keys[index] if keys is not None else urls.key(url, any_scheme=self.any_scheme)
            url_id = ids.get(key)
            if url_id is None:
                url_id = ids[key] = len(self._state)
                host_id = self.host_id(urls.host(url))
                self._state.append(KNOWN)
                self._rank.append(0.0)
                self._host_of.append(host_id)
                new.append((url_id, key, url, host_id))
            result.append(url_id)
        if new:
            self.store.add_urls(new)
        return result

    def host_id(self, name: str) -> int:
        """The id of a host; a new one is entered."""
        host_id = self._host_ids.get(name)
        if host_id is None:
            self._last_host += 1
            host_id = self._host_ids[name] = self._last_host
            self._hosts[host_id] = _Host(name)
            self.store.execute("INSERT INTO host (id, name) VALUES (?, ?)", (host_id, name))
        return host_id

    def state(self, url_id: int) -> int:
        """KNOWN, QUEUED, COLD, IN_FLIGHT or DONE."""
        return self._state[url_id]

    def find(self, url: str) -> int | None:
        """The id of a URL, None if it was never seen."""
        return self._ids.get(urls.key(url, any_scheme=self.any_scheme))

    def waiting_on(self, page_id: int) -> list[Candidate]:
        """The links of a stored page that were neither refused nor fetched, as they may be offered again."""
        return [Candidate(*row) for row in list(self.store.links.of_page(page_id)) if self._state[row[0]] < IN_FLIGHT]

    # ---- adding

    def offer(self, candidates: Iterable[Candidate]) -> None:
        """Queue URLs, or raise the scores of those that wait already. Call inside a transaction."""
        state, ranks = self._state, self._rank
        aged = self.ageing * self._pages
        new: dict[int, tuple[object, ...]] = {}
        changed: list[tuple[object, ...]] = []
        scores: dict[int, tuple[float, float]] = {}  # of what was changed, which the file does not know yet
        for url_id, url, score, depth, via, request in candidates:
            known = state[url_id]
            if known >= IN_FLIGHT or url_id in self._tried:
                continue
            if known == KNOWN:
                host_id = self._host_of[url_id]
                if self.pages_per_host and self._hosts[host_id].pages >= self.pages_per_host:
                    self.host_full += 1
                    continue
                rank = score - aged
                cold = self._push(url_id, rank)
                new[url_id] = (url_id, url, host_id, score, rank, depth, via, cold, request)
                self.queued += 1
                continue
            old, damping = scores.get(url_id) or self._score(url_id, new)
            merged = self.merge(old, score)
            if merged == old:
                continue
            rank = ranks[url_id] + (merged - old) * damping  # its age stays
            cold = self._move(url_id, rank)
            changed.append((merged, rank, cold, depth, via, url_id))
            scores[url_id] = merged, damping
        if new:
            self.store.executemany("INSERT INTO frontier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)", new.values())
        if changed:
            self.store.executemany(
                "UPDATE frontier SET score = ?, rank = ?, cold = ?, depth = min(depth, ?), via = ? WHERE url_id = ?",
                changed,
            )
        while self._overfull:  # only now are all rows on disk that the spill marks
            self._spill(self._hosts[self._overfull.pop()])
        if self.size:
            self._drop_worst()

    def raise_to(self, scores: Mapping[int, float], why: Mapping[str, float]) -> list[int]:
        """Raise URLs that wait, and say why in the links that they wait by; returns which are there to be raised.

        Call inside a transaction.
        """
        waiting = [url_id for url_id in scores if self._state[url_id] in (QUEUED, COLD)]
        rows = [
            self.store.execute("SELECT url, depth, via FROM frontier WHERE url_id = ?", (url_id,)).fetchone()
            for url_id in waiting
        ]
        self.offer(
            Candidate(url_id, url, scores[url_id], depth, via)
            for url_id, (url, depth, via) in zip(waiting, rows, strict=True)
        )
        reason = json.dumps(why)
        self.store.executemany(
            "UPDATE link SET score = ?, why = ? WHERE id = ?",
            [(scores[url_id], reason, row[2]) for url_id, row in zip(waiting, rows, strict=True)],
        )
        return waiting

    def _score(self, url_id: int, new: dict[int, tuple[object, ...]]) -> tuple[float, float]:
        """The score of a waiting URL, and how far it is damped."""
        if not self.ageing and url_id not in self._damped:
            return self._rank[url_id], 1.0
        if url_id in new:
            return float(new[url_id][3]), 1.0  # type: ignore[arg-type]
        row = self.store.execute("SELECT score, damping FROM frontier WHERE url_id = ?", (url_id,)).fetchone()
        return float(row[0]), float(row[1])

    def _push(self, url_id: int, rank: float, *, at_once: bool = False) -> bool:
        """Enter a URL with its rank in memory, at once or with the next batch; True if it belongs on disk only."""
        self._rank[url_id] = rank
        if rank >= self.floor > -inf:
            self._open.add(url_id)
        host_id = self._host_of[url_id]
        host = self._hosts[host_id]
        if self.size:
            heappush(self._worst, (rank, -url_id))
        if host.cold and (-rank, url_id) > host.floor and url_id not in self._moved:
            self._state[url_id] = COLD
            host.cold += 1
            return True
        self._state[url_id] = QUEUED
        if self.batch > 1 and not at_once:
            self._pending.append(url_id)
        else:
            self._enter(url_id, rank, host_id, host)
        return False

    def _enter(self, url_id: int, rank: float, host_id: int, host: _Host) -> None:
        entry = (-rank, url_id)
        heappush(host.heap, entry)
        if host.place == "":
            self._put_ready(host_id)
        elif host.place == "ready" and host.heap[0] == entry:
            host.shown = entry
            heappush(self._ready[host.known], (*entry, host_id))
        if len(host.heap) > 2 * self.hot:
            self._overfull.add(host_id)

    def _move(self, url_id: int, rank: float, *, at_once: bool = False) -> bool:
        """Give a waiting URL another rank; its old entries in the heaps are passed over when they come up."""
        self._thaw(url_id)
        return self._push(url_id, rank, at_once=at_once)

    def _thaw(self, url_id: int) -> None:
        """A URL that may be on disk only is about to become something else."""
        if self._state[url_id] == COLD:
            self._hosts[self._host_of[url_id]].cold -= 1

    def _spill(self, host: _Host) -> None:
        """Leave all but the best entries of a host to the disk."""
        entries = sorted({entry for entry in host.heap if self._holds(*entry)})
        rest = [entry for entry in entries[self.hot :] if entry[1] not in self._moved]
        host.heap = sorted(set(entries).difference(rest))
        for _, url_id in rest:
            self._state[url_id] = COLD
        if rest:
            host.cold += len(rest)
            host.floor = min(host.floor, rest[0])
            self.store.executemany("UPDATE frontier SET cold = 1 WHERE url_id = ?", [(url_id,) for _, url_id in rest])

    def _refill(self, host_id: int, host: _Host) -> None:
        """Bring the best entries of a host back from the disk."""
        rows = self.store.execute(
            "SELECT url_id, rank FROM frontier WHERE cold AND host = ? ORDER BY rank DESC, url_id LIMIT ?",
            (host_id, self.hot + 1),
        ).fetchall()
        for url_id, rank in rows[: self.hot]:
            if self._state[url_id] == COLD:
                self._state[url_id] = QUEUED
                host.cold -= 1
                heappush(host.heap, (-rank, url_id))
        if len(rows) > self.hot:
            host.floor = (-rows[-1][1], rows[-1][0])
        else:
            host.floor, host.cold = (inf, 0), 0
        with self.store.batch():
            self.store.executemany(
                "UPDATE frontier SET cold = 0 WHERE url_id = ?", [row[:1] for row in rows[: self.hot]]
            )

    def _drop_worst(self) -> None:
        """Keep to the size."""
        gone: list[tuple[int]] = []
        while self._worst and self.queued > self.size:
            rank, negative = heappop(self._worst)
            url_id = -negative
            waits = self._state[url_id] in (QUEUED, COLD) and self._rank[url_id] == rank
            if not waits or url_id in self._moved:  # what is half way to its page is not given up
                continue
            self._thaw(url_id)
            self._state[url_id] = KNOWN
            self._damped.discard(url_id)
            self.queued -= 1
            self.dropped += 1
            gone.append((url_id,))
        self.store.executemany("DELETE FROM frontier WHERE url_id = ?", gone)
        if len(self._worst) > 2 * self.queued + 1000:  # what was fetched is still in here
            self._worst = [
                (rank, negative)
                for rank, negative in self._worst
                if self._state[-negative] in (QUEUED, COLD) and self._rank[-negative] == rank
            ]
            heapify(self._worst)

    # ---- taking

    def _holds(self, negative_rank: float, url_id: int) -> bool:
        return self._state[url_id] == QUEUED and self._rank[url_id] == -negative_rank

    def _head(self, host_id: int) -> tuple[float, int] | None:
        """The best entry of a host that still holds."""
        host = self._hosts[host_id]
        while True:
            heap = host.heap
            while heap and not self._holds(*heap[0]):
                heappop(heap)
            if not host.cold or (heap and heap[0] < host.floor):
                return heap[0] if heap else None
            self._refill(host_id, host)

    def _put_ready(self, host_id: int) -> None:
        host = self._hosts[host_id]
        head = self._head(host_id)
        host.place = "ready" if head else ""
        host.shown = head
        if head:
            heappush(self._ready[host.known], (*head, host_id))

    def release(self, host_name: str) -> None:
        """A host that was busy may be fetched again."""
        for host_id in self._queues_of(host_name):
            self._unbusy(host_id)

    def _queues_of(self, host_name: str) -> Iterator[int]:
        host_id = self._host_ids.get(host_name)
        if host_id is not None:
            yield host_id
            if host_id in self._second:
                yield self._second[host_id]

    def _unbusy(self, host_id: int) -> None:
        if self._hosts[host_id].place == "busy":
            self._put_ready(host_id)

    def host_answered(self, host_name: str) -> None:
        """A host has answered."""
        self._any_known = True
        self._make_known(host_name, True)

    def host_silent(self, host_name: str) -> None:
        """A host has not answered."""
        self._make_known(host_name, False)

    def _make_known(self, host_name: str, known: bool) -> None:
        for host_id in self._queues_of(host_name):
            host = self._hosts[host_id]
            if host.known != known:
                host.known = known
                self._strangers += -host.in_flight if known else host.in_flight
                if host.place == "ready":  # its entry among those it was one of is passed over from now on
                    self._put_ready(host_id)

    def next_time(self) -> float:
        """When it is worth to ask again: when the next host becomes free by itself; inf if none does."""
        if self._put_back >= PUT_BACK:
            return 0.0
        return self._waiting[0][0] if self._waiting else inf

    def _best(self, now: float, free_at: FreeAt) -> tuple[float, int, int] | None:
        """The best entry whose host is free; hosts that are not are set aside until they are.

        Strangers have a share of the requests under way and no more: many hosts that do not answer must not keep the
        others waiting.
        """
        while self._waiting and self._waiting[0][0] <= now:
            self._put_ready(heappop(self._waiting)[1])
        best = self._best_of(now, free_at, known=True)
        if self._any_known and self._strangers >= self.most_strangers:
            return best
        stranger = self._best_of(now, free_at, known=False)
        return min(best, stranger) if best is not None and stranger is not None else best or stranger

    def _best_of(self, now: float, free_at: FreeAt, *, known: bool) -> tuple[float, int, int] | None:
        ready = self._ready[known]
        while ready:
            negative_rank, url_id, host_id = ready[0]
            host = self._hosts[host_id]
            if host.place != "ready" or host.shown != (negative_rank, url_id) or host.known != known:
                heappop(ready)
                continue
            if self._head(host_id) != host.shown:
                heappop(ready)
                self._put_ready(host_id)
                continue
            if host_id in self._used:
                heappop(ready)
                host.place = "benched"
                self._benched.append(host_id)
                continue
            if self.pages_per_host and host.pages + host.in_flight >= self.pages_per_host:
                heappop(ready)
                if host.pages >= self.pages_per_host:
                    self._close_host(host_id)
                else:
                    host.place = "busy"
                continue
            time = free_at(host.name)
            if time <= now:
                return ready[0]
            heappop(ready)
            if time == inf:
                host.place = "busy"
            else:
                host.place = "waiting"
                heappush(self._waiting, (time, host_id))
        return None

    def _close_host(self, host_id: int) -> None:
        """Forget what waits for a host that has given all the pages it may."""
        host = self._hosts[host_id]
        rows = self.store.execute("SELECT url_id FROM frontier WHERE cold AND host = ?", (host_id,)).fetchall()
        gone = [row for row in rows if self._state[row[0]] == COLD]
        gone += {(url_id,) for negative_rank, url_id in host.heap if self._holds(negative_rank, url_id)}
        for (url_id,) in gone:
            self._state[url_id] = KNOWN
            self._damped.discard(url_id)
        with self.store.batch():
            self.store.executemany("DELETE FROM frontier WHERE url_id = ?", gone)
        self.queued -= len(gone)
        self.host_full += len(gone)
        host.heap, host.cold, host.place = [], 0, ""

    def best_rank(self, now: float, free_at: FreeAt) -> float:
        """The rank of the best URL that may be fetched now; -inf if there is none."""
        best = self._best(now, free_at)
        return -best[0] if best else -inf

    def _next_batch(self) -> None:
        pending, self._pending = self._pending, []
        self._batch_left = self.batch
        for url_id in pending:
            if self._state[url_id] == QUEUED:
                host_id = self._host_of[url_id]
                self._enter(url_id, self._rank[url_id], host_id, self._hosts[host_id])

    def _try_again(self) -> None:
        """Enter what gave no answer in an earlier run."""
        tried, self._tried = self._tried, set()
        for url_id in sorted(tried):
            if self._state[url_id] == QUEUED:
                host_id = self._host_of[url_id]
                self._enter(url_id, self._rank[url_id], host_id, self._hosts[host_id])
        with self.store.batch():
            while self._overfull:
                self._spill(self._hosts[self._overfull.pop()])

    def _next_run(self) -> None:
        """Begin a new run over the hosts."""
        self._used.clear()
        benched, self._benched = self._benched, []
        for host_id in benched:
            self._put_ready(host_id)

    def pop(self, now: float, free_at: FreeAt) -> Entry | None:
        """Take the best URL among the hosts that are free, None if there is none at the moment.

        Nor is there one while so many have to be put back that the crawl would stand still: ask again at `next_time`.
        """
        self._put_back = 0
        while self._put_back < PUT_BACK:
            if self.batch > 1 and self._batch_left <= 0:
                self._next_batch()
            best = self._best(now, free_at)
            if best is None or -best[0] < self.floor:
                if self._pending:  # the batch has nothing that can be fetched now
                    self._next_batch()
                    continue
                if self._benched:  # the run has no other host that can be fetched now
                    self._next_run()
                    continue
                if self._tried and not self._waiting and not self._flying:
                    self._try_again()
                    continue
                return None
            negative_rank, url_id, host_id = best
            row = self.store.execute(f"SELECT {_ENTRY} FROM frontier WHERE url_id = ?", (url_id,)).fetchone()
            if row is None:  # somebody took it out of the file
                self._state[url_id] = KNOWN
                self._damped.discard(url_id)
                self.queued -= 1
                continue
            entry = Entry(*row)
            if self.rescorer is not None:
                score = self.rescorer(entry)
                if score != entry.score:
                    entry = self._rescored(entry, score)
                ready = self._ready[self._hosts[host_id].known]
                if entry.rank < -negative_rank or not ready or ready[0][1] != url_id:
                    self._put_back += 1
                    continue  # it fell, or others rose meanwhile: see what is on top now
            # what is half way to its page is neither put back nor given up
            damping = self.damper(entry.url) if self.damper is not None and url_id not in self._moved else entry.damping
            if damping != entry.damping:
                if not damping:
                    self._forget(url_id)
                    self.damped_out += 1
                    self._put_back += 1
                    continue
                entry = self._rescored(entry._replace(damping=damping), entry.score, entry.damping)
                if entry.rank < -negative_rank:
                    self._put_back += 1
                    continue
            host = self._hosts[host_id]
            self._state[url_id] = IN_FLIGHT
            self.queued -= 1
            self._flying += 1
            host.in_flight += 1
            self._strangers += not host.known
            heappop(self._ready[host.known])
            self._put_ready(host_id)
            self._batch_left -= 1
            if self.hosts_per_batch and url_id not in self._moved:
                self._used.add(host_id)
                if len(self._used) >= self.hosts_per_batch:
                    self._next_run()
            return entry
        return None  # there may be one among the rest

    def _rescored(self, entry: Entry, score: float, damped_before: float | None = None) -> Entry:
        """Give an entry another score, or another damping; its age stays."""
        entry, cold = self._moved_to(entry, score, damped_before)
        self.store.execute(_RESCORE, (score, entry.rank, cold, entry.damping, entry.url_id))
        return entry

    def _moved_to(self, entry: Entry, score: float, damped_before: float | None = None) -> tuple[Entry, bool]:
        """The same in memory; says also whether the entry belongs on disk only."""
        before = entry.score * (entry.damping if damped_before is None else damped_before)
        rank = entry.rank + score * entry.damping - before
        if entry.damping < 1:
            self._damped.add(entry.url_id)
        else:
            self._damped.discard(entry.url_id)
        cold = self._move(entry.url_id, rank, at_once=True)
        return entry._replace(score=score, rank=rank), cold

    def _forget(self, url_id: int) -> None:
        """Take a waiting URL out of the queue; it may come back when it is seen again."""
        self._state[url_id] = KNOWN
        self._damped.discard(url_id)
        self.queued -= 1
        self.store.execute("DELETE FROM frontier WHERE url_id = ?", (url_id,))

    def rescore(self, scorer: Callable[[Entry], float]) -> int:
        """Score everything that waits anew; returns how many changed."""
        count = after = 0
        query = f"SELECT {_ENTRY} FROM frontier WHERE url_id > ? ORDER BY url_id LIMIT {RESCORED}"
        with self.store.transaction():
            while rows := self.store.execute(query, (after,)).fetchall():
                after = rows[-1][0]
                changed: list[tuple[object, ...]] = []
                for row in rows:
                    entry = Entry(*row)
                    if self._state[entry.url_id] not in (QUEUED, COLD) or entry.url_id in self._tried:
                        continue
                    score = scorer(entry)
                    if score != entry.score:
                        entry, cold = self._moved_to(entry, score)
                        changed.append((score, entry.rank, cold, entry.damping, entry.url_id))
                self.store.executemany(_RESCORE, changed)
                count += len(changed)
        self._sweep()
        return count

    def _sweep(self) -> None:
        """Take out of the heaps what would be passed over when it came up: each new rank has left an old one behind."""
        hosts = self._hosts
        for host in hosts.values():
            live = {entry for entry in host.heap if self._holds(*entry)}
            if len(live) < len(host.heap):
                host.heap = list(live)
                heapify(host.heap)
        for known, ready in enumerate(self._ready):
            ready[:] = [
                entry
                for entry in set(ready)
                if (host := hosts[entry[2]]).place == "ready" and host.known == known and host.shown == entry[:2]
            ]
            heapify(ready)

    # ---- what was taken

    def again(self, url_id: int, host_name: str) -> None:
        """Queue a URL in flight once more, at its old rank, to be asked of *host_name* (a retry, a redirect)."""
        self._leave(url_id)
        self._host_of[url_id] = self._second_queue(self.host_id(host_name))
        self._moved.add(url_id)
        self.queued += 1
        self._state[url_id] = QUEUED
        if self._rank[url_id] >= self.floor > -inf:
            self._open.add(url_id)
        host_id = self._host_of[url_id]
        self._enter(url_id, self._rank[url_id], host_id, self._hosts[host_id])

    def _second_queue(self, host_id: int) -> int:
        """The id of a host's second queue, of what is half way to its page: it is part of the turn that began it."""
        second = self._second.get(host_id)
        if second is None:
            second = self._second[host_id] = host_id + SECOND
            host = self._hosts[host_id]
            self._hosts[second] = _Host(host.name)
            self._hosts[second].known = host.known
        return second

    def claim(self, url_id: int) -> bool:
        """Take a URL that a redirect led to out of the queue; False if it was fetched already or is being fetched."""
        state = self._state[url_id]
        if state >= IN_FLIGHT:
            return False
        if state in (QUEUED, COLD):
            self.queued -= 1
            self._thaw(url_id)
        self._state[url_id] = CLAIMED
        return True

    def _leave(self, url_id: int) -> None:
        host_id = self._host_of[url_id]
        host = self._hosts[host_id]
        host.in_flight -= 1
        self._flying -= 1
        self._strangers -= not host.known
        self._unbusy(host_id)

    def finish(self, url_ids: Sequence[int], *, page_host: str | None = None, for_good: bool = True) -> None:
        """URLs are dealt with; *page_host* gave a page. Call inside the transaction that stores the outcome.

        If not *for_good* they stay in the file, to be tried again when the crawl is resumed, after what was not tried.
        """
        for url_id in url_ids:
            if self._state[url_id] == IN_FLIGHT:
                self._leave(url_id)
            elif self._state[url_id] in (QUEUED, COLD):  # stored without having been asked for
                self.queued -= 1
                self._thaw(url_id)
            self._state[url_id] = DONE
            self._moved.discard(url_id)
            self._damped.discard(url_id)
        if for_good:
            self.store.mark_done(url_ids)
        self._keep_run()
        if page_host is not None:
            host_id = self.host_id(page_host)
            self._hosts[host_id].pages += 1
            self._pages += 1
            self.store.execute("UPDATE host SET pages = pages + 1 WHERE id = ?", (host_id,))

    # ---- runs over the hosts

    def _keep_run(self) -> None:
        """Keep which hosts had their turn in this run; what is under way will be asked for again after a crash."""
        if self.hosts_per_batch:
            used = [host_id for host_id in self._used if not self._hosts[host_id].in_flight]
            self.store.set_meta("run", sorted(used))

    def _resume_run(self) -> None:
        if self.hosts_per_batch:
            self._used.update(host_id for host_id in self.store.meta("run") or [] if host_id in self._hosts)
