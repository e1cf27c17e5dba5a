"""What a crawl without a match lacks: keywords that no page has, seeds that failed, how near the best pages came."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from focuscrawl.console.program import program
from focuscrawl.store.store import Store

#: Keywords, seeds and pages that are named, and pages whose judgements are read.
_NAMED = 5
_READ = 10_000
#: A share of the threshold from which a page is near it.
_NEAR = 0.5


def no_match(store: Store) -> list[str]:
    """Why nothing matches, a line each, and what to try; empty if something matches, or nothing was fetched."""
    pages, relevant, matched, *_ = store.pages.figures()
    if matched or not (pages or store.failures.count()):
        return []
    return [f"No page of {pages:,} matches.", *_lines(store, relevant)]


def _lines(store: Store, relevant: int) -> Iterator[str]:
    keywords, threshold = _keywords(store), store.standing.threshold()
    seen = store.standing.reasons(_READ)
    readable = store.pages.any_readable()
    never = [keyword for keyword in keywords if keyword not in seen] if readable else []
    nearest = store.standing.nearest(_NAMED)
    unread = list(store.standing.unread_seeds())
    if unread:
        yield f"Seeds that gave no page ({len(unread):,}):"
        yield from (f"  {url}: {reason}" for url, reason in unread[:_NAMED])
    # a judge that was learned from examples names other words than the keywords
    if (seen & keywords.keys() or not seen) and never:
        yield f"Keywords that no page has: {_listed(never)}."
    if nearest:
        against = "" if threshold is None else f" (the threshold is {threshold:g})"
        yield f"The best pages, with their relevance{against}:"
        for page in nearest:
            withheld = f", withheld: {page.withheld}" if page.withheld else ""
            yield f"  {page.relevance:.3f}{withheld}  {page.url}{f'  {page.title}' if page.title else ''}"
    yield "What to try:"
    advice = _advice(store, bool(unread), never, keywords, threshold, relevant)
    yield from (f"  {line}" for line in (advice if readable else islice(advice, 1)))


def _advice(
    store: Store, unread: bool, never: list[str], keywords: dict[str, object], threshold: float | None, relevant: int
) -> Iterator[str]:
    nearest = store.standing.nearest(1)
    best = nearest[0].relevance if nearest else 0.0
    if relevant:
        yield "see FOCUS_RIGHTS, FOCUS_LANGUAGES and FOCUS_ROBOTS_META in docs/settings.md: relevant pages are withheld"
    if unread:
        yield "give other seeds, or open these in a browser"
    if keywords and len(never) == len(keywords):
        yield "check the spelling and the language of the keywords, and that the seeds are about the topic"
    elif never:
        yield "remove or replace the keywords that no page has: they count against every page"
    if threshold and _NEAR * threshold <= best < threshold:
        yield f"lower the threshold: -a threshold={_below(best):g}"
    elif threshold and nearest and not never:
        yield "give seeds closer to the topic"
    if store.queue.count():
        yield "fetch more pages (-a max_pages=…): the topic may be some links away"
    yield f"run `{program()} topic check` on the topic file"


def _keywords(store: Store) -> dict[str, object]:
    """The keywords that the crawl was started with, those of single languages included."""
    found: dict[str, object] = {}
    for name, weight in (store.meta("keywords") or {}).items():
        if isinstance(weight, dict):
            found |= {str(keyword): value for keyword, value in weight.items()}
        else:
            found[name] = weight
    return found


def _below(relevance: float) -> float:
    """A round number just below a relevance."""
    return max(0.01, int(relevance * 100) / 100)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - 2 * _NAMED:,} more" if len(names) > 2 * _NAMED else ""
    return f"{', '.join(names[: 2 * _NAMED])}{more}"
