"""Base of the pipelines that write one line per page to a file of the crawl."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy.exceptions import DropItem

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.linefile import LineFile
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.store.store import Store

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class LinesPipeline:
    """Keeps a file of the crawl in step with its store."""

    filename: ClassVar[str]
    #: Whether a stored page was visited again, so that its line may have to change.
    _behind = False

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def stored(self, store: Store) -> Iterator[str]:
        """The lines for the pages stored so far."""
        raise NotImplementedError

    def line(self, page: Page) -> str | None:
        """The line for a page; None for no line."""
        raise NotImplementedError

    def open_spider(self) -> None:
        self.open_file()
        self.crawl.marks.listeners.append(self.verdicts_changed)

    def verdicts_changed(self) -> None:
        """The verdicts on stored pages have changed: somebody has marked them, or the judge has learned."""
        self._behind = True

    def open_file(self) -> None:
        """Bring the file in step with the store, and open it."""
        path = self.crawl.folder / self.filename
        try:
            self.file = LineFile(path, self.stored(self.crawl.store) if self.crawl.mirrors else None)
        except OSError as error:
            raise FocusError(f"cannot write to {path}: {error.strerror}; move it away or repair the disk") from None

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page) and item.visit is not None:
            self._behind = True
            return item
        line = self.line(item) if isinstance(item, Page) else None
        if line is not None:
            try:
                self.file.write(line)
            except OSError as error:
                self.crawl.give_up(error)
                raise DropItem(f"not written: {error}", log_level="DEBUG") from None
        return item

    def close_spider(self) -> None:
        if hasattr(self, "file"):
            if self._behind and not self.crawl.fatal:
                self.file.close()
                self.open_file()
            self.file.close()
