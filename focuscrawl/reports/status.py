"""Where a crawl stands, from its file: for people and for scripts. Works while the crawl runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from focuscrawl.crawl.lock import is_locked
from focuscrawl.crawl.outlook import RECENT, Forecast
from focuscrawl.errors import printable
from focuscrawl.reports.endings import RESUMES, ending
from focuscrawl.store.places import has_crawl, read_crawl, shown
from focuscrawl.store.store import Store

#: Kinds of errors that are listed, and files of a directory that are counted.
_REASONS = 5
_FILES = 100_000
#: Below this many folders, crawls are looked for.
_DEPTH = 3

RUNNING, FINISHED, STOPPED, FAILED = "running", "finished", "stopped", "failed"
#: Said of a run that left no word about its end.
_NO_WORD = f"it was killed, or made by a version that did not record why it ended; {RESUMES}"


@dataclass(frozen=True)
class Status:
    """The figures of a crawl."""

    folder: str
    spider: str
    topic: str
    #: running, finished (nothing was left, or a limit was reached), stopped (by the user, or killed) or failed.
    state: str
    #: Why it ended, as Scrapy says it, and in words; empty while it runs.
    reason: str
    why: str
    pages: int
    relevant: int
    matched: int
    #: Shares of relevant pages; None if there is no page.
    harvest: float | None
    harvest_recent: float | None
    queued: int
    #: Of the latest pages while it runs, else over all runs; None if unknown.
    pages_per_second: float | None
    seconds: int
    forecast: Forecast | None
    hosts: int
    #: URLs that gave no page, and the most frequent reasons.
    failed: int
    failures: dict[str, int]
    #: Bytes of all files in its directory.
    disk: int
    last_page: str | None

    def record(self) -> dict[str, Any]:
        """The figures for scripts."""
        return asdict(self) | {"forecast": self.forecast._asdict() if self.forecast else None}


def status_of(folder: Path) -> Status:
    """Where a crawl stands."""
    with read_crawl(folder, check=False) as store:
        return status_in(store, folder)


def status_in(store: Store, folder: Path) -> Status:
    """The same for a crawl whose file is open."""
    locked = is_locked(folder) or store.is_crawled()
    pages, relevant, matched, _, _, last = store.pages.figures()
    reason, _, detail = store.standing.ending()
    failure = store.standing.failure()
    recent = store.standing.outcomes(RECENT)
    seconds = store.number("seconds")
    running = locked and (store.shared or not reason)
    over_all = pages / seconds if seconds else None
    return Status(
        folder=shown(folder),
        spider=str(store.meta("spider") or ""),
        topic=str(store.meta("topic") or ""),
        state=RUNNING if running else FAILED if failure else _state(reason),
        reason=reason,
        why="" if running else failure or how_ended(reason, detail),
        pages=pages,
        relevant=relevant,
        matched=matched,
        harvest=relevant / pages if pages else None,
        harvest_recent=sum(good for _, good in recent) / len(recent) if recent else None,
        queued=store.queue.count(),
        pages_per_second=store.standing.pace(RECENT) if running else over_all,
        seconds=seconds,
        forecast=Forecast.read(store.standing.forecast()),
        hosts=store.hosts.count(),
        failed=store.failures.count(),
        failures=dict(store.failures.by_reason(_REASONS)),
        disk=store.size() if store.shared else _size(folder),
        last_page=last,
    )


def how_ended(reason: str, detail: str) -> str:
    """Why a run that is not running any more ended."""
    return ending(reason, detail) if reason else _NO_WORD


def _state(reason: str) -> str:
    limits = ("finished", "max_pages", "max_hours", "stop_below", "imported")
    return FINISHED if reason in limits or reason.startswith("closespider_") else STOPPED


def _size(folder: Path) -> int:
    total = 0
    for path in islice(folder.rglob("*"), _FILES):
        try:
            total += path.lstat().st_size if path.is_file() else 0
        except OSError:  # a running crawl removes files
            continue
    return total


def crawls_in(folder: Path, depth: int = _DEPTH) -> Iterator[Path]:
    """The crawls in a folder and its folders, in the order of their names; those that a crawl has made are its own."""
    if has_crawl(folder):
        yield folder
    elif depth and folder.is_dir():
        for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.is_symlink()):
            yield from crawls_in(inner, depth - 1)


# ---- for people


def outlook_lines(forecast: Forecast) -> list[str]:
    """A forecast in sentences."""
    if not forecast.waiting:
        return ["No URL waits: there is nothing left to fetch."]
    ahead = f"{forecast.expected:,.0f} ({forecast.low:,.0f} to {forecast.high:,.0f})"
    reach = f"{forecast.reach:,.0f} ({forecast.reach_low:,.0f} to {forecast.reach_high:,.0f})"
    return [
        f"Of the next {forecast.ahead:,} pages, about {ahead} will be relevant: a harvest of {forecast.harvest:.1%}.",
        f"Within reach of the {forecast.waiting:,} waiting URLs are about {reach} relevant pages.",
    ]


def lines(status: Status) -> list[str]:
    """A status, a line per figure."""
    rows = [
        ("crawl", status.folder),
        ("spider", f"{status.spider}, topic {status.topic}"),
        ("state", f"{status.state}: {status.why}" if status.why else status.state),
        ("pages", f"{status.pages:,}{speed(status)}"),
        ("relevant", f"{status.relevant:,}, {status.matched:,} in URLs.txt"),
        ("harvest", f"{share(status.harvest)} of all pages, {share(status.harvest_recent)} of the last {RECENT}"),
        ("queued", f"{status.queued:,}"),
        ("hosts", f"{status.hosts:,}"),
        ("errors", f"{status.failed:,}{_reasons(status.failures)}"),
        ("disk", size(status.disk)),
        ("last page", (status.last_page or "–")[:19].replace("T", " ")),
        *zip(("outlook", ""), outlook_lines(status.forecast) if status.forecast else ["no estimate yet"], strict=False),
    ]
    return [f"{name:<10}{printable(text)}" for name, text in rows]


def table(statuses: Sequence[Status]) -> list[str]:
    """Several crawls, a line each."""
    head = ("crawl", "state", "pages", "matched", "harvest", f"last {RECENT}", "queued", "errors", "disk", "next pages")
    rows = [head, *map(_row, statuses)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    left = (0, 1, len(head) - 1)
    return [
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _row(status: Status) -> tuple[str, ...]:
    forecast = status.forecast
    return (
        printable(status.folder),
        printable(f"{status.state} ({status.reason})" if status.reason else status.state),
        *(f"{status.pages:,}", f"{status.matched:,}", share(status.harvest), share(status.harvest_recent)),
        *(f"{status.queued:,}", f"{status.failed:,}", size(status.disk)),
        f"{forecast.low:,.0f} to {forecast.high:,.0f} of {forecast.ahead:,}" if forecast else "–",
    )


def _reasons(failures: dict[str, int]) -> str:
    listed = ", ".join(f"{reason} {count:,}" for reason, count in failures.items())
    return f" ({listed})" if listed else ""


def speed(status: Status) -> str:
    """The pages per second; empty if unknown."""
    return "" if status.pages_per_second is None else f", {status.pages_per_second:.3g} per second"


def share(value: float | None) -> str:
    """A share as a percentage."""
    return "–" if value is None else f"{value:.1%}"


def size(count: float) -> str:
    """A number of bytes."""
    for unit in ("bytes", "KB", "MB", "GB"):
        if count < 1000:
            return f"{count:,.0f} {unit}" if unit == "bytes" else f"{count:,.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def soon(seconds: float | None) -> str:
    """How long something takes from now."""
    if seconds is None:
        return "–"
    if seconds < 0.05:
        return "now"
    for size, unit in ((3_600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"in {seconds / size:.0f} {unit}"
    return f"in {seconds:.1f} s" if seconds < 10 else f"in {seconds:.0f} s"


def span(seconds: object) -> str:
    """A duration, roughly."""
    if not isinstance(seconds, int | float) or not 0 < seconds < 1e10:
        return "–"
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.0f} s"
