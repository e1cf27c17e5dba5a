"""The link classifier over four attributes, with tunnelling.

Paper: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling".

The weight table holds the words with the highest weights on the example pages, which stand for the results of the
topic's query. A link that has not been followed has four attributes: the similarity of the words of its URL, of its
anchor and of the text around it to that table, and the mean relevance of the pages that link to it. A classifier over
the four, naive Bayes or a decision tree, predicts whether the link leads to a relevant page.

It is trained on the links of the first `training_pages` pages (the seeds and the pages they link to) and on links
between example pages; until then, links are ranked by the mean of their attributes. With `training=fixed` the
classifier does not change after that; with `training=updatable` it keeps learning from every page that arrives.

Tunnelling: a counter grows with every step from an irrelevant page to an irrelevant one; a relevant page resets it. A
link that is predicted to lead to an irrelevant page is followed only while the counter is below `level_limit`.

The paper's Relevant and Irrelevant tables are the files Relevant.txt and Irrelevant.txt, and the views `relevant_url`
and `irrelevant_url` in crawl.sqlite. The paper does not say how a page is judged relevant: here the trained judge
decides, by default the linear one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from focuscrawl import urls
from focuscrawl.learning.attributes import Attributes, Classifier, WeightTable, learn
from focuscrawl.learning.pages import KINDS
from focuscrawl.learning.table import probability, squash
from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.strategies.learning_spider import LearningSpider
from focuscrawl.strategies.rhythm import GROWTH

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class LinkClassifierSpider(LearningSpider):
    name = "link_classifier"

    kind_of_judge = Option("linear", "kind of judge", choices=KINDS, given_as="judge")
    classifier = Option("bayes", "naive Bayes or decision tree", choices=("bayes", "tree"))
    training = Option("fixed", "updatable: keep training on every page that arrives", choices=("fixed", "updatable"))
    training_pages = Option(100, "pages whose links the classifier is first trained on", at_least=10)
    level_limit = Option(3, "maximum number of steps through irrelevant pages", at_least=0)
    table_words = Option(200, "number of words in the weight table", at_least=1)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        tables = {"RelevantTablePipeline": 310, "IrrelevantTablePipeline": 320}
        added = {f"focuscrawl.pipelines.tables.{name}": place for name, place in tables.items()}
        settings.set("ITEM_PIPELINES", settings.getdict("ITEM_PIPELINES") | added, priority="spider")

    def prepare(self) -> None:
        self.model: Classifier | None = None
        self._pairs: list[Attributes] = []
        self._labels: list[bool] = []
        self._learned_from = 0
        self._complete = False
        #: By URL key: the sum of the relevance of the pages that link there, and their number.
        self._parents: dict[int, tuple[float, int]] = {}

    # ---- before the crawl

    async def before_crawl(self) -> None:
        await super().before_crawl()
        self.crawl.store.url_views.make()
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
        self._catch_up(model["pages"])

    def _catch_up(self, after: int) -> None:
        """Read the stored in-links, and learn from the pages that arrived after the model was stored."""
        store = self.crawl.store
        for key, relevance in store.links.endorsements():
            total, number = self._parents.get(key, (0.0, 0))
            self._parents[key] = total + probability(relevance or 0.0), number + 1
        if self._complete and self.training == "fixed":
            return
        for followed in list(store.links.followed(after)):
            self._take_in(followed.page, followed.link, followed.relevant)

    def train_on_examples(self) -> None:
        super().train_on_examples()
        pages, others = (
            [page for page in found if not page.problem] for found in (self.examples, self.counterexamples)
        )
        self.words = WeightTable.of([page.counts for page in pages], [page.counts for page in others], self.table_words)
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
        self.model = learn(self.classifier, self._pairs, self._labels) or self.model
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
            self._learn()
            self._complete = self.model is not None
            if self.model is not None:
                self.rescore_waiting(self._worth)
            self._keep(number)

    # ---- scoring

    def score(self, page: Page) -> Sequence[float | None]:
        if not page.links:
            return []
        level = self._level(page)
        relevance = probability(self.relevance(page))
        judgement = self.judged(page)
        relevant = float(bool(judgement and judgement.relevant))
        rows = [self.words.attributes(link, self._parent(link, relevance)) for link in page.links]
        for link, row in zip(page.links, rows, strict=True):
            link.why = {**row._asdict(), "level": level, "relevant page": relevant}
        if self.model is None:
            return [sum(row) / len(row) for row in rows]
        closed = level >= self.level_limit
        return [None if closed and odds <= 0 else squash(odds) for odds in self.model.log_odds(rows)]

    def _parent(self, link: Link, relevance: float) -> float:
        """The mean relevance of the known pages that link there, including this one."""
        key = urls.key(link.url)
        total, number = self._parents.get(key, (0.0, 0))
        self._parents[key] = total + relevance, number + 1
        return (total + relevance) / (number + 1)

    def _level(self, page: Page) -> float:
        """The number of steps between irrelevant pages on the path to this page."""
        judgement = self.judged(page)
        why = page.via.why if page.via is not None else None
        if not why or (judgement is not None and judgement.relevant):
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
