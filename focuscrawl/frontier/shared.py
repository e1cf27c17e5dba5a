"""The frontier of a crawl that several workers share: each hands out the URLs of the hosts that it has leased.

A worker leases the hosts with the best waiting URLs, and a new host that it finds itself while it has room. Links to
hosts that it does not hold are rows of the database like others; their holders read about them (`news`). Every write
about a host is refused if its lease was lost, and what is in memory is read again after any failed write: the database
is always right.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import ceil, inf
from typing import TYPE_CHECKING, Any

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.frontier.candidate import Candidate, Offer
from focuscrawl.frontier.frontier import Frontier
from focuscrawl.frontier.leased import LeasedWaiting, first_queue
from focuscrawl.frontier.waiting import CLAIMED, DONE, IN_FLIGHT, KNOWN
from focuscrawl.frontier.workers import Totals
from focuscrawl.store.errors import DisconnectedError, LeaseLostError, StoreError
from focuscrawl.store.leases import Cluster, Leased

if TYPE_CHECKING:
    from focuscrawl.frontier.turns import Best, FreeAt
    from focuscrawl.store.postgres import PostgresStore
    from focuscrawl.store.queue import Entry, NewRow

logger = logging.getLogger(__name__)

#: Seconds between two looks at what the others do, and between two attempts to reach the server.
LOOK = 1.0
#: Hosts that a worker swaps at most per look for better ones.
SWAPS = 8


class SharedFrontier(Frontier):
    """A worker's share of the frontier.

    *leases*: most hosts that the worker holds. *lease*: seconds after which others take the hosts of a worker that is
    not heard of. The clock is the machine's, and the database's: a lease is about real time.
    """

    waiting_class = LeasedWaiting
    store: PostgresStore
    waiting: LeasedWaiting

    def __init__(self, store: PostgresStore, *, leases: int = 64, lease: float = 30.0, **options: Any) -> None:
        self.leases = leases
        self.lease = lease
        #: Epochs of the leased hosts, by id.
        self.held: dict[int, int] = {}
        self.worker = 0
        self._failures = 0
        #: URLs that got no answer while this worker runs.
        self._failed: set[int] = set()
        #: The hosts that retried and redirected URLs were found on, by URL id.
        self._origin: dict[int, int] = {}
        self._cluster = Cluster(1, 0, 0, None, None, 0, 0, 0)
        self._totals: Totals | None = None
        self._looked = self._renewed = -inf
        self._waits_for_server = False
        #: Hosts of the latest page that nobody holds; whether to lease some before the next URL is handed out.
        self._free: set[int] = set()
        self._hungry = False
        super().__init__(store, **options)

    def _load(self) -> None:
        self._pages = self.store.pages.count()
        self.worker, self._failures = self.store.leases.join(f"{socket.gethostname()}:{os.getpid()}", self.lease)
        self.waiting.damped = self._damped
        self.waiting.failures, self.waiting.add_hosts = self._failures, self._add_hosts
        self.store.queue.upcoming = self.waiting.upcoming
        self.waiting.saw(self.store.urls.last_id())
        if self.batch > 1 or self.floor > -inf:  # a round is about all that waits
            self.leases = 1 << 30
            if self.store.leases.has_earlier(self.worker, self.lease):
                self.leave()
                raise FocusError(
                    f"{self.store.name} is being crawled, and this strategy takes one worker: it goes in rounds over"
                    " all that waits; stop the other worker, or wait until its lease has expired"
                )
        self._look()

    def __len__(self) -> int:
        return self.waiting.queued + sum(host.cold for host in self.waiting.hosts.values())

    # ---- leases

    def ready(self) -> bool:
        """Look after the leases once in a while; False while the server cannot be reached."""
        now = clock.machine()
        starving = not self.waiting.queued
        if not self.stale and now - self._looked < (LOOK / 10 if starving else LOOK):
            return True
        if self._waits_for_server and now - self._looked < LOOK:
            return False
        self._looked = now
        try:
            if self.stale:
                self._read_again()
            self._look()
        except StoreError as error:
            if not self.recover_from(error):
                raise
            return False
        return True

    def _look(self) -> None:
        """Renew the leases, read the news, and lease or give back hosts."""
        leases, now = self.store.leases, clock.machine()
        if now - self._renewed > self.lease / 3:
            self._renew()
        if self.held:
            self._take_in(leases.news(self.held, self._failures))
        self.store.queue.forget_near()
        leases.seen(self.worker, self._about_to_fetch())
        self._cluster = leases.cluster(self.worker, self.lease)
        self._totals = Totals(*self._cluster[-3:])
        self._balance()
        if not self.waiting.queued and not self.turns.in_flight:
            leases.find_strays()
        self._looked = clock.machine()

    def _renew(self) -> None:
        before = clock.machine()
        if self.held:
            waiting = self.waiting
            # whoever takes over from a dead worker must not come too soon after its last request
            seconds = [max(self.lease, self.lease / 2 + self.rests(waiting.hosts[host].name)[1]) for host in self.held]
            kept = self.store.leases.renew(self.worker, self.held, seconds)
            lost = self.held.keys() - kept
            if lost:
                logger.warning("%d leases were lost: others crawl these hosts now", len(lost))
                self._forget_hosts(lost)
        self._renewed = before

    @property
    def room(self) -> int:
        """How many hosts this worker may hold."""
        cluster = self._cluster
        return max(1, min(self.leases, ceil((cluster.held + cluster.free) / max(1, cluster.workers))))

    @property
    def room_alone(self) -> int:
        """The same, where a worker that is alone takes all that it can hold."""
        return self.leases if self._cluster.workers <= 1 else self.room

    def _balance(self) -> None:
        """Lease hosts while there is room, and give back those that others can use."""
        cluster, waiting = self._cluster, self.waiting
        if cluster.workers > 1 or len(self.held) >= self.leases:
            empty = [host for host in self.held if waiting.is_empty(host) and waiting.is_idle(host)]
            self._give_back(empty)
            cluster = self._cluster = cluster._replace(held=cluster.held - len(empty))
        excess = len(self.held) - self.room_alone
        if excess > 0:
            ranked = sorted(self.held, key=self._best_of, reverse=True)
            self._give_back([host for host in ranked[1::2] if waiting.is_idle(host)][:excess])
        elif cluster.best is not None and excess == 0:
            worse = sorted((host for host in self.held if self._best_of(host) < cluster.best), key=self._best_of)
            self._give_back([host for host in worse if waiting.is_idle(host)][: min(SWAPS, cluster.free)])
        if self.room_alone > len(self.held) and (cluster.free or cluster.held > len(self.held)):
            self._lease(self.room_alone - len(self.held))
        self._hungry = False

    def _best_of(self, host_id: int) -> float:
        head = self.waiting.head(host_id)
        return -head[0] if head else -inf

    def _lease(self, limit: int) -> None:
        self._add(self.store.leases.take(self.worker, limit, self.lease))

    def _add(self, found: Sequence[Leased]) -> None:
        """Load the waiting URLs of hosts that were leased."""
        leases, waiting = self.store.leases, self.waiting
        rows = leases.rows([lease.host for lease in found], waiting.hot + 1, self._failures) if found else []
        for lease in found:
            self.held[lease.host] = lease.epoch
            waiting.add_host(lease.host, lease.name, lease.pages)
        self._tried.update(waiting.load_rows(rows, waiting.hot))
        for lease in found:
            self.turns.any_known = self.turns.any_known or waiting.hosts[lease.host].known
            self.turns.put_ready(lease.host)

    def _give_back(self, hosts: Sequence[int]) -> None:
        if hosts:
            rests = [self.rests(self.waiting.hosts[host].name)[0] for host in hosts]
            self.store.leases.give_back(self.worker, {host: self.held[host] for host in hosts}, rests, self._failures)
            self._forget_hosts(hosts)

    def _forget_hosts(self, hosts: Iterable[int]) -> None:
        gone = set(hosts)
        self.turns.forget(gone)
        for host in gone:
            self.held.pop(host, None)
            self.waiting.forget_host(host)
        self._tried.intersection_update(self.waiting.host_of)
        self._pending = [url_id for url_id in self._pending if url_id in self.waiting.host_of]

    def _take_in(self, rows: Iterable[Any]) -> None:
        """Queue what others have added to the hosts of this worker, or raised."""
        for row in rows:
            state = self.waiting.state[row.url_id]
            if row.host not in self.held or row.failed or state >= IN_FLIGHT or row.url_id in self._failed:
                continue
            if state == KNOWN or row.rank > self.waiting.rank[row.url_id]:
                self.waiting.host_of[row.url_id] = row.host
                self.waiting.queued += state == KNOWN
                self._push(row.url_id, row.rank)
        self.waiting.spill()

    def may_fetch(self, host_name: str) -> bool:
        """Whether this worker holds a host."""
        return self.waiting.host_ids.get(host_name) in self.held and not self.stale

    def totals(self) -> Totals | None:
        """The figures of all workers, if they were read since the last call."""
        totals, self._totals = self._totals, None
        return totals

    def leave(self) -> None:
        """Give all hosts back."""
        with suppress(StoreError):
            if not self.stale:
                self._give_back(list(self.held))
            self.store.leases.leave(self.worker)

    # ---- failures

    def recover_from(self, error: StoreError) -> bool:
        """Go on after a write that was refused or could not be made; what is in memory is read again first."""
        if not isinstance(error, DisconnectedError | LeaseLostError):
            return False
        if isinstance(error, DisconnectedError) and not self._waits_for_server:
            logger.warning("%s: %s; waiting for the server", self.store.name, error)
            self._waits_for_server = True
        elif not self.stale:
            logger.warning("a page was not stored: %s", error)
        self.stale = True
        return True

    def put_back(self, url_id: int) -> None:
        """Forget that a URL is in flight: nothing of it was stored, unless another worker has."""
        self._origin.pop(url_id, None)
        with suppress(StoreError):
            self.store.leases.remove_fetched(url_id)
        if self.waiting.state[url_id] == IN_FLIGHT and self.waiting.host_of.get(url_id) in self.waiting.hosts:
            self.turns.landed(self.waiting.host_of[url_id])
        self.waiting.forget_url(url_id)

    def _read_again(self) -> None:
        """Read everything again from the database: what is in memory may be ahead of it."""
        self.store.renew()
        waiting = self.waiting
        flying = {
            url_id: (state, waiting.host_of[url_id])
            for url_id, state in waiting.state.items()
            if state in (IN_FLIGHT, CLAIMED) and url_id in waiting.host_of
        }
        kept = self.store.leases.renew(self.worker, self.held, [self.lease] * len(self.held)) if self.held else set()
        names = {host: (waiting.hosts[host].name, waiting.hosts[host].pages) for host in kept}
        self.held = {host: epoch for host, epoch in self.held.items() if host in kept}
        self.turns.clear()
        waiting.clear()
        self._damped.clear()
        self._tried, self._pending = set(), []
        for host, (name, pages) in names.items():
            waiting.add_host(host, name, pages)
        for url_id, (state, queue) in flying.items():
            host = first_queue(queue)
            if host in self.held:
                waiting.state[url_id], waiting.host_of[url_id] = state, host
                waiting.hosts[host].in_flight += state == IN_FLIGHT
                self.turns.in_flight += state == IN_FLIGHT
        self._tried = set(
            waiting.load_rows(self.store.leases.rows(self.held, waiting.hot + 1, self._failures), waiting.hot)
        )
        self._tried.difference_update(self._failed)
        for host in self.held:
            self.turns.any_known = self.turns.any_known or waiting.hosts[host].known
            self.turns.put_ready(host)
        if self._waits_for_server:
            logger.warning("%s answers again", self.store.name)
        self.stale = self._waits_for_server = False

    # ---- known URLs

    def identify(self, found: Sequence[str], keys: Sequence[int] | None = None) -> list[int]:
        """The ids of URLs; new ones are added. Call inside a transaction."""
        if keys is None:
            keys = [urls.key(url, any_scheme=self.any_scheme) for url in found]
        self.waiting.let_pass()
        waiting, names = self.waiting, [urls.host(url) for url in found]
        asked = sorted(set(names) - waiting.host_ids.keys())
        new: dict[int, int] = {}
        for place, key in enumerate(keys):
            new.setdefault(key, place)
        room = max(0, self.room_alone - len(self.held))
        told = self.store.leases.identify(
            list(new),
            [found[place] for place in new.values()],
            [names[place] for place in new.values()],
            asked,
            (self.worker, room, self.lease),
            page=self.store.reserved is None,
        )
        self.store.reserved = told.page or self.store.reserved
        for name, (host, _, epoch) in told.hosts.items():
            if epoch is not None:
                self.held[host] = epoch
                waiting.add_host(host, name, 0)
        self._free = {host for host, free, _ in told.hosts.values() if free}
        known = told.urls
        waiting.saw(max((url_id for url_id, _, _ in known.values()), default=0))
        for key in keys:
            url_id, host, done = known[key]
            if url_id not in waiting.host_of:
                waiting.host_of[url_id] = host
                if done or url_id in self._failed:
                    waiting.state[url_id] = DONE
            self.waiting.passing.append(url_id)
        ids = [known[key][0] for key in keys]
        waiting.recall(ids)
        return ids

    def _add_hosts(self, names: set[str]) -> dict[str, int]:
        """Add hosts; those that are new are leased at once while there is room."""
        if not names:
            return {}
        leases = self.store.leases
        new = leases.add_hosts(names)
        room = max(0, self.room_alone - len(self.held))
        for mine, some in ((True, list(new)[:room]), (False, list(new)[room:])):
            if some:
                leases.hold(self.worker if mine else 0, [new[name] for name in some], self.lease)
            for name in some if mine else ():
                self.held[new[name]] = 1
                self.waiting.add_host(new[name], name, 0)
        rest = leases.known((), names - new.keys())[1] if len(new) < len(names) else {}
        return new | {name: host for name, (host, _) in rest.items()}

    def find(self, url: str) -> int | None:
        """The id of a URL, None if it was never seen."""
        key = urls.key(url, any_scheme=self.any_scheme)
        found = self.store.leases.known([key], ())[0].get(key)
        if found is None:
            return None
        url_id, host, done = found
        if url_id not in self.waiting.host_of:
            self.waiting.host_of[url_id] = host
            self.waiting.passing.append(url_id)
            if done:
                self.waiting.state[url_id] = DONE
        return url_id

    def has_open(self) -> bool:
        """Whether any URL waits here, or somebody else has or may lease hosts with waiting URLs."""
        if self.waiting.has_open() or self._has_elsewhere():
            return True
        try:  # the last look may be a second old: a worker that ends too early does not come back
            self._cluster = self.store.leases.cluster(self.worker, self.lease)
        except StoreError as error:
            return self.recover_from(error)
        return self._has_elsewhere()

    def _has_elsewhere(self) -> bool:
        return self._cluster.free > 0 or self._cluster.held > len(self.held) or self.stale or self._hungry

    def is_taken(self, url_id: int) -> bool:
        """Whether a URL was fetched or is in flight."""
        self._recall([url_id])
        return super().is_taken(url_id)

    def waiting_on(self, page_id: int) -> list[Candidate]:
        """The links of a stored page that were neither refused nor fetched, as candidates."""
        self._recall([link.url_id for link in self.store.links.of_page(page_id)])
        return super().waiting_on(page_id)

    def _recall(self, url_ids: Sequence[int]) -> None:
        """Recall the hosts of URLs that are not in memory, and whether they are done."""
        waiting = self.waiting
        asked = [url_id for url_id in url_ids if url_id not in waiting.host_of]
        for url_id, host, done in self.store.leases.urls(asked) if asked else ():
            waiting.host_of[url_id] = host
            waiting.passing.append(url_id)
            if done or url_id in self._failed:
                waiting.state[url_id] = DONE
        waiting.recall(asked)

    # ---- taking

    def pop(self, now: float, free_at: FreeAt) -> Entry | None:
        """Take the best URL among the leased hosts that are free; None if there is none now."""
        if self._hungry:
            self._cluster = self.store.leases.cluster(self.worker, self.lease)
            self._balance()
        return super().pop(now, free_at)

    def _about_to_fetch(self) -> float | None:
        """The rank of the best URL of the hosts that are ready, or soon are."""
        hosts = ((host, self.waiting.hosts[host]) for host in self.held)
        ranks = [self._best_of(host) for host, queue in hosts if queue.place == "ready" or queue.soon]
        best = max(ranks, default=-inf)
        return best if best > -inf else None

    def _is_held(self, best: Best, now: float) -> bool:
        """Whether an entry is held back for a better one, of this worker's hosts or of another's."""
        if super()._is_held(best, now):
            return True
        better = self._cluster.elsewhere
        if better is None or self._cluster.workers <= 1 or not self.patience.longest_wait:
            return False
        held = self.patience.holds(best, (-better, 0, 0), now)
        if held:
            self._ready_at = now + LOOK / 2
        return held

    def visit(self, entries: Sequence[Entry]) -> None:
        """Queue stored pages to be visited again, in this order; all their hosts are leased."""
        names = {urls.host(entry.url) for entry in entries} - self.waiting.host_ids.keys()
        self._add(self.store.leases.take_hosts(self.worker, names, self.lease))
        if missing := names - self.waiting.host_ids.keys():
            self.leave()
            raise FocusError(
                f"other workers crawl {len(missing)} of the hosts to visit, such as {min(missing)}: visit pages again"
                " when they are done"
            )
        self.leases = max(self.leases, len(self.held))
        super().visit(entries)

    # ---- adding

    def offer(self, candidates: Iterable[Offer]) -> None:
        """Queue URLs, or raise the scores of those already waiting. Call inside a transaction."""
        mine: list[Offer] = []
        foreign: dict[int, NewRow] = {}
        aged = self.ageing * self._pages
        for candidate in candidates:
            url_id, url, score, depth, via, request = candidate
            host = self.waiting.host_of[url_id]
            if first_queue(host) in self.held:
                mine.append(candidate)
            elif self.waiting.state[url_id] == KNOWN and (url_id not in foreign or foreign[url_id][3] < score):
                foreign[url_id] = (url_id, url, host, score, score - aged, depth, via, False, request)
        super().offer(mine)
        if foreign:
            self.store.leases.offer(list(foreign.values()))
            if len(self.held) < self.room_alone and not self._free.isdisjoint(row[2] for row in foreign.values()):
                self._hungry = True

    @contextmanager
    def _rescoring(self) -> Iterator[None]:
        self.waiting.load_cold()
        with super()._rescoring():
            yield
        self.waiting.spill()

    # ---- URLs in flight

    def again(self, url_id: int, host_name: str) -> None:
        """Queue a URL in flight again, at its old rank, to be fetched from *host_name* (a retry or redirect)."""
        self._origin.setdefault(url_id, first_queue(self.waiting.host_of[url_id]))
        super().again(url_id, host_name)

    def finish(self, url_ids: Sequence[int], *, page_host: str | None = None, for_good: bool = True) -> None:
        """Mark URLs as done; refused if the host of the request was lost. Call inside a transaction."""
        if page_host is None:
            self.fence(url_ids[0])
        if not for_good:
            self._failed.update(url_ids)
        super().finish(url_ids, page_host=page_host, for_good=for_good)
        self.waiting.passing += url_ids

    def fence(self, url_id: int) -> None:
        """Refuse the open transaction if the host of a URL in flight was lost; record when it may be asked again."""
        now_of = first_queue(self.waiting.host_of.get(url_id, 0))
        found_on = self._origin.pop(url_id, now_of)
        if self.waiting.state[url_id] != IN_FLIGHT and url_id in self.waiting.host_of:
            return  # nobody asked for it
        if found_on not in self.held or self.stale:
            raise LeaseLostError("the lease of its host was lost, and another worker crawls it now")
        hosts = {found_on, now_of} & self.held.keys()
        self.store.leases.fence(self.worker, {host: self.held[host] for host in sorted(hosts)})
        for host in hosts:
            if rest := self.rests(self.waiting.hosts[host].name)[0]:
                self.store.leases.rest(host, rest)

    def count_page(self, *, relevant: bool, matched: bool) -> None:
        """Count a page of this worker. Call inside the transaction that stores it."""
        self.store.leases.count_page(self.worker, relevant, matched)
