"""Settings of the process that make a crawl cheaper."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable

#: New objects before the collector looks for cycles: a page makes thousands, and lives for a moment. Python looks every
#: 700 objects.
OBJECTS = 10_000

#: They log several lines per page, which nobody sees above DEBUG.
_LOQUACIOUS = ("scrapy.core.engine", "scrapy.core.scraper")


def tune(log_level: str | int) -> Callable[[], None]:
    """Look for cycles less often, and make no log records that would not be shown; returns what ends the latter."""
    first, *others = gc.get_threshold()
    if 0 < first < OBJECTS:  # 0: somebody has switched it off
        gc.set_threshold(OBJECTS, *others)
    level = logging.getLevelName(log_level) if isinstance(log_level, str) else log_level
    loggers = [logging.getLogger(name) for name in _LOQUACIOUS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        if isinstance(level, int) and logger.getEffectiveLevel() < (least := min(level, logging.WARNING)):
            logger.setLevel(least)

    def untune() -> None:
        for logger, own in zip(loggers, before, strict=True):
            logger.setLevel(own)

    return untune
