"""What the machine has to offer: whether the network is up, and whether files are left to connect with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.http.request import NO_CALLBACK

from focuscrawl import urls
from focuscrawl.crawl.failures import HostRests, reason_of

if TYPE_CHECKING:
    from focuscrawl.frontier.engine import Engine

logger = logging.getLogger(__name__)

#: Most hosts that are asked whether the network is up.
PROBES = 3
#: Without a file to connect with, requests are retried this often before the crawl gives up.
FILE_TRIES = 20


class Network:
    """Tells dead hosts from a dead network.

    After *limit* requests in a row without an answer (0: never), hosts that answered before are asked for robots.txt.
    If none of them answers, *stop* is called. *earlier* gives the URLs of pages stored in earlier runs, the last first.
    """

    def __init__(
        self, engine: Engine, limit: int, stop: Callable[[str, str], None], earlier: Callable[[], Iterable[str]]
    ) -> None:
        self.engine = engine
        self.limit = limit
        self._stop = stop
        self._earlier = earlier
        #: Requests in a row without an answer.
        self._silent = 0
        #: Whether hosts are being asked: until they answer, nothing else is sent.
        self.probing = False
        #: Sites that answered, the last one last.
        self._answered: dict[str, None] = {}

    def answered(self, url: str) -> None:
        """A response has arrived."""
        self._silent = 0
        site = urls.site(url)
        self._answered.pop(site, None)
        self._answered[site] = None
        if len(self._answered) > PROBES:
            del self._answered[next(iter(self._answered))]

    def no_answer(self, url: str) -> None:
        """A request got no answer at all."""
        self._silent += 1
        if self._silent >= self.limit > 0 and not self.probing:
            self.probing = True
            self.engine.start(self._probe(url, self._silent))

    async def _probe(self, url: str, silent: int) -> None:
        if not await self._is_up():
            self._stop(
                f"the network seems to be down: {silent} requests in a row got no answer, the last for {url}; run the"
                " same command again when it is back, and nothing is lost",
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
            except HostRests:  # it has answered before
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
    """How many requests there are files for. A process may open only a limited number of them."""

    def __init__(self, stop: Callable[[str, str], None]) -> None:
        self._stop = stop
        #: Most requests in flight, and when the next may be handed out.
        self.room = inf
        self.not_before = 0.0
        self._tries = 0

    def answered(self) -> None:
        """A response has arrived, so there are files."""
        self._tries = 0

    def ran_out(self, in_flight: int) -> None:
        """No file was left: fewer requests at a time are tried, and if that does not help, the crawl stops."""
        if self.room == inf:
            logger.warning(
                "too many open files: the crawl goes on with fewer requests at a time; raise the limit (ulimit -n) or"
                " lower CONCURRENT_REQUESTS"
            )
        if in_flight > self.room:  # this one is left from when there were more
            return
        self.room = max(1, in_flight // 2)
        self._tries += 1
        self.not_before = monotonic() + min(1.0, 0.05 * self._tries)
        if self._tries > FILE_TRIES:
            self._stop(
                "too many open files, even with one request at a time; raise the limit (ulimit -n) and run the same"
                " command again, and nothing is lost",
                "too_many_files",
            )
