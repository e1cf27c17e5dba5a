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
#: CPU seconds below which a difference is one of the clock.
ENOUGH = 1.0
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
    best, *rest = sorted(spiders, key=lambda one: (-one.score, one.spider))
    floor, limit, chance = by_name.get(FLOOR), by_name.get(LIMIT), by_name.get(CHANCE)

    def certainty(other: Summary) -> str:
        return _certainty(best, other, len(spiders))

    within = f" (95 % interval {best.interval[0]:.2f} to {best.interval[1]:.2f})" if best.interval else ""
    parts = [
        f"On {web}, from {WAYS.get(best.seeds, best.seeds)}, {best.spider} does best: its score is"
        f" {best.score:.2f} of the best possible order{within}, with {best.relevant:,.0f} relevant pages in {pages:,}"
        + (f"; that order finds {limit.relevant:,.0f}." if limit else ".")
    ]
    if best is floor:
        parts.append("That is plain breadth-first: no strategy compared here is worth its cost on this web.")
    elif floor is not None:
        more = f"{best.relevant / floor.relevant:.1f} times as many as" if floor.relevant else "some, against none by"
        parts.append(f"It finds {more} breadth_first{certainty(floor)}{_needing(best, needs, ', and needs')}.")
    if chance is not None and chance.score >= best.score:
        parts.append(f"A random order has {chance.score:.2f}: nothing compared here is better than chance on this web.")
    if rest:
        second = rest[0]
        near = " and practically the same" if best.score - second.score < CLOSE else ""
        parts.append(
            f"Next is {second.spider} with {second.score:.2f}{near}{'' if second is floor else certainty(second)}"
            f"{_needing(second, needs, ', which needs')}."
        )
        without = [one for one in rest if not {*needs.get(one.spider, ())} & {*needs.get(best.spider, ())}]
        if without and without[0] is not second:
            other = without[0]
            parts.append(
                f"Without {_list(needs[best.spider])} it is {other.spider} with {other.score:.2f}"
                f"{_needing(other, needs, ', which needs')}."
            )
    if best.cost and (best.cpu or 0.0) >= ENOUGH:
        cheaper = [
            (one.cost, one.spider)
            for one in rest
            if one.cost and one.cost < 0.67 * best.cost and best.score - one.score < 2 * CLOSE
        ]
        if cheaper:
            cost, name = min(cheaper)
            parts.append(f"{name} comes near it for {cost / best.cost:.0%} of the CPU time.")
    if best.topics < FEW:
        number = "One topic says" if best.topics == 1 else f"{best.topics} topics say"
        parts.append(f"{number} little: give more in --topics, {FEW} or better 12, before you rely on this.")
    return " ".join(parts)


def _needing(one: Summary, needs: Needs, words: str) -> str:
    return f"{words} {_list(needs[one.spider])}" if needs.get(one.spider) else ""


def _list(words: Sequence[str]) -> str:
    return " and ".join(words)


def _certainty(one: Summary, other: Summary, spiders: int) -> str:
    """How sure it is that one spider, chosen among so many, is better than another, in words."""
    result = compare(one.scores, other.scores)
    if result is None or result.better + result.worse < FEW:
        return ""
    p = min(1.0, (spiders - 1) * result.p)  # the best of many looks good by chance
    ahead = f"ahead on {result.better} of {result.better + result.worse} topics"
    return f" ({ahead}, p = {p:.2g})" if p < SIGNIFICANT else f" ({ahead}, which may be chance)"
