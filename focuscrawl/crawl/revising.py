"""Verdicts on stored pages follow a judge that has learned since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from focuscrawl.crawl.marking import marks_of_pages
from focuscrawl.crawl.verdict import NO, YES, Verdict, overrule

if TYPE_CHECKING:
    from focuscrawl.crawl.crawl import Crawl

#: A relevance that changes by less, on the same side of the threshold, is left as it is.
LEAST_CHANGE = 0.05


def revise_verdicts(crawl: Crawl, judged: Mapping[int, tuple[float, bool]]) -> int:
    """Give stored pages the relevance that the judge sees now, and whether they are relevant; by number.

    What people have marked stays. URLs.txt follows. Returns how many pages match now and did not before, or the other
    way round.
    """
    store, changed, turned = crawl.store, 0, 0
    with store.batch():
        marks = marks_of_pages(store)
        for number, (relevance, relevant) in judged.items():
            page = store.verdicts.get(number)
            if page is None or page.problem is not None or page.own.relevance is None:
                continue
            own = Verdict(relevance, relevant and page.counts, relevant)
            if abs(relevance - page.own.relevance) < LEAST_CHANGE and own[1:] == page.own[1:]:
                continue
            mark = marks[number].verdict if number in marks else None
            verdict = overrule(own, mark, readable=True, counts=page.counts, findable=page.findable)
            store.verdicts.set(page, verdict, own if mark in (YES, NO) else None)
            changed += 1
            turned += verdict.matched != page.now.matched
    if changed:
        crawl.count()
    if turned:
        for listener in crawl.marks.listeners:
            listener()
    return turned
