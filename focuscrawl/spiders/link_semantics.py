"""Link semantics: anchor, URL and context words, matched through an ontology of related terms.

Reviewed in: "A focused crawler combinatory link and content model based on T-Graph principles" (Treasure-Crawler).

The ontology is a TOML file of the user's: for each term others that are related to it, and how closely, from 0 to 1.

    [sort]
    order = 0.8
    "bubble sort" = 1.0

A keyword of the topic counts with its weight, what is related to it with that weight times the relation; without a file
the keywords stand alone. Terms related to related ones count, too, if the product of the relations is at least `least`.
A link scores anchors * sim(anchor) + urls * sim(words of the URL) + the rest * sim(text around it), sim being the
cosine with all these terms, and a share `inheritance` of the relevance of its page.
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

Ontology = Mapping[str, Mapping[str, float]]


def read_ontology(path: Path) -> dict[str, dict[str, float]]:
    """The related terms in a TOML file."""
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
    """Keywords and what is related to them, each with the largest weight that a chain of relations gives it."""
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

    ontology = Option("", "TOML file of related terms", expects="a file")
    least = Option(0.3, "product of relations from which a related term counts", at_least=0.01, at_most=1.0)
    anchors = Option(0.5, "weight of the anchor", at_least=0.0, at_most=1.0)
    urls = Option(0.2, "weight of the words of the URL", at_least=0.0, at_most=1.0)
    inheritance = Option(0.3, "weight of the relevance of the link's page", at_least=0.0, at_most=1.0)

    def prepare(self) -> None:
        if self.anchors + self.urls > 1:
            raise FocusError(f"options anchors={self.anchors} and urls={self.urls}: together they are more than 1")
        ontology = read_ontology(Path(self.ontology)) if self.ontology else {}
        terms = related_terms(self.topic.keywords, ontology, self.least)
        #: The judge of links, which knows related terms; pages are judged by the topic's keywords.
        self._terms = KeywordJudge(terms)

    def score(self, page: Page) -> Sequence[float]:
        inherited = self.relevance(page)
        cosine = self._terms.cosine
        scores = []
        for link in page.links:
            anchor = cosine(words.tokenize(link.anchor))
            url = cosine(link.url_words)
            context = cosine([*link.before(), *link.after()])
            near = self.anchors * anchor + self.urls * url + (1 - self.anchors - self.urls) * context
            link.why = {"anchor": anchor, "URL": url, "context": context, "relevance of its page": inherited}
            scores.append(self.inheritance * inherited + (1 - self.inheritance) * near)
        return scores
