"""What a crawl is doing now: its figures, its harvest curve, and what went wrong."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from focuscrawl.crawl import clock
from focuscrawl.crawl.outlook import RECENT, Forecast
from focuscrawl.dashboard.crawls import OpenCrawl
from focuscrawl.dashboard.ledger import MATCHED, RELEVANT, Ledger
from focuscrawl.frontier.activity import FRESH, KEY, Activity
from focuscrawl.reports import svg
from focuscrawl.reports.endings import ending
from focuscrawl.reports.status import outlook_lines
from focuscrawl.store.store import Store

#: Points of a curve.
POINTS = 240
#: Pages that the speed is measured over.
_SPEED = 300


def now(crawl: OpenCrawl, store: Store) -> dict[str, Any]:
    """Everything that the view of a running crawl shows."""
    crawl.catch_up(store)
    ledger = crawl.ledger
    holder = crawl.holder()
    pages = store.pages.last_number()
    known, relevant = len(ledger.known), ledger.count(RELEVANT)
    overall, recent, drawn = ledger.harvest(POINTS, RECENT)
    last = last_run(store)
    options = last.get("options") if isinstance(last.get("options"), dict) else {}
    limit = options.get("max_pages") if options else 0
    hosts = ledger.by_name("host", ledger.hosts)
    reason, _, detail = store.standing.ending()
    activity = at_work(crawl, store)
    forecast = Forecast.read(store.standing.forecast())
    return {
        "running": holder is not None,
        "activity": activity,
        "memory": (holder.memory() if holder else None) or (activity.memory if activity else None),
        "pages": pages,
        "max_pages": limit if isinstance(limit, int) else 0,
        "known": known,
        "relevant": relevant,
        "matched": ledger.count(MATCHED),
        "harvest": relevant / known if known else None,
        "recent": recent[-1] / 100 if recent else None,
        "speed": speed(ledger, running=holder is not None),
        "queue": queued(crawl, activity),
        "failed": crawl.fact("failed", lambda store: store.failures.count()),
        "hosts": len(hosts),
        "reasons": crawl.fact("reasons", lambda store: store.failures.by_reason(12), fresh=5.0) or [],
        "statuses": ledger.statuses()[:8],
        "size": crawl.size(),
        "free": crawl.free_space(),
        "chart": harvest_chart(overall, recent, drawn),
        "languages": ledger.by_name("language", ledger.languages)[:8],
        "best_hosts": hosts[:8],
        "latest": store.browse.rows([int(number) for number in ledger.known[-10:][::-1]]),
        "run": last,
        "seconds": store.meta("seconds") or 0,
        "wish": store.meta("wish"),
        "forecast": forecast,
        "outlook": outlook_lines(forecast) if forecast else [],
        "failed_because": "" if holder is not None else store.standing.failure(),
        "ended": "" if holder is not None or not reason else ending(reason, detail),
    }


def at_work(crawl: OpenCrawl, store: Store) -> Activity | None:
    """What the crawl is doing; None if it is not running, or has not said so lately."""
    found = Activity.read(store.meta(KEY)) if crawl.holder() is not None else None
    return found if found is not None and found.age < FRESH else None


def queued(crawl: OpenCrawl, activity: Activity | None) -> int | None:
    """The number of waiting URLs; a running crawl knows it without counting."""
    if activity is not None:
        return activity.queued
    found: int | None = crawl.fact("queue", lambda store: store.queue.count())
    return found


def last_run(store: Store) -> dict[str, Any]:
    """What the last run recorded."""
    return store.runs()[-1]


def speed(ledger: Ledger, *, running: bool) -> float | None:
    """Pages per second: of the last pages while the crawl runs, otherwise of all."""
    known = ledger.known
    if len(known) < 2:
        return None
    first = known[max(0, len(known) - _SPEED)] if running else known[0]
    began, ended = int(ledger.fetched[first]), int(ledger.fetched[known[-1]])
    if running:
        ended = max(ended, int(clock.utc().timestamp()) - 1)
    count = min(_SPEED, len(known)) if running else len(known)
    return count / max(1, ended - began)


def harvest_chart(overall: list[float], recent: list[float], pages: int) -> str:
    """Harvest over pages, of all and of the last ones, as SVG."""
    if len(overall) < 2:
        return ""
    series = {"of all pages": overall, f"of the last {RECENT}": recent}
    looks = {
        "of all pages": svg.Style(svg.COLOURS[0], width=2.5),
        f"of the last {RECENT}": svg.Style(svg.COLOURS[1], width=1.5),
    }
    drawn = svg.curve_chart(series, looks, x_label="pages fetched", y_label="relevant, %", x_end=pages, height=300)
    return drawn or ""


def ago(when: str) -> str:
    """How long ago a time was, roughly."""
    try:
        moment = datetime.fromisoformat(when)
    except (TypeError, ValueError):
        return "–"
    seconds = (clock.utc() - (moment if moment.tzinfo else moment.replace(tzinfo=UTC))).total_seconds()
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def overview(crawl: OpenCrawl, store: Store) -> dict[str, Any]:
    """A crawl in one line."""
    crawl.catch_up(store)
    ledger = crawl.ledger
    known, relevant = len(ledger.known), ledger.count(RELEVANT)
    newest = store.newest()
    _, recent, _ = ledger.harvest(40, RECENT)
    return {
        "name": crawl.name,
        "topic": store.meta("topic") or "",
        "spider": store.meta("spider") or "",
        "pages": store.pages.last_number(),
        "matched": ledger.count(MATCHED),
        "harvest": relevant / known if known else None,
        "running": crawl.holder() is not None,
        "failed": bool(store.standing.failure()),
        "last": newest.isoformat() if newest else "",
        "ago": ago(newest.isoformat()) if newest else "–",
        "size": crawl.size(),
        "spark": sparkline(recent),
        "marks": len(crawl.marked),
    }


def sparkline(values: list[float]) -> str:
    """A small curve of percentages."""
    if len(values) < 2:
        return ""
    step = 98 / (len(values) - 1)
    points = " ".join(f"{1 + place * step:.1f},{23 - 0.21 * value:.1f}" for place, value in enumerate(values))
    line = svg.element("polyline", points=points, fill="none", stroke=svg.COLOURS[0], stroke_width=1.5)
    return svg.element("svg", line, viewBox="0 0 100 24", class_="spark", aria_hidden="true")
