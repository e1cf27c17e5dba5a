"""How fast words are stemmed: PyStemmer, which focuscrawl uses, against nltk's Porter stemmer.

    python benchmarks/stemmers.py

Both stem the running words of the embedded web, each in one call per word and without a cache. The figure is the
ratio, the median of five runs.
"""

from __future__ import annotations

from statistics import median
from time import process_time

import Stemmer
from nltk.stem.porter import PorterStemmer

from focuscrawl import resources, words

RUNS = 5


def cost(stem, running: list[str]) -> float:
    """CPU seconds for the words."""
    begin = process_time()
    for word in running:
        stem(word)
    return process_time() - begin


def main() -> None:
    texts = [file.read_text("utf-8") for file in resources.data("web").iterdir() if file.name.endswith(".txt")]
    running = [word for text in texts for word in words.tokenize(text)]
    ours = Stemmer.Stemmer("porter", 0).stemWord
    theirs = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM).stem
    different = sum(ours(word) != theirs(word) for word in set(running))
    pairs = [(cost(ours, running), cost(theirs, running)) for _ in range(RUNS)]
    print(f"{len(running):,} words, {len(set(running)):,} different ones, {different} of which get another stem")
    for name, column in (("PyStemmer", 0), ("nltk", 1)):
        print(f"{name:10} {len(running) / median(pair[column] for pair in pairs):12,.0f} words a second")
    print(f"nltk's Porter takes {median(theirs / ours for ours, theirs in pairs):.0f} times as long")


if __name__ == "__main__":
    main()
