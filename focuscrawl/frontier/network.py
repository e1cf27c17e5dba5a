"""The state of the machine: whether the network is up, and whether file descriptors are left."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from math import inf
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.failures import HostRests, reason_of

if TYPE_CHECKING:
    from focuscrawl.frontier.engine import Engine

logger = logging.getLogger(__name__)

#: Most hosts probed to find out whether the network is up.
PROBES = 3
#: Sites without an answer that are remembered.
REMEMBERED = 1_000
#: Retries without a free file descriptor before the crawl gives up.
FILE_TRIES = 20


class Network:
    """Distinguishes dead hosts from a dead network.

    After *limit* consecutive requests without an answer (0: never), robots.txt is requested from hosts that answered
    before. If none of them answers, *stop* is called. *earlier* gives the URLs of pages stored in earlier runs, last
    first.
    """

    def __init__(
        self, engine: Engine, limit: int, stop: Callable[[str, str], None], earlier: Callable[[], Iterable[str]]
    ) -> None:
        self.engine = engine
        self.limit = limit
        self._stop = stop
        self._earlier = earlier
        #: Consecutive requests without an answer.
        self._silent = 0
        #: Whether a probe is running: until it ends, nothing else is sent.
        self.probing = False
        #: Sites that answered, most recent last.
        self._answered: dict[str, None] = {}
        #: Sites that did not answer the last request, most recent last.
        self.silent: dict[str, None] = {}

    def answered(self, url: str) -> None:
        """Record that a response has arrived."""
        self._silent = 0
        site = urls.site(url)
        self._answered.pop(site, None)
        self._answered[site] = None
        self.silent.pop(site, None)
        if len(self._answered) > PROBES:
            del self._answered[next(iter(self._answered))]

    def no_answer(self, url: str) -> None:
        """Record that a request got no answer at all."""
        self._silent += 1
        site = urls.site(url)
        self.silent.pop(site, None)
        self.silent[site] = None
        if len(self.silent) > REMEMBERED:
            del self.silent[next(iter(self.silent))]
        if self._silent >= self.limit > 0 and not self.probing:
            self.probing = True
            self.engine.start(self._probe(url, self._silent))

    async def _probe(self, url: str, silent: int) -> None:
        if not await self._is_up():
            self._stop(
                f"the network seems to be down: {silent} requests in a row got no answer, the last for {url}; no data"
                " is lost: run the same command again when the network is back",
                "network_down",
            )
        self._silent, self.probing = 0, False
        self.engine.nudge()

    async def _is_up(self) -> bool:
        for site in list(reversed(self._answered)) or self._sites_before():
            request = Request(f"{site}/robots.txt", callback=NO_CALLBACK)
            request.meta.update({"dont_obey_robotstxt": True, "dont_retry": True, "dont_redirect": True})
            request.meta["focus_patience"] = 0.0
            try:
                await self.engine.download(request)
            except HostRests:  # in back-off, so it has answered
                return True
            except Exception as error:
                logger.info("%s does not answer either: %s", site, reason_of(error))
            else:
                return True
        return False

    def _sites_before(self) -> list[str]:
        found: dict[str, None] = {}
        for page in self._earlier():
            found.setdefault(urls.site(page))
        return list(found)[:PROBES]


class Files:
    """Limits requests in flight to the available file descriptors."""

    def __init__(self, stop: Callable[[str, str], None]) -> None:
        self._stop = stop
        #: Most requests in flight, and the time of the next hand-out.
        self.room = inf
        self.not_before = 0.0
        self._tries = 0

    def answered(self) -> None:
        """Record that a response has arrived, so descriptors are available."""
        self._tries = 0

    def ran_out(self, in_flight: int) -> None:
        """Reduce the requests in flight; if that does not help, stop the crawl."""
        if self.room == inf:
            logger.warning(
                "too many open files: continuing with fewer requests at a time; raise the limit (ulimit -n) or lower"
                " CONCURRENT_REQUESTS"
            )
        if in_flight > self.room:  # it was sent under an earlier, higher limit
            return
        self.room = max(1, in_flight // 2)
        self._tries += 1
        self.not_before = clock.monotonic() + min(1.0, 0.05 * self._tries)
        if self._tries > FILE_TRIES:
            self._stop(
                "too many open files, even with one request at a time; no data is lost: raise the limit (ulimit -n)"
                " and run the same command again",
                "too_many_files",
            )
