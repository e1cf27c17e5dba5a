"""Predict where links lead from the words around them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log
from typing import Any

import numpy as np

from focuscrawl import words
from focuscrawl.learning import texts
from focuscrawl.learning.table import WordTable
from focuscrawl.page import Link

#: Additive smoothing; less than one, because contexts are short and most words are rare in them.
SMOOTHING = 0.3


def context(link: Link, distance: int, *, anchor: bool) -> list[str]:
    """The stems of the words around a link, at most *distance* on either side."""
    found = [*link.before(distance), *link.after(distance)]
    if anchor:
        found += words.tokenize(link.anchor)
    return link.stems(found)


def learn_contexts(
    contexts: Sequence[Sequence[str]], labels: Sequence[float], *, features: int, selection: str
) -> WordTable | None:
    """Train a naive Bayes table on context words; None without words, or with only one class.

    A label is the relevance of the link's target, from 0 to 1. Each context counts as relevant with that weight, and as
    irrelevant with the rest.
    """
    from scipy.sparse import vstack
    from sklearn.naive_bayes import MultinomialNB

    rows, names = texts.matrix(Counter(context) for context in contexts)
    shares = np.asarray(labels, dtype=float)
    relevant = float(shares.sum())
    if not names or not 0 < relevant < len(shares):
        return None
    columns = texts.select(rows, _halves(shares), features, selection)
    chosen = rows[:, columns]
    model = MultinomialNB(alpha=SMOOTHING).fit(
        vstack([chosen, chosen]),
        np.repeat([1, 0], len(shares)),
        sample_weight=np.concatenate([shares, 1 - shares]),
    )
    ratios = model.feature_log_prob_[1] - model.feature_log_prob_[0]
    weights = {names[column]: float(ratio) for column, ratio in zip(columns, ratios, strict=True)}
    return WordTable(weights, log(relevant / (len(shares) - relevant)))


def _halves(shares: Any) -> Any:
    """Binary labels with both classes present, as feature selection needs."""
    halves = shares > 0.5
    return halves if 0 < halves.sum() < len(halves) else shares > np.median(shares)
