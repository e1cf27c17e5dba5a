"""Explain why a page was fetched or a link is waiting, and how a spider judges a page.

`explain` describes a URL from the crawl's file alone; `describe_page` and `describe_links` describe a judged page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from focuscrawl import urls
from focuscrawl.errors import FocusError, printable
from focuscrawl.frontier.patience import BEST
from focuscrawl.manners.rights import HEADER, PAGE, RESERVATIONS, ROBOTS_TXT, TDMREP, Rights
from focuscrawl.manners.traps import Traps
from focuscrawl.page import RULE, Link, Page
from focuscrawl.reading.shells import RENDERED, remedy
from focuscrawl.settings import FOCUS_PATIENCE
from focuscrawl.store.failures import Failure
from focuscrawl.store.metadata import Metadata, of_page
from focuscrawl.store.queue import Entry
from focuscrawl.store.store import Store
from focuscrawl.store.unread import UnreadFile

#: Maximum number of parts of a score shown, the largest first.
_PARTS = 6
#: Where signals about rights are found.
_PLACES = {ROBOTS_TXT: ROBOTS_TXT, HEADER: "a header", PAGE: "the page", TDMREP: TDMREP}
#: Characters of a page's description that are shown.
_SHOWN = 150


def explain(store: Store, url: str) -> list[str]:
    """The path to a URL and its state, as lines that are safe for a terminal."""
    with store.reading():
        return [printable(line) for line in _story(store, url)]


def _story(store: Store, url: str) -> list[str]:
    try:
        checked = urls.check(url)
    except ValueError as error:
        raise FocusError(str(error)) from None
    found = store.urls.find(urls.key(checked), urls.key(checked, any_scheme=False))
    if found is None:
        unread = store.unread.find(urls.key(checked), urls.key(checked, any_scheme=False))
        if unread is not None:
            return _unread(store, unread)
        raise FocusError(f"{checked} is unknown to this crawl: no fetched page links to it")
    url_id, known_url = found
    page = store.pages.of_url(url_id) or store.pages.at(checked, known_url)
    if page is not None:
        said = _said(store.metadata.get(page.number))
        return [*_chain(store, page.number), *said, *_signals(store.rights.get(page.number))]
    waiting = store.queue.entry(url_id)
    failures = store.failures.of_url(url_id)
    if waiting is not None:
        return [*_waiting(store, known_url, waiting), *_tried(failures)]
    if failures:
        failure = failures[0]
        return [*_way_to(store, failure.via), known_url, f"  failed at {failure.failed_at}: {failure.reason}"]
    link_id = store.links.refused(url_id)
    refused = store.links.get(link_id)
    if refused is not None:
        return [*_way_to(store, link_id), known_url, f"  refused: {_rule(refused.why or {})}"]
    return [known_url, "  known, but dropped from the frontier (FOCUS_FRONTIER_SIZE, FOCUS_PAGES_PER_…)"]


def _unread(store: Store, file: UnreadFile) -> list[str]:
    """A linked file of a type that the crawl does not read."""
    page = store.pages.get(file.page)
    return [
        *_chain(store, file.page),
        f"   │  … [{file.anchor}] …",
        "   ▼  not queued",
        file.url,
        f"  linked from {page.url if page is not None else 'a page'}, not fetched: {file.why}",
    ]


def _waiting(store: Store, url: str, waiting: Entry) -> list[str]:
    better, total = store.queue.count_above(waiting.rank), store.queue.count()
    lines = [
        *_way_to(store, waiting.via),
        url,
        f"  waiting with score {waiting.score:.4f}: {better:,} of {total:,} queued URLs are ahead",
    ]
    if better >= BEST * total and _holds_back(store):
        lines.append("  held back while a better link waits for its host, if links like this one were worth little")
    if waiting.damping < 1:
        lines.append(f"  damped to {100 * waiting.damping:.3g} % of its score: {_trap(store, url)}")
    return lines


def _holds_back(store: Store) -> bool:
    """Whether the last run held links back."""
    run = store.runs()[-1]
    options, settings = run.get("options"), run.get("settings")
    if not isinstance(options, dict) or not isinstance(settings, dict):
        return False
    try:
        patience = float(settings.get("FOCUS_PATIENCE", FOCUS_PATIENCE))
    except (TypeError, ValueError, OverflowError):  # the file is not trusted
        return False
    only_time_is_scarce = options.get("max_hours") and not options.get("max_pages")
    return patience == 1 if only_time_is_scarce else patience > 0


def _tried(failures: Sequence[Failure]) -> list[str]:
    """Why a URL is waiting although it was requested before."""
    if not failures:
        return []
    last = failures[-1]
    return [f"  failed at {last.failed_at}: {last.reason}; it is retried when nothing else is left"]


def _trap(store: Store, url: str) -> str:
    return Traps(store.patterns.each()).why(url) or "it was in a crawler trap"


def _way_to(store: Store, link_id: int | None) -> list[str]:
    """The path to the page that a link is on, and the link."""
    page = store.links.page_of(link_id)
    return [] if page is None else [*_chain(store, page), *_link(store, link_id)]


def _chain(store: Store, page_id: int) -> list[str]:
    steps: list[list[str]] = []
    seen: set[int] = set()
    while True:
        if page_id in seen:
            raise store.broken(f"the path to page {page_id} is a loop")
        seen.add(page_id)
        page = store.pages.story(page_id)
        if page is None:
            raise store.broken(f"there is no page {page_id}")
        step = [page.url if not page.redirects else f"{page.url} (redirected from {page.redirects[0]})"]
        found = f'"{page.title}", ' if page.title else ""
        score = _number(page.score)
        step.append(f"  {found}page {page_id} of the crawl, HTTP {page.status}, fetched with score {score}")
        if page.content_type == RENDERED:
            step.append("  read with a browser (FOCUS_BROWSER)")
        if page.relevance is not None and not page.problem:
            verdict = "matched" if page.matched else "not matched"
            told = _marked(store, page_id, page.why)
            step.append(f"  relevance {page.relevance:.4f}, {verdict}{'' if told else sum_of(page.why)}")
            step += told
        elif page.problem:
            step.append(f"  {page.problem}")
            step += [f"  not judged: {todo}"] if (todo := remedy(page.problem)) else []
        if page.duplicate_of:
            step.append(f"  near-duplicate of page {page.duplicate_of}: not counted again")
        if page.left_out:
            meaning = RESERVATIONS.get(page.left_out, "reserved")
            step.append(f"  left out of the exports: {meaning} ({page.left_out})")
        steps.append([*_link(store, page.via), *step] if page.via else ["seed", *step])
        parent = store.links.page_of(page.via)
        if parent is None:
            break
        page_id = parent
    return [line for step in reversed(steps) for line in step]


def _marked(store: Store, page_id: int, why: Mapping[str, Any]) -> list[str]:
    """What a person says of a page, and what the judge says."""
    judged = store.verdicts.get(page_id)
    mark = store.marks.get(store.urls.key(judged.url_id)) if judged is not None else None
    if judged is None or mark is None:
        return []
    note = f": {mark.note}" if mark.note else ""
    lines = [f"  marked {mark.verdict} by {mark.marked_by or 'somebody'} on {mark.marked_at[:10]}{note}"]
    if judged.own.relevance is not None:
        lines.append(f"  the judge says {judged.own.relevance:.4f}{sum_of(why)}")
    return lines


def _said(said: Metadata) -> list[str]:
    """What a page says of itself."""
    dates = (("published", said.published), ("modified", said.modified))
    facts = [f"by {', '.join(said.authors)}"] if said.authors else []
    facts += [f"{name} {date}" for name, date in dates if date]
    facts += [f"on {said.site_name}"] if said.site_name else []
    facts += [said.kind] if said.kind else []
    short = said.description if len(said.description) <= _SHOWN else f"{said.description[:_SHOWN]}…"
    return [*([f"  says: {', '.join(facts)}"] if facts else []), *([f'  describes itself: "{short}"'] if short else [])]


def _signals(rights: Rights) -> list[str]:
    """What a page, its headers and its host say about how it may be used."""
    lines = []
    for signal in rights.signals:
        when = f" of {signal['when'][:10]}" if signal.get("when") else ""
        refuses = f", which refuses {signal['refuses']}" if signal.get("refuses") else ""
        lines.append(f'  {signal["signal"]} in {_PLACES.get(signal["where"], "…")}{when}: "{signal["said"]}"{refuses}')
    return lines + [f"  licence {licence}" for licence in rights.licences]


def _link(store: Store, link_id: int | None) -> list[str]:
    link = store.links.get(link_id)
    if link is None:
        return []
    left, right = " ".join(link.text_before().split()[-6:]), " ".join(link.text_after().split()[:6])
    return [
        f"   │  … {left} [{link.anchor}] {right} …",
        f"   ▼  link score {_number(link.score)}{sum_of(link.why or {})}",
    ]


def describe_page(page: Page, unmatched: str) -> list[str]:
    """How a spider judges a page, line by line; *unmatched* is the reason given if it does not match."""
    redirected = f" (redirected from {page.redirects[0]})" if page.redirects else ""
    title = f'"{page.title}", ' if page.title else ""
    lines = [f"{page.url}{redirected}", f"  {title}HTTP {page.status}"]
    if page.problem:
        lines.append(f"  cannot be read: {page.problem}")
        lines += [f"  not judged: {todo}"] if (todo := remedy(page.problem)) else []
    else:
        judgement = page.judgement
        found = "not judged" if judgement is None else f"relevance {judgement.relevance:.4f}"
        verdict = "matched" if page.matched else f"not matched ({unmatched})"
        lines.append(f"  {found}, {verdict}{sum_of(judgement.why) if judgement else ''}")
    lines += [*_said(of_page(page)), *_signals(page.rights)]
    if page.topics:
        lines.append(f"  topics {', '.join(map(str, page.topics))}")
    return [printable(line) for line in lines]


def describe_links(page: Page) -> list[str]:
    """The scored links of a page, line by line, the best first."""
    if not page.links:
        return ["no links"]
    ranked = sorted(page.links, key=lambda link: -1.0 if link.score is None else link.score, reverse=True)
    left_out = f" ({page.links_left_out:,} more were not read)" if page.links_left_out else ""
    count = f"{len(ranked):,} links, the best first" if len(ranked) > 1 else "1 link"
    return [f"{count}{left_out}:", *(printable(line) for link in ranked for line in _describe_link(link))]


def _describe_link(link: Link) -> list[str]:
    if link.score is None:
        return [f"  refused  {link.url}", f'           "{link.anchor}": {_rule(link.why or {})}']
    return [f"  {link.score:.4f}   {link.url}", f'           "{link.anchor}"{sum_of(link.why or {})}']


def _rule(why: Mapping[str, Any]) -> str:
    """Why a link was refused."""
    rules = [rule for rule in why if rule.startswith(RULE)]
    return rules[0].removeprefix(RULE) if rules else "the strategy does not follow this link"


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def sum_of(parts: Mapping[str, Any]) -> str:
    """What a score or relevance is made of, the largest parts first, in words."""
    if not parts:
        return ""
    largest = sorted(parts.items(), key=lambda part: -abs(float(part[1])))
    shown = ", ".join(f"{name} {float(value):.3g}" for name, value in largest[:_PARTS])
    rest = f" and {len(parts) - _PARTS} more" if len(parts) > _PARTS else ""
    return f" = {shown}{rest}"
