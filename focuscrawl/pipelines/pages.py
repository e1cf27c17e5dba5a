"""Pages file: `pages.jsonl`, one line per fetched page, in fetch order."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from focuscrawl.crawl import Crawl
from focuscrawl.linefile import LineFile
from focuscrawl.page import FIELDS, Page

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler


class PagesFilePipeline:
    """Writes a line for each stored page to FOCUS_DIR/pages.jsonl."""

    def __init__(self, crawl: Crawl) -> None:
        self.crawl = crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(Crawl.of(crawler))

    def open_spider(self) -> None:
        self.file = LineFile(self.crawl.folder / "pages.jsonl", map(_line, self.crawl.store.rows()))

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            self.file.write(_line({name: getattr(item, name) for name in FIELDS}))
        return item

    def close_spider(self) -> None:
        self.file.close()


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
