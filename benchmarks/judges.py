"""How well keywords identify relevant pages: the measures behind the defaults `match=0.5` and `threshold=0.3`.

    python benchmarks/judges.py [--web FILE --topics DIR]

For each measure, over all pages of a labelled web: mean average precision, and mean F1 at several thresholds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import labelled
from labelled import WEBS, topic_files

from focuscrawl import judge
from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.topic import load_topic
from focuscrawl.web.webs import WebFile

THRESHOLDS = (0.01, 0.2, 0.3, 0.4, 0.5, 0.6, 1.0)


def average_precision(scores: list[float], relevant: list[bool]) -> float:
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    found, total = 0, 0.0
    for rank, place in enumerate(order, 1):
        if relevant[place]:
            found += 1
            total += found / rank
    return total / max(1, found)


def f1(scores: list[float], relevant: list[bool], threshold: float) -> float:
    matched = [score >= threshold - 1e-9 for score in scores]
    right = sum(one and other for one, other in zip(matched, relevant, strict=True))
    return 2 * right / max(1, sum(matched) + sum(relevant))


def fixed_saturation(keywords: KeywordJudge, page: Page) -> float:
    """The coverage measure with a fixed frequency, 8, instead of a share of the page."""
    kept, judge.SATURATION = judge.SATURATION, 8 / max(8, len(page.words))
    try:
        return keywords.coverage(page, 0.5).relevance
    finally:
        judge.SATURATION = kept


MEASURES = {
    "share": lambda keywords, page: keywords.share(page, 0.5).relevance,
    "coverage": lambda keywords, page: keywords.coverage(page, 0.5).relevance,
    "coverage, fixed": fixed_saturation,
}


def main() -> None:
    parser = labelled.parser(__doc__)
    parser.add_argument("--web", type=Path, nargs="*", default=[WEBS / "wikipedia.sqlite", WEBS / "webkb.sqlite"])
    parser.add_argument("--topics", type=Path, default=WEBS / "topics", help="folder with one folder of topics per web")
    options = parser.parse_args()
    for path in options.web:
        if not path.exists():
            sys.exit(f"{path} does not exist; give a labelled web with --web and its topics with --topics")
        web = WebFile(path)
        pages = []
        for (url,) in web.connection.execute("SELECT url FROM page ORDER BY url"):
            answer = web.get(url)
            page = read_html(Page(url), answer.body, answer.content_type)
            _ = page.counts
            page.body = b""
            pages.append((page, web.labels(url)))
        topics = [load_topic(str(file)) for file in topic_files(options.topics / path.stem)]
        print(f"{path.stem}: {len(pages):,} pages, {len(topics)} topics")
        print(f"{'':18}{'MAP':>7}" + "".join(f"{f'F1 {threshold:g}':>9}" for threshold in THRESHOLDS))
        for name, measure in MEASURES.items():
            precision, scores_of = [], []
            for topic in topics:
                keywords = KeywordJudge(topic.keywords)
                scores = [measure(keywords, page) for page, _ in pages]
                relevant = [topic.label in labels for _, labels in pages]
                precision.append(average_precision(scores, relevant))
                scores_of.append([f1(scores, relevant, threshold) for threshold in THRESHOLDS])
            means = [sum(column) / len(topics) for column in zip(*scores_of, strict=True)]
            print(f"{name:18}{sum(precision) / len(topics):7.3f}" + "".join(f"{mean:9.2f}" for mean in means))


if __name__ == "__main__":
    main()
