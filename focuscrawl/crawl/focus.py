"""Focus: what the crawl knows about a request, carried in the request's meta."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

#: Its key in the meta of a request.
KEY = "focus"


@dataclass(slots=True, eq=False)
class Focus:
    """Where a request comes from, and its score; the frontier adds the rest when it hands out the request."""

    score: float | None = None
    depth: int = 0
    #: The URL of the page it was found on, and the id of the link.
    parent: str | None = None
    via: int | None = None
    #: Its id in the frontier; 0 for a request that the frontier has not handed out.
    url_id: int = 0
    url: str = ""
    rank: float = 0.0
    handed_at: float = 0.0
    #: The ids of the URLs that redirects led to.
    chain: list[int] = field(default_factory=list)
    #: The spider's own errback.
    errback: Any = None
    #: The number of the stored page that the request revisits; 0 for a new page.
    visits: int = 0

    @classmethod
    def of(cls, message: Request | Response) -> Focus | None:
        """The focus of a request, or of the request that a response answers; None if it has none."""
        found = message.meta.get(KEY)
        return found if isinstance(found, cls) else None
