"""Guide: a strategy for a spider that is not a FocusedSpider."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.misc import load_object
from scrapy.utils.spider import DefaultSpider

from focuscrawl.crawl.single_page import started_by_command
from focuscrawl.errors import FocusError
from focuscrawl.options import options_of, read_options
from focuscrawl.settings import FOCUS_STRATEGY, SPIDER_MODULES
from focuscrawl.spider import FocusedSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings


class Guide:
    """Creates the strategy that scores the links of a project's own spider, and opens its crawl.

    Settings: FOCUS_TOPIC, FOCUS_STRATEGY, FOCUS_STRATEGY_OPTIONS.
    """

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        spider = crawler.spider
        # the spider is its own strategy, or `scrapy shell`, `fetch` or `parse` look at a single page without a crawl
        if spider is None or isinstance(spider, FocusedSpider | DefaultSpider) or started_by_command(type(spider)):
            raise NotConfigured
        strategy = strategy_of(crawler.settings)
        _warn_of_arguments(spider, strategy)
        facts = {"name": spider.name, "needs_seeds": False}
        named: type[FocusedSpider] = type(strategy.__name__, (strategy,), facts)
        seeds = [url for url in getattr(spider, "start_urls", ()) if "," not in url]
        options = _options(crawler.settings, strategy)
        try:
            guide = cls(named.from_crawler(crawler, seeds=",".join(seeds) or None, **options))
        except FocusError as error:
            if " -a " not in str(error):
                raise
            raise FocusError(f"{error}; with the add-on, use FOCUS_STRATEGY_OPTIONS instead of -a") from None
        crawler.signals.connect(guide.closed, signals.spider_closed)
        return guide

    def __init__(self, strategy: FocusedSpider) -> None:
        self.strategy = strategy

    def closed(self, reason: str) -> None:
        """Tell the strategy that the spider is closed."""
        closed = getattr(self.strategy, "closed", None)
        if closed is not None:
            closed(reason)


def _options(settings: BaseSettings, strategy: type[FocusedSpider]) -> dict[str, Any]:
    """FOCUS_STRATEGY_OPTIONS, checked against the strategy's options."""
    try:
        options = settings.getdict("FOCUS_STRATEGY_OPTIONS")
    except (TypeError, ValueError) as error:
        raise FocusError(
            f'setting FOCUS_STRATEGY_OPTIONS: expected a table such as {{"max_pages": 100}}: {error}'
        ) from None
    try:
        read_options(strategy, options, ("topic", "keywords"))
    except FocusError as error:
        raise FocusError(f"setting FOCUS_STRATEGY_OPTIONS: {error}") from None
    return options


def _warn_of_arguments(spider: Spider, strategy: type[FocusedSpider]) -> None:
    """Warn of arguments meant for the strategy: the spider gets them, and turns unknown ones into attributes."""
    places = dict.fromkeys(options_of(strategy), "FOCUS_STRATEGY_OPTIONS")
    places |= {"topic": "FOCUS_TOPIC", "keywords": "FOCUS_TOPIC", "seeds": "its start_urls"}
    makers = [vars(cls)["__init__"] for cls in type(spider).__mro__ if "__init__" in vars(cls)]
    known = {*dir(type(spider)), *(name for maker in makers for name in signature(maker).parameters)}
    lost = [name for name, value in vars(spider).items() if name in places and isinstance(value, str)]
    hints = [f"-a {name} belongs in {places[name]}" for name in lost if name not in known]
    if hints:
        message = "the strategy does not see the arguments of spider '%s': %s"
        spider.logger.warning(message, spider.name, ", ".join(hints))


def strategy_of(settings: BaseSettings) -> type[FocusedSpider]:
    """The strategy that FOCUS_STRATEGY names."""
    name = str(settings.get("FOCUS_STRATEGY") or FOCUS_STRATEGY)  # a project without the add-on has no such setting
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
        raise FocusError(f"setting FOCUS_STRATEGY={name}: is not a FocusedSpider")
    return found
