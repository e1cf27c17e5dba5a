"""Matched URLs: `URLs.txt`, one a line, in the order found."""

from __future__ import annotations

from collections.abc import Iterator

from focuscrawl.page import Page
from focuscrawl.pipelines.lines import LinesPipeline
from focuscrawl.store.store import Store


class MatchedUrlsPipeline(LinesPipeline):
    """Writes the URLs of matched pages to FOCUS_DIR/URLs.txt."""

    filename = "URLs.txt"

    def stored(self, store: Store) -> Iterator[str]:
        return (page.url for page in store.pages.matched())

    def line(self, page: Page) -> str | None:
        return page.url if page.matched else None
