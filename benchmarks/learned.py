"""How well judges learned from examples rank a labelled web, and what learning and scoring cost.

    python benchmarks/learned.py [--web FILE --topics DIR]

A judge is trained on a topic's examples and counterexamples and ranks all other pages. Prints mean average precision
over the topics, F1 at the judge's own threshold, and F1 at the best possible threshold; then the time of an apprentice
to learn from 1,000 followed links and to score 60 links.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from time import process_time

import labelled
import numpy as np
from labelled import parse_web, topic_files
from sklearn.metrics import average_precision_score, precision_recall_curve

from focuscrawl import urls
from focuscrawl.learning.contexts import context, learn_contexts
from focuscrawl.learning.pages import LearnedJudge
from focuscrawl.learning.table import squash
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.topic import load_topic

JUDGES = [
    ("naive Bayes, 500 words by df", {"kind": "bayes", "selection": "df"}),
    ("naive Bayes, 500 words by mi", {"kind": "bayes", "selection": "mi"}),
    ("linear", {"kind": "linear"}),
]


def main() -> None:
    options = parse_web(labelled.parser(__doc__))
    pages: dict[int, tuple[dict[str, int], set[str]]] = {}
    sample: list[Page] = []
    for url, kind, body, labels in sqlite3.connect(options.web).execute(
        "SELECT url, content_type, body, labels FROM page ORDER BY url"
    ):
        page = read_html(Page(url), zlib.decompress(body), kind or "")
        pages[urls.key(url)] = page.counts, set(json.loads(labels or "[]"))
        if len(page.links) >= 20 and len(sample) < 50:
            sample.append(page)
    topics = [load_topic(str(path)) for path in topic_files(options.topics)]
    print(f"{f'{len(pages):,} pages, mean of {len(topics)} topics':34}{'MAP':>8}{'F1':>8}{'best F1':>10}")
    for name, choice in JUDGES:
        rows = []
        for topic in topics:
            yes, no = ([urls.key(str(url)) for url in found] for found in (topic.examples, topic.counterexamples))
            judge = LearnedJudge.train([pages[key][0] for key in yes], [pages[key][0] for key in no], **choice)
            rest = [key for key in pages if key not in {*yes, *no}]
            truth = np.array([topic.label in pages[key][1] for key in rest])
            odds = np.array([judge.table.log_odds(pages[key][0]) for key in rest])
            precision, recall, _ = precision_recall_curve(truth, odds)
            best = np.max(2 * precision * recall / np.maximum(precision + recall, 1e-9))
            found = odds >= 0
            rows.append(
                (average_precision_score(truth, odds), 2 * (found & truth).sum() / (found.sum() + truth.sum()), best)
            )
        print(
            f"{name:34}"
            + "".join(f"{value:>{width}.3f}" for value, width in zip(np.mean(rows, 0), (8, 8, 10), strict=True))
        )
    links = [link for page in sample for link in page.links][:1000]
    labels = [float(number % 7 == 0) for number in range(len(links))]
    began = process_time()
    table = learn_contexts([context(link, 10, anchor=False) for link in links], labels, features=500, selection="mi")
    taught = process_time() - began
    assert table is not None
    began = process_time()
    for start in range(0, 600, 60):
        [squash(table.of_words(context(link, 10, anchor=False))) for link in links[start : start + 60]]
    scored = (process_time() - began) / 10
    print(
        f"\nlearning from {len(links):,} followed links {taught:.2f} s, scoring 60 links {1000 * scored:.2f} ms (CPU)"
    )


if __name__ == "__main__":
    main()
