"""A crawl: its directory, its file, its frontier, shared by all components of one run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

from focuscrawl.errors import FocusError
from focuscrawl.frontier.frontier import Frontier
from focuscrawl.store import Store
from focuscrawl.topic import Topic

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

try:
    import fcntl
except ImportError:  # Windows: two crawls in one directory are not noticed there
    fcntl = None  # type: ignore[assignment]

_crawls: WeakKeyDictionary[Crawler, Crawl] = WeakKeyDictionary()


def directory(settings: BaseSettings, spider: str, topic: Topic) -> Path:
    """Where a crawl lives: FOCUS_DIR, or `crawls/<spider>-<topic>`."""
    return Path(settings.get("FOCUS_DIR") or Path("crawls") / f"{spider}-{topic.slug}")


def _number(settings: BaseSettings, name: str, kind: type[int] | type[float] = int) -> float:
    """The value of a setting that must be a number and not negative."""
    try:
        value = kind(settings.get(name))
    except (TypeError, ValueError):
        value = kind(-1)
    if not value >= 0:
        what = "a whole number" if kind is int else "a number"
        raise FocusError(f"setting {name}={settings.get(name)}: expected {what}, at least 0")
    return value


class Crawl:
    """The open crawl of a crawler."""

    def __init__(self, folder: Path, spider: str, topic: Topic, **frontier: Any) -> None:
        self.folder = folder
        self.topic = topic
        #: Why the crawl had to stop, if it could not go on.
        self.fatal: str | None = None
        #: What went wrong first, in a crawl without a page.
        self.first_failure: str | None = None
        self.pages = 0
        self._lock: IO[str] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._take_lock()
        except OSError as error:
            raise FocusError(
                f"cannot write to {folder}: {error.strerror}; choose another with -s FOCUS_DIR=…"
            ) from None
        try:
            self.store = Store(folder / "crawl.sqlite")
        except FocusError:
            self._drop_lock()
            raise
        try:
            self._claim(spider, bool(frontier.get("any_scheme", True)))
        except FocusError:
            self.close()
            raise
        #: Pages stored by this crawl, this run and earlier ones; those judged relevant; those in URLs.txt.
        self.pages = self.store.count()
        self.matched = self.store.count(matched=True)
        self.relevant: int = self.store.execute("SELECT count(*) FROM page WHERE relevant").fetchone()[0]
        self.resumed = self.pages > 0
        self.frontier = Frontier(self.store, **frontier)

    @classmethod
    def of(cls, crawler: Crawler) -> Crawl:
        """The open crawl of a crawler."""
        return _crawls[crawler]

    @classmethod
    def open(cls, crawler: Crawler, spider: str, topic: Topic, **frontier: Any) -> Crawl:
        """Open the crawl of a crawler; the other components then find it with `of`."""
        settings = crawler.settings
        options = {
            "size": _number(settings, "FOCUS_FRONTIER_SIZE"),
            "ageing": _number(settings, "FOCUS_AGEING", float),
            "hosts_per_batch": _number(settings, "FOCUS_HOSTS_PER_BATCH"),
            "pages_per_host": _number(settings, "FOCUS_PAGES_PER_HOST"),
            "any_scheme": str(settings.get("FOCUS_ANY_SCHEME")).lower() in ("true", "1"),
        }
        crawl = cls(directory(settings, spider, topic), spider, topic, **(options | frontier))
        _crawls[crawler] = crawl
        return crawl

    def _take_lock(self) -> None:
        path = self.folder / ".lock"
        self._lock = path.open("a")
        if fcntl is None:
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._drop_lock()
            raise FocusError(
                f"{self.folder} is in use by another crawl; wait for it or choose another with -s FOCUS_DIR=…"
            ) from None

    def _drop_lock(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _claim(self, spider: str, any_scheme: bool) -> None:
        """A directory belongs to the spider and topic that made it."""
        store, topic = self.store, self.topic
        keywords = json.loads(json.dumps(topic.keywords))
        if store.meta("spider") is None:
            try:
                with store.transaction():
                    store.set_meta("spider", spider)
                    store.set_meta("topic", topic.name)
                    store.set_meta("keywords", keywords)
                    store.set_meta("any_scheme", any_scheme)
            except Exception as error:
                raise store.broken(error) from None
            return
        owner = store.meta("spider"), store.meta("topic"), store.meta("keywords")
        if owner == (spider, topic.name, keywords):
            if store.meta("any_scheme") != any_scheme:
                raise FocusError(f"{self.folder} was begun with another FOCUS_ANY_SCHEME, which cannot change half way")
            return
        same = owner[:2] == (spider, topic.name)
        raise FocusError(
            f"{self.folder} belongs to spider '{owner[0]}' and topic '{owner[1]}'"
            + (" with other keywords" if same else f", not to '{spider}' and '{topic.name}'")
            + "; choose another with -s FOCUS_DIR=… or move it away"
        )

    def close(self) -> None:
        """Close the file and let others have the directory; safe to call twice."""
        if self._lock is None:
            return
        if not self.pages:
            row = self.store.execute("SELECT url, reason FROM failure ORDER BY id LIMIT 1").fetchone()
            self.first_failure = f"{row[0]}: {row[1]}" if row else None
        self.store.close()
        self._drop_lock()

    def __del__(self) -> None:
        lock = getattr(self, "_lock", None)
        if lock is not None:
            lock.close()
