"""Link semantics: anchor, URL and context words, matched through an ontology of related terms.

Reviewed in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler).

The ontology is a TOML file that the user provides: for each term its related terms, with their closeness from 0 to 1.

    [sort]
    order = 0.8
    "bubble sort" = 1.0

A keyword of the topic counts with its weight, a related term with that weight times the relation. Relations chain: a
term counts if the product of the relations on the way to it is at least `least`. Without a file, only the keywords
count. `ontology=wordnet` takes synonyms and narrower terms from WordNet instead (focuscrawl/strategies/wordnet.py).

    neighbourhood = anchors * sim(anchor) + urls * sim(words of the URL) + (1 - anchors - urls) * sim(text around it)
    score         = inheritance * relevance of its page + (1 - inheritance) * neighbourhood

sim is the cosine with all these terms.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from focuscrawl import words
from focuscrawl.errors import FocusError
from focuscrawl.judge import KeywordJudge
from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider
from focuscrawl.strategies.wordnet import WordNet

#: The value of the option `ontology` that stands for WordNet.
WORDNET = "wordnet"

Ontology = Mapping[str, Mapping[str, float]]


def read_ontology(path: Path) -> dict[str, dict[str, float]]:
    """Read the related terms from a TOML file."""
    where = f"ontology '{path}'"
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise FocusError(f"{where}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise FocusError(f"{where}: not valid TOML: {error}") from None
    result: dict[str, dict[str, float]] = {}
    for term, related in table.items():
        if not isinstance(related, dict):
            raise FocusError(f"{where}: '{term}' must be a table of related terms, as in [sort] and order = 0.8")
        for other, weight in related.items():
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight <= 1:
                raise FocusError(f"{where}: '{other}' of '{term}' must be a number from 0 to 1")
        result[term] = {other: float(weight) for other, weight in related.items()}
    return result


def related_terms(keywords: Mapping[str, float], ontology: Ontology, least: float) -> dict[str, float]:
    """Keywords and their related terms, each with the largest weight that a chain of relations gives it."""
    stemmed = {tuple(words.stems(words.tokenize(term))): related for term, related in ontology.items()}
    weights = dict(keywords)
    strength = dict.fromkeys(keywords, 1.0)
    queue = list(keywords)
    while queue:
        term = queue.pop(0)
        for other, relation in stemmed.get(tuple(words.stems(words.tokenize(term))), {}).items():
            weight = weights[term] * relation
            if strength[term] * relation >= least and weight > weights.get(other, 0.0):
                weights[other], strength[other] = weight, strength[term] * relation
                queue.append(other)
    return weights


class LinkSemanticsSpider(FocusedSpider):
    name = "link_semantics"
    links_follow_page = True

    ontology = Option("", "TOML file of related terms, or wordnet", expects="a file, or wordnet")
    least = Option(0.3, "minimum product of relations for an indirectly related term", at_least=0.01, at_most=1.0)
    anchors = Option(0.5, "weight of the anchor", at_least=0.0, at_most=1.0)
    urls = Option(0.2, "weight of the words of the URL; the surrounding text has the rest", at_least=0.0, at_most=1.0)
    inheritance = Option(0.3, "weight of the relevance of the link's page", at_least=0.0, at_most=1.0)

    def prepare(self) -> None:
        if self.anchors + self.urls > 1:
            raise FocusError(f"options anchors={self.anchors} and urls={self.urls}: expected a sum of at most 1")
        terms = related_terms(self.topic.keywords, self._relations(), self.least)
        #: Judges links by keywords and related terms; pages are judged by the keywords alone.
        self._terms = KeywordJudge(terms, self.topic.keywords_in)

    def _relations(self) -> Ontology:
        if self.ontology == WORDNET:
            return WordNet.open().ontology(self.topic, self.least)
        return read_ontology(Path(self.ontology)) if self.ontology else {}

    def score(self, page: Page) -> Sequence[float]:
        inherited = self.relevance(page)
        language = page.language
        scores = []
        for link in page.links:
            anchor = self._terms.cosine(words.tokenize(link.anchor), language)
            url = self._terms.cosine(link.url_words, language)
            context = self._terms.cosine([*link.before(), *link.after()], language)
            near = self.anchors * anchor + self.urls * url + (1 - self.anchors - self.urls) * context
            link.why = {"anchor": anchor, "URL": url, "context": context, "relevance of its page": inherited}
            scores.append(self.inheritance * inherited + (1 - self.inheritance) * near)
        return scores
