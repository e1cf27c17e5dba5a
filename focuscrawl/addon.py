"""FocusAddon: frontier, scoring and store for the spiders of any Scrapy project.

In its settings.py:

    ADDONS = {"focuscrawl.addon.FocusAddon": 500}
    FOCUS_TOPIC = {"name": "Sorting", "keywords": {"sort": 3, "array": 2}}    # or a topic file

The project's spiders keep their callbacks, rules and items. Their requests wait in the frontier, which hands out the
most promising one first, and every page is judged and stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object

from focuscrawl import settings as ours
from focuscrawl.crawl.single_page import leave_no_trace, started_by_command
from focuscrawl.errors import FocusError
from focuscrawl.extensions.guide import Guide, strategy_of
from focuscrawl.middlewares.guest import GuestMiddleware
from focuscrawl.pipelines.guest import KeepPagesPipeline
from focuscrawl.spider import FocusedSpider

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: Settings that the frontier relies on, and politeness settings for a crawler that visits many hosts.
_RELIED_ON = (
    *("SCHEDULER", "REDIRECT_PRIORITY_ADJUST", "RETRY_PRIORITY_ADJUST", "METAREFRESH_ENABLED", "DOWNLOAD_DELAY_JITTER"),
    *("ROBOTSTXT_OBEY", "CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_DELAY", "DOWNLOAD_TIMEOUT", "DOWNLOAD_MAXSIZE"),
    *("REMOTE_CONTROL_ENABLED", "RETRY_GIVE_UP_LOG_LEVEL", "DOWNLOAD_HANDLERS"),
)
_COMPONENTS = ("SPIDER_MIDDLEWARES", "DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "ITEM_PIPELINES")
#: Subtracted from the order of our pipelines, so that they run before the project's.
_BEFORE = 1000


class FocusAddon:
    """The add-on; the project's own settings take precedence."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Set the defaults of the FOCUS_ settings, before any spider is created."""
        for name in dir(ours):
            if name.startswith("FOCUS_"):
                settings.set(name, getattr(ours, name), priority="addon")

    def __init__(self, crawler: Crawler) -> None:
        self.spidercls = crawler.spidercls

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Install the components."""
        if single := started_by_command(self.spidercls):
            leave_no_trace(settings)
        own = settings.get("SCHEDULER")
        if (
            not single
            and (settings.getpriority("SCHEDULER") or 0) > SETTINGS_PRIORITIES["addon"]
            and own != ours.SCHEDULER
        ):
            raise FocusError(f"setting SCHEDULER={own}: the add-on needs its own scheduler, the frontier; remove yours")
        self.update_pre_crawler_settings(settings)  # a crawler may have been made without a runner
        for name in _RELIED_ON:
            settings.set(name, getattr(ours, name), priority="addon")
        for name in _COMPONENTS[:-1]:
            for path, order in getattr(ours, name).items():
                settings.setdefault_in_component_priority_dict(name, load_object(path), order)
        for path, order in ours.ITEM_PIPELINES.items():
            settings.setdefault_in_component_priority_dict("ITEM_PIPELINES", load_object(path), order - _BEFORE)
        if issubclass(self.spidercls, FocusedSpider):  # it needs no guide, and its items are its pages
            return
        for name, component, order in (
            ("EXTENSIONS", Guide, -1000),
            # between our scoring and the project's middlewares, which see requests and items unchanged
            ("SPIDER_MIDDLEWARES", GuestMiddleware, 510),
            ("ITEM_PIPELINES", KeepPagesPipeline, -1),  # after all of ours, before all of the project's
        ):
            settings.setdefault_in_component_priority_dict(name, component, order)
        self._add(strategy_of(settings), settings)

    def _add(self, strategy: type[FocusedSpider], settings: BaseSettings) -> None:
        """Apply a strategy's own settings: add its components, and set the rest unless already set."""
        own = settings.copy()
        own.set("ITEM_PIPELINES", ours.ITEM_PIPELINES, priority="spider")
        strategy.update_settings(own)
        of_spider = SETTINGS_PRIORITIES["spider"]
        for name in own:
            if name in _COMPONENTS:
                known = {load_object(component) for component in settings.getdict(name)}
                before = _BEFORE if name == "ITEM_PIPELINES" else 0
                for component, order in own.getdict(name).items():
                    if order is not None and load_object(component) not in known:
                        settings.setdefault_in_component_priority_dict(name, load_object(component), order - before)
            elif own.getpriority(name) == of_spider and (settings.getpriority(name) or 0) < of_spider:
                settings.set(name, own[name], priority="spider")
