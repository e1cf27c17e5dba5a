"""Settings of the process that make a crawl cheaper."""

from __future__ import annotations

import gc
import logging

#: New objects before the collector looks for cycles: a page makes thousands, and lives for a moment. Python looks every
#: 700 objects.
OBJECTS = 10_000

#: They log several lines per page, which nobody sees above DEBUG.
_LOQUACIOUS = ("scrapy.core.engine", "scrapy.core.scraper")


def tune(log_level: str | int) -> None:
    """Look for cycles less often, and make no log records that would not be shown."""
    first, *others = gc.get_threshold()
    if 0 < first < OBJECTS:  # 0: somebody has switched it off
        gc.set_threshold(OBJECTS, *others)
    level = logging.getLevelName(log_level) if isinstance(log_level, str) else log_level
    for name in _LOQUACIOUS:
        if isinstance(level, int):
            logging.getLogger(name).setLevel(min(level, logging.WARNING))
