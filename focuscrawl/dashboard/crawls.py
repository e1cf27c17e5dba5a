"""The crawls that the dashboard shows, and what it keeps of each in memory."""

from __future__ import annotations

import logging
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from focuscrawl.crawl import clock
from focuscrawl.crawl.holder import Holder, holder
from focuscrawl.dashboard.ledger import Ledger
from focuscrawl.errors import FocusError
from focuscrawl.reports.status import crawls_in
from focuscrawl.store.places import crawl_folder, has_crawl, is_address, open_store
from focuscrawl.store.store import Store

logger = logging.getLogger(__name__)

#: Connections to a crawl's file that are kept open, and seconds that a request spends on the ledger.
KEPT = 2
PATIENCE = 0.08
#: Seconds in which the verdict on a page follows its mark.
LATELY = 30.0
#: Crawls of a folder that are shown.
MAX_CRAWLS = 500


class Fact(NamedTuple):
    """A value that takes long to compute: the last one that was computed, and when."""

    value: Any
    at: float
    took: float


class OpenCrawl:
    """A crawl: its file, read by short requests, and what is known of it between them."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.ledger = Ledger()
        self._stores: list[Store] = []
        self._inode = 0
        self._lock = threading.Lock()
        self._facts: dict[str, Fact] = {}
        self._busy: dict[str, threading.Event] = {}
        #: What the marks say that count, by page and by key, and the number of the last mark read.
        self.marked: dict[int, str] = {}
        self._keys: dict[int, int] = {}
        self._last_mark = 0
        #: Pages that were marked lately, and when: a running crawl takes up marks a little later.
        self._lately: dict[int, float] = {}

    # ---- the file

    @contextmanager
    def open(self) -> Iterator[Store]:
        """A connection to the crawl's file, read-only. What is wrong with the file is reported in one line."""
        path = self.folder / "crawl.sqlite"
        try:
            inode = 0 if is_address(self.folder) else path.stat().st_ino
        except OSError:
            raise FocusError(f"{path} is gone; was the crawl moved?") from None
        with self._lock:
            if inode != self._inode:  # another file has its place
                self._close()
                self._inode = inode
            store = self._stores.pop() if self._stores else None
        if store is None:
            store = open_store(self.folder, create=False, check=False, any_thread=True)
            if store.new:
                store.close()
                raise FocusError(f"{self.folder} has just begun; reload in a moment")
            store.browse.small_cache()
        try:
            with store.reading():
                yield store
        except BaseException:
            store.close()
            raise
        with self._lock:
            if len(self._stores) < KEPT and inode == self._inode:
                self._stores.append(store)
                return
        store.close()

    def _close(self) -> None:
        while self._stores:
            self._stores.pop().close()

    def close(self) -> None:
        """Close the connections."""
        with self._lock:
            self._close()

    def holder(self) -> Holder | None:
        """The process that crawls; None if none does."""
        return holder(self.folder)

    def size(self) -> int:
        """The bytes of the crawl's file and its log."""
        if is_address(self.folder):
            with self.open() as store:
                return store.size()
        total = 0
        for name in ("crawl.sqlite", "crawl.sqlite-wal"):
            path = self.folder / name
            total += path.stat().st_size if path.exists() else 0
        return total

    def free_space(self) -> int | None:
        """The free bytes of the disk."""
        try:
            return shutil.disk_usage(self.folder).free
        except OSError:
            return None

    # ---- in memory

    def catch_up(self, store: Store) -> bool:
        """Bring ledger and marks up to date, as far as that is quick; the rest is done in the background."""
        self._read_marks(store)
        done = self.ledger.catch_up(store, 0.01 if self.is_busy("ledger") else PATIENCE)
        if self._lately:
            old = clock.monotonic() - LATELY
            self.ledger.renew(store, list(self._lately))
            self._lately = {page: at for page, at in self._lately.items() if at > old}
        if not done:
            self.start("ledger", self._fill)
        return done

    def warm_up(self) -> None:
        """Begin to read the crawl before the first request."""
        self.start("ledger", self._fill)

    def _fill(self, store: Store) -> None:
        while not self.ledger.catch_up(store, 0.1):
            threading.Event().wait(0.01)  # requests come first

    def _read_marks(self, store: Store) -> None:
        new = store.marks.after(self._last_mark)
        if not new:
            return
        unknown: list[int] = []
        for mark in new:
            if mark.key not in self._keys:
                page = store.browse.page_at(mark.url)
                if page is None:
                    unknown.append(mark.key)
                else:
                    self._keys[mark.key] = page
        if unknown:
            self._keys.update(store.browse.pages_of_keys(unknown))
        for mark in new:
            page = self._keys.get(mark.key)
            if page is not None:
                self._lately[page] = clock.monotonic()
                if mark.verdict == "none":
                    self.marked.pop(page, None)
                else:
                    self.marked[page] = mark.verdict
        self._last_mark = new[-1].id

    def fact(self, name: str, compute: Callable[[Store], Any], wait: float = 0.04, fresh: float = 2.0) -> Any:
        """A value that may take long: it is computed in the background, and here is the last one; None before that.

        It is computed again when it is older than *fresh* seconds, and than ten times what it took.
        """
        known = self._facts.get(name)
        if known is None or clock.monotonic() - known.at > max(fresh, 10 * known.took):

            def work(store: Store) -> None:
                began = clock.monotonic()
                value = compute(store)
                now = clock.monotonic()
                self._facts[name] = Fact(value, now, now - began)

            self.start(name, work).wait(wait if known is None else 0.02)
            known = self._facts.get(name)
        return None if known is None else known.value

    def is_busy(self, name: str) -> bool:
        """Whether some work is being done in the background."""
        return name in self._busy

    def start(self, name: str, work: Callable[[Store], None]) -> threading.Event:
        """Do some work in the background, unless it is being done; the event is set when it is done."""
        with self._lock:
            if name in self._busy:
                return self._busy[name]
            event = self._busy[name] = threading.Event()

        def run() -> None:
            try:
                with self.open() as store:
                    work(store)
            except FocusError as error:
                logger.warning("%s", error)
            finally:
                with self._lock:
                    del self._busy[name]
                event.set()

        threading.Thread(target=run, name=f"{self.name} {name}", daemon=True).start()
        return event


class Crawls:
    """The crawls under a path: one crawl, or all in a folder."""

    def __init__(self, place: str) -> None:
        self.place = crawl_folder(place)
        self.single = has_crawl(self.place)
        if not self.single and not self.place.is_dir():
            raise FocusError(f"{place}: no such directory; give the directory of a crawl, or a folder of crawls")
        self._open: dict[str, OpenCrawl] = {}
        self._looked = 0.0
        self._lock = threading.Lock()
        if not self.all():
            raise FocusError(f"{place}: there is no crawl (crawl.sqlite) in it or up to three levels below it")

    def all(self) -> list[OpenCrawl]:
        """All crawls, by name. New ones are looked for now and then."""
        with self._lock:
            if not self._open or (not self.single and clock.monotonic() - self._looked > 5):
                self._looked = clock.monotonic()
                self._find()
            return [self._open[name] for name in sorted(self._open)]

    def _find(self) -> None:
        try:
            folders = list(islice(crawls_in(self.place), MAX_CRAWLS))
        except OSError as error:
            raise FocusError(f"{self.place} cannot be read: {error.strerror}") from None
        here: set[str] = set()
        for folder in folders:
            name = _name(folder, self.place)
            here.add(name)
            if name not in self._open:
                self._open[name] = OpenCrawl(name, folder)
        for name in set(self._open) - here:
            self._open.pop(name).close()

    def get(self, name: str) -> OpenCrawl | None:
        """The crawl with a name."""
        return self._open.get(name) or next((crawl for crawl in self.all() if crawl.name == name), None)


def _name(folder: Path, place: Path) -> str:
    """The name of a crawl in addresses: its path below the folder that is shown."""
    inside = folder.relative_to(place).as_posix()
    return folder.resolve().name or "crawl" if inside == "." else inside
