"""Lists of pages: filters from an address, keyset paging, and a bounded search in titles and URLs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import NamedTuple

from focuscrawl.crawl import clock
from focuscrawl.dashboard.crawls import OpenCrawl
from focuscrawl.dashboard.ledger import ORDERS, Filters
from focuscrawl.store.browse import Row
from focuscrawl.store.store import Store

SHOWN = 50
#: Pages whose title and URL are read at a time, and seconds for one answer.
_BATCH = 400
_SECONDS = 0.15
_LONGEST = 200


class Listing(NamedTuple):
    """A part of a list of pages."""

    rows: list[Row]
    #: Pages that pass the filters, except the search in titles.
    total: int
    #: Where the next part begins; empty at the end.
    after: str
    #: Whether the search stopped before it found enough, after how many pages.
    stopped_after: int


def filters_of(values: Mapping[str, str]) -> Filters:
    """The filters that an address names; what is unknown is ignored."""
    names = [field.name for field in fields(Filters) if field.name not in ("wrong",)]
    given = {name: values[name].strip()[:_LONGEST] for name in names if values.get(name)}
    filters = Filters()
    for name, value in given.items():
        setattr(filters, name, value)
    if filters.order not in ORDERS:
        filters.order = "newest"
    return filters


def as_query(filters: Filters) -> dict[str, str]:
    """The filters as they are written in an address."""
    values = {field.name: getattr(filters, field.name) for field in fields(Filters) if field.name != "wrong"}
    if values["order"] == "newest":
        del values["order"]
    return {name: value for name, value in values.items() if value}


def listing(crawl: OpenCrawl, store: Store, filters: Filters, after: str) -> Listing:
    """The next pages that pass the filters."""
    ledger = crawl.ledger
    numbers = ledger.select(filters, crawl.marked)
    key = _key(after)
    if not filters.q:
        chosen = ledger.ordered(numbers, filters.order, key, SHOWN + 1)
        more = len(chosen) > SHOWN
        rows = store.browse.rows(chosen[:SHOWN])
        return Listing(rows, len(numbers), _after(crawl, filters, chosen[SHOWN - 1]) if more else "", 0)
    wanted = filters.q.lower()
    end = clock.monotonic() + _SECONDS
    found: list[Row] = []
    looked = 0
    last = 0
    while len(found) < SHOWN:
        chosen = ledger.ordered(numbers, filters.order, key, _BATCH)
        if not chosen:
            return Listing(found, len(numbers), "", 0)
        for row in store.browse.rows(chosen):
            looked += 1
            last = row.number
            if wanted in row.title.lower() or wanted in row.url.lower():
                found.append(row)
                if len(found) == SHOWN:
                    break
        else:
            last = chosen[-1]
        key = ledger.value(last, filters.order), last
        if clock.monotonic() > end:
            break
    stopped = looked if len(found) < SHOWN else 0
    if last == 0 or not ledger.ordered(numbers, filters.order, key, 1):
        return Listing(found, len(numbers), "", 0)
    return Listing(found, len(numbers), _after(crawl, filters, last), stopped)


def _key(after: str) -> tuple[float, int] | None:
    value, _, number = after.partition("_")
    try:
        return float(value), int(number)
    except ValueError:
        return None


def _after(crawl: OpenCrawl, filters: Filters, number: int) -> str:
    return f"{crawl.ledger.value(number, filters.order)!r}_{number}"
