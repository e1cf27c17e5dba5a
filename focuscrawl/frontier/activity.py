"""Activity: what a crawl is doing now. Hosts that are busy, rest or are blocked, and what is held back.

A running crawl records it in its file every few seconds (`focuscrawl.extensions.activity`), where other processes, such
as the dashboard, read it. The file may come from a stranger, so what is read is checked.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import islice
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.holder import Holder

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl

#: The key in `meta`.
KEY = "activity"
#: Hosts of each state that are listed.
LISTED = 8
#: Seconds after which a recorded activity says nothing about now.
FRESH = 20.0

BUSY, RESTING, BLOCKED = "busy", "resting", "blocked"


class HostNow(NamedTuple):
    """A host, and when the next request may be sent to it."""

    name: str
    state: str
    #: Seconds until its next slot, when this was recorded; None if that depends on a download.
    next_in: float | None
    #: Why it is blocked; empty for other states.
    why: str = ""
    #: The rank of its best waiting URL; None if none waits.
    best: float | None = None


class Held(NamedTuple):
    """A URL that could be fetched now, and the better one on a resting host that the crawl waits for."""

    url: str
    score: float
    better: str
    better_score: float


class Activity(NamedTuple):
    """What a crawl is doing."""

    #: When this was recorded, in seconds since 1970.
    at: float
    #: Waiting URLs, and requests in flight.
    queued: int
    in_flight: int
    #: Most requests in flight; None if there is no limit.
    room: int | None
    busy: int
    resting: int
    blocked: int
    #: Some hosts: all that are busy, the next of those that rest, those that are blocked.
    hosts: list[HostNow]
    #: Share of the full speed (FOCUS_PACE), and seconds until the rest of the whole crawl ends; 0 if there is none.
    pace: float
    rest: float
    #: Whether the network seems to be down and is being probed.
    probing: bool
    #: The URL that is held back (FOCUS_PATIENCE); how often that happened, and for how many seconds in total.
    held: Held | None
    times_held: int
    seconds_held: float
    #: Memory of the process in bytes; None if that is not known.
    memory: int | None

    def noted(self) -> dict[str, Any]:
        """The activity as it is recorded."""
        told = self._asdict()
        return told | {"hosts": [list(host) for host in self.hosts], "held": list(self.held) if self.held else None}

    @property
    def age(self) -> float:
        """Seconds since it was recorded."""
        return clock.utc().timestamp() - self.at

    def of(self, state: str) -> list[HostNow]:
        """The listed hosts in a state."""
        return [host for host in self.hosts if host.state == state]

    @classmethod
    def read(cls, noted: object) -> Activity | None:
        """A recorded activity; None if there is none, or it is not one."""
        if not isinstance(noted, dict) or set(noted) != set(cls._fields):
            return None
        hosts, held = noted["hosts"], noted["held"]
        if not isinstance(hosts, list) or len(hosts) > 3 * LISTED + 1_000 or not all(map(_is_host, hosts)):
            return None
        if held is not None and not (_is_row(held, 4) and all(map(_is_text, held[::2])) and _are_numbers(held[1::2])):
            return None
        numbers = [value for key, value in noted.items() if key not in ("hosts", "held") and value is not None]
        needed = (
            "at",
            "queued",
            "in_flight",
            "busy",
            "resting",
            "blocked",
            "pace",
            "rest",
            "times_held",
            "seconds_held",
        )
        if not _are_numbers(numbers) or any(noted[key] is None for key in needed):
            return None
        told: dict[str, Any] = {**noted, "hosts": [HostNow(*host) for host in hosts]}
        return cls(**(told | {"held": Held(*held) if held else None}))


def _is_row(value: object, length: int) -> TypeGuard[list[Any]]:
    return isinstance(value, list) and len(value) == length


def _is_text(value: object) -> bool:
    return isinstance(value, str) and len(value) <= urls.MAX_LENGTH


def _are_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(value, int | float) and isfinite(value) and abs(value) < 1e15 for value in values)


def _is_host(row: object) -> bool:
    if not _is_row(row, len(HostNow._fields)):
        return False
    name, state, next_in, why, best = row
    numbers = [value for value in (next_in, best) if value is not None]
    return all(map(_is_text, (name, why))) and state in (BUSY, RESTING, BLOCKED) and _are_numbers(numbers)


def activity_of(crawl: Crawl) -> Activity:
    """What a running crawl is doing. Takes the same time however many hosts and URLs it knows."""
    now, scheduler, frontier = clock.monotonic(), crawl.scheduler, crawl.frontier
    assert scheduler is not None
    busy = dict.fromkeys(scheduler.downloading.values())
    blocked = _blocked(crawl, now)
    resting = [
        HostNow(host.name, RESTING, max(0.0, until - now), best=-host.shown[0] if host.shown else None)
        for until, host_id in islice(_in_order(frontier.turns.resting), LISTED + len(blocked))
        if (host := frontier.waiting.hosts[host_id]).place == "waiting" and host.name not in blocked
    ]
    hosts = [HostNow(name, BUSY, None) for name in islice(busy, LISTED)]
    room = scheduler.room(now)
    return Activity(
        at=clock.utc().timestamp(),
        queued=len(frontier),
        in_flight=len(scheduler.downloading),
        room=None if room == inf else int(room),
        busy=len(busy),
        resting=max(len(resting), len(frontier.turns.resting) - len(blocked)),
        blocked=len(blocked),
        hosts=[*hosts, *resting[:LISTED], *islice(blocked.values(), LISTED)],
        pace=crawl.hosts.share(),
        rest=min(crawl.hosts.rest(), 1e9),
        probing=scheduler.network.probing,
        held=_held(crawl, now),
        times_held=frontier.patience.held,
        seconds_held=frontier.patience.seconds,
        memory=Holder(os.getpid()).memory(),
    )


def _blocked(crawl: Crawl, now: float) -> dict[str, HostNow]:
    """The hosts that nothing is fetched from for now, those with the next slot first."""
    assert crawl.scheduler is not None
    found = {
        name: HostNow(name, BLOCKED, block.until - now, block.why)
        for name, block in sorted(crawl.hosts.blocked().items(), key=lambda item: item[1].until)
    }
    for site in crawl.scheduler.network.silent:
        name = urls.host(site)
        found.setdefault(name, HostNow(name, BLOCKED, None, "did not answer the last request"))
    return found


def _held(crawl: Crawl, now: float) -> Held | None:
    """The URL that is held back, and the one that it is held back for."""
    frontier = crawl.frontier
    held, better = frontier.patience.link, frontier.turns.best_soon(now)
    if held is None or better is None:
        return None
    one, other = (crawl.store.queue.entry(url_id) for url_id in (held, better[1]))
    return Held(one.url, one.score, other.url, other.score) if one is not None and other is not None else None


def _in_order(heap: list[tuple[float, int]]) -> Iterator[tuple[float, int]]:
    """The entries of a heap in their order, without sorting all of it."""
    ahead = [(heap[0], 0)] if heap else []
    while ahead:
        entry, place = heappop(ahead)
        yield entry
        for child in (2 * place + 1, 2 * place + 2):
            if child < len(heap):
                heappush(ahead, (heap[child], child))
