"""Redirects: their targets are normalised like every other URL, and invalid ones are recorded as failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.redirect import RedirectMiddleware as ScrapyRedirectMiddleware
from scrapy.exceptions import IgnoreRequest

from focuscrawl import urls
from focuscrawl.crawl.focus import Focus

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.settings import BaseSettings

#: Statuses that redirect to the Location.
REDIRECTS = (301, 302, 303, 307, 308)


class RedirectMiddleware(ScrapyRedirectMiddleware):
    """Scrapy's middleware, but resolves the Location as browsers do, and limits its length.

    It is resolved before robots.txt, the scope and the frontier check it. If the Location is not a URL, the reason of
    the failure quotes it. A revisit of a stored page only follows redirects to other spellings of its URL.
    Settings: URLLENGTH_LIMIT, REDIRECT_MAX_TIMES, FOCUS_ANY_SCHEME.
    """

    def __init__(self, settings: BaseSettings) -> None:
        super().__init__(settings)
        self.url_limit = settings.getint("URLLENGTH_LIMIT") or urls.MAX_LENGTH
        self.any_scheme = settings.getbool("FOCUS_ANY_SCHEME")

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        location = response.headers.get("Location")
        if response.status not in REDIRECTS or location is None or request.meta.get("dont_redirect"):
            return response
        target = redirect_target(request.url, location)
        focus = Focus.of(request)
        if focus is not None and focus.visits and not self._is_same_page(target, request.url):
            return response
        if target is None:
            raise IgnoreRequest(f"bad redirect: {location[:300].decode('latin-1')}")
        if len(target) > self.url_limit:
            raise IgnoreRequest(f"bad redirect: {target[:300]}… is longer than URLLENGTH_LIMIT")
        response.headers["Location"] = target
        return super().process_response(request, response)

    def _is_same_page(self, target: str | None, url: str) -> bool:
        if target is None or target == url:
            return False
        return urls.key(target, any_scheme=self.any_scheme) == urls.key(url, any_scheme=self.any_scheme)


def redirect_target(url: str, location: bytes) -> str | None:
    """The target of a Location header in the response to *url*; None if it is not an http(s) URL."""
    # non-ASCII bytes are sent back unchanged, whatever their charset
    return urls.join(url, "".join(chr(octet) if octet < 128 else f"%{octet:02X}" for octet in location))
