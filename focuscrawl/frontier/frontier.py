"""The frontier without Scrapy: hands out the best URL among the hosts that may be fetched now.

On disk a queued URL is a row of the crawl's file until its page is stored, in the same transaction that deletes the
row; handing a URL out writes nothing. In memory, `waiting.py` keeps the URLs by host, and `turns.py` knows which hosts
are ready. This module decides what enters, what comes out, and when a score changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf

from focuscrawl import urls
from focuscrawl.frontier.candidate import Candidate as Candidate
from focuscrawl.frontier.candidate import Damper, Merge, Offer
from focuscrawl.frontier.patience import Patience
from focuscrawl.frontier.seen import Keys, Seen
from focuscrawl.frontier.turns import Best, FreeAt, Turns
from focuscrawl.frontier.waiting import CLAIMED, DONE, IN_FLIGHT, KNOWN, QUEUED, Waiting
from focuscrawl.frontier.workers import NoWorkers
from focuscrawl.store.queue import Entry, NewRow
from focuscrawl.store.store import Store

#: Most entries put back per call of `pop`, which takes a few tenths of a second: a trap may fill the top of the queue.
PUT_BACK = 1_000
#: Waiting URLs that are read and re-scored together: all of a long crawl would fill the memory.
RESCORED = 10_000
#: The rank of the least worthwhile visit. No score of a strategy comes near it; whole numbers above it are exact.
VISIT = 2e15


class Frontier(NoWorkers):
    """Keeps the waiting URLs in best-first order, by host.

    *size* limits the number of waiting URLs; the worst are dropped. *ageing* is subtracted for each page fetched before
    a URL was queued, which lets old entries rise. *hosts_per_batch* spreads N consecutive URLs over N hosts, if there
    are enough. A host is closed after *pages_per_host* pages. With a *batch* above 1, the best *batch* URLs are taken
    before new ones are considered. URLs that rank below the *floor* are held until their rank rises. *hot* entries per
    host stay in memory, the rest on disk. Links are held back while *patience* says so.
    """

    waiting_class: type[Waiting] = Waiting

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
        patience: Patience | None = None,
    ) -> None:
        self.store = store
        self.ageing = ageing
        self.pages_per_host = pages_per_host
        self.batch = batch
        self.floor = floor
        self.any_scheme = any_scheme
        self.merge = merge
        #: Called with an entry that has reached the top; returns its current score.
        self.rescorer: Callable[[Entry], float] | None = None
        #: Called with a URL that has reached the top; returns its damping.
        self.damper: Damper | None = None
        #: URLs dropped because the queue was full, because their host was full, and by the damper.
        self.dropped = self.host_full = self.damped_out = 0
        #: URLs taken, and the sum of how much higher the best link ranked that waited for its host.
        self.taken = 0
        self.given_up = 0.0
        self.turns = Turns(hosts_per_batch, pages_per_host, self._close_host)
        self.waiting = self.waiting_class(store, hot=hot, size=size, floor=floor, surfaced=self.turns.surfaced)
        self.turns.waiting = self.waiting
        self.patience = patience or Patience()
        self.patience.waiting = self.waiting
        self.turns.horizon = self.patience.longest_wait
        self._seen, self._keys = Seen(), Keys(any_scheme=any_scheme)
        #: URLs whose rank is lowered by damping.
        self._damped: set[int] = set()
        #: URLs that got no answer in an earlier run: they are retried when nothing else is left.
        self._tried: set[int] = set()
        self._pending: list[int] = []  # for the next batch
        self._batch_left = batch
        self._put_back = 0
        #: When the host is ready that a better link is waited for.
        self._ready_at = inf
        self._pages = 0
        self._load()

    def _load(self) -> None:
        store, waiting = self.store, self.waiting
        self._seen.load(waiting.load())
        self._pages = store.pages.count()
        self._tried = store.queue.tried()
        self._damped.update(store.queue.damped())
        waiting.load_queue(self._tried)
        for host_id, host in waiting.hosts.items():
            self.turns.any_known = self.turns.any_known or host.known
            self.turns.put_ready(host_id)
        if self.turns.hosts_per_run:
            self.turns.used.update(host_id for host_id in store.meta("run") or [] if host_id in waiting.hosts)

    def __len__(self) -> int:
        return self.waiting.queued

    def figures(self) -> dict[str, float]:
        """The figures of the queue, by the names of their stats."""
        return {
            "score_given_up": self.given_up / max(1, self.taken),
            "held": self.patience.held,
            "held_seconds": round(self.patience.seconds, 1),
            "queued": len(self),
            "dropped": self.dropped,
            "host_full": self.host_full,
            "pattern_full": self.damped_out,
            "damped": len(self._damped),
        }

    @property
    def visits(self) -> int:
        """How many visits are waiting or in flight."""
        return len(self.waiting.visits)

    def has_open(self) -> bool:
        """Whether any URL waits that is not held."""
        return self.waiting.has_open()

    # ---- known URLs

    def identify(self, found: Sequence[str], keys: Sequence[int] | None = None) -> list[int]:
        """The ids of URLs; new ones are added. Call inside a transaction."""
        if keys is None:
            keys = self._keys.of(found)
        result: list[int] = []
        new: dict[int, int] = {}
        rows: list[tuple[int, int, str, int]] = []
        for url, key, url_id in zip(found, keys, self._seen.get_all(keys), strict=True):
            if url_id is None and (url_id := new.get(key)) is None:
                host_id = self.waiting.host_id(urls.host(url))
                url_id = new[key] = self.waiting.add_url(host_id)
                rows.append((url_id, key, url, host_id))
            result.append(url_id)
        if rows:
            self._seen.add(new)
            self.store.urls.add(rows)
        return result

    def find(self, url: str) -> int | None:
        """The id of a URL, None if it was never seen."""
        return self._seen.get(*self._keys.of([url]))

    def waits(self, url_id: int) -> bool:
        """Whether a URL waits to be fetched for the first time."""
        return self.waiting.waits(url_id) and url_id not in self.waiting.visits

    def is_taken(self, url_id: int) -> bool:
        """Whether a URL was fetched or is in flight."""
        return self.waiting.state[url_id] >= IN_FLIGHT or url_id in self.waiting.visits

    def is_visit(self, url_id: int) -> bool:
        """Whether a URL is that of a stored page waiting to be visited again."""
        return url_id in self.waiting.visits

    def waiting_on(self, page_id: int) -> list[Candidate]:
        """The links of a stored page that were neither refused nor fetched, as candidates."""
        return [Candidate(*link) for link in list(self.store.links.of_page(page_id)) if not self.is_taken(link.url_id)]

    # ---- adding

    def offer(self, candidates: Iterable[Offer]) -> None:
        """Queue URLs, or raise the scores of those already waiting. Call inside a transaction."""
        state, ranks, aged = self.waiting.state, self.waiting.rank, self.ageing * self._pages
        new: dict[int, NewRow] = {}
        changed: list[tuple[float, float, bool, int, int | None, int]] = []
        scores: dict[int, tuple[float, float]] = {}  # of changed URLs, whose rows are not written yet
        for url_id, url, score, depth, via, request in candidates:
            known = state[url_id]
            if known >= IN_FLIGHT or url_id in self._tried or url_id in self.waiting.visits:
                continue
            if known == KNOWN:
                host_id = self.waiting.host_of[url_id]
                if self.pages_per_host and self.waiting.hosts[host_id].pages >= self.pages_per_host:
                    self.host_full += 1
                    continue
                rank = score - aged
                cold = self._push(url_id, rank)
                new[url_id] = (url_id, url, host_id, score, rank, depth, via, cold, request)
                self.waiting.queued += 1
                continue
            old, damping = scores.get(url_id) or self._score(url_id, new)
            merged = self.merge(old, score)
            if merged == old:
                continue
            rank = ranks[url_id] + (merged - old) * damping  # its age stays
            self.waiting.thaw(url_id)
            changed.append((merged, rank, self._push(url_id, rank), depth, via, url_id))
            scores[url_id] = merged, damping
        if new:
            self.store.queue.add(new.values())
        if changed:
            self.store.queue.raise_scores(changed)
        self.waiting.spill()
        if self.waiting.size:
            self._drop(self.waiting.drop_worst())

    def _push(self, url_id: int, rank: float, *, at_once: bool = False) -> bool:
        """Queue a URL, at once or with the next batch; True if it belongs on disk only."""
        if self.waiting.push(url_id, rank):
            return True
        if self.batch > 1 and not at_once:
            self._pending.append(url_id)
        else:
            self.waiting.enter(url_id)
        return False

    def _score(self, url_id: int, new: Mapping[int, NewRow]) -> tuple[float, float]:
        """Score and damping of a waiting URL."""
        if not self.ageing and url_id not in self._damped:
            return self.waiting.rank[url_id], 1.0
        return (new[url_id][3], 1.0) if url_id in new else self.store.queue.score(url_id)

    def raise_to(self, scores: Mapping[int, float], why: Mapping[str, float]) -> list[int]:
        """Raise waiting URLs, and record why in the links they were found by; returns the URLs that were raised.

        Call inside a transaction.
        """
        found = [entry for url_id in scores if self.waits(url_id) if (entry := self.store.queue.entry(url_id))]
        self.offer(Candidate(entry.url_id, entry.url, scores[entry.url_id], entry.depth, entry.via) for entry in found)
        self.store.links.set_scores((scores[entry.url_id], why, entry.via) for entry in found)
        return [entry.url_id for entry in found]

    def visit(self, entries: Sequence[Entry]) -> None:
        """Queue stored pages to be visited again, in this order. Visits come before all new pages."""
        for rank, entry in enumerate(reversed(entries)):
            self.waiting.visits[entry.url_id] = entry._replace(rank=VISIT + rank)
            self.waiting.enter_second(entry.url_id, urls.host(entry.url), VISIT + rank)

    # ---- taking

    def pop(self, now: float, free_at: FreeAt) -> Entry | None:
        """Take the best URL among the hosts that are free; None if there is none now: call again at `next_time`.

        A call puts back at most PUT_BACK entries, to keep the crawl responsive.
        """
        self._put_back = 0
        self._ready_at = inf
        while self._put_back < PUT_BACK:
            best = self._next(now, free_at)
            if best is None:
                if self._ready_at == inf:
                    self.patience.hold_ends(now)
                return None
            entry = self._settled(best)
            if entry is not None:
                self._note_order(-best[0], now)
                self._take(best)
                if entry.via is not None and not self.waiting.visits:
                    self.patience.took(entry.url_id, -best[0])
                return entry
        return None

    def next_time(self) -> float:
        """When to call `pop` again: when the next host becomes free by itself; inf if none does."""
        return 0.0 if self._put_back >= PUT_BACK else min(self._ready_at, self.turns.next_time())

    def best_rank(self, now: float, free_at: FreeAt) -> float:
        """The rank of the best URL that may be fetched now; -inf if there is none."""
        best = self.turns.best(now, free_at)
        return -best[0] if best else -inf

    def _next(self, now: float, free_at: FreeAt) -> Best | None:
        """The best entry that may be fetched now. If there is none, starts the next batch or run, then the retries."""
        if self.waiting.visits:
            best = self.turns.best(now, free_at)
            return best if best is not None and best[1] in self.waiting.visits else None
        if self.batch > 1 and self._batch_left <= 0:
            self._next_batch()
        while True:
            best = self.turns.best(now, free_at)
            if best is not None and -best[0] >= self.floor:
                return None if self._is_held(best, now) else best
            if self._pending:
                self._next_batch()
            elif self.turns.benched:
                self.turns.next_run()
            elif self._tried and not self.turns.resting and not self.turns.in_flight:
                self._retry()
            else:
                return None

    def _is_held(self, best: Best, now: float) -> bool:
        """Whether an entry that may be fetched now is held back for a better one."""
        if not self.patience.share:
            return False
        soon = self.turns.best_soon(now)
        held = self.patience.holds(best, soon, now)
        if held and soon is not None:
            self._ready_at = self.waiting.hosts[soon[2]].until
        return held

    def _next_batch(self) -> None:
        pending, self._pending = self._pending, []
        self._batch_left = self.batch
        self._enter(pending)

    def _retry(self) -> None:
        """Enter the URLs that got no answer in an earlier run."""
        tried, self._tried = self._tried, set()
        self._enter(sorted(tried))
        with self.store.batch():
            self.waiting.spill()

    def _enter(self, url_ids: Iterable[int]) -> None:
        for url_id in url_ids:
            if self.waiting.state[url_id] == QUEUED:
                self.waiting.enter(url_id)

    def _settled(self, best: Best) -> Entry | None:
        """The top entry with its current score and damping; None if these put it back or removed it."""
        negative_rank, url_id, host_id = best
        if url_id in self.waiting.visits:
            return self.waiting.visits[url_id]
        entry = self.store.queue.entry(url_id)
        if entry is None:  # its row was deleted from the file
            self._forget(url_id)
            return None
        if self.rescorer is not None:
            score = self.rescorer(entry)
            if score != entry.score:
                entry = self._rescored(entry, score)
            if entry.rank < -negative_rank or not self.turns.on_top(url_id, host_id):
                self._put_back += 1
                return None  # it fell, or others rose
        if self.damper is None or url_id in self.waiting.moved:  # retries and redirects are never damped or dropped
            return entry
        damping = self.damper(entry.url)
        if damping == entry.damping:
            return entry
        if not damping:
            self._put_back += 1
            self.damped_out += 1
            self._forget(url_id)
            self.store.queue.remove([url_id])
            return None
        entry = self._rescored(entry._replace(damping=damping), entry.score, entry.damping)
        if entry.rank < -negative_rank:
            self._put_back += 1
            return None
        return entry

    def _take(self, best: Best) -> None:
        _, url_id, host_id = best
        self.waiting.leave(url_id, IN_FLIGHT)
        self.turns.take(host_id, counts=url_id not in self.waiting.moved)
        self._batch_left -= url_id not in self.waiting.visits

    def _note_order(self, rank: float, now: float) -> None:
        """Record how much better the best link was that could not be fetched now."""
        self.taken += 1
        best = self.turns.best_unready(now)
        if best is not None and -best[0] > rank and not self.waiting.visits:
            self.given_up += -best[0] - rank

    def _forget(self, url_id: int) -> None:
        """Remove a waiting URL from the queue in memory; it may return when it is found again."""
        self.waiting.leave(url_id, KNOWN)
        self._damped.discard(url_id)

    def _close_host(self, host_id: int) -> None:
        """Drop the waiting URLs of a host that has reached its page limit."""
        dropped = self.waiting.clear_host(host_id)
        self.host_full += len(dropped)
        self._damped.difference_update(dropped)
        with self.store.batch():
            self.store.queue.remove(dropped)

    def _drop(self, url_ids: list[int]) -> None:
        self.dropped += len(url_ids)
        self._damped.difference_update(url_ids)
        self.store.queue.remove(url_ids)

    # ---- score changes

    def rescore(self, scorer: Callable[[Entry], float]) -> int:
        """Re-score all waiting URLs; returns how many scores changed."""
        count = after = 0
        with self._rescoring():
            while entries := self.store.queue.entries(after, RESCORED):
                after = entries[-1].url_id
                count += self.set_scores([(entry.url_id, scorer(entry)) for entry in entries])
        return count

    def rescore_to(self, scores: Mapping[int, float]) -> None:
        """Give many waiting URLs the scores of a new model."""
        with self._rescoring():
            self.set_scores(scores.items())

    @contextmanager
    def _rescoring(self) -> Iterator[None]:
        """Around a change of many scores, in a transaction."""
        with self.store.transaction():
            yield
        self.waiting.sweep()
        self.turns.sweep()

    def set_scores(self, scores: Iterable[tuple[int, float]]) -> int:
        """Give waiting URLs new scores, in a transaction; returns how many changed."""
        rows: list[tuple[float, float, bool, float, int]] = []
        ranks = self.waiting.rank
        for url_id, score in scores:
            if self.waits(url_id) and url_id not in self._tried:
                old, damping = self._score(url_id, {})
                if score != old:
                    self.waiting.thaw(url_id)
                    rank = score if old == ranks[url_id] and damping == 1 else ranks[url_id] + (score - old) * damping
                    rows.append((score, rank, self._push(url_id, rank, at_once=True), damping, url_id))
        self.store.queue.rescore(rows)
        return len(rows)

    def _rescored(self, entry: Entry, score: float, damped_before: float | None = None) -> Entry:
        """Change the score or damping of an entry; its age stays."""
        before = entry.score * (entry.damping if damped_before is None else damped_before)
        rank = entry.rank + score * entry.damping - before
        if entry.damping < 1:
            self._damped.add(entry.url_id)
        else:
            self._damped.discard(entry.url_id)
        self.waiting.thaw(entry.url_id)
        cold = self._push(entry.url_id, rank, at_once=True)
        self.store.queue.rescore([(score, rank, cold, entry.damping, entry.url_id)])
        return entry._replace(score=score, rank=rank)

    # ---- URLs in flight

    def again(self, url_id: int, host_name: str) -> None:
        """Queue a URL in flight again, at its old rank, to be fetched from *host_name* (a retry or redirect)."""
        self.turns.landed(self.waiting.host_of[url_id])
        self.waiting.enter_second(url_id, host_name, self.waiting.rank[url_id])

    def claim(self, url_id: int) -> bool:
        """Remove the target of a redirect from the queue; False if it was already fetched or is in flight."""
        if self.is_taken(url_id):
            return False
        if self.waiting.waits(url_id):
            self.waiting.leave(url_id, CLAIMED)
        else:
            self.waiting.state[url_id] = CLAIMED
        return True

    def finish(self, url_ids: Sequence[int], *, page_host: str | None = None, for_good: bool = True) -> None:
        """Mark URLs as done; *page_host* gave a page. Call inside the transaction that stores the outcome.

        If not *for_good*, they stay in the file and are retried when the crawl is resumed, after everything else.
        """
        waiting = self.waiting
        for url_id in url_ids:
            if waiting.state[url_id] == IN_FLIGHT:
                self.turns.landed(waiting.host_of[url_id])
                waiting.state[url_id] = DONE
            elif waiting.waits(url_id):  # stored without a request of its own
                waiting.leave(url_id, DONE)
            else:
                waiting.state[url_id] = DONE
            waiting.moved.discard(url_id)
            self._damped.discard(url_id)
            self.waiting.visits.pop(url_id, None)
            self.patience.ended(url_id)
        if for_good:
            self.store.queue.finish(url_ids)
        if self.turns.hosts_per_run:
            self.store.set_meta("run", self.turns.had_their_turn())
        if page_host is not None:
            host_id = waiting.host_id(page_host)
            waiting.hosts[host_id].pages += 1
            self._pages += 1
            self.store.hosts.count_page(host_id)

    def host_answered(self, host_name: str) -> None:
        """Record that a host has answered."""
        self.turns.make_known(host_name, True)

    def host_silent(self, host_name: str) -> None:
        """Record that a host has not answered."""
        self.turns.make_known(host_name, False)

    def release(self, host_name: str) -> None:
        """A busy host may be fetched from again."""
        self.turns.release(host_name)
