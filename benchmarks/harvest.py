"""Relevant pages found by a strategy relative to breadth-first, on the topics of a labelled web.

    python benchmarks/harvest.py [--pages 500] [--spiders keyword,best_first] [--web FILE --topics DIR]

Runs real crawls, one request at a time, from the seeds of each topic; relevant means relevant by the web's labels.
"""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import labelled
from labelled import crawl, parse_web, topic_files

from focuscrawl.topic import load_topic
from focuscrawl.web.webs import open_web


def main() -> None:
    parser = labelled.parser(__doc__)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--spiders", default="keyword,best_first")
    options = parse_web(parser, demo=True)
    spiders = ["breadth_first", *options.spiders.split(",")]
    topics = topic_files(options.topics)
    web = open_web(options.web)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = {
            (topic, spider): pool.submit(
                crawl, spider, topic, options.web, Path(folder) / f"{topic.stem}-{spider}", options.pages
            )
            for topic in topics
            for spider in spiders
        }
        ratios: dict[str, list[float]] = {spider: [] for spider in spiders}
        print(f"{'relevant pages in ' + str(options.pages):45}" + "".join(f"{spider:>18}" for spider in spiders))
        for topic in topics:
            label = load_topic(str(topic)).label
            found = {
                spider: sum(label in web.labels(url) for url in jobs[topic, spider].result()) for spider in spiders
            }
            for spider in spiders:
                ratios[spider].append(found[spider] / max(1, found["breadth_first"]))
            cells = "".join(f"{found[spider]:>10} {ratios[spider][-1]:6.2f}×" for spider in spiders)
            print(f"{topic.stem:45}{cells}")
        means = "".join(f"{sum(ratios[spider]) / len(topics):>17.2f}×" for spider in spiders)
        print(f"{'mean of the ratios':45}{means}")


if __name__ == "__main__":
    main()
