"""For projects whose own pipelines and feeds do not expect pages."""

from __future__ import annotations

from typing import Any

from scrapy.exceptions import DropItem

from focuscrawl.page import Page


class KeepPagesPipeline:
    """Drops pages: they are in the store and in pages.jsonl."""

    def process_item(self, item: Any) -> Any:
        if isinstance(item, Page):
            raise DropItem(f"stored: {item.url}", log_level="NOTSET")
        return item
