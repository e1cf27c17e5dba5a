"""Visitor: what the scheduler asks of a recrawl, which visits stored pages again."""

from __future__ import annotations

from typing import Any, Protocol

from scrapy import Request
from scrapy.http import Response

from focuscrawl.crawl.focus import Focus
from focuscrawl.store.queue import Entry


class Visitor(Protocol):
    """Revisits stored pages."""

    def visit_request(self, entry: Entry) -> Request:
        """The request for a visit."""

    def visit_ended(self, response: Response) -> Any:
        """The callback of a visit."""

    def visit_failed(self, focus: Focus, reason: str, *, silent: bool) -> None:
        """Handle a visit without a response; *silent* if the host did not answer at all. Called in a transaction."""

    def visit_lost(self, focus: Focus, reason: str) -> None:
        """Handle a visit whose response could not be processed. Called in a transaction."""

    def visits_done(self) -> int:
        """Called when all visits are done; returns how many new pages may be fetched."""
