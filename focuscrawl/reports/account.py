"""How a crawl was made and how to repeat it, as parts of its report."""

from __future__ import annotations

import html
import shlex
from collections.abc import Callable, Sequence
from typing import Any

from focuscrawl.console.program import program
from focuscrawl.crawl import clock
from focuscrawl.crawl.runs import option
from focuscrawl.reports.status import how_ended
from focuscrawl.store.browse import Row
from focuscrawl.store.store import Store

#: Pages of each kind, seeds and settings that are shown.
PAGES = 10
_SEEDS = 20
_OPTIONS = 40
#: Longest text of a file that is shown, in characters.
_LONGEST = 2_000

Table = Callable[[Sequence[str], Sequence[Sequence[object]], int], str]
Link = Callable[[str, str], str]


def state(store: Store, *, running: bool) -> str:
    """How the crawl stands, to follow its dates."""
    if running:
        return f"; still running when this was written, {clock.now()[:16].replace('T', ' ')} UTC"
    return "; the last run failed" if store.standing.failure() else ""


def made(store: Store, table: Table, *, running: bool) -> list[str]:
    """What the crawl was given: question, strategy, keywords, seeds, settings; and the command to repeat it."""
    runs = store.runs()
    last = runs[-1]
    rows = [("topic", html.escape(str(store.meta("topic"))))]
    if last.get("description"):
        rows.append(("question", html.escape(str(last["description"])[:_LONGEST])))
    rows.append(("strategy", html.escape(str(store.meta("spider")))))
    if (threshold := store.standing.threshold()) is not None:
        rows.append(("threshold", f"{threshold:g}"))
    keywords = store.meta("keywords")
    if isinstance(keywords, dict) and keywords:
        told = ", ".join(f"{name} {value:g}" for name, value in list(keywords.items())[:200] if _is_number(value))
        rows.append(("keywords and weights", html.escape(told)))
    seeds = last.get("seeds")
    if isinstance(seeds, list) and seeds:
        more = f" and {len(seeds) - _SEEDS:,} more" if len(seeds) > _SEEDS else ""
        rows.append(("seeds", "<br>".join(html.escape(str(seed)[:500]) for seed in seeds[:_SEEDS]) + more))
    for name, kind in (("options", "options"), ("settings", "settings")):
        given = last.get(kind)
        if isinstance(given, dict) and given:
            pairs = (f"{key} = {value}"[:300] for key, value in list(given.items())[:_OPTIONS])
            rows.append((name, "<br>".join(map(html.escape, pairs))))
    began = [str(run["began"])[:19].replace("T", " ") for run in runs if run.get("began")]
    if began:
        rows.append((f"run{'' if len(began) == 1 else 's'}", f"{len(runs):,}, begun {html.escape(_dates(began))} UTC"))
    reason, when, detail = store.standing.ending()
    if not running:
        told = store.standing.failure() or how_ended(reason, detail)
        rows.append(("ended", html.escape(f"{when[:19].replace('T', ' ')} UTC: {told}" if when else told)))
    used = (("focuscrawl", "focuscrawl"), ("scrapy", "Scrapy"), ("python", "Python"))
    versions = [f"{shown} {str(last[name])[:40]}" for name, shown in used if last.get(name)]
    rows += [("versions", html.escape(", ".join(versions)))] if versions else []
    rows += [("user agent", html.escape(str(last["user_agent"])[:_LONGEST]))] if last.get("user_agent") else []
    parts = ["<h2>How it was made</h2>", table(("", ""), [(f"<b>{name}</b>", value) for name, value in rows], 0)]
    if command := repeat(store, last):
        parts += ["<p>To repeat it:</p>", f"<pre>{html.escape(command)}</pre>"]
    return parts


def cited(store: Store, pages: int, matched: int, first: str | None, last: str | None) -> list[str]:
    """How to cite the crawl; nothing before its first page."""
    if not first or not last:
        return []
    dates = first[:10] if first[:10] == last[:10] else f"{first[:10]} to {last[:10]}"
    by = f"focuscrawl {str(store.runs()[-1].get('focuscrawl') or '')[:40]}".strip()
    text = (
        f"Web pages about “{store.meta('topic')}”, crawled {dates} with {by} (strategy {store.meta('spider')}):"
        f" {pages:,} pages fetched, {matched:,} matched."
    )
    advice = f"Keep crawl.sqlite beside it, or publish the pages with {program()} release, which adds a citation file."
    return ["<h2>How to cite it</h2>", f"<pre>{html.escape(text)}</pre>", f"<p>{html.escape(advice)}</p>"]


def repeat(store: Store, run: dict[str, Any]) -> str:
    """The command that makes such a crawl again; empty if the run did not record its arguments."""
    arguments, settings = run.get("arguments"), run.get("settings")
    if not isinstance(arguments, dict):
        return ""
    words = [f"{program()} crawl", shlex.quote(str(store.meta("spider")))]
    words += [option("-a", name, value) for name, value in arguments.items()]
    words += [option("-s", name, value) for name, value in (settings if isinstance(settings, dict) else {}).items()]
    return " ".join(words)


def doubtful(store: Store, table: Table, link: Link) -> list[str]:
    """The pages nearest to the threshold, and some drawn at random from those that match."""
    threshold = store.standing.threshold()
    parts: list[str] = []
    if threshold is not None:
        rows = _rows(store.browse.borderline(threshold, PAGES), link)
        told = f"Their relevance is nearest to the threshold, {threshold:g}."
        parts += ["<h2>Borderline pages</h2>", f"<p>{told}</p>", table(_HEAD, rows, 2)] if rows else []
    rows = _rows(store.browse.at_random(PAGES), link)
    if len(rows) == PAGES:
        parts += ["<h2>Matched pages drawn at random</h2>", table(_HEAD, rows, 2)]
    return parts


_HEAD = ("page", "verdict", "relevance")


def _rows(pages: Sequence[Row], link: Link) -> list[tuple[str, str, str]]:
    return [
        (link(page.url, page.title), "matched" if page.matched else "not matched", f"{page.relevance or 0:.3f}")
        for page in pages
    ]


def languages(store: Store, table: Table) -> list[str]:
    """The languages of the pages, if there are several."""
    found = store.browse.languages(15)
    if len(found) < 2:
        return []
    rows = [
        (html.escape(str(name)) or "unknown", f"{count:,}", f"{good:,}", f"{good / count:.0%}")
        for name, count, good in found
        if good
    ]
    others = [f"{html.escape(str(name)) or 'unknown'} {count:,}" for name, count, good in found if not good]
    parts = ["<h2>Languages</h2>"]
    parts += [table(("language", "pages", "relevant", "harvest"), rows, 3)] if rows else []
    return parts + ([f"<p>Pages in languages without a relevant page: {', '.join(others)}.</p>"] if others else [])


def _dates(began: Sequence[str]) -> str:
    return began[0] if len(began) == 1 else f"{began[0]} to {began[-1]}"


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)
