"""DeweySpider: the base class of strategies whose topic is given as Dewey decimal numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.language.languages import NAMES
from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.strategies.dewey import Dots, covered, dotted, lexicon, prefixes


class DeweySpider(FocusedSpider):
    """Judges pages by the galaxy of their text: relevant if it is on the topic."""

    needs = ()

    threshold = Option(0.5, "minimum relevance of a page on the topic", at_least=0.0, at_most=1.0)
    numbers = Option("", "Dewey numbers, separated by commas; default: those of the topic", given_as="dewey")

    def prepare(self) -> None:
        numbers = self.numbers.split(",") if self.numbers else self.topic.dewey
        if not numbers:
            raise FocusError(f"{self._lacks('dewey')}, or -a dewey=005,006")
        self.lexicon = lexicon()
        if self.topic.languages and self.lexicon.language not in self.topic.languages:
            self.logger.warning(
                "the Dewey lexicon is in %s: pages in the topic's languages (%s) have few Dewey numbers, or wrong ones",
                NAMES[self.lexicon.language],
                ", ".join(self.topic.languages),
            )
        #: The prefixes that the topic's numbers cover.
        self.prefixes = prefixes(number.strip() for number in numbers)
        for prefix in self.prefixes:
            if not any(number.startswith(prefix) for number in self.lexicon.numbers):
                raise FocusError(
                    f"topic '{self.topic.name}' ({self.topic.source}): Dewey number {dotted(prefix)} is not in the"
                    f" lexicon; find the numbers of a text with `{program()} dewey TEXT`"
                )

    def covers(self, numbers: Iterable[str]) -> bool:
        """Whether a focus is on the topic."""
        return covered(numbers, self.prefixes)

    def judge(self, page: Page) -> Judgement | None:
        dots = self.lexicon.of_page(page)
        (focus,) = dots.galaxies()
        page.topics = [dotted(number) for number in focus]
        return self.weigh(dots, focus)

    def weigh(self, dots: Dots, focus: Sequence[str]) -> Judgement:
        """Judge a page: relevant if its focus is on the topic, and more so the more of its dots are."""
        share = dots.share(self.prefixes)
        relevance = 0.5 + share / 2 if self.covers(focus) else min(0.499, share / 2)
        why = {f"focus {dotted(number)}": 1.0 for number in focus} | {"share of the topic's words": share}
        return Judgement(relevance, relevance >= self.threshold, why)
