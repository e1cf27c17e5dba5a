"""What is weak in a topic, and how to mend it: keywords, examples and seeds.

Nothing is fetched: seeds are looked up in a crawl of the topic, or in the web that FOCUS_WEB names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.console.program import program
from focuscrawl.judge import KeywordJudge
from focuscrawl.learning.pages import LEAST
from focuscrawl.learning.texts import tells
from focuscrawl.seeding.evidence import Evidence, Example, Library
from focuscrawl.seeding.suggest import SURPRISING, Pages, language_of, likelihood_ratio, stems_of
from focuscrawl.topic import Topic

#: With fewer pages, one that lacks a keyword says nothing about it.
_ENOUGH = 5
#: A keyword on this share of the pages on and off the topic does not tell them apart.
_EVERYWHERE = 0.95
#: Pages that a message names.
_NAMED = 3
#: Links of an off-topic seed that are looked up in a web, for one that leads to the topic.
_LOOKED_UP = 100


class Finding(NamedTuple):
    """Something weak in a topic."""

    #: The key of the topic file.
    part: str
    problem: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.part}: {self.problem}; {self.remedy}"


def check(topic: Topic, evidence: Evidence, library: Library, threshold: float) -> list[Finding]:
    """What is weak in a topic, part by part."""
    return [
        *_check_keywords(topic.all_keywords, language_of(evidence.relevant)),
        *_check_keywords_on_pages(topic.all_keywords, evidence),
        *_check_examples(topic, evidence),
        *_check_verdicts(topic.all_keywords, evidence, threshold),
        *_check_seeds(topic, library, threshold),
    ]


# ---- keywords


def _check_keywords(keywords: Mapping[str, float], language: str) -> Iterator[Finding]:
    kept = {tuple(stems): name for name, stems, _ in KeywordJudge(keywords).terms(language)}
    for keyword in keywords:
        stems = stems_of(keyword, language)
        if kept[stems] != keyword:
            problem = f"'{keyword}' has the same stem as '{kept[stems]}', so only one of them counts"
            yield Finding("keywords", problem, f"remove '{keyword}'")
        elif all(stem.isalpha() and len(stem) > 1 and not tells(stem) for stem in stems) and not keyword.isupper():
            yield Finding("keywords", f"'{keyword}' is on pages about anything", "remove it")


def _check_keywords_on_pages(keywords: Mapping[str, float], evidence: Evidence) -> Iterator[Finding]:
    pages = Pages(evidence.relevant, evidence.others, keywords)
    if pages.relevant + pages.others < _ENOUGH or not pages.relevant:
        return
    for keyword, stems, _ in KeywordJudge(keywords).terms(pages.language):
        having, having_others = pages.having(keyword)
        shares = f"{having} of {pages.relevant} relevant pages and {having_others} of {pages.others} others"
        if not having + having_others:
            if len(stems) > 1 and _has_all(evidence, stems):
                yield Finding("keywords", f"the phrase '{keyword}' never occurs, its words do", "use one of its words")
            else:
                yield Finding("keywords", f"no page has '{keyword}'", "check its spelling, or remove it")
        elif (
            pages.others >= _ENOUGH
            and having >= _EVERYWHERE * pages.relevant
            and having_others >= _EVERYWHERE * pages.others
        ):
            yield Finding("keywords", f"'{keyword}' is on every page ({shares})", "remove it")
        elif likelihood_ratio(having, having_others, pages.relevant, pages.others) <= -SURPRISING:
            yield Finding("keywords", f"'{keyword}' leads away from the topic: it is on {shares}", "remove it")


def _has_all(evidence: Evidence, stems: Sequence[str]) -> bool:
    """Whether each of these stems is on some page."""
    pages = (*evidence.relevant, *evidence.others)
    return all(any(stem in page.counts for page in pages) for stem in stems)


# ---- examples


def _check_examples(topic: Topic, evidence: Evidence) -> Iterator[Finding]:
    sides = (("examples", evidence.examples), ("counterexamples", evidence.counterexamples))
    seen: dict[object, tuple[str, str]] = {}
    for part, side in sides:
        for example in side:
            if example.page is not None and example.page.problem:
                problem = f"{example.source} cannot be used: {example.page.problem}"
                yield Finding(part, problem, "give another page")
                continue
            identities = _identities(example)
            before = next((seen[identity] for identity in identities if identity in seen), None)
            if before is None:
                seen.update(dict.fromkeys(identities, (part, str(example.source))))
            elif before[0] != part:
                name = str(example.source)
                same = (
                    f"{name} is also an example" if before[1] == name else f"{name} is the same as example {before[1]}"
                )
                yield Finding(part, same, "remove one of them")
            else:
                yield Finding(part, f"{example.source} is the same page as {before[1]}", "remove one of them")
    if topic.examples and topic.counterexamples:
        for part, side in sides:
            if len(side) < LEAST:
                problem = f"only {len(side)}; spiders that learn need at least {LEAST}, better 20"
                yield Finding(part, problem, "add pages")


def _identities(example: Example) -> list[object]:
    """What tells an example from others: its address, and the words of its page."""
    source = example.source
    address: object = source.resolve() if isinstance(source, Path) else urls.key(source)
    return [address, *([tuple(example.page.words)] if example.page is not None and example.page.words else [])]


def _check_verdicts(keywords: Mapping[str, float], evidence: Evidence, threshold: float) -> Iterator[Finding]:
    """Examples that the keywords take for off topic, and counterexamples that they take for on topic."""
    if not keywords:
        return
    judge = KeywordJudge(keywords)
    for part, side, wanted, remedy in (
        ("examples", evidence.examples, True, f"add keywords that they have; `{program()} topic suggest` finds some"),
        ("counterexamples", evidence.counterexamples, False, "raise the threshold, or give their keywords less weight"),
    ):
        judged = [
            (str(example.source), judgement.relevance)
            for example in side
            if example.page is not None and not example.page.problem
            for judgement in [judge.coverage(example.page, threshold)]
            if judgement.relevant is not wanted
        ]
        if judged:
            named = ", ".join(f"{name} ({relevance:.2f})" for name, relevance in judged[:_NAMED])
            more = f" and {len(judged) - _NAMED} more" if len(judged) > _NAMED else ""
            verdict = f"{'off' if wanted else 'on'} topic by the keywords, at threshold {threshold:g}"
            yield Finding(part, f"{len(judged)} of {len(side)} are {verdict}: {named}{more}", remedy)


# ---- seeds


def _check_seeds(topic: Topic, library: Library, threshold: float) -> Iterator[Finding]:
    seen: dict[int, str] = {}
    counterexamples = {urls.key(source) for source in topic.counterexamples if not isinstance(source, Path)}
    for seed in topic.seeds:
        try:
            url = urls.check(seed)
        except ValueError as error:
            yield Finding("seeds", str(error), "correct it, or remove it")
            continue
        key = urls.key(url)
        if key in seen:
            yield Finding("seeds", f"{seed} is the same page as {seen[key]}", "remove one of them")
            continue
        seen[key] = seed
        if key in counterexamples:
            yield Finding("seeds", f"{seed} is also a counterexample", "remove one of them")
        problem = _wrong_in_crawl(library, url) if library.store is not None else None
        if library.store is None and library.web is not None:
            problem = _wrong_in_web(library, topic.all_keywords, url, threshold)
        if problem:
            yield Finding("seeds", f"{seed} {problem}", "give another one")


def _wrong_in_crawl(library: Library, url: str) -> str | None:
    """What a crawl found wrong with a seed; None if nothing, or if it has not been fetched."""
    store = library.store
    assert store is not None
    stored = library.stored(url)
    if stored is None:
        found = store.urls.find(urls.key(url), urls.key(url, any_scheme=False))
        failures = store.failures.of_url(found[0]) if found else []
        return f"was unreachable: {failures[-1].reason}" if failures else None
    if stored.problem is not None:
        return f"could not be read: {stored.problem}"
    if stored.relevant is not False or stored.listing or stored.duplicate_of is not None:
        return None
    for url_id in store.links.targets_of(stored.number):
        target = store.pages.of_url(url_id)
        if target is not None and target.relevant:
            return None  # a hub: it is not about the topic, but leads there
    return f"is off topic (relevance {stored.relevance or 0:.2f}), and none of its links led to a relevant page"


def _wrong_in_web(library: Library, keywords: Mapping[str, float], url: str, threshold: float) -> str | None:
    page = library.page(url)
    if page is None:
        return "is not in the web"
    if page.problem:
        return f"cannot be read: {page.problem}"
    judge = KeywordJudge(keywords)
    if not keywords or judge.coverage(page, threshold).relevant:
        return None

    def leads_there(target: str) -> bool:
        linked = library.page(target)
        return linked is not None and not linked.problem and judge.coverage(linked, threshold).relevant

    if any(leads_there(link.url) for link in page.links[:_LOOKED_UP]):
        return None
    relevance = judge.coverage(page, threshold).relevance
    return f"is off topic (relevance {relevance:.2f}), and none of its links leads to a relevant page"
