"""What the apprentice's options are worth: words around a link, features, and the relevance of the link's page.

    python benchmarks/apprentice_axes.py [--webs wikipedia,webkb,demo] [--folder DIR] [--pages N] [--long N]

On a few topics of each web (every fourth if there are more than four), the baseline crawls, and apprentices with one
option changed learn from it and crawl as many pages. Prints the mean target recall, with its standard error over the
topics, as Markdown. The encyclopedia is crawled a second time for --long pages, to show how late in a crawl `parent`
matters. The --folder holds web files NAME.sqlite and topics/NAME/*.toml; demo is the embedded web.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

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
#: The web whose crawls are repeated with more pages, and the shares of the parent there.
LONG = "wikipedia"
LATE = (0, 0.5)

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


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--webs", default="wikipedia,webkb,demo")
    options.add_argument("--folder", type=Path, default=WEBS)
    options.add_argument("--pages", type=int, default=300)
    options.add_argument("--long", type=int, default=800)
    given = options.parse_args()
    distances = [f"distance={number}" for number in DISTANCES]
    features = [f"features={number}" for number in FEATURES]
    parents = [f"parent={share}" for share in PARENTS]
    longer = [f"parent={share}" for share in LATE]
    results: dict[str, list[Recalls]] = {}
    titles: dict[str, str] = {}
    with ProcessPoolExecutor(2) as pool:
        jobs = {}
        for name in given.webs.split(","):
            web = "demo" if name == "demo" else str(given.folder.resolve() / f"{name}.sqlite")
            if name != "demo" and not Path(web).exists():
                sys.exit(f"{web} does not exist; give the folder of the webs and their topics with --folder")
            topics = [str(path.resolve()) for path in topic_files(given.folder / "topics" / name)] or shipped_topics()
            topics = topics[:: 4 if len(topics) > 4 else 1]
            titles[name] = f"{name}, {len(topics)} topics"
            every = [*distances, *features, *parents]
            jobs[name] = [pool.submit(study, topic, web, given.pages, every) for topic in topics]
            if name == LONG:
                titles["long"] = f"{name}, {len(topics)} topics"
                jobs["long"] = [pool.submit(study, topic, web, given.long, longer) for topic in topics]
        for name, running in jobs.items():
            results[name] = [job.result() for job in running]
            print(f"{name} done", file=sys.stderr, flush=True)
    short = {name: found for name, found in results.items() if name != "long"}

    rows = {titles[name]: cells(found, ["baseline", *distances], 1) for name, found in short.items()}
    print(f"By `distance`, {given.pages} pages:\n")
    print(table("target recall", rows, ["baseline", *map(str, DISTANCES)]))

    print(f"\nBy `features`, of the baseline and of the apprentice, {given.pages} pages:\n")
    rows = {}
    for name, found in short.items():
        by_features = ["baseline" if option == "features=500" else f"baseline {option}" for option in features]
        rows[f"{titles[name]}: baseline"] = cells(found, by_features, 1)
        rows[f"{titles[name]}: apprentice"] = cells(found, features, 1)
    print(table("target recall", rows, [f"{number:,}" for number in FEATURES]))

    print("\nBy `parent`:\n")
    rows = {}
    for name, found in results.items():
        numbers = (0, given.long) if name == "long" else steps(given.pages)
        for place, number in enumerate(numbers):
            if not number:  # a long crawl is looked at when it ends
                continue
            there = [option for option in ("baseline", *parents) if option in found[0]]
            known = dict(zip(there, cells(found, there, place), strict=True))
            rows[f"{titles[name]}: {number} pages"] = [known.get(option, "") for option in ("baseline", *parents)]
    print(table("target recall", rows, ["baseline", *map(str, PARENTS)]))


if __name__ == "__main__":
    main()
