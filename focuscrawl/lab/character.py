"""What kind of web it is: how large, how dead, and whether the pages of a topic link to one another."""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.lab.measures import mean
from focuscrawl.lab.survey import Survey

#: Links of pages of a topic lead to another of its pages so many times as often as any link, where they hang together.
TOGETHER = 3


class Character(NamedTuple):
    """Figures of a web; those of topics are means over the topics."""

    pages: int
    hosts: int
    #: Links of a page, and the share of them that lead to nothing that is there.
    links: float
    dead: float
    #: The share of pages that are of a topic.
    relevant: float
    #: Of the links to pages that are there: the share that leads to a topic, from its own pages and from any page.
    within: float
    from_any: float

    @property
    def hangs_together(self) -> bool:
        """Whether pages of a topic link to one another rather than to anything, or mostly."""
        return self.from_any > 0 and self.within >= min(TOGETHER * self.from_any, 0.5)

    def tell(self, web: str) -> str:
        """The character in a sentence or two."""
        hosts = "one host" if self.hosts == 1 else f"{self.hosts:,} hosts"
        so = (
            "pages of a topic link to one another"
            if self.hangs_together
            else "pages of a topic hardly link to one another, and the way to them leads through others"
        )
        return (
            f"{web} has {self.pages:,} pages on {hosts}, with {self.links:.0f} links each, {self.dead:.0%} of which"
            f" lead to nothing that is there. A topic has {self.relevant:.1%} of the pages. {self.within:.0%} of the"
            f" links of its pages lead to another of them, {self.from_any:.1%} of all links do: {so}."
        )


def character(survey: Survey, topics: Collection[Set[int]]) -> Character:
    """The character of a web, given the pages of each topic."""
    links = survey.links[: survey.pages]
    live = [[target for target in targets if target < survey.pages] for targets in links]
    total, alive = sum(map(len, links)), sum(map(len, live))

    def share(topic: Set[int], sources: Collection[int]) -> float | None:
        targets = [target for source in sources for target in live[source]]
        return sum(target in topic for target in targets) / len(targets) if targets else None

    return Character(
        pages=survey.pages,
        hosts=len({urls.host(url) for url in survey.urls[: survey.pages]}),
        links=total / max(1, survey.pages),
        dead=1 - alive / total if total else 0.0,
        relevant=mean([len(topic) / max(1, survey.pages) for topic in topics]) or 0.0,
        within=mean([share(topic, topic) for topic in topics]) or 0.0,
        from_any=mean([share(topic, range(survey.pages)) for topic in topics]) or 0.0,
    )
