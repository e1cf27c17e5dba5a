"""The relevance of a web's pages by their tag-weighted keywords, whichever spider fetched them."""

from __future__ import annotations

from collections.abc import Mapping

from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.topic import Topic
from focuscrawl.web.webs import Web


class TagRelevance:
    """Measures pages as `niche_genetic` does, when first asked for."""

    def __init__(self, web: Web, topics: Mapping[str, Topic]) -> None:
        self._web = web
        self._judges = {name: KeywordJudge(topic.keywords, topic.keywords_in) for name, topic in topics.items()}
        self._known: dict[tuple[str, str], float] = {}

    def of(self, topic: str, url: str) -> float:
        """The cosine of a topic's keywords with those of a page, weighted by tag; 0 for a page that is not there."""
        place = topic, url
        if place not in self._known:
            answer = self._web.get(url)
            page = Page(url, answer.status)
            if answer.status < 300:
                read_page(page, answer.body, answer.content_type)
            self._known[place] = self._judges[topic].tag_weighted(page, 0.0).relevance
        return self._known[place]
