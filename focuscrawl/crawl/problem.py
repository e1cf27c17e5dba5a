"""What went wrong in a crawl that ended without a readable page."""

from __future__ import annotations

from focuscrawl import urls
from focuscrawl.crawl.failures import is_embedded_only
from focuscrawl.reading.shells import remedy
from focuscrawl.store.errors import StoreError
from focuscrawl.store.store import Store


def problem_of(store: Store) -> str | None:
    """Why a crawl has not even one readable page; None if it has."""
    if not store.exists():
        return f"{store.path} was removed while the crawl was running; the crawl is lost"
    try:
        if store.pages.any_readable():
            return None
        page, failure = next(store.pages.each(), None), store.failures.first()
    except StoreError as error:
        return str(store.broken(error))
    if page is not None:
        why = "; ".join(filter(None, (f"{page.url}: {page.problem}", remedy(page.problem))))
    else:
        why = f"{failure.url}: {failure.reason}" if failure else "the crawl ended before the first page"
        if failure is not None and is_embedded_only(failure.url, failure.reason):
            why = f"{urls.host(failure.url)} exists on the embedded web only; add -s FOCUS_WEB=demo"
    return f"no page could be read: {why}"
