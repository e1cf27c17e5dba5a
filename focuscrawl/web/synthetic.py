"""A web of any size, for scale tests: pages are generated on request, deterministically.

Page `i` of N is on host `i % hosts` and has one of twenty topics, each with a vocabulary of its own. Links lead to
random pages, six in ten of them to pages of the same topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from focuscrawl.web.webs import NOT_FOUND, Answer, Web

TOPICS = 20
#: Share of a page's links that stay within its topic, and of its words that belong to it.
LOCALITY = 0.6
TOPIC_WORDS = 0.2

_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
_URL = re.compile(r"http://host-(\d+)\.synthetic\.example/(?:(\d+)\.html)?")


def _vocabulary(seed: int, size: int) -> list[str]:
    random = Random(seed)
    return ["".join(random.choices(_SYLLABLES, k=random.randint(2, 4))) for _ in range(size)]


class SyntheticWeb(Web):
    """Pages generated on request."""

    def __init__(self, pages: int, hosts: int = 0, links: int = 60, bytes: int = 20_000) -> None:  # noqa: A002
        if pages < 1 or hosts < 0 or links < 0 or bytes < 0:
            raise ValueError("pages, hosts, links and bytes must not be negative")
        self.pages = pages
        self.host_count = min(pages, hosts or max(1, int(pages**0.5)))
        self.links = links
        self.size = bytes
        #: As in English, every twelfth word is one of three.
        self.common = _vocabulary(0, 2000) + 80 * ["the", "of", "and"]
        self.topical = [_vocabulary(topic + 1, 200) for topic in range(TOPICS)]

    def url(self, page: int) -> str:
        """The URL of a page."""
        return f"http://host-{page % self.host_count}.synthetic.example/{page}.html"

    def topic(self, page: int) -> int:
        """The topic of a page."""
        return (page // self.host_count) % TOPICS

    def number(self, url: str) -> int | None:
        """The page of a URL; None if there is none."""
        match = _URL.fullmatch(url)
        if match is None:
            return None
        host = int(match[1])
        page = int(match[2]) if match[2] else host
        return page if page < self.pages and page % self.host_count == host else None

    def labels(self, url: str) -> list[str]:
        page = self.number(url)
        return [] if page is None else [f"topic-{self.topic(page)}"]

    def hosts(self) -> list[str]:
        return [f"host-{host}.synthetic.example" for host in range(self.host_count)]

    def page_urls(self) -> Iterator[str]:
        return map(self.url, range(self.pages))

    def get(self, url: str) -> Answer:
        page = self.number(url)
        if page is None:
            return NOT_FOUND
        random = Random(page)
        topic = self.topic(page)
        words = self.topical[topic]

        def text(count: int) -> str:
            own = round(count * TOPIC_WORDS)
            chosen = random.choices(words, k=own) + random.choices(self.common, k=count - own)
            random.shuffle(chosen)
            return " ".join(chosen)

        targets = [self._target(random, topic) for _ in range(self.links)]
        budget = max(0, self.size - 110 * self.links - 300)
        per_paragraph = max(5, budget // 6 // max(1, self.links // 4 + 1))
        parts = [
            f"<!DOCTYPE html><html><head><meta charset=utf-8><title>{text(4)}</title></head><body><h1>{text(3)}</h1>"
        ]
        for start in range(0, max(1, self.links), 4):
            parts.append(f"<h2>{text(3)}</h2><p>{text(per_paragraph)}")
            parts += [f' <a href="{self.url(target)}">{text(2)}</a> {text(4)}' for target in targets[start : start + 4]]
            parts.append("</p>\n")
        parts.append("</body></html>")
        return Answer(200, "text/html; charset=utf-8", "".join(parts).encode())

    def _target(self, random: Random, topic: int) -> int:
        if random.random() >= LOCALITY:
            return random.randrange(self.pages)
        # pages of a topic come in rows of one page per host
        block = random.randrange(max(1, self.pages // (self.host_count * TOPICS)))
        page = (block * TOPICS + topic) * self.host_count + random.randrange(self.host_count)
        return page if page < self.pages else random.randrange(self.pages)
