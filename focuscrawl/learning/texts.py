"""Turn texts into a matrix: select words and weight them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from focuscrawl import words

#: How often each word occurs in a text.
Counts = Mapping[str, int]
#: Ways to select words: document frequency, mutual information.
SELECTIONS = ("df", "mi")
#: Shares that differ by less are the same: they are sums of fractions.
_ROUNDING = 1e-9


@cache
def _stop_stems(language: str = "en") -> frozenset[str]:
    if language == "en":
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(words.stem(word) for word in ENGLISH_STOP_WORDS)
    import stopwordsiso

    found = stopwordsiso.stopwords(language) if stopwordsiso.has_lang(language) else ()
    return frozenset(words.stem(word, language) for word in found)


def tells(stem: str) -> bool:
    """Whether a stem can say anything about a topic: it is not a stop word, number or single letter."""
    return _is_word(stem) and stem not in (_stop_stems(stem[:2]) if stem[2:3] == ":" else _stop_stems())


def _is_word(stem: str) -> bool:
    return len(stem) > (4 if stem[2:3] == ":" else 1) and not stem.isdigit()


def tells_in(groups: Sequence[Sequence[Counts]], share: float) -> Callable[[str], bool]:
    """As `tells`, with stop words taken from a collection: the words on more than *share* of its texts.

    Each group of texts counts the same, however large it is.
    """
    shares: dict[str, float] = {}
    groups = [group for group in groups if group]
    for group in groups:
        for text in group:
            for stem in text:
                shares[stem] = shares.get(stem, 0.0) + 1 / (len(group) * len(groups))
    stop = {stem for stem, found in shares.items() if found > share + _ROUNDING}
    return lambda stem: _is_word(stem) and stem not in stop


def matrix(texts: Iterable[Counts], keeps: Callable[[str], bool] = tells) -> tuple[Any, list[str]]:
    """A matrix with a row per text and a column per word that it *keeps*, and those words."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction import DictVectorizer

    vectorizer = DictVectorizer()
    try:
        rows = vectorizer.fit_transform({stem: n for stem, n in text.items() if keeps(stem)} for text in texts)
    except ValueError:  # none of the texts has such a word
        return csr_matrix((0, 0)), []
    return csr_matrix(rows), list(vectorizer.get_feature_names_out())


def select(rows: Any, labels: Sequence[float], size: int, selection: str) -> Any:
    """The columns of the *size* best words, by document frequency or mutual information."""
    from sklearn.feature_selection import SelectKBest

    measure = document_frequency if selection == "df" else mutual_information
    chosen = SelectKBest(measure, k=min(size, rows.shape[1])).fit(rows, np.asarray(labels) > 0.5)
    return chosen.get_support(indices=True)


def document_frequency(rows: Any, labels: Any) -> Any:
    """The number of texts in which each word occurs."""
    return np.asarray((rows > 0).sum(axis=0)).ravel()


def mutual_information(rows: Any, labels: Any) -> Any:
    """The mutual information between the occurrence of each word and the label, in bits."""
    labels = np.asarray(labels, dtype=bool)
    present = (rows > 0).astype(float)
    total, positive = rows.shape[0], int(labels.sum())
    with_word = np.asarray(present.sum(axis=0)).ravel()
    both = np.asarray(present[labels].sum(axis=0)).ravel()

    def part(joint: Any, word: Any, label: float) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            bits = joint / total * np.log2(joint * total / (word * label))
        return np.where(joint > 0, bits, 0.0)

    return (
        part(both, with_word, positive)
        + part(with_word - both, with_word, total - positive)
        + part(positive - both, total - with_word, positive)
        + part(total - positive - with_word + both, total - with_word, total - positive)
    )


def damped(rows: Any) -> Any:
    """The logarithm of the counts: the tenth occurrence of a word says less than the first."""
    rows = rows.astype(float)
    rows.data = np.log1p(rows.data)
    return rows
