"""Adaptive: learns during the crawl which links pay, from whatever the user can give.

Our own. It follows no single paper; docs/strategies/adaptive.md has every formula.

1. A *judge* says how relevant a page is: from examples and counterexamples by logistic regression, else from keywords,
   else from the words of the seeds. Without counterexamples it goes on to teach itself from the pages of the crawl.
2. A waiting URL is scored by the evidence of *all its known in-links*: what the judge thinks of their words, the pages
   they are on, and how other links of these pages, at this place in the markup, of this URL shape, directory and host
   have paid. These features have weights before anything is learned.
3. Whenever a page has arrived, the features by which its URL was fetched are a *lesson*. From 20 lessons on, a logistic
   regression corrects the weights and learns those of single words, tag paths, directories and hosts. A page counts for
   the relevant ones found through it, too.
4. All that waits is scored again when the weights have changed and every 20 pages; between, the URLs whose in-links
   have changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from focuscrawl import urls, words
from focuscrawl.crawl.revising import revise_verdicts
from focuscrawl.judge import KeywordJudge
from focuscrawl.language.identify import identify
from focuscrawl.learning.texts import tells
from focuscrawl.options import Option
from focuscrawl.page import Judgement, Link, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.pages import StoredPage
from focuscrawl.store.queue import Entry
from focuscrawl.strategies.adaptive.beforehand import Known
from focuscrawl.strategies.adaptive.learner import SEED, Learner
from focuscrawl.strategies.adaptive.reading import Reader, Reading
from focuscrawl.strategies.adaptive.telling import explain, learned, reasons
from focuscrawl.strategies.adaptive.vectors import load_vectors

#: How the crawl's file records up to which page the scores of waiting URLs are up to date.
_UPTO = "adaptive"
#: Pages after which what was learned is kept in the crawl's file, and by which share their number grows.
KEEP_EVERY = 1000
KEEP_GROWTH = 1.2


class Adaptive(FocusedSpider):
    """Our own strategy; see the module docstring."""

    name = "adaptive"
    needs = ()
    calibrated = True

    threshold = Option(0.5, "relevance from which a page counts as on topic", at_least=0.0, at_most=1.0)

    learner: Learner

    def prepare(self) -> None:
        self._readings: WeakKeyDictionary[Page, Reading] = WeakKeyDictionary()
        #: The seeds, which are fetched first whatever their in-links say.
        self._starts = frozenset(self.start_urls)
        #: The marked pages that the learner knows, and what is on them, by number.
        self._marks: dict[int, bool] = {}
        self._marked: dict[int, Known] = {}
        #: Whether what earlier runs have stored is learned; pages that the judge keeps and other workers have stored.
        self._resumed = False
        self._of_others: set[int] = set()

    # ---- before the crawl

    async def before_crawl(self) -> None:
        await super().before_crawl()
        supervised = bool(self.topic.examples and self.topic.counterexamples)
        self._vectors = None if supervised else load_vectors()  # they add nothing to what both kinds of examples teach
        keywords = self._keywords()
        self._reader = Reader(keywords, self._vectors.embed if self._vectors is not None else None, roles=supervised)
        known: list[Known] = []
        for label, sources in ((1.0, self.topic.examples), (0.0, self.topic.counterexamples)):
            async for page in self._read_examples(sources):
                if not page.problem:
                    targets = [urls.key(link.url) for link in page.links]
                    known.append(Known(urls.key(page.url), label, self._read(page), targets))
        self._new_learner = partial(Learner, keywords, known, self._vectors)
        self.learner = self._new_learner()
        if self._vectors is None and not self.learner.judge.supervised:
            self.logger.info(
                "with word vectors, a topic given by few words finds more: pip install 'focuscrawl[vectors]'"
            )
        self._resume()
        self.crawl.frontier.rescorer = self._now
        self.crawl.frontier.patience.calibrated = self.calibrated

    def _keywords(self) -> KeywordJudge | None:
        """Compares pages with the topic's keywords, or with the words of its description; None without either."""
        if self.topic.all_keywords:
            return self.keywords
        described = words.tokenize(self.topic.description)
        language = identify(self.topic.description).code
        telling = [word for word in described if tells(words.stem(word, language))]
        return KeywordJudge(dict.fromkeys(telling, 1.0)) if telling else None

    # ---- scoring

    def judge(self, page: Page) -> Judgement | None:
        learner = self.learner
        p = learner.shown(SEED) if self._is_bare_seed(page) else learner.relevance(self._reading(page))
        return Judgement(p, p >= self.threshold, reasons(learner.judge, self._reading(page), page))

    def _is_bare_seed(self, page: Page | StoredPage) -> bool:
        """Whether a page is all that the user has said about the topic."""
        return self.learner.by_seeds and page.parent is None and not page.listing

    def _read(self, page: Page) -> Reading:
        return self._reader.read(page)

    def _reading(self, page: Page) -> Reading:
        reading = self._readings.get(page)
        if reading is None:
            reading = self._readings[page] = self._read(page)
        return reading

    def score(self, page: Page) -> Sequence[float | None]:
        scores, whys = self.learner.preview(self._reading(page).links, self.relevance(page))
        for link, why in zip(page.links, whys, strict=True):
            link.why = why
        return scores

    def merge(self, old: float, new: float) -> float:
        return old  # `stored` scores it by all its in-links

    def _now(self, entry: Entry) -> float:
        """The current score of a URL that has reached the top of the queue; a seed keeps its own."""
        if entry.via is None:
            return entry.score
        return self.learner.current(entry.url_id, entry.score)

    # ---- learning

    def stored(self, page: Page) -> None:
        if page.visit is not None:
            return
        reading = self._reading(page) if page.duplicate_of is None else self._bare(page.links)
        why = explain(self.learner, page.url_id, page.via) if page.via is not None else {}
        changes = self._take_in(page, reading, page.url_id, page.link_ids)
        store = self.crawl.store
        with store.batch():
            if why:  # by all the evidence there was when it was followed
                store.links.tell_why(page.number, page.score or 0.0, why)
            self._tell(page, changes)
        if page.number >= self._next_kept:
            self._keep(max(page.number, self.crawl.catch_up.now()))
        if self.learner.has_taught:
            self._revise()

    def _tell(self, page: Page, changes: Sequence[tuple[int, float]]) -> None:
        """Give the waiting URLs the scores that they have after a page. Call inside a transaction."""
        self.crawl.frontier.set_scores(changes)
        self.crawl.store.set_meta(_UPTO, page.number)

    def marked(self, verdicts: Mapping[int, bool], new: Sequence[int]) -> str:
        if verdicts == self._marks:
            return ""
        self._marks = dict(verdicts)
        for number, relevant in verdicts.items():
            if number not in self._marked and (page := self.crawl.read_stored(number)) is not None:
                self._marked[number] = Known(urls.key(page.url), 0.0, self._read(page), ())
            if number in self._marked:
                self._marked[number] = self._marked[number]._replace(label=float(relevant))
        numbers = [number for number in verdicts if number in self._marked]
        self.learner.mark([self._marked[number] for number in numbers], numbers)
        changes = self.learner.changes()
        with self.crawl.store.batch():
            self.crawl.frontier.set_scores(changes)
        yes = sum(verdicts.values())
        return f"learned from {yes} relevant and {len(verdicts) - yes} other pages, waiting links re-scored"

    def _bare(self, links: Iterable[Link]) -> Reading:
        """Links without headings and tag paths: of a page that nearly repeats another, the file has no more."""
        page = Page("")  # without words: the judge does not learn from it either
        page.links = [
            Link(link.url, link.anchor, link.text_before(), link.text_after(), language=link.language) for link in links
        ]
        return self._reader.read(page)

    def _take_in(self, page: Page, reading: Reading, url_id: int, link_ids: Sequence[int]) -> list[tuple[int, float]]:
        """Learn from a stored page; returns the new scores of waiting URLs."""
        self.learner.take_in(
            page.number,
            url_id,
            reading,
            page.relevance or 0.0,
            np.array(link_ids, dtype=np.int64),
            lambda number: urls.key(page.links[number].url),
            dead=bool(page.problem) or page.duplicate_of is not None,  # a copy brings nothing new
            seed=self._is_bare_seed(page),
            directory=page.without_lists() is not None,
            told=[link.score for link in page.links],
        )
        self.learner.fixed.update(
            target for link, target in zip(page.links, link_ids, strict=True) if link.url in self._starts
        )
        return self.learner.changes()

    def _revise(self, *, last: bool = False) -> None:
        """Judge the pages so far by what the judge has learned from them: it knew less when they arrived."""
        directories = {*self.learner.directories}
        judged: dict[int, tuple[float, bool]] = {}
        for number, relevance in self.learner.judged_now(last=last).items():
            if number in self._of_others:  # whoever has stored a page revises it
                continue
            relevant = relevance >= self.threshold
            if number in directories and relevant:  # its links are on topic; what else it says was not kept
                page = self.crawl.store.verdicts.get(number)
                relevant = page is not None and bool(page.own.relevant)
            judged[number] = relevance, relevant
        revise_verdicts(self.crawl, judged)

    def finished(self) -> None:
        if "learner" in vars(self) and not self.crawl.fatal:  # it has learned at all, and the file can be written
            self._revise(last=True)

    # ---- going on

    def _keep(self, number: int) -> None:
        """Keep what was learned up to a page, so that a resumed crawl need not read all pages again."""
        self._next_kept = max(number + KEEP_EVERY, int(KEEP_GROWTH * number))
        self._kept = number
        with self.crawl.store.batch():
            self.crawl.store.models.set(self.name, number, self.learner.state())
            self.crawl.store.set_meta("learned", learned(self.learner.evidence))

    def closed(self, reason: str) -> None:
        """Keep what was learned."""
        if self.crawl.pages and not self.crawl.fatal:
            upto = self.crawl.catch_up.now() or self.crawl.store.number(_UPTO)
            if upto > self._kept:
                self._keep(upto)

    def _recall(self) -> int:
        """Take up what was learned by earlier runs; returns up to which page."""
        models = self.crawl.store.models
        models.make()
        kept = None if self.judges_again else models.get(self.name)
        if kept is None:
            return 0
        try:
            self.learner.restore(kept[1])
        except (ValueError, LookupError, TypeError, OverflowError, MemoryError) as error:
            self.logger.info("What was learned so far cannot be used (%s): learning it again from the pages", error)
            self.learner = self._new_learner()
            return 0
        return kept[0]

    def _resume(self) -> None:
        """Learn from the pages of earlier runs that what was kept does not cover."""
        store = self.crawl.store
        self._kept = self._recall()
        self.crawl.catch_up.resume(self._kept)
        self._next_kept = max(self._kept + KEEP_EVERY, int(KEEP_GROWTH * store.pages.last_number()))
        self.learner.resume(store.queue.scores())
        self._resumed = True

    def catch_up(self, numbers: Sequence[int]) -> None:
        store = self.crawl.store
        upto = 0 if self._resumed else store.number(_UPTO)
        changes: dict[int, float] = {}
        for stored in filter(None, map(store.pages.get, numbers)):
            if not self._resumed and stored.number == upto + 1:  # killed before the frontier was told
                self.learner.resume(store.queue.scores())
            page, new = self._take_in_stored(stored)
            if self._resumed:
                changes.update(new)
                if stored.number in self.learner.judge.numbers[-1:]:
                    self._of_others.add(stored.number)
            elif stored.number > upto:
                with store.batch():
                    self._tell(page, new)
        with store.batch():
            self.crawl.frontier.set_scores(changes.items())

    def _take_in_stored(self, stored: StoredPage) -> tuple[Page, list[tuple[int, float]]]:
        """Learn from a page in the file; returns it, and the new scores of waiting URLs."""
        store = self.crawl.store
        response = store.pages.response(stored.number)
        relevance = store.verdicts.first_relevance(stored.number)
        page = Page(stored.url, stored.status, parent=stored.parent, relevance=relevance)
        page.number, page.listing = stored.number, stored.listing
        if stored.problem is None and stored.duplicate_of is None:
            page.expected_languages = self.topic.languages
            read_page(page, response.body, response.content_type, documents=self.crawl.documents)
        page.problem, page.duplicate_of = stored.problem, stored.duplicate_of
        links = store.links.read_back(stored.number)
        reading = self._read(page)
        if self.judges_again and not page.problem and stored.duplicate_of is None:  # not by what another topic said
            page.relevance = self.learner.relevance(reading)
        if [link.url for link in page.links] != [link.url for _, link in links]:
            page.links = [link for _, link in links]
            reading = reading._replace(links=self._bare(page.links).links)
        return page, self._take_in(page, reading, stored.url_id, [url_id for url_id, _ in links])
