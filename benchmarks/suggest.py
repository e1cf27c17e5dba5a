"""What the keywords that `scrapy topic suggest` finds are worth: the order and verdict on pages it has not seen.

    python benchmarks/suggest.py [--web FILE --topics DIR]

Suggestions come from the examples and counterexamples of each topic of a labelled web. For each set of keywords, over
all other pages of the web: mean average precision, and F1 at the default threshold.
"""

from __future__ import annotations

import labelled
from judges import average_precision, f1

from focuscrawl import urls
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.seeding.evidence import Library, gather
from focuscrawl.seeding.suggest import Pages, suggest
from focuscrawl.topic import load_topic
from focuscrawl.web.webs import WebFile

THRESHOLD = 0.3
MOST = 60


def keyword_sets(topic, library: Library) -> dict[str, dict[str, float]]:
    """The keywords of a topic, without and with suggestions."""
    evidence = gather(topic, library)
    found = suggest(evidence.relevant, evidence.others, topic.keywords, threshold=THRESHOLD, limit=MOST)
    words = [one for one in found if one.source == "word"]
    fresh = suggest(evidence.relevant, evidence.others, {}, threshold=THRESHOLD, limit=MOST)
    sets = {
        "the topic's": (topic.keywords, []),
        "with 5 terms": (topic.keywords, found[:5]),
        "with 10 terms": (topic.keywords, found[:10]),
        "with 20 terms": (topic.keywords, found[:20]),
        "10, words only": (topic.keywords, words[:10]),
        "only 10 terms": ({}, fresh[:10]),
    }
    return {name: {**keywords, **{one.term: one.weight for one in new}} for name, (keywords, new) in sets.items()}


def main() -> None:
    options = labelled.parse_web(labelled.parser(__doc__))
    web = WebFile(options.web)
    pages: dict[int, tuple[Page, list[str]]] = {}
    for (url,) in web.connection.execute("SELECT url FROM page ORDER BY url"):
        answer = web.get(url)
        page = read_html(Page(url), answer.body, answer.content_type)
        if not page.problem:
            _ = page.stems
            page.body = b""
            pages[urls.key(url)] = page, web.labels(url)
    topics = [load_topic(str(file)) for file in labelled.topic_files(options.topics)]
    print(f"{len(pages):,} pages, {len(topics)} topics")
    figures: dict[str, list[tuple[float, float]]] = {}
    for topic in topics:
        known = {urls.key(url) for url in (*topic.examples, *topic.counterexamples)}
        sets = keyword_sets(topic, Library(web=web))
        unseen = [entry for key, entry in pages.items() if key not in known]
        table = Pages([page for page, _ in unseen], [], {term: 1 for keywords in sets.values() for term in keywords})
        relevant = [topic.label in labels for _, labels in unseen]
        for name, keywords in sets.items():
            scores = list(table.relevance(keywords)) if keywords else [0.0] * len(unseen)
            measured = average_precision(scores, relevant), f1(scores, relevant, THRESHOLD)
            figures.setdefault(name, []).append(measured)
    print(f"{'keywords':18}{'MAP':>7}{'F1':>7}{'MAP better on':>17}")
    for name, measured in figures.items():
        means = [sum(column) / len(topics) for column in zip(*measured, strict=True)]
        better = sum(one > base for (one, _), (base, _) in zip(measured, figures["the topic's"], strict=True))
        print(f"{name:18}{means[0]:7.3f}{means[1]:7.3f}{f'{better} of {len(topics)}' if better else '':>17}")


if __name__ == "__main__":
    main()
