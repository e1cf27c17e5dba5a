"""Matched URLs: `URLs.txt`, one a line, in the order found."""

from __future__ import annotations

from collections.abc import Iterator

from focuscrawl.crawl.marking import write_matched
from focuscrawl.page import Page
from focuscrawl.pipelines.lines import LinesPipeline
from focuscrawl.store.store import Store


class MatchedUrlsPipeline(LinesPipeline):
    """Writes the URLs of matched pages to FOCUS_DIR/URLs.txt."""

    filename = "URLs.txt"
    #: The number of the last page that is in the file already, because it was written anew.
    _upto = 0

    def stored(self, store: Store) -> Iterator[str]:
        return (page.url for page in store.pages.matched())

    def line(self, page: Page) -> str | None:
        return page.url if page.matched and not 0 < page.number <= self._upto else None

    def verdicts_changed(self) -> None:
        """Write the file anew: a mark, or what a judge has learned, takes back a URL or adds one."""
        if not self.crawl.mirrors:
            return
        try:
            self.file.close()
            write_matched(self.crawl.folder, self.crawl.store)
            self.open_file()
        except OSError as error:
            self.crawl.give_up(error)
        self._upto = self.crawl.store.pages.last_number()

    def close_spider(self) -> None:
        self.crawl.ask("finished", "", self.crawl.strategy.finished, None)
        self.crawl.ask("marked", "", self.crawl.marks.take_up, None)
        super().close_spider()
