"""Writing to the store and asking the strategy, so that an error of either ends in one line and loses no page."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from focuscrawl.crawl import clock
from focuscrawl.errors import FocusError
from focuscrawl.store.errors import StoreError

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl
    from focuscrawl.frontier.alarm import Alarm
    from focuscrawl.frontier.engine import Engine
    from focuscrawl.frontier.frontier import Frontier

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

#: Seconds after which a frontier that could not hand out URLs is asked again, or is asked what others have left.
AGAIN = 1.0


class Guarded:
    """The part of the scheduler that handles errors of the store and of the strategy."""

    crawl: Crawl
    frontier: Frontier
    engine: Engine
    stats: Any
    _alarm: Alarm

    @property
    def closing(self) -> bool:
        """Whether the crawl is about to end."""
        return self.crawl.fatal is not None or self.engine.closing

    def write(self, work: Callable[[], bool | None]) -> bool:
        """Run *work* in one transaction; if the file cannot be written, the crawl stops."""
        try:
            with self.crawl.store.transaction():
                return bool(work())
        except StoreError as error:
            self.give_up(error)
            return False

    def give_up(self, error: Exception) -> None:
        """Stop because the crawl's file cannot be written (disk full, read-only, damaged); stored data stays intact.

        A worker of a shared crawl goes on as soon as it can.
        """
        if isinstance(error, StoreError) and self.frontier.recover_from(error):
            self._alarm.at(clock.monotonic() + AGAIN)
            return
        self.stop(
            f"cannot write to {self.crawl.folder}: {error}; stored data is intact: free some space or repair"
            " the disk, then run the same command again to resume",
            "store_failed",
        )

    def stop(self, message: str, reason: str) -> None:
        """Stop a crawl that cannot continue."""
        if self.crawl.fatal is None:
            self.crawl.fatal = message
            logger.error("%s", message)
            self.engine.stop(reason)

    def ask(self, hook: str, url: str, call: Callable[[], Answer], otherwise: Answer) -> Answer:
        """The result of a strategy's hook, or *otherwise* if it fails: the page itself is not lost.

        If the file cannot be written, the crawl stops.
        """
        try:
            return call()
        except StoreError as error:
            self.give_up(error)
        except FocusError as error:
            self.stop(str(error), "cannot_go_on")
        except OSError as error:
            self.stop(f"spider '{self.crawl.strategy.name}' failed in {hook}: {error}", "cannot_go_on")
        except Exception as error:
            reason = f"spider error: {hook}: {error!r}"
            logger.exception("%s on %s", reason, url)
            self.stats.inc_value("spider_exceptions/count")
            self.stats.inc_value(f"spider_exceptions/{type(error).__name__}")
            url_id = self.frontier.find(url)
            if url_id is not None and self.frontier.waits(url_id):
                url_id = None  # the link was not fetched yet, so it did not fail
            self.write(lambda: self.crawl.store.failures.add(url_id, url, reason, None, clock.now()))
        return otherwise
