"""Learns during the crawl which links pay."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from focuscrawl.strategies.adaptive.evidence import NAMES, PRIOR, Evidence, Row
from focuscrawl.strategies.adaptive.judge import FIRST, KEPT, PageJudge
from focuscrawl.strategies.adaptive.reading import SIZE, Floats, Reading
from focuscrawl.strategies.adaptive.regression import fit, sigmoid, used_columns

#: Pages after which the weights are learned for the first time; then every tenth of the crawl, or this many.
FIRST_FIT = 20
FIT_EVERY = 10
GROWTH = 1.1
#: Pages after which all waiting URLs are scored again.
RESCORE_EVERY = 20
#: Fetched URLs that the weights are learned from, the latest ones.
LESSONS = 5000
RIDGE_DENSE = 5.0
RIDGE_SPARSE = 1.0


class Known(NamedTuple):
    """A page that is known beforehand: the key of its URL, its label, what is on it, the keys of its links."""

    key: int
    label: float
    reading: Reading
    targets: Sequence[int]


class Learner:
    """Scores waiting URLs by all that is known of them, and learns from every page that arrives."""

    def __init__(self, keywords: Mapping[int, float], known: Sequence[Known] = ()) -> None:
        positives = [page.reading.vector for page in known if page.label == 1]
        negatives = [page.reading.vector for page in known if page.label == 0]
        self.judge = PageJudge(keywords, positives, negatives)
        #: Whether the seeds are all that the topic says.
        self.by_seeds = not keywords and not positives
        self.evidence = Evidence(self.judge)
        self.weights = PRIOR.copy()
        #: Features of the URLs that were fetched, and their pages.
        self.rows: list[Row] = []
        self.row_pages: list[int] = []
        self.known_rows: list[Row] = []
        self.known_labels: list[float] = []
        self.labels = {page.key: page.label for page in known}
        self.offset = len(known)
        self._aside = Evidence(self.judge)
        self._aside_urls: dict[int, int] = {}
        self.page_urls: list[int] = []  # URL by page, from page 1
        self._next_fit = FIRST_FIT
        self._learn_known(known)

    def _learn_known(self, known: Sequence[Known]) -> None:
        """Links on pages that are known are evidence, and those between two of them are lessons."""
        aside = self._aside
        for number, page in enumerate(known):
            for evidence in (aside, self.evidence):
                evidence.set_page(number, page.label)
            targets = [self._aside_urls.setdefault(key, len(self._aside_urls)) for key in page.targets]
            mine = self._aside_urls.get(page.key, -1)
            links = np.array([target for target in targets if target != mine], dtype=np.int64)
            if len(links) == len(targets):
                aside.add(number, links, page.reading.links)
        for page in known:
            there = self._aside_urls.get(page.key)
            if there is not None and aside.last[there]:
                self.known_rows.append(aside.row(there))
                self.known_labels.append(page.label)
                in_links = aside.in_links(there)
                parents, paths = np.unique(aside.parent[in_links]), np.unique(aside.path[in_links])
                self.evidence.pay(parents, paths, aside.places[there], page.label)

    # ---- judging

    def relevance(self, reading: Reading) -> float:
        """The probability that a page is relevant, by the judge."""
        return float(sigmoid(self.judge.log_odds(reading.vector)))

    # ---- scoring

    def log_odds(self, urls: NDArray[np.int64]) -> Floats:
        """The scores of waiting URLs as log-odds."""
        return self.evidence.dense(urls) @ self.weights + self.evidence.sparse_part(urls)

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
    ) -> NDArray[np.int64]:
        """Learn from a page of the crawl and add its links; returns the URLs whose scores have changed.

        *targets* are the URLs of its links, *key_of* gives the key of the link with a number.
        """
        evidence = self.evidence
        page = self.offset + number
        evidence.make_room(url)
        if self.by_seeds and not evidence.last[url] and not dead:
            self.judge.learn_seed(reading.vector)
            p = 0.95
        outcome = 0.0 if dead else p
        if evidence.last[url]:
            self.rows.append(evidence.row(url))
            self.row_pages.append(page)
            del self.rows[:-LESSONS], self.row_pages[:-LESSONS]
        evidence.set_page(page, outcome)
        while len(self.page_urls) < number:
            self.page_urls.append(url)
        evidence.settle(url, outcome)
        changed = False if dead else self.judge.note(number, reading.vector)
        self._adopt(targets, key_of)
        touched = evidence.add(page, targets, reading.links)
        if self._judge_is_due(number):
            self._judge_again(teach=True)
            changed = True
        elif changed:
            self._judge_again(teach=False)
        if number >= self._next_fit:
            self._next_fit = max(number + FIT_EVERY, int(GROWTH * number))
            self._fit()
            changed = True
        if changed:
            evidence.renew()
        elif number % RESCORE_EVERY == 0:
            evidence.renew_rates()
        else:
            return touched
        return evidence.waiting()

    def _adopt(self, targets: NDArray[np.int64], key_of: Callable[[int], int]) -> None:
        """Take over what pages known beforehand say of URLs that are met for the first time."""
        if not self.labels:
            return
        evidence = self.evidence
        if len(targets):
            evidence.make_room(int(targets.max()))
        for number, target in enumerate(targets.tolist()):
            if not evidence.last[target] and not evidence.done[target]:
                key = key_of(number)
                if key in self.labels:
                    evidence.known[target] = 1.0 if self.labels[key] else -1.0
                there = self._aside_urls.pop(key, None)
                if there is not None and self._aside.last[there]:
                    evidence.adopt(target, self._aside, there)

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
        seeds = np.zeros(len(pages), dtype=bool)
        if self.by_seeds:
            seeds[: len(self.judge.seeds)] = True
        p = np.where(seeds, 0.95, self.judge.judge_kept())
        evidence.p[pages] = p
        for number, value in zip(self.judge.numbers, p.tolist(), strict=True):
            evidence.outcome[self.page_urls[number - 1]] = value
        evidence.pay_again()

    def _fit(self) -> None:
        """Learn the weights of all features from the URLs that were fetched."""
        rows = [*self.known_rows, *self.rows]
        if not rows:
            return
        pages = np.array(self.row_pages, dtype=np.int64)
        children = self.evidence.children
        paid = np.where(children.number[pages] >= 2, children.total[pages] / (children.number[pages] + 3), 0.0)
        labels = np.concatenate([self.known_labels, np.maximum(self.evidence.p[pages], paid)])
        dense = np.array([row.dense for row in rows])
        width = len(NAMES)
        features = np.concatenate([part for row in rows for part in (np.arange(width), width + row.features)])
        values = np.concatenate([part for row in rows for part in (row.dense, row.values)])
        first = np.cumsum([0, *(width + len(row.features) for row in rows)])
        matrix = csr_array((values, features, first), shape=(len(rows), width + 9 * SIZE))
        few, used = used_columns(matrix)
        ridge = np.where(used < width, RIDGE_DENSE, RIDGE_SPARSE)
        learned = fit(few, labels, ridge, offset=dense @ PRIOR)
        is_dense = used < width
        self.weights = PRIOR.copy()
        self.weights[used[is_dense]] += learned[is_dense]
        self.evidence.sparse[:] = 0
        self.evidence.sparse[used[~is_dense] - width] = learned[~is_dense]
