"""What the figures say, in a paragraph for somebody who wants to choose a strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from focuscrawl.lab.measures import SIGNIFICANT, compare
from focuscrawl.lab.plan import CHANCE, FLOOR, GENERIC, GIVEN, LIMIT, TOPIC, Spec
from focuscrawl.lab.tables import Summary
from focuscrawl.options import options_of
from focuscrawl.spider import FocusedSpider

#: Topics below which a test can hardly say anything: with five that all go one way chance has 6 %.
FEW = 6
#: Scores nearer than this are as good as the same.
CLOSE = 0.02
#: What a topic has to have for a spider, in words.
PARTS = {"keywords": "keywords", "examples": "example pages", "counterexamples": "pages of other topics"}
WAYS = {TOPIC: "the topics' own seeds", GENERIC: "a generic start", GIVEN: "the given seeds"}


#: By spider: what it needs besides seeds.
Needs = Mapping[str, Sequence[str]]


def needs_of(spiders: Mapping[Spec, type[FocusedSpider]]) -> Needs:
    """What each spider needs besides seeds, in words."""
    return {
        spec.text: [
            *(PARTS[part] for part in spider.needs),
            *(["Dewey numbers"] if "dewey" in options_of(spider) else []),
        ]
        for spec, spider in spiders.items()
    }


def advise(summaries: Sequence[Summary], web: str, pages: int, needs: Needs) -> str:
    """The advice for one way to begin."""
    by_name = {one.spider: one for one in summaries}
    spiders = [one for one in summaries if one.spider not in (LIMIT, CHANCE)]
    spiders = [one for one in spiders if one.whole] or spiders
    if not spiders:
        return "No crawl was finished, so there is nothing to say."
    ranked = sorted(spiders, key=lambda one: (-one.score, one.spider))
    best, floor, limit = ranked[0], by_name.get(FLOOR), by_name.get(LIMIT)
    within = f" (95 % interval {best.interval[0]:.2f} to {best.interval[1]:.2f})" if best.interval else ""
    parts = [
        f"On {web}, from {WAYS.get(best.seeds, best.seeds)}, {best.spider} does best: its score is"
        f" {best.score:.2f} of the best possible order{within}, with {best.relevant:,.0f} relevant pages in {pages:,}"
        + (f"; that order finds {limit.relevant:,.0f}." if limit else ".")
    ]
    if floor is not None and best is floor:
        parts.append("That is plain breadth-first: no strategy compared here is worth its cost on this web.")
    elif floor is not None:
        more = f"{best.relevant / floor.relevant:.1f} times as many as" if floor.relevant else "some, against none by"
        parts.append(f"It finds {more} breadth_first{_certainty(best, floor)}{_needing(best, needs, ', and needs')}.")
    rest = [one for one in ranked[1:] if one.spider != FLOOR]
    if rest:
        second = rest[0]
        near = " and practically the same" if best.score - second.score < CLOSE else ""
        parts.append(
            f"Next is {second.spider} with {second.score:.2f}{near}{_certainty(best, second)}"
            f"{_needing(second, needs, ', which needs')}."
        )
        without = [one for one in rest if not {*needs.get(one.spider, ())} & {*needs.get(best.spider, ())}]
        if without and without[0] is not second:
            other = without[0]
            parts.append(
                f"Without {_list(needs[best.spider])} it is {other.spider} with {other.score:.2f}"
                f"{_needing(other, needs, ', which needs')}."
            )
    cheaper = [
        one
        for one in rest
        if one.cost and best.cost and one.cost < 0.67 * best.cost and best.score - one.score < 2 * CLOSE
    ]
    if cheaper:
        pick = min(cheaper, key=lambda one: one.cost or 0.0)
        assert pick.cost
        assert best.cost
        parts.append(f"{pick.spider} comes near it for {pick.cost / best.cost:.0%} of the CPU time.")
    if best.topics < FEW:
        number = "One topic says" if best.topics == 1 else f"{best.topics} topics say"
        parts.append(f"{number} little: give more in --topics, {FEW} or better 12, before you rely on this.")
    return " ".join(parts)


def _needing(one: Summary, needs: Needs, words: str) -> str:
    return f"{words} {_list(needs[one.spider])}" if needs.get(one.spider) else ""


def _list(words: Sequence[str]) -> str:
    return " and ".join(words)


def _certainty(one: Summary, other: Summary) -> str:
    """How sure it is that one spider is better than another, in words."""
    result = compare(one.scores, other.scores)
    if result is None or result.better + result.worse == 0:
        return ""
    topics = result.better + result.worse
    if topics < FEW:
        return ""
    ahead = f" (ahead on {result.better} of {topics} topics, p = {result.p:.2g})"
    return ahead if result.p < SIGNIFICANT else f" (ahead on {result.better} of {topics} topics, which may be chance)"
