"""Why a page was fetched when it was, or why a link waits: from the crawl's file alone; what a spider makes of a page.

`explain` tells the story of a URL of a crawl, `describe_page` and `describe_links` what a spider found a page worth.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from focuscrawl import urls
from focuscrawl.errors import FocusError, printable
from focuscrawl.manners.rights import RESERVATIONS
from focuscrawl.manners.traps import Traps
from focuscrawl.page import RULE, Link, Page
from focuscrawl.store.sqlite_file import from_json
from focuscrawl.store.store import Store

#: Parts of a score shown, the largest first.
_PARTS = 6


def explain(store: Store, url: str) -> list[str]:
    """The story of a URL, line by line, as a terminal can be shown it."""
    with store.reading():
        return [printable(line) for line in _story(store, url)]


def _story(store: Store, url: str) -> list[str]:
    try:
        checked = urls.check(url)
    except ValueError as error:
        raise FocusError(str(error)) from None
    row = store.execute(
        "SELECT id, url FROM url WHERE key IN (?, ?)", (urls.key(checked), urls.key(checked, any_scheme=False))
    ).fetchone()
    if row is None:
        raise FocusError(f"{checked} was never seen by this crawl; no page it fetched links there")
    url_id = row[0]
    page = store.execute("SELECT id FROM page WHERE url_id = ?", (url_id,)).fetchone()
    page = page or store.execute("SELECT id FROM page WHERE url = ? OR url = ?", (checked, row[1])).fetchone()
    if page is not None:
        return _chain(store, page[0])
    waiting = store.execute("SELECT score, rank, damping, via FROM frontier WHERE url_id = ?", (url_id,)).fetchone()
    if waiting is not None:
        return [*_waiting(store, row[1], *waiting), *_tried(store, url_id)]
    failure = store.execute("SELECT reason, via, failed_at FROM failure WHERE url_id = ?", (url_id,)).fetchone()
    if failure is not None:
        return [*_way_to(store, failure[1]), f"{row[1]}", f"  gave no page at {failure[2]}: {failure[0]}"]
    refused = store.execute("SELECT id, why FROM link WHERE url_id = ? AND score IS NULL", (url_id,)).fetchone()
    if refused is not None:
        return [*_way_to(store, refused[0]), f"{row[1]}", f"  refused: {_rule(from_json(refused[1], dict))}"]
    return [f"{row[1]}", "  known, but fallen off the end of the frontier (FOCUS_FRONTIER_SIZE, FOCUS_PAGES_PER_…)"]


def _waiting(store: Store, url: str, score: float, rank: float, damping: float, via: int | None) -> list[str]:
    better = store.execute("SELECT count(*) FROM frontier WHERE rank > ?", (rank,)).fetchone()[0]
    total = store.execute("SELECT count(*) FROM frontier").fetchone()[0]
    return [
        *_way_to(store, via),
        url,
        f"  waits with score {score:.4f}: {better:,} of {total:,} queued URLs are better",
        *([f"  put back to {100 * damping:.3g} % of its score: {_trap(store, url)}"] if damping < 1 else []),
    ]


def _tried(store: Store, url_id: int) -> list[str]:
    """What happened to a URL that waits although it was asked for."""
    row = store.execute(
        "SELECT reason, failed_at FROM failure WHERE url_id = ? ORDER BY id DESC LIMIT 1", (url_id,)
    ).fetchone()
    return [f"  gave no answer at {row[1]}: {row[0]}; it is tried again when nothing else is left"] if row else []


def _trap(store: Store, url: str) -> str:
    return Traps(store.patterns()).why(url) or "it was in a trap"


def _way_to(store: Store, link_id: int | None) -> list[str]:
    """The chain to the page a link is on, and the link."""
    row = store.execute("SELECT page FROM link WHERE id = ?", (link_id,)).fetchone()
    if row is None:
        return []
    return [*_chain(store, row[0]), *_link(store, link_id)]


def _chain(store: Store, page_id: int) -> list[str]:
    steps: list[list[str]] = []
    seen: set[int] = set()
    while True:
        if page_id in seen:
            raise store.broken(f"the way to page {page_id} leads in a circle")
        seen.add(page_id)
        row = store.execute(
            "SELECT page.url, title, status, score, relevance, matched, why, problem, via, redirects, duplicate_of,"
            " left_out FROM page LEFT JOIN rights ON rights.page = id WHERE id = ?",
            (page_id,),
        ).fetchone()
        url, title, status, score, relevance, matched, why, problem, via, redirects, duplicate_of, left_out = row
        step = [url if not redirects else f"{url} (redirected from {from_json(redirects, list)[0]})"]
        found = f'"{title}", ' if title else ""
        step.append(f"  {found}page {page_id} of the crawl, HTTP {status}, fetched with score {_number(score)}")
        if relevance is not None and not problem:
            verdict = "matched" if matched else "not matched"
            step.append(f"  relevance {relevance:.4f}, {verdict}{_made_of(why)}")
        elif problem:
            step.append(f"  {problem}")
        if duplicate_of:
            step.append(f"  nearly the same as page {duplicate_of}: not counted again")
        if left_out:
            step.append(f"  left out of the exports: {RESERVATIONS.get(left_out, 'reserved')} ({left_out})")
        steps.append([*_link(store, via), *step] if via else ["seed", *step])
        parent = store.execute("SELECT page FROM link WHERE id = ?", (via,)).fetchone()
        if parent is None:
            break
        page_id = parent[0]
    return [line for step in reversed(steps) for line in step]


def _link(store: Store, link_id: int | None) -> list[str]:
    row = store.execute("SELECT anchor, before, after, score, why FROM link WHERE id = ?", (link_id,)).fetchone()
    if row is None:
        return []
    anchor, before, after, score, why = row
    left, right = " ".join(before.split()[-6:]), " ".join(after.split()[:6])
    return [f"   │  … {left} [{anchor}] {right} …", f"   ▼  link score {_number(score)}{_made_of(why)}"]


def describe_page(page: Page, unmatched: str) -> list[str]:
    """What a spider makes of a page, line by line; *unmatched* says why it does not match, if it does not."""
    redirected = f" (redirected from {page.redirects[0]})" if page.redirects else ""
    title = f'"{page.title}", ' if page.title else ""
    lines = [f"{page.url}{redirected}", f"  {title}HTTP {page.status}"]
    if page.problem:
        lines.append(f"  cannot be read: {page.problem}")
    else:
        judgement = page.judgement
        found = "not judged" if judgement is None else f"relevance {judgement.relevance:.4f}"
        verdict = "matched" if page.matched else f"not matched ({unmatched})"
        lines.append(f"  {found}, {verdict}{_sum(judgement.why) if judgement else ''}")
    if page.topics:
        lines.append(f"  topics {', '.join(map(str, page.topics))}")
    return [printable(line) for line in lines]


def describe_links(page: Page) -> list[str]:
    """The links of a page that a spider has scored, line by line, the best first."""
    if not page.links:
        return ["no links"]
    ranked = sorted(page.links, key=lambda link: -1.0 if link.score is None else link.score, reverse=True)
    left_out = f" ({page.links_left_out:,} more were not read)" if page.links_left_out else ""
    count = f"{len(ranked):,} links, the best first" if len(ranked) > 1 else "1 link"
    return [f"{count}{left_out}:", *(printable(line) for link in ranked for line in _describe_link(link))]


def _describe_link(link: Link) -> list[str]:
    if link.score is None:
        return [f"  refused  {link.url}", f'           "{link.anchor}": {_rule(link.why or {})}']
    return [f"  {link.score:.4f}   {link.url}", f'           "{link.anchor}"{_sum(link.why or {})}']


def _rule(why: Mapping[str, Any]) -> str:
    """Why a link was refused."""
    rules = [rule for rule in why if rule.startswith(RULE)]
    return rules[0].removeprefix(RULE) if rules else "the strategy gave its link no score"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _made_of(why: str | None) -> str:
    return _sum(from_json(why, dict))


def _sum(parts: Mapping[str, Any]) -> str:
    if not parts:
        return ""
    largest = sorted(parts.items(), key=lambda part: -abs(float(part[1])))
    shown = ", ".join(f"{name} {float(value):.3g}" for name, value in largest[:_PARTS])
    rest = f" and {len(parts) - _PARTS} more" if len(parts) > _PARTS else ""
    return f" = {shown}{rest}"
