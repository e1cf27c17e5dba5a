"""The Relevant and Irrelevant tables: URLs of the pages judged so, one per line, in fetch order."""

from __future__ import annotations

from collections.abc import Iterator

from focuscrawl.page import Page
from focuscrawl.pipelines.lines import LinesPipeline
from focuscrawl.store.store import Store


class RelevantTablePipeline(LinesPipeline):
    """Writes the URLs of relevant pages to FOCUS_DIR/Relevant.txt."""

    filename = "Relevant.txt"

    def stored(self, store: Store) -> Iterator[str]:
        return (page.url for page in store.pages.each() if page.relevant)

    def line(self, page: Page) -> str | None:
        return page.url if page.judgement is not None and page.judgement.relevant else None


class IrrelevantTablePipeline(LinesPipeline):
    """Writes the URLs of pages that could be read and are not relevant to FOCUS_DIR/Irrelevant.txt."""

    filename = "Irrelevant.txt"

    def stored(self, store: Store) -> Iterator[str]:
        return (page.url for page in store.pages.each() if page.relevant is False and page.problem is None)

    def line(self, page: Page) -> str | None:
        if page.problem is not None or page.judgement is None or page.judgement.relevant:
            return None
        return page.url
