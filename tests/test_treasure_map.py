"""The map of the Treasure-Crawler names code, commands, settings and tests that exist, and leaves no requirement out."""

from __future__ import annotations

import re

import pytest
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl import settings
from focuscrawl.options import options_of
from focuscrawl.spiders.treasure import TreasureSpider
from tests.conftest import ROOT
from tests.test_docs import command_options

TEXT = (ROOT / "docs" / "treasure-map.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith("| in the paper ")
]

#: The modules and requirements of the paper, in its order; each is the beginning of a row or part of it.
REQUIREMENTS = """
kernel | applied algorithms | exemplary data structure | fetcher: | fetcher queue | seeds enter | raised cyclically
response queue | relevance calculator | t-graph: | off-topic | watchdog | links and their scores
repository | database checker | search application | user interface | html parser
topical boundary | stemmed | knowledge classification | phrase | any length | anchor count | galaxy | topic code
ish, sh, mh, dc and dic | per paragraph | levels; | top-down | bottom-up | second stage | dead nodes | osm = mean
1 / least distance | no match | database | inputs, seeds | queues and data structures are empty | hardware is checked
network connection is checked | seed pages are downloaded | relevance calculation | priority calculation
the graph downloads | storage: | indexing | flexibility | low cost | hundred pages per second | millions of pages
use the disk | corrupted html | unexpected servers | crashes | network crashes | robots.txt | sitemaps | contact url
https | supervision | load of the line | peak hours | manageability | settings | logs | components | blacklist
modularity: | reliability | independence | intermediate results | harvest ratio | recall and precision | performance
scalability | context-focused crawler | best-first | panorama | shark-search | infospiders | tunnelling | meta-search
lscrawler | hybrid | modified naive bayes | relevancy context graph | hawk | ontocrawler | beam | clickstream
bridge-driven | noise | rdf
"""


@pytest.mark.parametrize("part", [part.strip() for part in re.split(r"[|\n]", REQUIREMENTS.strip())])
def test_every_module_and_requirement_has_a_row(part):
    assert any(part in row[0].lower() for row in ROWS)


def test_every_row_says_where_it_is_or_why_it_is_not():
    for paper, here, _, tests in ROWS:
        refused = re.match(r"not\b.{20,}", here)
        assert refused or "`tests/" in tests, paper
        assert refused or len(here) > 20, paper


def test_every_class_and_function_is_in_its_file():
    found = re.findall(r"\[`(\w+)`\]\(\.\./([\w/.]+\.py)\)", TEXT)
    assert len(found) > 60
    for name, path in found:
        code = (ROOT / path).read_text("utf-8")
        assert re.search(rf"^(?:class|def) {name}\b", code, re.MULTILINE), f"{path} has no {name}"


def test_every_file_that_is_linked_to_exists():
    for target in re.findall(r"\]\(([^)#]+)", TEXT):
        assert (ROOT / "docs" / target).is_file(), target


def test_every_test_exists():
    found = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)
    assert len(found) > 100
    assert len(found) == TEXT.count("`tests/")
    for path, name in found:
        assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{path}::{name}"


def test_every_command_spider_and_option_exists():
    spiders = SpiderLoader.from_settings(get_project_settings()).list()
    commands = {path.stem for path in (ROOT / "focuscrawl" / "commands").glob("[a-z]*.py")}
    found = re.findall(r"`scrapy (\w+)((?: [a-z_]+)*)((?: --[\w-]+)*)`", TEXT)
    assert len(found) == TEXT.count("`scrapy ")
    for command, words, options in found:
        assert command in commands
        assert command != "crawl" or set(words.split()) <= set(spiders)
        assert set(options.split()) <= command_options(command) | {"--logfile"}
    for option in re.findall(r"`-a (\w+)`", TEXT):
        assert option in options_of(TreasureSpider)


def test_every_setting_exists():
    for name in re.findall(r"`(FOCUS_\w+)`", TEXT):
        assert hasattr(settings, name), name
