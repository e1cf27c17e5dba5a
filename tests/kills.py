"""A crawl that is killed at chosen moments and resumed, or not.

    python -m tests.kills undisturbed|killed

reads crawls to make from its input, each a line of JSON: a spider, a folder, and options as "name=value". It answers
each with a line, the exit status. It crawls the embedded web, one request at a time; "killed" are those that meet
SIGKILL at each of KILLS. Every part of a crawl runs in a process of its own, forked from this one.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from focuscrawl import testing
from focuscrawl.pipelines.store import StorePipeline
from focuscrawl.web.demo import demo_web

PAGES = 90
#: After how many pages, and when: before the page is stored, after that but before it is learned from, after all.
KILLS = [(23, "before"), (41, "learn"), (64, "after")]
SETTINGS = {"LOG_ENABLED": False, "FOCUS_HOSTS_PER_BATCH": 0}


def strike() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crawl(spider: str, folder: Path, options: dict[str, str], kill: tuple[int, str] | None) -> None:
    """Crawl until the end, or until the process dies."""
    if kill is not None:
        number, moment = kill
        store, tell = StorePipeline._store, StorePipeline._tell

        def storing(self, page):
            if moment == "before" and self.crawl.pages + 1 == number:
                strike()
            store(self, page)
            if moment == "after" and self.crawl.pages == number:
                strike()

        def telling(self, page):
            if moment == "learn" and self.crawl.pages == number:
                strike()
            tell(self, page)

        StorePipeline._store = storing  # type: ignore[method-assign]
        StorePipeline._tell = telling  # type: ignore[method-assign]
    given: dict[str, Any] = dict(options)
    settings = {name: given.pop(name) for name in list(given) if name.isupper()}
    testing.crawl(spider, demo_web(), folder, SETTINGS | settings, topic="sorting", max_pages=PAGES, **given)


def in_a_process(spider: str, folder: Path, options: dict[str, str], kill: tuple[int, str] | None) -> int:
    """The exit status of a crawl in a process of its own."""
    child = os.fork()
    if not child:
        try:
            crawl(spider, folder, options, kill)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def make(kind: str, spider: str, folder: Path, options: list[str]) -> int:
    """Make one of the crawls; returns the exit status."""
    given = dict(option.split("=", 1) for option in options)
    for kill in [*KILLS, None] if kind == "killed" else [None]:
        status = in_a_process(spider, folder / kind, given, kill)
        if status not in (0, -signal.SIGKILL):
            return status
    return 0


def main(kind: str) -> None:
    """Make the crawls that are asked for."""
    demo_web()  # once, for all
    for line in sys.stdin:
        spider, folder, options = json.loads(line)
        print(make(kind, spider, Path(folder), options), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
