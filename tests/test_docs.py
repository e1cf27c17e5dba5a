"""The documentation tells all there is: an undocumented setting, spider, option or command fails the build."""

from __future__ import annotations

import argparse
import re
import sqlite3
from importlib import import_module

import pytest
from scrapy.commands import ScrapyCommand
from scrapy.settings import default_settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl import settings
from focuscrawl.options import options_of
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.schema import SCHEMA
from tests import faults
from tests.conftest import ROOT, at, scrapy, small_web

LOADER = SpiderLoader.from_settings(get_project_settings())
STRATEGIES = ROOT / "docs" / "strategies"


SETTINGS = (ROOT / "docs" / "settings.md").read_text("utf-8")


@pytest.mark.parametrize("name", [name for name in dir(settings) if name.startswith("FOCUS_")])
def test_every_setting_is_documented_with_its_default(name):
    told = re.search(rf"^\| `{name}` \| ([^|]+) \|", SETTINGS, re.MULTILINE)
    assert told, f"docs/settings.md does not tell of {name}"
    default = getattr(settings, name)
    if name != "FOCUS_DIR":  # which is made of others
        assert told[1].strip("`") == ("none" if default in (None, [], {}) else str(default).removesuffix(".0"))


def test_other_defaults_than_scrapys_are_told_as_they_are():
    for name, ours, theirs in re.findall(r"^\| `((?!FOCUS_)[A-Z_]+)` \| (\w+) \| (\w+) \|", SETTINGS, re.MULTILINE):
        assert (ours, theirs) == (str(getattr(settings, name)), str(getattr(default_settings, name))), name


def test_every_stat_is_documented():
    code = "".join(path.read_text("utf-8") for path in (ROOT / "focuscrawl").rglob("*.py"))
    stats = {name.partition("{")[0] for name in re.findall(r"\"(focus/[a-z_/{]+)", code)}
    assert {stat for stat in stats if f"`{stat}" not in SETTINGS} == {"focus/visits/error"}  # one of the outcomes


def test_every_setting_that_is_read_exists():
    code = "".join(path.read_text("utf-8") for path in (ROOT / "focuscrawl").rglob("*.py"))
    assert set(re.findall(r"\"(FOCUS_[A-Z_]+)\"", code)) <= set(dir(settings))


def options_in(page: str) -> dict[str, str]:
    """The options in the tables of a strategy's page, and their defaults."""
    return dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", page, re.MULTILINE))


def is_told(default: object, told: str) -> bool:
    """Whether a table tells an option's default; what is nothing to the program is a word there."""
    if default == "":
        return told in ("none", "needed", "the topic's")
    if isinstance(default, bool):
        return told == ("yes" if default else "no")
    return told == default if isinstance(default, str) else float(told) == default


@pytest.mark.parametrize("name", LOADER.list())
def test_every_spider_has_a_page_with_all_its_options(name):
    page, common = ((STRATEGIES / file).read_text("utf-8") for file in (f"{name}.md", "index.md"))
    learned = (STRATEGIES / "baseline.md").read_text("utf-8") if "are those of [`baseline`]" in page else ""
    told = options_in(common) | options_in(learned) | options_in(page)
    options = options_of(LOADER.load(name))
    for option, declared in options.items():
        assert option in told, f"docs/strategies/{name}.md does not tell of {option}"
        assert is_told(declared.default, told[option]), f"docs/strategies/{name}.md: {option} is not {told[option]}"
    assert options_in(page).keys() <= options.keys(), "options that there are not"


@pytest.mark.parametrize("name", LOADER.list())
def test_every_spider_has_its_place_in_the_documentation(name):
    page = (STRATEGIES / f"{name}.md").read_text("utf-8")
    assert page.startswith(f"# {name}\n")
    assert re.findall(r"^## (.+)", page, re.MULTILINE) == ["Idea", "Options", "When to use it", "Figures", "Source"]
    assert f"\n| [{name}]({name}.md) |" in (STRATEGIES / "index.md").read_text("utf-8")
    assert re.search(rf"^\| [^|]*`{name}`[^|]* \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("option", [*options_of(FocusedSpider), "topic", "seeds", "keywords"])
def test_every_common_option_is_documented(option):
    assert option in options_in((STRATEGIES / "index.md").read_text("utf-8"))


@pytest.mark.parametrize("name", LOADER.list())
def test_every_spider_names_its_source(name):
    header = import_module(LOADER.load(name).__module__).__doc__
    assert re.search(r"Paper:|Compared with|[Rr]eviewed in|Our own", header)


def command_options(name: str) -> set[str]:
    """The options of a command, without those that every command of Scrapy has."""
    parsers = [argparse.ArgumentParser(conflict_handler="resolve") for _ in range(2)]  # as Scrapy makes them
    command = import_module(f"focuscrawl.commands.{name}").Command()
    command.settings = get_project_settings()
    ScrapyCommand.add_options(command, parsers[0])
    command.add_options(parsers[1])
    common, all_of_them = ({option for action in one._actions for option in action.option_strings} for one in parsers)
    return all_of_them - common


COMMANDS = sorted(path.stem for path in (ROOT / "focuscrawl" / "commands").glob("[a-z]*.py"))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented_with_its_options(command):
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    section, crawl = (
        page.partition(f"\n## focuscrawl {name}\n")[2].partition("\n## ")[0] for name in (command, "crawl")
    )
    assert f"\nfocuscrawl {command} " in section, f"docs/commands.md has no example of focuscrawl {command}"
    told = section + (crawl if "those of `focuscrawl crawl` work as well" in section else "")
    for guide in re.findall(r"\]\((\w+\.md)\)\s+has\b", section):  # where the options are told at length
        told += (ROOT / "docs" / guide).read_text("utf-8")
    for option in command_options(command):
        assert re.search(rf"`{option}[` ,]", told), f"{option} of scrapy {command} is not documented"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_in_the_readme(command):
    readme = (ROOT / "README.md").read_text("utf-8")
    assert any(f"{program} {command}" in readme for program in ("focuscrawl", "scrapy", "make"))


def test_the_readme_begins_with_the_two_commands():
    first_screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:24])
    assert "make demo" in first_screen
    assert "make test" in first_screen
    places = [first_screen.index(command) for command in ("\nmake demo", "\nfocuscrawl new", "\nfocuscrawl crawl -a")]
    assert places == sorted(places)


def test_every_promise_names_tests_that_exist():
    text = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    rows = [line for line in text.partition("## How broken responses")[0].splitlines() if line.startswith("| ")]
    promises = [line for line in rows if not line.startswith("| guarantee")]
    assert len(promises) > 30
    for promise in promises:
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promise)
        assert tests, promise
        for path, name in tests:
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), f"{path}::{name}"


def test_the_table_of_faults_is_that_of_the_tests():
    text = (ROOT / "docs" / "reliability.md").read_text("utf-8")
    assert f"<!-- faults -->\n{faults.table()}<!-- end -->" in text


def snippets(document: str, language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / document).read_text("utf-8"), re.DOTALL)


def test_the_strategy_in_the_readme_works(crawl):
    space: dict[str, object] = {}
    exec(snippets("README.md")[0], space)
    web = small_web({"root": ["x/long", "x"], "x/long": [], "x": []})
    assert crawl(space["ShortUrls"], web, seeds=at("root")).urls == [at("root"), at("x"), at("x/long")]


def test_the_web_that_the_guide_makes_can_be_crawled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(snippets("docs/webs.md")[0], {})
    result = scrapy(
        "crawl",
        "breadth_first",
        "-a",
        "seeds=http://a.example/",
        "-s",
        f"FOCUS_WEB={tmp_path / 'web.sqlite'}",
        "-s",
        f"FOCUS_DIR={tmp_path / 'c'}",
    )
    assert result.returncode == 0, result.stderr
    assert len((tmp_path / "c" / "URLs.txt").read_text().splitlines()) == 2


def test_every_column_of_the_crawls_file_is_documented():
    text = (ROOT / "docs" / "store.md").read_text("utf-8")
    connection = sqlite3.connect(":memory:")
    connection.executescript(SCHEMA)
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        row = re.search(rf"^\| (?:\[`{table}`\]\(#{table}\)|`{table}`) \| .*", text, re.MULTILINE)
        assert row, f"docs/store.md does not tell of table {table}"
        told = row[0] + text.partition(f"\n### {table}\n")[2].partition("\n##")[0]
        for _, column, *_ in connection.execute(f"PRAGMA table_info({table})"):
            assert re.search(rf"`(?:[\w, ]+, )?{column}(?:, [\w, ]+)?`", told), f"{table}.{column} is not documented"


def test_the_program_that_reads_texts_runs(crawl, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "crawls" / "best_first-sorting-algorithms"
    crawl("best_first", small_web({"a": ["b"], "b": []}, {"a": "merge sort"}), folder, seeds=at("a"), keywords="sort")
    exec(snippets("docs/store.md")[0], {})
    assert capsys.readouterr().out == "a 4 merge sort\nto b\n"


def test_the_sql_in_the_guide_runs(crawl):
    crawled = crawl("best_first", small_web({"a": ["b"], "b": ["a"]}, {"a": "sort"}), seeds=at("a"), keywords="sort")
    for text in snippets("docs/store.md", "sql"):
        for statement in filter(str.strip, text.split(";")):
            crawled.sql(statement)
