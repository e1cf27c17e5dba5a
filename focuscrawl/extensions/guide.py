"""Guide: a strategy beside a spider that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object
from scrapy.utils.spider import DefaultSpider

from focuscrawl.errors import FocusError
from focuscrawl.settings import SPIDER_MODULES
from focuscrawl.spider import FocusedSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class Guide:
    """Makes the strategy that scores the links of a project's own spider, and opens its crawl.

    Settings: FOCUS_TOPIC, FOCUS_STRATEGY, FOCUS_STRATEGY_OPTIONS.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        spider = crawler.spider
        # one that is its own guide, or no crawl at all: `scrapy shell`, `fetch`, `parse` look at a single page
        if spider is None or isinstance(spider, FocusedSpider | DefaultSpider):
            raise NotConfigured
        if type(spider).start.__module__.startswith("scrapy.commands."):
            raise NotConfigured
        strategy = strategy_of(crawler.settings)
        facts = {"name": spider.name, "needs_seeds": False}
        named: type[FocusedSpider] = type(strategy.__name__, (strategy,), facts)
        seeds = [url for url in getattr(spider, "start_urls", ()) if "," not in url]
        try:
            options: dict[str, Any] = crawler.settings.getdict("FOCUS_STRATEGY_OPTIONS")
        except ValueError as error:
            raise FocusError(
                f'setting FOCUS_STRATEGY_OPTIONS: not a table, as in {{"max_pages": 100}}: {error}'
            ) from None
        guide = cls(named.from_crawler(crawler, seeds=",".join(seeds) or None, **options))
        crawler.signals.connect(guide.closed, signals.spider_closed)
        return guide

    def __init__(self, strategy: FocusedSpider) -> None:
        self.strategy = strategy

    def closed(self, reason: str) -> None:
        """What Scrapy tells the spider, the strategy has to know, too."""
        closed = getattr(self.strategy, "closed", None)
        if closed is not None:
            closed(reason)


def strategy_of(settings: BaseSettings) -> type[FocusedSpider]:
    """The strategy that FOCUS_STRATEGY names."""
    name = str(settings["FOCUS_STRATEGY"])
    known = SpiderLoader.from_settings(Settings({"SPIDER_MODULES": SPIDER_MODULES}))
    try:
        found = known.load(name) if "." not in name else load_object(name)
    except KeyError:
        raise FocusError(
            f"setting FOCUS_STRATEGY={name}: expected {', '.join(sorted(known.list()))}, or an import path"
        ) from None
    except (ImportError, NameError, ValueError) as error:
        raise FocusError(f"setting FOCUS_STRATEGY={name}: cannot be imported: {error}") from None
    if not (isinstance(found, type) and issubclass(found, FocusedSpider)):
        raise FocusError(f"setting FOCUS_STRATEGY={name}: is no FocusedSpider")
    return found
