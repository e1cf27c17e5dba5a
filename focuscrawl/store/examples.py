"""Table `example`: example pages of the topic, fetched before the crawl."""

from __future__ import annotations

from typing import NamedTuple

from focuscrawl.store.bodies import body_of, is_packed, pack
from focuscrawl.store.part import Part, upsert

_SET = upsert("example", "url", "content_type", "body", "fetched_at")


class Example(NamedTuple):
    """The response to a request for an example page."""

    content_type: str
    body: bytes


class Examples(Part):
    """The example pages of the topic."""

    def get(self, url: str) -> Example | None:
        """A stored example page."""
        row = self.store.execute("SELECT content_type, body FROM example WHERE url = ?", (url,)).fetchone()
        if row is None:
            return None
        content_type, stored = row  # before format 6 as it was received
        return Example(content_type, body_of(stored) if is_packed(stored) else stored)

    def add(self, url: str, example: Example, fetched_at: str) -> None:
        """Store or replace an example page."""
        self.store.execute(_SET, (url, example.content_type, pack(example.body), fetched_at))
