"""Single pages: `scrapy parse`, `fetch`, `view`, `shell` and `check` look at pages and crawl nothing.

They make a crawler as `scrapy crawl` does. So that its components find a crawl, and yet no crawl of the user's is
resumed or written to, there is one for the time being, in a temporary directory, without a frontier: Scrapy's own
scheduler hands out the one request. If FOCUS_DIR names a crawl, the directory holds a copy of it, with all that it has
learned.
"""

from __future__ import annotations

import builtins
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
from focuscrawl.store.store import crawl_folder, read_crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

#: Above what a spider sets, below the command line, as Scrapy's own `check` has it; and above the command line. Scrapy
#: sets the settings of its process once more after a spider's, so that the same priority would not do.
_PRIORITY = (SETTINGS_PRIORITIES["spider"] + SETTINGS_PRIORITIES["cmdline"]) // 2
_WHATEVER_IS_GIVEN = SETTINGS_PRIORITIES["cmdline"] + 1
#: Components that need a frontier, ask for more than the page, or tell how a crawl goes on.
_LEFT_OUT = {
    "DOWNLOADER_MIDDLEWARES": (
        "focuscrawl.middlewares.backoff.BackoffMiddleware",
        "focuscrawl.middlewares.gate.GateMiddleware",
    ),
    "ITEM_PIPELINES": ("focuscrawl.pipelines.store.StorePipeline", "focuscrawl.pipelines.rights.RightsPipeline"),
    "EXTENSIONS": ("focuscrawl.extensions.progress.Progress", "focuscrawl.extensions.report.Report"),
}
#: Of what an earlier run was given, this says where the crawl began and ended, and nothing about a page.
_OF_THE_CRAWL = ("seeds", "max_pages")
#: How often the file of a running crawl is copied anew because it changed meanwhile.
_TRIES = 10


def started_by_command(spider: type[Spider]) -> bool:
    """Whether a command of Scrapy's has put its own `start` into a spider: it begins where the command says."""
    return spider.start.__module__.startswith("scrapy.commands.")


def is_looked_at(crawler: Crawler) -> bool:
    """Whether a crawler, whose spider is not made yet, is there to look at single pages."""
    return started_by_command(crawler.spidercls) or has_engine(crawler)


def has_engine(crawler: Crawler) -> bool:
    """Whether a crawler has its engine, and all components with it: before there is a spider, only in the shell."""
    try:
        return crawler.engine is not None
    except RuntimeError:
        return False


def leave_no_trace(settings: BaseSettings) -> None:
    """Settings for one request, after which all files are as they were, but for those the command line asks for."""
    if settings.get("JOBDIR"):
        settings.set("FOCUS_DIR", settings.get("FOCUS_DIR") or settings["JOBDIR"], priority=_WHATEVER_IS_GIVEN)
        settings.set("JOBDIR", None, priority=_WHATEVER_IS_GIVEN)
    settings.set("FEEDS", {}, priority=_PRIORITY)
    settings.set("RETRY_ENABLED", False, priority=_PRIORITY)


def configure(settings: BaseSettings) -> None:
    """Settings of a spider of ours that looks at a single page."""
    leave_no_trace(settings)
    settings.set("SCHEDULER", "scrapy.core.scheduler.Scheduler", priority=_PRIORITY)
    for name, value in (("FOCUS_SITEMAPS", "no"), ("FOCUS_INDEX", False), ("FOCUS_DUPLICATES", 0.0)):
        settings.set(name, value, priority=_WHATEVER_IS_GIVEN)
    for name, paths in _LEFT_OUT.items():
        for path in paths:
            settings.set_in_component_priority_dict(name, load_object(path), None)
        settings.set(name, settings.getdict(name), priority=_PRIORITY)


class ThrowAway:
    """A directory for a crawl that nobody keeps; with a copy of the crawl that FOCUS_DIR names, if there is one."""

    def __init__(self, settings: BaseSettings) -> None:
        try:
            self._directory = TemporaryDirectory(prefix="focuscrawl-", ignore_cleanup_errors=True)
        except OSError as error:
            raise FocusError(f"no place for temporary files: {error}; name one with TMPDIR") from None
        self.folder = Path(self._directory.name)
        place = settings.get("FOCUS_DIR") or settings.get("JOBDIR")
        original = crawl_folder(place) if place else None
        #: The crawl that was copied.
        self.original = original if original and (original / "crawl.sqlite").is_file() else None
        if self.original is not None:
            try:
                self._copy(self.original)
            except OSError as error:
                self.remove()
                raise FocusError(f"cannot copy {original} to {self.folder.parent}: {error.strerror}") from None

    def _copy(self, original: Path) -> None:
        """Copy what is known and learned, without opening it: even to be read, SQLite would put files beside it."""
        file, log = original / "crawl.sqlite", original / "crawl.sqlite-wal"
        for _ in range(_TRIES):
            before = file.stat()
            shutil.copyfile(file, self.folder / file.name)
            (self.folder / log.name).unlink(missing_ok=True)
            with suppress(FileNotFoundError):  # then all is in the file
                shutil.copyfile(log, self.folder / log.name)
            after = file.stat()
            # a log that grows meanwhile is cut at its last whole transaction; only a file that changes spoils the copy
            if (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size):
                break
        else:
            raise FocusError(f"{original} is written to all the time; try again when its crawl has ended")
        for model in original.glob("*.json"):
            if model.is_file() and not model.is_symlink():
                shutil.copyfile(model, self.folder / model.name)

    def arguments(self, spider: type[Spider], given: Mapping[str, Any]) -> dict[str, Any]:
        """What the crawl that was copied was made with, as far as it matters for a page; what is *given* now wins."""
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
        """Errors about the copy are about what was copied."""
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
    """The spiders of a loader, all of them looking at one URL; where none of them is for it, Scrapy's default."""

    def __init__(self, loader: SpiderLoaderProtocol, url: str | None, arguments: Mapping[str, str]) -> None:
        self.loader = loader
        self.url = url
        self.arguments = arguments

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        raise NotImplementedError("it is made around another loader")

    def load(self, spider_name: str) -> type[Spider]:
        known = self.loader.list()
        if spider_name == DefaultSpider.name and spider_name not in known:
            return looking_at(DefaultSpider, self.url, {})
        return looking_at(self.loader.load(spider_name), self.url, self.arguments)

    def list(self) -> list[str]:
        return self.loader.list()

    def find_by_request(self, request: Request) -> builtins.list[str]:
        return self.loader.find_by_request(request) or [DefaultSpider.name]
