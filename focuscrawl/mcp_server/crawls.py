"""Crawls that a language model starts: one at a time, each a process, within bounds that a person has set."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import tomllib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings
from scrapy.spiderloader import SpiderLoader

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.runs import arguments_again, not_taken, settings_again
from focuscrawl.errors import FocusError, printable, suggest
from focuscrawl.manners.scope import Scope
from focuscrawl.mcp_server.shelf import MAX_ARGUMENT, Shelf
from focuscrawl.store.places import read_crawl
from focuscrawl.topic import named_topics, parse_keywords, slug

#: The spider of a new crawl, unless another is named.
SPIDER = "adaptive"
#: Maximum number of seeds that a new crawl may be given.
MAX_SEEDS = 50
#: Seconds to wait for a crawl to begin, and, when the server ends, for it to end.
BEGIN_WITHIN, END_WITHIN = 20.0, 1.5
#: Where a crawl's messages go, in its directory.
LOG = "mcp.log"

_KEYS: dict[str, type | tuple[type, ...]] = {"hosts": list, "pages": int, "hours": (int, float)}


@dataclass(frozen=True)
class Bounds:
    """What all crawls of a server together may fetch."""

    hosts: tuple[str, ...]
    pages: int
    hours: float

    def __post_init__(self) -> None:
        if not self.hosts:
            raise FocusError("bounds of crawls: no hosts; give --hosts example.com,example.org")
        for host in self.hosts:
            if not host.strip() or host.startswith(("/", "re:")):
                raise FocusError(f"bounds of crawls: '{host}' is not a host; write example.com or example.com/docs/")
        Scope(self.hosts)  # reports a wrong one
        if self.pages < 1:
            raise FocusError(f"bounds of crawls: pages is {self.pages}; expected a whole number, at least 1")
        if not 0 < self.hours < 10_000:
            raise FocusError(f"bounds of crawls: hours is {self.hours:g}; expected a number above 0")

    @classmethod
    def read(cls, path: Path) -> Bounds:
        """Read bounds from a TOML file with the keys hosts, pages and hours."""
        example = 'hosts = ["example.com"], pages = 500 and hours = 2'
        try:
            table = tomllib.loads(path.read_text("utf-8"))
        except OSError as error:
            raise FocusError(f"cannot read {path}: {error.strerror}; it should have {example}") from None
        except ValueError as error:
            raise FocusError(f"{path}: not valid TOML: {error}; it should have {example}") from None
        for key, kind in _KEYS.items():
            if not isinstance(table.get(key), kind) or isinstance(table[key], bool):
                raise FocusError(f"{path}: '{key}' is missing or wrong; it should have {example}")
        if unknown := table.keys() - _KEYS.keys():
            raise FocusError(f"{path}: unknown key '{min(unknown)}'; it should have {example}")
        return cls(tuple(map(str, table["hosts"])), table["pages"], float(table["hours"]))


class _Running:
    """A crawl that was started here."""

    def __init__(self, name: str, folder: Path, command: Sequence[str]) -> None:
        self.name = name
        self.folder = folder
        self.before = self._most = _pages(folder)
        #: How many runs the crawl had before.
        self.runs = _runs(folder)
        self.began = clock.monotonic()
        self.ended: float | None = None
        with (folder / LOG).open("ab") as log:
            self.process = subprocess.Popen(  # noqa: S603 - no shell, and checked arguments
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        threading.Thread(target=self._wait, daemon=True).start()

    def _wait(self) -> None:
        self.process.wait()
        self.ended = clock.monotonic()

    @property
    def pages(self) -> int:
        """Pages stored since it began."""
        with suppress(FocusError):  # it is just being made
            self._most = max(self._most, _pages(self.folder))
        return self._most - self.before

    @property
    def seconds(self) -> float:
        """Seconds that it has been running."""
        return (clock.monotonic() if self.ended is None else self.ended) - self.began

    def last_line(self) -> str:
        """The last line of its log."""
        try:
            with (self.folder / LOG).open("rb") as log:
                log.seek(max(0, log.seek(0, 2) - 2_000))
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return printable(lines[-1]).removeprefix("focuscrawl: ") if lines else ""


class Crawls:
    """Starts and stops crawls. What all of them fetch counts against the bounds."""

    def __init__(self, shelf: Shelf, bounds: Bounds, settings: BaseSettings, given: Sequence[str] = ()) -> None:
        """*given* are the settings of the command line, NAME=VALUE, which apply to the crawls, too."""
        if settings.get("FOCUS_SCOPE"):
            raise FocusError("setting FOCUS_SCOPE may allow more than --hosts does; remove it, and use FOCUS_DENY")
        self.shelf = shelf
        self.bounds = bounds
        self.settings = settings
        self.given = [word for setting in given for word in ("-s", setting)]
        #: Where new crawls go: the first directory that is not a crawl itself.
        self.place = next((place for place in shelf.places if not (place / "crawl.sqlite").exists()), None)
        self._started: list[_Running] = []
        self._lock = threading.Lock()

    def left(self) -> tuple[int, float]:
        """The pages and hours that are left."""
        pages = self.bounds.pages - sum(crawl.pages for crawl in self._started)
        hours = self.bounds.hours - sum(crawl.seconds for crawl in self._started) / 3600
        return max(0, pages), max(0.0, hours)

    def state(self) -> dict[str, Any]:
        """What was started here, and what is left of the bounds."""
        pages, hours = self.left()
        return {
            "started": [
                {
                    "crawl": crawl.name,
                    "state": "running" if crawl.ended is None else f"ended with status {crawl.process.returncode}",
                    "pages": crawl.pages,
                    "minutes": round(crawl.seconds / 60, 1),
                    "log": crawl.last_line(),
                }
                for crawl in self._started[-20:]
            ],
            "hosts": list(self.bounds.hosts),
            "pages_left": pages,
            "hours_left": round(hours, 3),
        }

    def start(
        self,
        name: str,
        topic: str | None = None,
        keywords: str | None = None,
        seeds: Sequence[str] = (),
        spider: str = SPIDER,
        pages: int | None = None,
    ) -> dict[str, Any]:
        """Start a new crawl."""
        if self.place is None:
            raise FocusError("new crawls have no place: the server was given crawls only, not a directory for crawls")
        if slug(name) != name:
            raise FocusError(f"name '{name[:100]}': use lower-case letters, digits and dashes, such as {slug(name)}")
        folder = self.place / name
        if (folder / "crawl.sqlite").exists():
            raise FocusError(f"crawl '{name}' exists; resume it, or choose another name")
        arguments = self._arguments(topic, keywords, seeds)
        self._spider(spider)
        with self._lock:
            try:
                folder.mkdir(exist_ok=True)
                if any(path.name != LOG for path in folder.iterdir()):
                    raise FocusError(f"'{name}' is taken by a directory that is not a crawl; choose another name")
            except OSError as error:
                raise FocusError(f"cannot make a directory for '{name}': {error.strerror}") from None
            return self._run(name, folder, spider, arguments, {}, pages)

    def resume(self, crawl: str, pages: int | None = None) -> dict[str, Any]:
        """Resume a crawl with the spider, topic and settings that it was made with."""
        name, folder = self.shelf.folder(crawl)
        self._check_idle()
        with read_crawl(folder) as store:
            spider, run = str(store.meta("spider")), store.runs()[-1]
        taken, asked = settings_again(run.get("settings", {}), self.settings)
        arguments, asked_too = arguments_again(run.get("arguments", {}), self._spider(spider), {})
        if asked or asked_too:
            raise FocusError(not_taken(folder, [*asked_too, *asked]))
        with self._lock:
            return self._run(name, folder, spider, arguments, taken, pages)

    def stop(self, crawl: str) -> dict[str, Any]:
        """Stop a crawl that was started here; it can be resumed."""
        for running in self._started:
            if running.name == crawl and running.ended is None:
                running.process.send_signal(signal.SIGINT)
                return {"crawl": crawl, "state": "stopping; `status` says when it has ended"}
        raise FocusError(f"no crawl '{crawl[:100]}' was started here that is running")

    def close(self) -> None:
        """Stop what is running. It may end after the server, and can be resumed."""
        running = [crawl.process for crawl in self._started if crawl.ended is None]
        for process in running:
            process.send_signal(signal.SIGINT)
        for process in running:
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_WITHIN)

    def _arguments(self, topic: str | None, keywords: str | None, seeds: Sequence[str]) -> dict[str, str]:
        """The arguments of a spider. They name no files: topics are those that come with focuscrawl."""
        arguments: dict[str, str] = {}
        if topic is not None:
            if topic not in (known := named_topics()):
                hint = suggest(topic[:100], known) or f"known: {', '.join(known)}"
                raise FocusError(f"unknown topic '{topic[:100]}'; {hint}; or give keywords and seeds")
            arguments["topic"] = topic
        if keywords is not None:
            if len(keywords) > MAX_ARGUMENT:
                raise FocusError(f"keywords are too long: {MAX_ARGUMENT:,} characters are allowed")
            parse_keywords(keywords)
            arguments["keywords"] = keywords
        if not arguments:
            raise FocusError("give a topic, or keywords and seeds")
        if len(seeds) > MAX_SEEDS:
            raise FocusError(f"{len(seeds):,} seeds are too many; {MAX_SEEDS} are allowed")
        checked = [self._seed(seed) for seed in seeds]
        if checked:
            arguments["seeds"] = ",".join(checked)
        elif topic is None:
            raise FocusError("give seeds: URLs from which the crawl starts")
        return arguments

    def _seed(self, seed: str) -> str:
        shown = seed[:200]
        try:
            url = urls.check(seed[: MAX_ARGUMENT + 1])
        except ValueError as error:
            raise FocusError(f"seed '{shown}': {error}") from None
        if "," in url or len(seed) > MAX_ARGUMENT:
            raise FocusError(f"seed '{shown}' is too long or has a comma")
        if Scope(self.bounds.hosts).refuses(url) is not None:
            raise FocusError(f"seed '{shown}' is out of bounds; crawls may fetch from {', '.join(self.bounds.hosts)}")
        return url

    def _spider(self, name: str) -> type[Any]:
        loader = SpiderLoader.from_settings(self.settings)
        if name not in loader.list():
            hint = suggest(name[:100], loader.list()) or f"known: {', '.join(loader.list())}"
            raise FocusError(f"unknown spider '{name[:100]}'; {hint}")
        return loader.load(name)

    def _check_idle(self) -> None:
        for crawl in self._started:
            if crawl.ended is None:
                raise FocusError(f"crawl '{crawl.name}' is running; one crawl runs at a time")

    def _run(
        self,
        name: str,
        folder: Path,
        spider: str,
        arguments: dict[str, str],
        settings: dict[str, Any],
        pages: int | None,
    ) -> dict[str, Any]:
        self._check_idle()
        left, hours = self.left()
        if pages is not None and pages < 1:
            raise FocusError(f"pages {pages}: expected a whole number, at least 1")
        if not left or hours <= 0:
            raise FocusError("the bounds that were set for crawls are used up")
        granted = left if pages is None else min(pages, left)
        before, seconds = _pages(folder), _seconds(folder)
        arguments = {
            **arguments,
            "max_pages": str(before + granted),
            "max_hours": f"{seconds / 3600 + hours:.6f}",
        }
        bounds = {"FOCUS_DIR": str(folder), "FOCUS_ALLOW": ",".join(self.bounds.hosts), "FOCUS_PROGRESS": "False"}
        command = [sys.executable, "-m", "scrapy", "crawl", spider]
        command += [word for key, value in arguments.items() for word in ("-a", f"{key}={value}")]
        command += [word for key, value in settings.items() for word in ("-s", f"{key}={_text(value)}")]
        command += self.given  # the person's settings override those of the crawl, and the bounds override all
        command += [word for key, value in bounds.items() for word in ("-s", f"{key}={value}")]
        try:
            crawl = _Running(name, folder, command)
        except OSError as error:
            raise FocusError(f"crawl '{name}' could not be started: {error.strerror}") from None
        self._started.append(crawl)
        self._wait_for(crawl)
        return {"crawl": name, "pages": granted, "hours": round(hours, 3), "hosts": list(self.bounds.hosts)}

    def _wait_for(self, crawl: _Running) -> None:
        """Wait until a crawl has recorded its run in its file, or has failed."""
        waiting = threading.Event()
        while crawl.ended is None and crawl.seconds < BEGIN_WITHIN and _runs(crawl.folder) == crawl.runs:
            waiting.wait(0.1)
        if crawl.ended is not None and crawl.process.returncode:
            raise FocusError(f"crawl '{crawl.name}' failed: {crawl.last_line()[:500]}")


def _pages(folder: Path) -> int:
    if not (folder / "crawl.sqlite").exists():
        return 0
    with read_crawl(folder, check=False) as store:
        return store.pages.count()


def _runs(folder: Path) -> int:
    if (folder / "crawl.sqlite").exists():
        with suppress(FocusError), read_crawl(folder, check=False) as store:
            return len(store.meta("runs") or [])
    return 0  # or it is just being made


def _seconds(folder: Path) -> float:
    if not (folder / "crawl.sqlite").exists():
        return 0.0
    with read_crawl(folder, check=False) as store:
        return float(max(0, store.number("seconds")))


def _text(value: object) -> str:
    """A recorded setting as the command line takes it."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)
