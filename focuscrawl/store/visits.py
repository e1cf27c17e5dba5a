"""Table `visit`: later visits to stored pages."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from focuscrawl.store.part import Part
from focuscrawl.store.sqlite_file import from_json

_ADD = "INSERT INTO visit (page, visited_at, status, outcome, details) VALUES (?, ?, ?, ?, ?)"


class StoredVisit(NamedTuple):
    """The outcome of a visit to a stored page."""

    page: int
    visited_at: str
    #: Of the response; None if there was none.
    status: int | None
    outcome: str
    details_json: str | None

    @property
    def details(self) -> dict[str, Any]:
        """What changed."""
        return from_json(self.details_json, dict)


class Visits(Part):
    """The later visits to stored pages."""

    def each(self) -> Iterator[StoredVisit]:
        """All visits, first to last."""
        rows = self.store.execute("SELECT page, visited_at, status, outcome, details FROM visit ORDER BY id")
        return map(StoredVisit._make, rows)

    def add(
        self, page_id: int, when: str, status: int | None, outcome: str, details: Mapping[str, Any] | None = None
    ) -> None:
        """Record the outcome of a visit to a stored page."""
        text = json.dumps(details, ensure_ascii=False) if details else None
        self.store.execute(_ADD, (page_id, when, status, outcome, text))
