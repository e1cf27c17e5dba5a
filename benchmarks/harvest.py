"""Relevant pages found by a strategy over those found breadth-first, on the topics of a labelled web.

    python benchmarks/harvest.py [--pages 500] [--spiders keyword,best_first] [--web FILE --topics DIR]

Crawls for real, one request at a time, from the seeds of each topic; a page is relevant if the web's label says so.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from focuscrawl.topic import load_topic
from focuscrawl.web.webs import open_web

WEBS = Path(__file__).resolve().parents[2] / "shared" / "webs"


def crawl(spider: str, topic: Path, web: str, pages: int, folder: Path) -> list[str]:
    """The URLs a spider fetches, in order."""
    command = [sys.executable, "-m", "scrapy", "crawl", spider, "-a", f"topic={topic}", "-a", f"max_pages={pages}"]
    settings = {"FOCUS_WEB": web, "FOCUS_DIR": folder, "CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "ERROR"}
    for name, value in settings.items():
        command += ["-s", f"{name}={value}"]
    subprocess.run(command, check=True, cwd=Path(__file__).resolve().parent.parent)
    return [json.loads(line)["url"] for line in (folder / "pages.jsonl").open(encoding="utf-8")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", default=str(WEBS / "wikipedia.sqlite"))
    parser.add_argument("--topics", type=Path, default=WEBS / "topics" / "wikipedia")
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--spiders", default="keyword,best_first")
    options = parser.parse_args()
    if options.web != "demo" and not Path(options.web).exists():
        sys.exit(f"{options.web} is not there: give a labelled web with --web and its topics with --topics")
    spiders = ["breadth_first", *options.spiders.split(",")]
    topics = sorted(options.topics.glob("*.toml"))
    web = open_web(options.web)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        jobs = {
            (topic, spider): pool.submit(
                crawl, spider, topic, options.web, options.pages, Path(folder) / f"{topic.stem}-{spider}"
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
