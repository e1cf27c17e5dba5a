"""Pages file: `pages.jsonl`, one line per fetched page, in fetch order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from focuscrawl.page import FIELDS, Page
from focuscrawl.pipelines.lines import LinesPipeline
from focuscrawl.store.store import Store


class PagesFilePipeline(LinesPipeline):
    """Writes a line for each stored page to FOCUS_DIR/pages.jsonl."""

    filename = "pages.jsonl"

    def stored(self, store: Store) -> Iterator[str]:
        return map(_json, store.pages.records())

    def process_item(self, item: Any) -> Any:
        # the file tells what was fetched first: a later visit adds nothing to it
        return item if isinstance(item, Page) and item.visit is not None else super().process_item(item)

    def verdicts_changed(self) -> None:
        """The file keeps the verdicts that the pages had first."""

    def line(self, page: Page) -> str:
        return _json({name: getattr(page, name) for name in FIELDS})


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
