"""Redirects: one that leads nowhere is recorded as such."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.exceptions import IgnoreRequest

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Scrapy's own, but for a Location that is no URL: the reason of the failure names it."""

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        try:
            return super().process_response(request, response)
        except ValueError as error:
            location = (response.headers["Location"] or b"").decode("latin-1")
            raise IgnoreRequest(f"bad redirect: {location[:300]}: {error}") from None
