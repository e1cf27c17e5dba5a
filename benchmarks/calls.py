"""Function calls per page and component, as cProfile counts them: the same on every machine, and from run to run.

    python benchmarks/calls.py [--spider best_first]

The spider crawls 120 synthetic pages of 20 KB with 60 links, one at a time, without a network. What the first 40 take
is subtracted, and with it the start. Calls of built-in functions count for the component that makes them.
tests/test_calls.py holds best_first to a budget.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import focuscrawl
from focuscrawl.testing import crawl
from focuscrawl.web.synthetic import SyntheticWeb
from focuscrawl.web.webs import MemoryWeb

PAGES, LEFT_OUT = 120, 40
PACKAGE = Path(focuscrawl.__file__).parent
#: Components by the first part of a path in the package; the others are `the rest`.
COMPONENTS = {
    "reading": "reading",
    "urls.py": "reading",
    "page.py": "words and judge",
    "words.py": "words and judge",
    "judge.py": "words and judge",
    "language": "words and judge",
    "spider.py": "spider and middlewares",
    "spiders": "spider and middlewares",
    "strategies": "spider and middlewares",
    "learning": "spider and middlewares",
    "middlewares": "spider and middlewares",
    "pipelines": "storing",
    "crawl": "storing",
    "store": "storing",
    "manners": "manners",
    "frontier": "frontier",
}
SCRAPY, REST = "Scrapy and others", "the rest"


class Calls(NamedTuple):
    """Calls per page by component."""

    by_component: dict[str, float]

    @property
    def total(self) -> float:
        """All calls per page."""
        return sum(self.by_component.values())


def component(file: str) -> str:
    """The component that a source file belongs to."""
    path = Path(file)
    if not path.is_relative_to(PACKAGE):
        return SCRAPY
    return COMPONENTS.get(path.relative_to(PACKAGE).parts[0], REST)


def synthetic() -> MemoryWeb:
    """The web that is crawled."""
    made = SyntheticWeb(2 * PAGES, hosts=20, links=60, bytes=20_000)
    web = MemoryWeb()
    for number in range(2 * PAGES):
        web.add(made.url(number), made.get(made.url(number)).body.decode())
    return web


def count(spider: str, pages: int, **options: object) -> Counter[str]:
    """The calls of a whole crawl by component."""
    keywords = ",".join(SyntheticWeb(1).topical[0][:12])
    profile = cProfile.Profile()
    with tempfile.TemporaryDirectory() as folder:
        web = synthetic()
        profile.enable()
        crawl(spider, web, Path(folder), {"LOG_LEVEL": "ERROR"}, seeds=SyntheticWeb(1).url(0), keywords=keywords,
              max_pages=pages, **options)  # fmt: skip
        profile.disable()
    found: Counter[str] = Counter()
    for (file, _, _), (_, calls, _, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        if file != "~":
            found[component(file)] += calls
        else:
            for (caller, _, _), numbers in callers.items():
                found[component(caller)] += numbers[1]
    return found


def per_page(spider: str, **options: object) -> Calls:
    """The calls of a page in the middle of a crawl."""
    count(spider, 5, **options)  # imports, caches, patterns
    whole, start = count(spider, PAGES, **options), count(spider, LEFT_OUT, **options)
    return Calls({name: (whole[name] - start[name]) / (PAGES - LEFT_OUT) for name in sorted(whole)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spider", default="best_first")
    options = parser.parse_args()
    calls = per_page(options.spider)
    for name, number in sorted(calls.by_component.items(), key=lambda item: -item[1]):
        print(f"{name:24} {number:8,.0f} calls per page")
    print(f"{'all':24} {calls.total:8,.0f}")


if __name__ == "__main__":
    main()
