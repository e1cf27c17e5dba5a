"""A description of a web: its size, its dead links, and whether pages of a topic link to one another."""

from __future__ import annotations

from collections.abc import Collection, Set
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.lab.measures import mean
from focuscrawl.lab.survey import Survey

#: A topic hangs together if links from its pages lead to its pages at least this many times as often as any link does.
TOGETHER = 3


class Character(NamedTuple):
    """Figures of a web; those of topics are means over the topics."""

    pages: int
    hosts: int
    #: Links per page, and the share of them that are dead.
    links: float
    dead: float
    #: The share of pages that belong to a topic.
    relevant: float
    #: Of the links that are not dead: the share that leads to a topic, from its own pages and from any page.
    within: float
    from_any: float

    @property
    def hangs_together(self) -> bool:
        """Whether pages of a topic link mainly, or far more often than chance, to one another."""
        return self.from_any > 0 and self.within >= min(TOGETHER * self.from_any, 0.5)

    def tell(self, web: str) -> str:
        """The description in a few sentences."""
        hosts = "one host" if self.hosts == 1 else f"{self.hosts:,} hosts"
        conclusion = (
            "pages of a topic link to one another"
            if self.hangs_together
            else "pages of a topic rarely link to one another, and paths to them lead through other pages"
        )
        return (
            f"{web} has {self.pages:,} pages on {hosts}, with {self.links:.0f} links each, {self.dead:.0%} of which are"
            f" dead. A topic has {self.relevant:.1%} of the pages. {self.within:.0%} of the links on its pages"
            f" lead to pages of the topic, against {self.from_any:.1%} of all links: {conclusion}."
        )


def character(survey: Survey, topics: Collection[Set[int]]) -> Character:
    """The description of a web, given the pages of each topic."""
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
