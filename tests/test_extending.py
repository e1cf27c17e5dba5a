"""What docs/extending.md builds works as it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from focuscrawl.web.webs import open_web
from tests.conftest import ROOT, at, scrapy, small_web
from tests.test_docs import snippets

GUIDE = "docs/extending.md"


@pytest.fixture(scope="module")
def guide() -> dict[str, object]:
    """All that the guide defines."""
    space: dict[str, object] = {"__name__": "guide"}
    for snippet in snippets(GUIDE):
        exec(snippet, space)
    return space


@pytest.mark.parametrize("name", ["AnchorFirst", "AnchorAndPage"])
def test_anchors_that_name_the_topic_come_first(guide, crawl, name):
    web = small_web({"root": ["x", "sorting"], "x": [], "sorting": []})
    assert crawl(guide[name], web, seeds=at("root"), keywords="sort").urls[1] == at("sorting")


def test_its_option_is_an_option(guide, crawl, tmp_path):
    web = small_web({"a": ["sorting"], "b": ["x"], "sorting": [], "x": []}, {"b": "sort merge " * 20})
    start = {"seeds": f"{at('a')},{at('b')}", "keywords": "sort,merge"}
    assert crawl(guide["AnchorAndPage"], web, tmp_path / "1", weight=1, **start).urls[2] == at("sorting")
    assert crawl(guide["AnchorAndPage"], web, tmp_path / "2", weight=0, **start).urls[2] == at("x")


def test_hosts_that_gave_something_are_preferred(guide, crawl):
    web = small_web(
        {
            "root": ["bad/1", "good/1", "bad/2", "good/2"],
            **{f"{host}/{n}": [] for host in ("bad", "good") for n in (1, 2)},
        },
        {"good/1": "sort " * 20, "good/2": "sort " * 20},
    )
    urls = crawl(guide["HostsThatGive"], web, seeds=at("root"), keywords="sort").urls
    assert urls == [at("root"), at("bad/1"), at("good/1"), at("good/2"), at("bad/2")]


def test_fresh_pages_come_first(guide, crawl):
    web = small_web(
        {"root": ["a/2019", "a/2025", "a/x"], "a/2019": [], "a/2025": [], "a/x": []}, {"root": "sort " * 20}
    )
    urls = crawl(guide["FreshFirst"], web, seeds=at("root"), keywords="sort", year=2025).urls
    assert urls[1:] == [at("a/2025"), at("a/x"), at("a/2019")]


@pytest.mark.slow
def test_the_classifier_learns_from_examples(guide, crawl):
    crawled = crawl(guide["Learned"], open_web("demo"), topic="sorting", max_pages=60, threshold=0.5)
    labels = [open_web("demo").labels(url) for url in crawled.matched]
    assert len(labels) > 10
    assert sum("sorting" in label for label in labels) > 0.8 * len(labels)


def test_the_exporter_stays_in_step_with_the_store(guide, crawl, tmp_path):
    web = small_web({"a": ["b"], "b": ["c"], "c": []}, dict.fromkeys("abc", "sort " * 20))
    start = {"seeds": at("a"), "keywords": "sort"}
    crawl(guide["WithCorpus"], web, tmp_path, max_pages=1, **start)
    (tmp_path / "corpus.jsonl").write_text("half a li")  # cut while it was written
    crawl(guide["WithCorpus"], web, tmp_path, **start)
    lines = [json.loads(line) for line in (tmp_path / "corpus.jsonl").read_text().splitlines()]
    assert [line["url"] for line in lines] == [at("a"), at("b"), at("c")]
    assert all("sort sort" in line["text"] for line in lines)


def test_the_test_that_the_guide_shows_passes(guide, tmp_path):
    guide["test_links_that_name_the_topic_come_first"](tmp_path)


def do(command: str, folder: Path) -> None:
    """Run a command of the guide."""
    program, *arguments = shlex.split(command)
    if program == "scrapy":
        done = scrapy(*arguments, cwd=folder)
    else:
        environment = {name: value for name, value in os.environ.items() if name != "SCRAPY_SETTINGS_MODULE"}
        done = subprocess.run(
            [{"python": sys.executable}[program], *arguments],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr, f"{command}\n{done.stderr}"


def commands(number: int) -> list[str]:
    return snippets(GUIDE, "sh")[number].splitlines()


def snippet_with(text: str) -> str:
    return next(snippet for snippet in snippets(GUIDE) if text in snippet)


@pytest.fixture
def project(tmp_path):
    """A project of somebody's, as Scrapy makes it."""
    do("scrapy startproject mine", tmp_path)
    return tmp_path / "mine"


def pages(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "pages.jsonl").read_text("utf-8").splitlines()]


def test_a_strategy_begins_with_two_commands_in_a_checkout(tmp_path):
    for name in ("focuscrawl", "data"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "scrapy.cfg", tmp_path)
    (tmp_path / "tests" / "spiders").mkdir(parents=True)
    for command in commands(0):
        do(command, tmp_path)


def test_a_strategy_begins_with_two_settings_in_a_project(project):
    settings = project / "mine" / "settings.py"
    settings.write_text(settings.read_text() + snippet_with("COMMANDS_MODULE"))
    (crawl,) = re.findall(r"`(scrapy crawl anchor_first .*?)`", (ROOT / GUIDE).read_text("utf-8"))
    for command in [*commands(0), crawl]:
        do(command.replace("tests/spiders/", "tests/"), project)
    assert len(pages(project / "crawls" / "anchor_first-sorting-algorithms")) == 100


def test_the_spider_that_knows_nothing_of_topics_is_focused(project):
    settings = project / "mine" / "settings.py"
    settings.write_text(settings.read_text() + snippet_with("FOCUS_STRATEGY ="))
    (project / "mine" / "spiders" / "titles.py").write_text(snippet_with("class Titles"))
    for command in commands(1):
        do(command, project)
    found = pages(project / "crawls" / "titles-sorting")
    assert len(found) == 200
    assert sum(page["matched"] for page in found) > 100
    assert "Heap sort: a note" in (project / "titles.jsonl").read_text()


def test_every_public_name_exists():
    table = (ROOT / GUIDE).read_text("utf-8").partition("## Public API")[2]
    rows = re.findall(r"^\| `(focuscrawl[\w.]+)` \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) > 10
    for module, names in rows:
        for name in re.findall(r"`(\w+)`", names):
            assert hasattr(import_module(module), name), f"{module}.{name}"
