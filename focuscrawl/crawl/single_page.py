"""Single pages: `scrapy parse`, `fetch`, `view`, `shell` and `check` look at pages without crawling.

They create a crawler as `scrapy crawl` does. Its components need a crawl, but no crawl of the user's may be resumed or
changed, so there is one in a temporary directory, without a frontier: Scrapy's own scheduler handles the one request.
If FOCUS_DIR names a crawl, the directory holds a copy of it, with everything that it has learned.
"""

from __future__ import annotations

import builtins
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from scrapy import Spider
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.spiderloader import SpiderLoaderProtocol
from scrapy.utils.misc import load_object
from scrapy.utils.spider import DefaultSpider

from focuscrawl.crawl.runs import arguments_again, not_taken
from focuscrawl.errors import FocusError
from focuscrawl.store.copying import copy
from focuscrawl.store.places import crawl_folder, has_crawl, is_address, open_store, read_crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: Above a spider's settings and below the command line, as in Scrapy's own `check`; and above the command line. Scrapy
#: applies the settings of its process again after a spider's, so an equal priority is not enough.
_PRIORITY = (SETTINGS_PRIORITIES["spider"] + SETTINGS_PRIORITIES["cmdline"]) // 2
_ABOVE_COMMAND_LINE = SETTINGS_PRIORITIES["cmdline"] + 1
#: Components that need a frontier, send further requests, or report progress.
_LEFT_OUT = {
    "DOWNLOADER_MIDDLEWARES": (
        "focuscrawl.middlewares.backoff.BackoffMiddleware",
        "focuscrawl.middlewares.gate.GateMiddleware",
        "focuscrawl.middlewares.warc.WarcMiddleware",
    ),
    "ITEM_PIPELINES": ("focuscrawl.pipelines.store.StorePipeline", "focuscrawl.pipelines.rights.RightsPipeline"),
    "EXTENSIONS": (
        "focuscrawl.extensions.progress.Progress",
        "focuscrawl.extensions.report.Report",
        "focuscrawl.extensions.feeds.StoredPages",
    ),
}
#: Arguments of an earlier run that only say where a crawl starts and ends.
_OF_THE_CRAWL = ("seeds", "max_pages", "max_hours", "stop_below")
#: Attempts to copy the file of a running crawl, which may change meanwhile.
_TRIES = 10


def started_by_command(spider: type[Spider]) -> bool:
    """Whether one of Scrapy's commands has replaced the `start` of a spider with its own."""
    return spider.start.__module__.startswith("scrapy.commands.")


def is_looked_at(crawler: Crawler) -> bool:
    """Whether a crawler, whose spider is not created yet, looks at single pages."""
    return started_by_command(crawler.spidercls) or has_engine(crawler)


def has_engine(crawler: Crawler) -> bool:
    """Whether a crawler has its engine and components; before its spider is created, only in the shell."""
    try:
        return crawler.engine is not None
    except RuntimeError:
        return False


def leave_no_trace(settings: BaseSettings) -> None:
    """Settings for a single request that writes no files except those requested on the command line."""
    if settings.get("JOBDIR"):
        settings.set("FOCUS_DIR", settings.get("FOCUS_DIR") or settings["JOBDIR"], priority=_ABOVE_COMMAND_LINE)
        settings.set("JOBDIR", None, priority=_ABOVE_COMMAND_LINE)
    settings.set("FEEDS", {}, priority=_PRIORITY)
    settings.set("RETRY_ENABLED", False, priority=_PRIORITY)


def configure(settings: BaseSettings) -> None:
    """Settings for one of our spiders that looks at a single page."""
    leave_no_trace(settings)
    settings.set("SCHEDULER", "scrapy.core.scheduler.Scheduler", priority=_PRIORITY)
    for name, value in (("FOCUS_SITEMAPS", "no"), ("FOCUS_INDEX", False), ("FOCUS_DUPLICATES", 0.0)):
        settings.set(name, value, priority=_ABOVE_COMMAND_LINE)
    for name, paths in _LEFT_OUT.items():
        for path in paths:
            settings.set_in_component_priority_dict(name, load_object(path), None)
        settings.set(name, settings.getdict(name), priority=_PRIORITY)


class ThrowAway:
    """A temporary directory for a crawl, with a copy of the crawl that FOCUS_DIR names, if there is one."""

    def __init__(self, settings: BaseSettings) -> None:
        try:
            self._directory = TemporaryDirectory(prefix="focuscrawl-", ignore_cleanup_errors=True)
        except OSError as error:
            raise FocusError(
                f"cannot create a temporary directory: {error}; choose another place with TMPDIR"
            ) from None
        self.folder = Path(self._directory.name)
        place = settings.get("FOCUS_DIR") or settings.get("JOBDIR")
        original = crawl_folder(place) if place else None
        #: The crawl that was copied.
        self.original = original if original and has_crawl(original) else None
        if self.original is not None:
            try:
                self._copy(self.original)
            except OSError as error:
                self.remove()
                raise FocusError(f"cannot copy {original} to {self.folder.parent}: {error.strerror}") from None

    def _copy(self, original: Path) -> None:
        """Copy the store and the models without opening them: SQLite creates files beside a store even to read it."""
        if is_address(original):
            with read_crawl(original) as source, closing(open_store(self.folder)) as target:
                copy(source, target)
            return
        file, log = original / "crawl.sqlite", original / "crawl.sqlite-wal"
        for _ in range(_TRIES):
            before = file.stat()
            shutil.copyfile(file, self.folder / file.name)
            (self.folder / log.name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):  # then everything is in the file
                shutil.copyfile(log, self.folder / log.name)
            after = file.stat()
            # a growing log is fine: SQLite stops at the last complete transaction; a changed file spoils the copy
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
                break
        else:
            raise FocusError(f"{original} keeps changing; try again when its crawl has ended")
        for model in original.glob("*.json"):
            if model.is_file() and not model.is_symlink():
                shutil.copyfile(model, self.folder / model.name)

    def arguments(self, spider: type[Spider], given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the copied crawl that matter for a page; those *given* now take precedence."""
        if self.original is None:
            return dict(given)
        with self.named(), read_crawl(self.folder, check=False) as store:
            owner, noted = store.meta("spider"), store.runs()[-1].get("arguments", {})
        if owner not in (None, spider.name):
            raise FocusError(
                f"{self.original} belongs to spider '{owner}', not to '{spider.name}'; name that spider, or another"
                " crawl with -s FOCUS_DIR=…"
            )
        noted = {name: value for name, value in noted.items() if name not in _OF_THE_CRAWL}
        arguments, asked = arguments_again(noted, spider, given)
        if asked:
            raise FocusError(not_taken(self.original, asked))
        return arguments

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let errors about the copy name the original."""
        try:
            yield
        except FocusError as error:
            raise FocusError(str(error).replace(str(self.folder), str(self.original or self.folder))) from None

    def remove(self) -> None:
        """Remove the directory; safe to call twice."""
        self._directory.cleanup()


def looking_at(spider: type[Spider], url: str | None, arguments: Mapping[str, str]) -> type[Spider]:
    """The same spider, with these arguments; the URL to look at is its only seed."""

    def from_crawler(cls: type[Spider], crawler: Crawler, *args: Any, **kwargs: Any) -> Spider:
        looking = super(made, cls).from_crawler(crawler, *args, **{**arguments, **kwargs})  # type: ignore[misc]
        looking.start_urls = [url] if url else []
        return looking  # type: ignore[no-any-return]

    body = {"from_crawler": classmethod(from_crawler), "__module__": spider.__module__, "__doc__": spider.__doc__}
    made: type[Spider] = type(spider.__name__, (spider,), body)
    return made


class LookingLoader:
    """The spiders of a loader, all of them looking at one URL; Scrapy's default spider if none handles it."""

    def __init__(self, loader: SpiderLoaderProtocol, url: str | None, arguments: Mapping[str, str]) -> None:
        self.loader = loader
        self.url = url
        self.arguments = arguments

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        raise NotImplementedError("LookingLoader wraps another loader")

    def load(self, spider_name: str) -> type[Spider]:
        known = self.loader.list()
        if spider_name == DefaultSpider.name and spider_name not in known:
            return looking_at(DefaultSpider, self.url, {})
        return looking_at(self.loader.load(spider_name), self.url, self.arguments)

    def list(self) -> list[str]:
        return self.loader.list()

    def find_by_request(self, request: Request) -> builtins.list[str]:
        return self.loader.find_by_request(request) or [DefaultSpider.name]
