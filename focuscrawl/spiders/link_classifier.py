"""The link classifier over four attributes, with tunnelling.

Paper: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling".

The weight table holds the words with the highest weights on the example pages, which stand for the results of the
topic's query; the highest weight is 1. A link that has not been followed has four attributes: the similarity of the
words of its URL, of its anchor and of the text around it to that table, and the mean relevance of the pages that link
to it. A classifier over the four, naive Bayes or a decision tree, predicts whether the link leads to a relevant page.
By Bayes, it does if P(attributes | relevant) P(relevant) > P(attributes | irrelevant) P(irrelevant); a tree's share of
relevant links passes a sigmoid, and the result must reach a global threshold. The option `cut` is the threshold of
both.

Relevant table and Irrelevant table: the URLs predicted so, ignored ones included, whether or not they were fetched and
whatever they turned out to be. They are the views `relevant_url` and `irrelevant_url` in crawl.sqlite, current at any
moment, and the files Relevant.txt and Irrelevant.txt, written when the crawl stops.

Tunnelling: a counter grows with every step from an irrelevant page to an irrelevant one; a relevant page resets it. A
link that is predicted to lead to an irrelevant page is followed only while the counter is below `level_limit`,
otherwise it is ignored.

Training: of the paper's two ways, the default is the second, a training set that grows with every page that arrives,
because it found more on every web measured. The paper's first, a set that never changes once built, is
`training=fixed`.

Departures:
- The classifier is first trained on the links of the first `training_pages` pages (the seeds and the pages they link
  to) and on links between example pages; until then, links are ranked by the mean of their attributes. The paper trains
  on the seed pages, before the crawl.
- Stop words are those of a fixed list; the paper's, which come from the collection itself, are an option, `stop_share`.
- In the weight table, what a word weighs on counterexamples is subtracted.
- The best links are fetched first; the paper's queue has no order.
- The paper has one counter and resets it by the prediction. Here every path has its own, and goes by how the pages on
  it were judged; with `level_by=prediction`, by their predictions.
- The paper does not say how it estimates the probabilities of attributes: here they are binned, with Laplace
  smoothing. Nor does it say how a page is judged relevant: here the trained judge decides, by default the linear one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from focuscrawl import urls
from focuscrawl.crawl.files import write_lines
from focuscrawl.learning.attributes import Attributes, Classifier, WeightTable, learn, least_score
from focuscrawl.learning.pages import KINDS
from focuscrawl.learning.table import probability, squash
from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.reading.shells import is_shell
from focuscrawl.strategies.learning_spider import LearningSpider
from focuscrawl.strategies.rhythm import GROWTH

#: Who says that a page is irrelevant: the judge, once it is fetched, or the prediction by which it was fetched.
LEVELS = ("judge", "prediction")
#: The files of the tables, and which predictions they hold.
TABLES = {"Relevant.txt": True, "Irrelevant.txt": False}


class LinkClassifierSpider(LearningSpider):
    name = "link_classifier"

    kind_of_judge = Option("linear", "kind of judge", choices=KINDS, given_as="judge")
    classifier = Option("bayes", "naive Bayes or decision tree", choices=("bayes", "tree"))
    training = Option("updatable", "fixed: never change once trained", choices=("fixed", "updatable"))
    training_pages = Option(100, "pages whose links the classifier is first trained on", at_least=10)
    cut = Option(0.5, "probability above which a link is predicted relevant", at_least=0.001, at_most=0.999)
    level_limit = Option(3, "maximum number of steps through irrelevant pages", at_least=0)
    level_by = Option("judge", "who says that a page is irrelevant: the judge or the prediction", choices=LEVELS)
    table_words = Option(200, "number of words in the weight table", at_least=1)
    stop_share = Option(
        0.0,
        "share of the example pages above which a word is a stop word; 0: a fixed list instead",
        at_least=0.0,
        at_most=1.0,
    )

    def prepare(self) -> None:
        self.model: Classifier | None = None
        #: The lowest score of a link that is predicted relevant.
        self._least = least_score(self.classifier, self.cut)
        self._pairs: list[Attributes] = []
        self._labels: list[bool] = []
        self._learned_from = 0
        self._complete = False
        #: Whether what earlier runs have stored is learned.
        self._resumed = False
        #: By URL key: the sum of the relevance of the pages that link there, and their number.
        self._parents: dict[int, tuple[float, int]] = {}

    # ---- before the crawl

    async def before_crawl(self) -> None:
        await super().before_crawl()
        self.crawl.store.predictions.make()
        model = self.read_model("link_classifier.json")
        if model is None:  # the first run: `train_on_examples` has just made it
            return
        self.words = WeightTable(model["words"])
        self._pairs = [Attributes(*pair) for pair in model["pairs"]]
        self._labels = model["labels"]
        self._complete = model["complete"]
        if self._complete:
            self._learn()
        self._learned_from = model["learned_from"]
        self._read_parents()
        self.crawl.catch_up.resume(model["pages"])
        self._resumed = True
        self._note_predictions()

    def catch_up(self, numbers: Sequence[int]) -> None:
        links = self.crawl.store.links
        if self._resumed:
            self._add_parents(links.endorsements(numbers))
        if self._complete and self.training == "fixed":
            return
        for followed in list(links.followed(numbers)):
            if not is_shell(followed.problem):  # as during the crawl: nobody knows where the link has led
                self._take_in(followed.page, followed.link, followed.relevant)

    def _read_parents(self) -> None:
        self._parents.clear()
        self._add_parents(self.crawl.store.links.endorsements())

    def _add_parents(self, found: Iterable[tuple[int, float | None]]) -> None:
        for key, relevance in found:
            total, number = self._parents.get(key, (0.0, 0))
            self._parents[key] = total + probability(relevance or 0.0), number + 1

    def train_again(self) -> None:
        """Marked pages are examples for the judge, and the links that led to them are pairs. The weight table stays."""
        super().train_on_examples()
        self._read_parents()
        if self._complete:
            self._learn()

    def follow_judge(self, *, at_once: bool) -> None:
        if at_once and self.model is not None:
            self.rescore_waiting(self._worth)
            self.crawl.store.predictions.renew(self._least)

    def train_on_examples(self) -> None:
        super().train_on_examples()
        pages, others = (
            [page for page in found if not page.problem] for found in (self.examples, self.counterexamples)
        )
        counts = [page.counts for page in pages], [page.counts for page in others]
        self.words = WeightTable.of(*counts, self.table_words, self.stop_share)
        # links between pages whose labels are known
        known = {urls.key(page.url): relevant for found, relevant in ((others, False), (pages, True)) for page in found}
        for page in (*pages, *others):
            relevance = probability(self.relevance(page))
            for link in page.links:
                if (label := known.get(urls.key(link.url))) is not None and link.url != page.url:
                    self._add(self.words.attributes(link, relevance), label)
        self._keep()

    # ---- learning

    def _add(self, pair: Attributes, label: bool) -> None:
        self._pairs.append(pair)
        self._labels.append(label)

    def _learn(self) -> None:
        marked = [(_stored(link), good) for link, good in self.links_to_marked() if "anchor" in (link.why or {})]
        pairs = [*self._pairs, *(pair for pair, _ in marked)]
        labels = [*self._labels, *(label for _, label in marked)]
        self.model = learn(self.classifier, pairs, labels) or self.model
        self._learned_from = len(self._labels)

    def _keep(self, pages: int = 0) -> None:
        """Store the model, with the number of pages it has learned from."""
        model: dict[str, Any] = {"words": self.words.weights, "pairs": self._pairs, "labels": self._labels}
        model |= {"complete": self._complete, "learned_from": self._learned_from, "pages": pages}
        self.write_model("link_classifier.json", model)

    def learn(self, page: Page, via: Link) -> None:
        judgement = self.judged(page)
        self._take_in(page.number, via, bool(judgement and judgement.relevant))

    def _take_in(self, number: int, link: Link, relevant: bool) -> None:
        """Add a training pair from this crawl; retrain when there are enough new ones.

        The model is stored last: if the crawl is killed before that, the next run learns the same again.
        """
        if (self._complete and self.training == "fixed") or not link.why or "anchor" not in link.why:
            return
        self._add(_stored(link), relevant)
        if number > self.training_pages and len(self._labels) >= GROWTH * self._learned_from:
            self._note_predictions()
            self._learn()
            self._complete = self.model is not None
            if self.model is not None:
                self.rescore_waiting(self._worth)
                self.crawl.store.predictions.renew(self._least)
            self._keep(number)

    # ---- the Relevant and Irrelevant tables

    def stored(self, page: Page) -> None:
        self._note_predictions()

    def _note_predictions(self) -> None:
        if self.model is not None:
            self.crawl.store.predictions.add(self._least)

    def closed(self, reason: str) -> None:
        """Write the tables to files."""
        if not self.crawl.pages or self.crawl.fatal:
            return
        for name, relevant in TABLES.items():
            path = self.crawl.folder / name
            try:
                write_lines(path, self.crawl.store.predictions.urls(relevant=relevant))
            except OSError as error:
                self.logger.error("cannot write %s: %s; the crawl itself is complete", path, error.strerror)

    # ---- scoring

    def score(self, page: Page) -> Sequence[float | None]:
        if not page.links:
            return []
        level = self._level(page)
        relevance = probability(self.relevance(page))
        relevant = float(self._is_relevant(page))
        rows = [self.words.attributes(link, self._parent(link, relevance)) for link in page.links]
        for link, row in zip(page.links, rows, strict=True):
            link.why = {**row._asdict(), "level": level, "relevant page": relevant}
        if self.model is None:
            return [sum(row) / len(row) for row in rows]
        scores = map(squash, self.model.log_odds(rows))
        if level < self.level_limit:
            return list(scores)
        return [score if score >= self._least else None for score in scores]

    def _parent(self, link: Link, relevance: float) -> float:
        """The mean relevance of the known pages that link there, including this one."""
        key = urls.key(link.url)
        total, number = self._parents.get(key, (0.0, 0))
        self._parents[key] = total + relevance, number + 1
        return (total + relevance) / (number + 1)

    def _is_relevant(self, page: Page) -> bool:
        """Whether a page resets the level counter."""
        if self.level_by == "prediction" and self.model is not None and page.score is not None:
            return page.via is None or page.score >= self._least
        judgement = self.judged(page)
        return bool(judgement and judgement.relevant)

    def _level(self, page: Page) -> float:
        """The number of steps between irrelevant pages on the path to this page."""
        why = page.via.why if page.via is not None else None
        if not why or self._is_relevant(page):
            return 0.0
        return why.get("level", 0.0) + (0.0 if why.get("relevant page") else 1.0)

    def _worth(self, links: Sequence[Link]) -> Sequence[float]:
        """The scores of waiting links by the current model."""
        assert self.model is not None
        rows = []
        for link in links:
            total, number = self._parents.get(urls.key(link.url), (0.0, 0))
            row = _stored(link)
            rows.append(row._replace(parents=total / number) if number else row)
        return [squash(odds) for odds in self.model.log_odds(rows)]


def _stored(link: Link) -> Attributes:
    """The attributes that a link was scored by."""
    why = link.why or {}
    return Attributes(*(why.get(name, 0.0) for name in Attributes._fields))
