"""Learns during the crawl which links pay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from focuscrawl import words
from focuscrawl.judge import KeywordJudge
from focuscrawl.strategies.adaptive.beforehand import Beforehand, Known
from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range, pack, unpack
from focuscrawl.strategies.adaptive.columns import NAMES, PRIOR
from focuscrawl.strategies.adaptive.credit import worth_of_leading
from focuscrawl.strategies.adaptive.evidence import Evidence, Row
from focuscrawl.strategies.adaptive.judge import FIRST, KEPT, PageJudge, logit
from focuscrawl.strategies.adaptive.lessons import WIDTH, Lessons
from focuscrawl.strategies.adaptive.link_model import LinkModel
from focuscrawl.strategies.adaptive.meanings import Meanings
from focuscrawl.strategies.adaptive.reading import NO_EMBEDDING, Floats, Links, Reading
from focuscrawl.strategies.adaptive.regression import fit, sigmoid
from focuscrawl.strategies.adaptive.vectors import Vectors
from focuscrawl.strategies.adaptive.worths import Worths

#: Lessons from which the weights are learned for the first time; pages after which they are learned again, or every
#: tenth of the crawl.
FIRST_FIT = 20
FIT_EVERY = 5
GROWTH = 1.1
#: Pages after which all waiting URLs are scored again.
RESCORE_EVERY = 20
#: Both are put off when there is much to score again: so many in-links cost a page.
LINKS_PER_FIT = 500
LINKS_PER_RESCORING = 1000
#: In-links that are kept; beyond them, those of the worse half of the waiting URLs are forgotten.
MOST_LINKS = 1_000_000
#: Fetched URLs that the weights are learned from, the latest ones.
LESSONS = 5000
#: The smallest part of a score that is shown.
LEAST = 0.05
#: Parts of the score of a link that are kept as its reasons while it waits, and to which precision.
STRONGEST = 3
STEP = 0.5
#: The names of the parts.
PARTS = (*NAMES, "learned words and places")
#: The relevance of a seed that is all that the topic says.
SEED = 0.95
#: Pages from which the judge learns once more at the end of a crawl.
FEW = 8
#: Of URLs that are scored again all at once, the best ones are reported, and those that rose by this much or more.
BEST = 1000
RISE = 0.05
#: Reasons that are remembered, so that they can be shared.
_MOST_REASONS = 5000
#: No page is surer.
_SURE = 1 - 1e-6
#: Lists that are kept in the crawl's file.
_LISTS = ("row_pages", "page_urls", "_seed_pages", "directories", "_odds", "_outcomes")
#: Fetches that scores are calibrated by, the latest ones.
CALIBRATED = 100
RIDGE_CALIBRATION = 2.0
#: The part of a score by the weights from before the crawl. Where what was learned finds nothing any more, and thinks
#: all that waits equally hopeless, these choose.
DOUBT = 0.01


class Learner:
    """Scores waiting URLs by all that is known of them, and learns from every page that arrives."""

    def __init__(
        self,
        keywords: KeywordJudge | None = None,
        known: Sequence[Known] = (),
        vectors: Vectors | None = None,
    ) -> None:
        positives = [page.reading.vector for page in known if page.label == 1]
        negatives = [page.reading.vector for page in known if page.label == 0]
        if vectors is None or (positives and negatives):
            self.judge = PageJudge(keywords, positives, negatives)
        else:
            given = keywords.all_keywords if keywords is not None else {}
            by_word = {word: weight for name, weight in given.items() for word in words.tokenize(name)}
            topic = vectors.embed_weighted(by_word) if by_word else NO_EMBEDDING
            self.judge = PageJudge(keywords, positives, negatives, topic, vectors.without_average)
        #: Whether the seeds are all that the topic says.
        self.by_seeds = keywords is None and not positives
        self.meanings = Meanings(vectors) if vectors is not None and self.judge.has_vectors else None
        if (meanings := self.meanings) is not None:
            for page in known:
                meanings.meet(page.reading.new_words)
        self.evidence = Evidence(self.judge, self.meanings)
        self.model = LinkModel()
        self.worths = Worths()
        for page in known:
            self.worths.add(page.reading.vector.words, page.label)
        #: Lessons from known pages and from URLs that were fetched; the labels of the former, the pages of the latter.
        self.lessons = Lessons()
        self.beforehand = Beforehand(known, Evidence(self.judge, self.meanings))
        self.known_labels, self._known_places = self.beforehand.teach(self.evidence, self.lessons)
        self.row_pages: list[int] = []
        self._row: tuple[int, Row] | None = None
        self._reasons_told: dict[bytes, dict[str, float]] = {}
        self.offset = len(known)
        self.page_urls: list[int] = []  # URL by page, from page 1
        self._seed_pages: list[int] = []
        #: The numbers of pages that are mostly links.
        self.directories: list[int] = []
        #: Whether the judge has learned something from the last page.
        self.has_taught = False
        self._marked: dict[int, Known] = {}  # by page
        #: Scores as log-odds when URLs were fetched, and what came of them; how the former become probabilities.
        self._odds: list[float] = []
        self._outcomes: list[float] = []
        self._stretch, self._shift = 1.0, 0.0
        #: URLs that keep the scores they have: seeds that pages link to.
        self.fixed: set[int] = set()
        self._next_fit = max(1, FIRST_FIT - len(self.lessons))
        self._next_rescoring = RESCORE_EVERY
        #: By URL: the current score as log-odds, and the one that the frontier has; which ones have changed.
        self._now = np.full(1024, np.nan)
        self._told = np.full(1024, np.nan)
        self._changed = np.zeros(0, dtype=np.int64)
        self._all_changed = False

    # ---- judging

    def relevance(self, reading: Reading) -> float:
        """How relevant a page is, by the judge: from 0.5 on it counts as relevant."""
        self._meet(reading)
        return self.shown(float(sigmoid(self.judge.log_odds(reading.vector))))

    def _meet(self, reading: Reading) -> None:
        """Learn the words of a language when the first page in it arrives, and what new words mean."""
        if self.judge.meet(reading.vector):
            self.evidence.read_judge()
        if self.meanings is not None:
            self.meanings.meet(reading.new_words)

    def shown(self, p: float) -> float:
        """The relevance of a page that the judge gives the probability *p*."""
        return float(sigmoid(logit(min(_SURE, max(1 - _SURE, p))) + self.judge.strictness))

    def believed(self, relevance: float) -> float:
        """The probability that a relevance stands for: what the link model learns from."""
        return float(sigmoid(logit(min(_SURE, max(1 - _SURE, relevance))) - self.judge.strictness))

    def judged_now(self, *, last: bool = False) -> dict[int, float]:
        """The relevance of the pages that are kept, by what the judge knows now: by number.

        *last*: by what it would know if it learned from all of them once more. It does not: the crawl may go on.
        """
        judge = copy(self.judge)
        if judge.supervised or not judge.pages:
            return {}
        pages = np.array(judge.numbers) + self.offset
        if last and len(judge.pages) >= FEW:
            judge.teach_itself(self.evidence.p[pages])
        p = np.where(np.isin(pages, self._seed_pages), SEED, judge.judge_kept())
        shown = sigmoid(logit(np.clip(p, 1 - _SURE, _SURE)) + judge.strictness)
        return dict(zip(judge.numbers, shown.tolist(), strict=True))

    # ---- scoring

    def log_odds(self, urls: NDArray[np.int64]) -> Floats:
        """The scores of waiting URLs as log-odds, by their features as of the last time they were scored."""
        return self._both_odds(urls)[0]

    def _both_odds(self, urls: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """The scores of waiting URLs as log-odds: as learned, and by the weights from before the crawl."""
        learned, before = (self.evidence.dense.take(urls, axis=0) @ np.stack([self.model.weights, PRIOR], axis=1)).T
        return learned + self.evidence.sparse_part(urls), before

    def probability(self, odds: Floats) -> Floats:
        """How relevant the judge will find a page, as far as its verdicts so far tell."""
        return np.asarray(sigmoid(self._stretch * odds + self._shift))

    def _doubted(self, odds: Floats, before: Floats) -> Floats:
        """Scores in [0, 1], by log-odds as learned and by those with the weights from before the crawl."""
        return np.asarray((1 - DOUBT) * self.probability(odds) + DOUBT * sigmoid(before))

    @property
    def scores(self) -> Floats:
        """The current scores by URL; NaN where there is none."""
        return self._now

    def current(self, url: int, told: float) -> float:
        """The score of a waiting URL now, in [0, 1]; *told* is the one that the frontier has."""
        if url >= len(self._now) or np.isnan(self._now[url]):
            return told
        self._told[url] = self._now[url]
        return float(self._now[url])

    def changes(self) -> list[tuple[int, float]]:
        """The scores that the frontier must know now; the others may wait until they reach the top, as they are lower.

        After the last page, the URLs whose in-links changed and which rose. When everything was scored again, those
        that rose and are among the best, or rose by much. Nothing is told of URLs that the frontier does not have, as
        all pages that link there ask that no link be followed.
        """
        urls = self._changed
        now, told = self._now[urls], self._told[urls]
        tell = now > told
        if self._all_changed:
            least = np.partition(now, -BEST)[-BEST] if len(now) > BEST else 0.0
            tell &= (now >= least) | (now > told + RISE)
        urls, now = urls[tell], now[tell]
        self._told[urls] = now
        return [change for change in zip(urls.tolist(), now.tolist(), strict=True) if change[0] not in self.fixed]

    def resume(self, told: Mapping[int, float]) -> None:
        """Note the scores that the frontier has from earlier runs."""
        for url, score in told.items():
            if url < len(self._told):
                self._told[url] = score

    def preview(self, links: Links, p: float) -> tuple[list[float], list[dict[str, float]]]:
        """The scores of the links of a page with relevance *p*, as if nothing else led there, and their reasons."""
        dense, sparse = self.evidence.preview(links, self.believed(p))
        parts = np.empty((len(dense), len(PARTS)))
        np.multiply(dense, self.model.weights, out=parts[:, :WIDTH])
        parts[:, WIDTH] = sparse
        return self._doubted(parts.sum(axis=1), dense @ PRIOR).tolist(), self._reasons(parts[:, 1:])

    def _reasons(self, parts: Floats) -> list[dict[str, float]]:
        """The strongest parts of scores, roughly: links with the same ones share the object, and room in the file."""
        steps = np.round(parts / STEP).astype(np.int64)
        strongest = (-np.abs(steps)).argsort(axis=1, kind="stable")[:, :STRONGEST]
        codes = steps[np.arange(len(steps))[:, None], strongest] * len(PARTS) + strongest + 1
        known = self._reasons_told
        rows = codes.view(f"V{codes.itemsize * STRONGEST}").ravel().tolist()  # as bytes, which are looked up sooner
        return [known[row] if row in known else self._named(row) for row in rows]

    def _named(self, row: bytes) -> dict[str, float]:
        if len(self._reasons_told) >= _MOST_REASONS:
            self._reasons_told.clear()
        found = (divmod(code, len(PARTS)) for code in np.frombuffer(row, dtype=np.int64).tolist())
        named = self._reasons_told[row] = {PARTS[place]: steps * STEP for steps, place in found if steps}
        return named

    # ---- learning

    def take_in(
        self,
        number: int,
        url: int,
        reading: Reading,
        p: float,
        targets: NDArray[np.int64],
        key_of: Callable[[int], int],
        *,
        dead: bool = False,
        seed: bool = False,
        directory: bool = False,
        told: Sequence[float | None] = (),
    ) -> NDArray[np.int64]:
        """Learn from a page of the crawl and add its links; returns the URLs whose scores have changed.

        *targets* are the URLs of its links, *key_of* gives the key of the link with a number. A *seed* is all that the
        topic says. A *directory* is relevant by its links, which does not make it match. *told*: the scores of its
        links, which the frontier has for those URLs that it did not have before.
        """
        evidence = self.evidence
        page = self.offset + number
        if directory:
            self.directories.append(number)
        self._meet(reading)
        evidence.make_room(url)
        if seed and not dead:
            self.judge.learn_seed(reading.vector)
            self._seed_pages.append(page)
        outcome = 0.0 if dead else self.believed(p)
        if evidence.last[url]:
            row = self.row(url)
            self._odds.append(float(row.dense @ self.model.weights + evidence.sparse_part(np.array([url]))[0]))
            self._outcomes.append(0.0 if dead else p)
            self.lessons.add(row)
            self.row_pages.append(page)
            del self._odds[:-CALIBRATED], self._outcomes[:-CALIBRATED]
        self._row = None
        if not dead:
            self.worths.add(reading.vector.words, outcome)
        evidence.set_page(page, outcome)
        evidence.below.add(page, reading.directories, outcome)
        self.page_urls += [url] * (number - len(self.page_urls))
        self.page_urls[number - 1] = url  # other workers store pages in between
        evidence.settle(url, outcome)
        changed = False if dead or not len(reading.vector.words) else self.judge.note(number, reading.vector)
        self.beforehand.adopt(evidence, targets, key_of)
        touched = evidence.add(page, targets, reading.links)
        self.has_taught = self._judge_is_due(number)
        if self.has_taught:
            self._judge_again(teach=True)
            changed = True
        elif changed:
            self._judge_again(teach=False)
        fits = number >= self._next_fit
        if fits:
            self._fit()
        self._all_changed = changed or fits or number >= self._next_rescoring
        if self._all_changed and len(self._odds) >= FIRST_FIT:
            self._calibrate()
        if changed:
            evidence.renew()
        elif self._all_changed:
            evidence.renew_rates()
            if fits:
                evidence.renew_sparse()
        if fits:
            self._next_fit = max(number + FIT_EVERY, int(GROWTH * number), number + len(evidence) // LINKS_PER_FIT)
        if self._all_changed:
            self._next_rescoring = number + max(RESCORE_EVERY, len(evidence) // LINKS_PER_RESCORING)
        self._changed = evidence.waiting() if self._all_changed else touched
        if changed or not self._all_changed:
            evidence.refresh(self._changed)
        else:
            evidence.refresh(touched)
            evidence.refresh_rates()
        self._score_changed()
        self._note_told(targets, told)
        if self._all_changed and len(evidence) > MOST_LINKS:
            worst = np.argsort(self._now[self._changed], kind="stable")[: len(self._changed) // 2]
            evidence.freeze(self._changed[worst])
        return self._changed

    def _score_changed(self) -> None:
        size = len(self.evidence.sums)
        if size > len(self._now):
            more = np.full(size - len(self._now), np.nan)
            self._now, self._told = np.concatenate([self._now, more]), np.concatenate([self._told, more])
        if len(self._changed):
            self._now[self._changed] = self._doubted(*self._both_odds(self._changed))

    def _note_told(self, targets: NDArray[np.int64], told: Sequence[float | None]) -> None:
        """Note the scores of links to URLs that the frontier did not have; of several, it has the first one's."""
        if len(told):
            targets, scores = targets[::-1], np.array(told, dtype=np.float64)[::-1]  # None becomes NaN
            new = np.isnan(self._told[targets])
            self._told[targets[new]] = scores[new]

    def _judge_is_due(self, number: int) -> bool:
        if self.judge.supervised or number > KEPT or not self.judge.pages:
            return False
        return number == FIRST or (number >= 20 and number % 20 == 0 and (number // 20).bit_count() == 1)

    def _judge_again(self, *, teach: bool) -> None:
        """Judge all pages again by the keywords as they are now, or after the judge has learned from them."""
        evidence = self.evidence
        pages = np.array(self.judge.numbers) + self.offset
        if teach:
            self.judge.teach_itself(evidence.p[pages])
        p = np.where(np.isin(pages, self._seed_pages), SEED, self.judge.judge_kept())
        self.worths.correct([vector.words for vector in self.judge.pages], p - evidence.p[pages])
        evidence.p[pages] = p
        for number, value in zip(self.judge.numbers, p.tolist(), strict=True):
            evidence.outcome[self.page_urls[number - 1]] = value
        self._set_marked()
        evidence.pay_again()

    def _set_marked(self) -> None:
        """A page that a person has labelled is what the person says, whatever the judge learns."""
        evidence = self.evidence
        for number, marked in self._marked.items():
            page = self.offset + number
            self.worths.correct([marked.reading.vector.words], np.array([marked.label - evidence.p[page]]))
            evidence.p[page] = evidence.outcome[self.page_urls[number - 1]] = marked.label

    def row(self, url: int) -> Row:
        """The features of a URL with in-links, as they are now."""
        if self._row is None or self._row[0] != url:
            self._row = url, self.evidence.row(url)
        return self._row[1]

    def _fit(self) -> None:
        """Learn the weights of all features from the URLs that were fetched."""
        known = len(self.known_labels)
        if len(self.row_pages) > LESSONS:
            self.lessons = self.lessons.without(known, known + len(self.row_pages) - LESSONS)
            del self.row_pages[:-LESSONS]
        if not len(self.lessons):
            return
        p, pages = self.evidence.p, np.array(self.row_pages, dtype=np.int64)
        page_of = {url: self.offset + number for number, url in enumerate(self.page_urls, 1)}
        fetched = [(page_of[url], origins.pages) for url, origins in self.evidence.rates.paid if url in page_of]
        worth = np.maximum(p, worth_of_leading(p, fetched, self.evidence.rates.usual))
        labels = np.concatenate([self.known_labels, worth[pages]])
        self.model.learn(self.lessons, labels, self.worths.of_words(), self._known_places)
        self.model.write(self.evidence.sparse)

    def _calibrate(self) -> None:
        """Learn how the scores of the last fetches become the probabilities that they should have been (Platt)."""
        from scipy.sparse import csr_array

        odds = np.array(self._odds)
        rows = csr_array(np.column_stack([odds, np.ones(len(odds))]))
        change = fit(rows, np.array(self._outcomes), RIDGE_CALIBRATION, offset=odds)
        self._stretch, self._shift = max(0.1, 1 + float(change[0])), float(change[1])

    def mark(self, marked: Sequence[Known], numbers: Sequence[int] = ()) -> None:
        """Learn from all pages that people have labelled, then score everything again; *numbers*: of stored pages."""
        for page in marked:
            self.beforehand.labels[page.key] = page.label
        self._marked = dict(zip(numbers, marked, strict=False))
        self.judge.learn_marks([(page.reading.vector, page.label) for page in marked])
        if self.judge.pages:
            self._judge_again(teach=not self.judge.supervised)
        else:
            self._set_marked()
            self.evidence.pay_again()
        if self.row_pages:
            self._fit()
        self.evidence.renew()
        self._changed, self._all_changed = self.evidence.waiting(), True
        self.evidence.refresh(self._changed)
        self._score_changed()

    # ---- keeping

    def state(self) -> bytes:
        """What was learned from the crawl, to go on from there; what is known beforehand is left out."""
        judge, evidence = self.judge.state(), self.evidence.state()
        found: Arrays = {"topic": self._topic(), **self.model.state(), **self.worths.state()}
        found |= self.lessons.state(len(self.known_labels))
        for name in _LISTS:
            found[name] = np.array(getattr(self, name))
        numbers = (self._stretch, self._shift, self._next_fit, self._next_rescoring)
        found |= {"learner": np.array(numbers), "now": self._now, "told": self._told}
        found["fixed"] = np.array(sorted(self.fixed), dtype=np.int64)
        found["left aside"] = np.array(self.beforehand.left, dtype=np.int64)
        assert not (judge.keys() & evidence.keys() | (judge.keys() | evidence.keys()) & found.keys())
        meanings = self.meanings.state() if self.meanings is not None else {}
        return pack({**judge, **evidence, **found, **meanings})

    def restore(self, data: bytes) -> None:
        """Go on from a state; raises ValueError or KeyError if it is not one, or not one of this topic."""
        state = unpack(data, scores=("now", "told"))
        if not np.array_equal(state["topic"], self._topic()):
            raise ValueError("it is about another topic")
        urls = len(state["sums"])
        check_range("page_urls", state["page_urls"], urls)
        for name in ("row_pages", "_seed_pages"):
            check_range(name, state[name], len(state["p"]))
        if len(state["now"]) > urls or len(state["told"]) != len(state["now"]):
            raise ValueError("scores differ in length")
        if len(state["row_pages"]) != len(state["row dense"]):
            raise ValueError("lessons and their pages differ in number")
        self.judge.restore(state)
        check_range("numbers", np.array(self.judge.numbers) - 1, len(state["page_urls"]))
        if self.meanings is not None:
            self.meanings.restore(state)
        self.evidence.restore(state)
        self.worths.restore(state)
        self.model.restore(state)
        self.model.write(self.evidence.sparse)
        self.lessons.restore(state)
        for name in _LISTS:
            setattr(self, name, state[name].tolist())
        self._stretch, self._shift, fit_at, rescore_at = state["learner"].tolist()
        self._next_fit, self._next_rescoring = int(fit_at), int(rescore_at)
        self._now, self._told = state["now"], state["told"]
        self.fixed = set(state["fixed"].tolist())
        self.beforehand.left = state["left aside"].tolist()

    def _topic(self) -> Floats:
        """What tells topics apart: what is known beforehand, in numbers."""
        judge = self.judge
        positives, negatives = judge.beforehand
        vectors = [np.concatenate([vector.words, vector.counts]) for vector in (*positives, *negatives)]
        digests = [crc32(np.asarray(part, dtype=np.float64).tobytes()) for part in vectors]
        digests.append(crc32(judge.about.encode()))
        return np.array([len(positives), len(negatives), judge.has_vectors, *digests], dtype=np.float64)
