"""Shared by the benchmarks on labelled webs: options, the crawl of a topic, and its target recall."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from focuscrawl import urls
from focuscrawl.topic import Topic

ROOT = Path(__file__).resolve().parent.parent
WEBS = ROOT.parent / "shared" / "webs"


def spread(webs: Path, name: str, folder: Path) -> tuple[Path, Path]:
    """A web spread over sixty hosts, and its topics."""
    folder.mkdir(parents=True, exist_ok=True)
    web, topics = folder / f"{name}.sqlite", folder / "topics"
    if not web.exists():
        command = [sys.executable, webs / "spread.py", webs / f"{name}.sqlite", webs / "topics" / name, web, topics]
        subprocess.run(command, check=True, stdout=sys.stderr)
    return web, topics


def parser(doc: str) -> argparse.ArgumentParser:
    """A parser that shows the docstring of the benchmark as its help."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def parse_web(options: argparse.ArgumentParser, *, demo: bool = False) -> argparse.Namespace:
    """Read the options, including --web and --topics for one labelled web; *demo* allows the embedded web."""
    options.add_argument("--web", default=str(WEBS / "wikipedia.sqlite"))
    options.add_argument("--topics", type=Path, default=WEBS / "topics" / "wikipedia")
    given = options.parse_args()
    if not Path(given.web).exists() and not (demo and given.web == "demo"):
        sys.exit(f"{given.web} does not exist; give a labelled web with --web and its topics with --topics")
    return given


def parse_webs(options: argparse.ArgumentParser) -> tuple[argparse.Namespace, dict[str, tuple[Path, list[Path]]]]:
    """Read the options, including --webs, --folder and --into; returns the file and topics of each web."""
    options.add_argument("--webs", default="wikipedia,webkb")
    options.add_argument("--folder", type=Path, default=WEBS)
    options.add_argument("--into", type=Path)
    given = options.parse_args()
    webs = {}
    for name in given.webs.split(","):
        web = given.folder / f"{name}.sqlite"
        if not web.exists():
            sys.exit(f"{web} does not exist; give the folder of the webs and their topics with --folder")
        webs[name] = web, topic_files(given.folder / "topics" / name)
    return given, webs


def topic_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.toml"))


def crawl_command(spider: str, topic: Path, web: str, folder: Path, pages: int, *options: str) -> list[str]:
    """The command for a crawl with one request at a time."""
    arguments = [f"topic={topic}", f"max_pages={pages}", *options]
    settings = [f"FOCUS_WEB={web}", f"FOCUS_DIR={folder}", "CONCURRENT_REQUESTS=1", "LOG_LEVEL=ERROR"]
    command = [sys.executable, "-m", "scrapy", "crawl", spider]
    command += [part for argument in arguments for part in ("-a", argument)]
    command += [part for setting in settings for part in ("-s", setting)]
    return command


def fetched(folder: Path) -> list[str]:
    """The URLs that a crawl fetched, in order."""
    return [json.loads(line)["url"] for line in (folder / "pages.jsonl").open(encoding="utf-8")]


def crawl(spider: str, topic: Path, web: str, folder: Path, pages: int, *options: str) -> list[str]:
    """The URLs that a spider fetches, in order."""
    subprocess.run(crawl_command(spider, topic, web, folder, pages, *options), check=True, cwd=ROOT)
    return fetched(folder)


def recall(topic: Topic, fetched: list[str], pages: int) -> float:
    """The share of the topic's targets among the first pages."""
    targets = {urls.key(url) for url in topic.targets}
    return len(targets & {urls.key(url) for url in fetched[:pages]}) / len(targets)
