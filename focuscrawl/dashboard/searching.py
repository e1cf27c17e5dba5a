"""Search: the crawl's full-text index with the filters of a form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.search.index import Hit, Index, Piece
from focuscrawl.search.query import Query
from focuscrawl.store.search import Filter
from focuscrawl.store.store import Store

DEFAULT, MOST = 10, 100


class Found(NamedTuple):
    """A hit, and the number of its page."""

    hit: Hit
    number: int | None

    def record(self) -> dict[str, Any]:
        """The hit as JSON, as `scrapy search --json` writes it, with the number of its page."""
        texts = {"title": _plain(self.hit.title), "snippet": _plain(self.hit.snippet)}
        return {"page": self.number} | self.hit._asdict() | texts | {"score": round(self.hit.score, 4)}


class Results(NamedTuple):
    """The best pages for a query, the number of matches counted, and whether there are more."""

    hits: list[Found]
    total: int
    more: bool


def find(store: Store, text: str, where: Filter, limit: str) -> Results:
    """The best pages; raises FocusError if the query has no word to look for."""
    number = int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 5 else DEFAULT
    answer = Index(store).search(Query.of(text), where, max(1, min(number, MOST)))
    hits = [Found(hit, store.browse.page_at(hit.url)) for hit in answer.hits]
    return Results(hits, answer.total, answer.more)


def search_filter(given: Mapping[str, str]) -> Filter:
    """The filter that a form describes; raises FocusError for a wrong date."""
    return Filter(
        topic=given.get("topic", "").strip()[:200] or None,
        matched=bool(given.get("matched")),
        host=given.get("host", "").strip()[:200] or None,
        since=_time(given.get("since", "")),
        until=_time(given.get("until", ""), end=True),
        language=given.get("language", "").strip().lower()[:20] or None,
    )


def _time(text: str, *, end: bool = False) -> str | None:
    """A date in the format of `fetched_at`; with *end*, the day after."""
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip()[:40])
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment += timedelta(days=1) if end else timedelta()
    except (ValueError, OverflowError):
        raise FocusError(f"'{text[:40]}' is not a date such as 2026-11-16") from None
    return moment.isoformat(timespec="milliseconds")


def _plain(pieces: list[Piece]) -> str:
    return "".join(text for text, _ in pieces)
