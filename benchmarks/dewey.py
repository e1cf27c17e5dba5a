"""How often the galaxy of a text names the right Dewey class, without training.

    python benchmarks/dewey.py [--web FILE --topics DIR]

For the labelled pages of each topic: whether the main class (first digit) and the division (two digits) of the page
text's galaxy are among the topic's Dewey numbers; the most frequent wrong classes; and the same for links to such
pages, by their topical boundary, before their target is known.
"""

from __future__ import annotations

from collections import Counter

import labelled
from labelled import parse_web, topic_files

from focuscrawl import urls
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.dewey import lexicon
from focuscrawl.topic import load_topic
from focuscrawl.web.webs import WebFile


class Score:
    """How often main class and division were right."""

    def __init__(self, numbers: list[str]) -> None:
        self.numbers = numbers
        self.total = self.main = self.division = 0
        self.wrong: Counter[str] = Counter()

    def add(self, found: tuple[str, ...]) -> None:
        main, division = (
            bool({number[:digits] for number in found} & {number[:digits] for number in self.numbers})
            for digits in (1, 2)
        )
        self.total += 1
        self.main += main
        self.division += division
        if not main:
            self.wrong.update({number[0] for number in found} or {"none"})

    def row(self) -> str:
        total = self.total or 1
        return f"{self.total:>8,}{self.main / total:>8.0%}{self.division / total:>8.0%}"


def main() -> None:
    options = parse_web(labelled.parser(__doc__))
    web, known = WebFile(options.web), lexicon()
    addresses = [url for (url,) in web.connection.execute("SELECT url FROM page ORDER BY url")]
    topics = {topic.label: topic for topic in map(load_topic, map(str, topic_files(options.topics)))}
    labels = {
        urls.key(url): found for url in addresses if (found := [label for label in web.labels(url) if label in topics])
    }
    pages = {label: Score(topic.dewey) for label, topic in topics.items()}
    links = {label: Score(topic.dewey) for label, topic in topics.items()}
    for url in addresses:
        answer = web.get(url)
        page = read_html(Page(url), answer.body, answer.content_type)
        for label in labels.get(urls.key(url), ()):
            pages[label].add(known.of_page(page).galaxies()[0])
        wanted = [labels.get(urls.key(link.url), ()) for link in page.links]
        if any(wanted):
            for target, numbers in zip(wanted, known.focuses(page), strict=True):
                for label in target:
                    links[label].add(numbers)
    print(f"{'':28}{'pages':>8}{'main':>8}{'div.':>8}  {'wrong, most often':20}{'links':>8}{'main':>8}{'div.':>8}")
    for label, topic in topics.items():
        wrong = ", ".join(f"{digit} {count}" for digit, count in pages[label].wrong.most_common(3))
        print(f"{topic.name[:27]:28}{pages[label].row()}  {wrong:20}{links[label].row()}")
    cells = []
    for scores in (pages.values(), links.values()):
        total = sum(score.total for score in scores)
        right = [sum(getattr(score, part) for score in scores) / total for part in ("main", "division")]
        cells.append(f"{total:>8,}{right[0]:>8.0%}{right[1]:>8.0%}")
    print(f"{'all':28}{cells[0]}  {'':20}{cells[1]}")


if __name__ == "__main__":
    main()
