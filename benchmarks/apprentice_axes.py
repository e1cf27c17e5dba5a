"""What the apprentice's options are worth: words around a link, features, and the relevance of the link's page.

    python benchmarks/apprentice_axes.py [--webs wikipedia,webkb,demo] [--folder DIR] [--pages N] [--long N]

On a few topics of each web (every fourth if there are more than four), the baseline crawls, and apprentices with one
option changed learn from it and crawl as many pages. Prints the mean target recall, with its standard error over the
topics, as Markdown. `parent` is also measured on the encyclopedia after --long pages, and on all its topics. The
--folder holds web files NAME.sqlite and topics/NAME/*.toml; demo is the embedded web.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from labelled import WEBS, parser, topic_files

from focuscrawl import urls
from focuscrawl.lab.error_bars import mean_and_error
from focuscrawl.testing import crawl
from focuscrawl.topic import load_topic, shipped_topics
from focuscrawl.web.webs import MemoryWeb, open_web

DISTANCES = (1, 5, 10, 20, 40)
FEATURES = (100, 500, 1000, 5000)
PARENTS = (0, 0.25, 0.5, 0.75, 1)
#: The options that are the defaults: one crawl serves for all of them.
DEFAULTS = ("distance=10", "features=500", "parent=0")
#: The web whose crawls are repeated with more pages, and with all topics, and the options there.
LONG = "wikipedia"
LATE = ["parent=0", "parent=0.5"]
DISTANCE = [f"distance={number}" for number in DISTANCES]
FEATURE = [f"features={number}" for number in FEATURES]
PARENT = [f"parent={share}" for share in PARENTS]

#: By spider and its options, the share of the targets found after each number of pages.
Recalls = dict[str, list[float]]


def targets_of(topic: str, web: str) -> set[int]:
    """The topic's targets, or else the pages with its label that it does not name."""
    about = load_topic(topic)
    known = {urls.key(str(page)) for page in (*about.seeds, *about.examples)}
    pages = open_web(web)
    labelled = (url for url in pages.page_urls() if about.label in pages.labels(url))
    return {urls.key(url) for url in about.targets or labelled} - (set() if about.targets else known)


def study(topic: str, web: str, pages: int, options: list[str]) -> Recalls:
    """The target recall of the baseline and of its apprentices, after a third of the pages and at the end."""
    targets = targets_of(topic, web)
    found: Recalls = {}
    with tempfile.TemporaryDirectory() as folder:

        def run(name: str, spider: str, **given: object) -> None:
            settings = {"FOCUS_WEB": web, "LOG_LEVEL": "ERROR"}
            crawled = crawl(spider, MemoryWeb(), Path(folder, name), settings, topic=topic, max_pages=pages, **given)
            fetched = [urls.key(url) for url in crawled.urls]
            found[name] = [len(targets.intersection(fetched[:number])) / len(targets) for number in steps(pages)]

        run("baseline", "baseline")
        for option in options:
            name, _, value = option.partition("=")
            lessons = "baseline"
            if name == "features" and option not in DEFAULTS:
                lessons = f"baseline {option}"
                run(lessons, "baseline", features=value)
            if option in DEFAULTS and any(other in found for other in DEFAULTS):
                found[option] = next(found[other] for other in DEFAULTS if other in found)
            else:
                run(option, "apprentice", lessons=Path(folder, lessons), **{name: value})
    return found


def steps(pages: int) -> tuple[int, int]:
    return pages // 3, pages


def table(first: str, rows: dict[str, list[str]], head: list[str]) -> str:
    """A table in Markdown."""
    lines = [[first, *head], ["---", *["---:"] * len(head)], *([name, *cells] for name, cells in rows.items())]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(recalls: list[Recalls], names: list[str], step: int) -> list[str]:
    return [mean_and_error([one[name][step] for one in recalls], percent=True) for name in names]


class Part(NamedTuple):
    """Topics of a web that are crawled with the same options; only a part with *all* options is in every table."""

    title: str
    web: str
    topics: list[str]
    pages: int
    options: list[str]
    all: bool = True


def parts_of(name: str, folder: Path, pages: int, long: int) -> list[Part]:
    """What is crawled on a web."""
    web = "demo" if name == "demo" else str(folder.resolve() / f"{name}.sqlite")
    if name != "demo" and not Path(web).exists():
        sys.exit(f"{web} does not exist; give the folder of the webs and their topics with --folder")
    topics = [str(path.resolve()) for path in topic_files(folder / "topics" / name)] or shipped_topics()
    few = topics[:: 4 if len(topics) > 4 else 1]
    title = f"{name}, {len(few)} topics"
    parts = [Part(title, web, few, pages, [*DISTANCE, *FEATURE, *PARENT])]
    if name == LONG:
        parts.append(Part(title, web, few, long, LATE, all=False))
        parts.append(Part(f"{name}, {len(topics)} topics", web, topics, pages, LATE, all=False))
    return parts


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--webs", default="wikipedia,webkb,demo")
    options.add_argument("--folder", type=Path, default=WEBS)
    options.add_argument("--pages", type=int, default=300)
    options.add_argument("--long", type=int, default=800)
    given = options.parse_args()
    parts = [part for name in given.webs.split(",") for part in parts_of(name, given.folder, given.pages, given.long)]
    with ProcessPoolExecutor(2) as pool:
        jobs = [
            [pool.submit(study, topic, part.web, part.pages, part.options) for topic in part.topics] for part in parts
        ]
        results = [(part, [job.result() for job in running]) for part, running in zip(parts, jobs, strict=True)]
    whole = [(part.title, found) for part, found in results if part.all]

    rows = {title: cells(found, ["baseline", *DISTANCE], 1) for title, found in whole}
    print(f"By `distance`, {given.pages} pages:\n")
    print(table("target recall", rows, ["baseline", *map(str, DISTANCES)]))

    print(f"\nBy `features`, of the baseline and of the apprentice, {given.pages} pages:\n")
    rows = {}
    for title, found in whole:
        by_features = ["baseline" if option in DEFAULTS else f"baseline {option}" for option in FEATURE]
        rows[f"{title}: baseline"] = cells(found, by_features, 1)
        rows[f"{title}: apprentice"] = cells(found, FEATURE, 1)
    print(table("target recall", rows, [f"{number:,}" for number in FEATURES]))

    print("\nBy `parent`:\n")
    rows = {}
    for part, found in results:
        there = [option for option in ("baseline", *PARENT) if option in found[0]]
        for place, number in enumerate(steps(part.pages)):
            if part.pages == given.pages or number == part.pages:  # a long crawl is looked at when it ends
                known = dict(zip(there, cells(found, there, place), strict=True))
                rows[f"{part.title}: {number} pages"] = [known.get(option, "") for option in ("baseline", *PARENT)]
    print(table("target recall", rows, ["baseline", *map(str, PARENTS)]))


if __name__ == "__main__":
    main()
