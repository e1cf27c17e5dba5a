"""The figures summed up in a paragraph, for a user who has to choose a strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from focuscrawl.lab.measures import SIGNIFICANT, compare
from focuscrawl.lab.plan import CHANCE, FLOOR, GENERIC, GIVEN, LIMIT, TOPIC, Spec
from focuscrawl.lab.tables import Summary
from focuscrawl.options import options_of
from focuscrawl.spider import FocusedSpider

#: With fewer topics no test can be significant: with five that all agree, p is 6 %.
FEW = 6
#: Scores closer than this count as equal.
CLOSE = 0.02
#: CPU seconds below which differences are noise.
ENOUGH = 1.0
#: What a spider needs from a topic, in words.
PARTS = {"keywords": "keywords", "examples": "example pages", "counterexamples": "pages of other topics"}
WAYS = {TOPIC: "the topics' own seeds", GENERIC: "a generic start", GIVEN: "the given seeds"}


#: By spider, what it needs besides seeds.
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


@dataclass(frozen=True)
class _Ranking:
    """The spiders of a comparison, best first, and what they are measured against."""

    best: Summary
    rest: Sequence[Summary]
    floor: Summary | None
    limit: Summary | None
    chance: Summary | None
    needs: Needs

    def certainty(self, other: Summary) -> str:
        return _certainty(self.best, other, 1 + len(self.rest))


def advise(summaries: Sequence[Summary], web: str, pages: int, needs: Needs) -> str:
    """The advice for one kind of start."""
    by_name = {one.spider: one for one in summaries}
    spiders = [one for one in summaries if one.spider not in (LIMIT, CHANCE)]
    spiders = [one for one in spiders if one.whole] or spiders
    if not spiders:
        return "No crawl finished, so there is no advice."
    best, *rest = sorted(spiders, key=lambda one: (-one.score, one.spider))
    ranking = _Ranking(best, rest, by_name.get(FLOOR), by_name.get(LIMIT), by_name.get(CHANCE), needs)
    sentences = (
        _which_is_best(ranking, web, pages),
        _against_floor(ranking),
        _against_chance(ranking),
        _which_is_next(ranking),
        _which_needs_less(ranking),
        _which_costs_less(ranking),
        _how_many_topics(ranking),
    )
    return " ".join(sentence for sentence in sentences if sentence)


def _which_is_best(ranking: _Ranking, web: str, pages: int) -> str:
    best, limit = ranking.best, ranking.limit
    within = f" (95 % interval {best.interval[0]:.2f} to {best.interval[1]:.2f})" if best.interval else ""
    return (
        f"On {web}, from {WAYS.get(best.seeds, best.seeds)}, {best.spider} does best: it scores"
        f" {best.score:.2f} of the best possible order{within}, with {best.relevant:,.0f} relevant pages in {pages:,}"
        + (f"; the best possible order finds {limit.relevant:,.0f}." if limit else ".")
    )


def _against_floor(ranking: _Ranking) -> str:
    best, floor = ranking.best, ranking.floor
    if floor is None:
        return ""
    if best is floor:
        return "That is plain breadth-first: no strategy compared here pays off on this web."
    more = f"{best.relevant / floor.relevant:.1f} times as many as" if floor.relevant else "some, against none by"
    needing = _needing(best, ranking.needs, ", and needs")
    return f"It finds {more} breadth_first{ranking.certainty(floor)}{needing}."


def _against_chance(ranking: _Ranking) -> str:
    chance = ranking.chance
    if chance is None or chance.score < ranking.best.score:
        return ""
    return f"A random order scores {chance.score:.2f}: nothing compared here beats chance on this web."


def _which_is_next(ranking: _Ranking) -> str:
    if not ranking.rest:
        return ""
    second = ranking.rest[0]
    near = ", practically the same" if ranking.best.score - second.score < CLOSE else ""
    certainty = "" if second is ranking.floor else ranking.certainty(second)  # already stated
    needing = _needing(second, ranking.needs, ", which needs")
    return f"Next is {second.spider} with {second.score:.2f}{near}{certainty}{needing}."


def _which_needs_less(ranking: _Ranking) -> str:
    """The best spider that needs nothing that the winner needs, unless it is the runner-up."""
    needs = ranking.needs
    needed = {*needs.get(ranking.best.spider, ())}
    without = [one for one in ranking.rest if not {*needs.get(one.spider, ())} & needed]
    if not without or without[0] is ranking.rest[0]:
        return ""
    other = without[0]
    needing = _needing(other, needs, ", which needs")
    return f"Without {_list(needs[ranking.best.spider])}, the best is {other.spider} with {other.score:.2f}{needing}."


def _which_costs_less(ranking: _Ranking) -> str:
    best = ranking.best
    if not best.cost or (best.cpu or 0.0) < ENOUGH:
        return ""
    cheaper = [
        (one.cost, one.spider)
        for one in ranking.rest
        if one.cost and one.cost < 0.67 * best.cost and best.score - one.score < 2 * CLOSE
    ]
    if not cheaper:
        return ""
    cost, name = min(cheaper)
    return f"{name} comes close to it with {cost / best.cost:.0%} of the CPU time."


def _how_many_topics(ranking: _Ranking) -> str:
    topics = ranking.best.topics
    if topics >= FEW:
        return ""
    number = "One topic is" if topics == 1 else f"{topics} topics are"
    return f"{number} not enough to rely on: give at least {FEW}, better 12, in --topics."


def _needing(one: Summary, needs: Needs, words: str) -> str:
    return f"{words} {_list(needs[one.spider])}" if needs.get(one.spider) else ""


def _list(words: Sequence[str]) -> str:
    return " and ".join(words)


def _certainty(one: Summary, other: Summary, spiders: int) -> str:
    """How certain it is that one spider, the best of *spiders*, is better than another, in words."""
    result = compare(one.scores, other.scores)
    if result is None or result.better + result.worse < FEW:
        return ""
    p = min(1.0, (spiders - 1) * result.p)  # Bonferroni: the best of many looks good by chance
    ahead = f"ahead on {result.better} of {result.better + result.worse} topics"
    return f" ({ahead}, p = {p:.2g})" if p < SIGNIFICANT else f" ({ahead}, which may be chance)"
