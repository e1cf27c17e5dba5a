"""`scrapy parse`, `fetch`, `view`, `shell` and `check` look at single pages: they crawl nothing and leave no trace."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scrapy.commands import parse as scrapys_parse
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl import testing
from focuscrawl.commands import parse
from focuscrawl.crawl.single_page import started_by_command
from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from focuscrawl.web.webs import IN_MEMORY, Answer, MemoryWeb, open_web
from tests.conftest import at, scrapy, small_web, watch

OURS = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
DEMO = ("-s", "FOCUS_WEB=demo")
HANDBOOK = "http://sorting-handbook.example/"
LOADER = SpiderLoader.from_settings(get_project_settings())


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder, byte by byte."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def earlier(tmp_path_factory) -> Path:
    """A crawl that has begun, and has a good deal in its queue."""
    folder = tmp_path_factory.mktemp("earlier") / "crawl"
    testing.crawl("best_first", open_web("demo"), folder, topic="sorting", max_pages=10)
    return folder


class Looked:
    """What a command that looks at a page has shown, and how it exits."""

    def __init__(self, shown: str, told: str, exitcode: int) -> None:
        self.shown, self.told, self.exitcode = shown, told, exitcode

    @property
    def links(self) -> list[str]:
        """The URLs of the links, in the order shown."""
        return re.findall(r"^ *(?:[01]\.\d+|refused) +(\S+)", self.shown, re.MULTILINE)


@pytest.fixture
def look(tmp_path, monkeypatch, capsys):
    """Run `scrapy parse` in this process, in an empty directory, on a web in memory."""
    monkeypatch.chdir(tmp_path)

    def run(
        spider: str,
        web: MemoryWeb,
        url: str,
        *options: str,
        settings: Mapping[str, Any] | None = None,
        feeds: Mapping[str, Any] | None = None,
        command=parse,
    ) -> Looked:
        made = command.Command()
        made.items, made.requests = {}, {}  # Scrapy's command has them in its class
        made.settings = project_settings(web, settings or {}, feeds or {})
        parser = ArgumentParser()
        made.add_options(parser)
        opts, args = parser.parse_known_args(["--spider", spider, *options, url])
        IN_MEMORY[made.settings["FOCUS_WEB"]] = web
        capsys.readouterr()
        spidercls = LOADER.load(spider)
        try:
            made.process_options(args, opts)
            made.crawler_process = AsyncCrawlerProcess(made.settings)
            made.run(args, opts)
        finally:
            del IN_MEMORY[made.settings["FOCUS_WEB"]]
            if "start" in vars(spidercls) and started_by_command(spidercls):  # Scrapy leaves it in the class
                del spidercls.start
        said = capsys.readouterr()
        return Looked(said.out, said.err, made.exitcode)

    return run


def project_settings(web: MemoryWeb, given: Mapping[str, Any], feeds: Mapping[str, Any]) -> Settings:
    """The settings of a project, and what is *given* on the command line."""
    settings = Settings()
    settings.setmodule("focuscrawl.settings", priority="project")
    settings.set("FEEDS", feeds, priority="project")
    here = {"TWISTED_REACTOR_ENABLED": False, "LOG_INSTALL_ROOT_HANDLER": False}
    ours = {"FOCUS_WEB": f"memory:{id(web)}", **here, **given}
    settings.update(ours, priority="cmdline")
    return settings


# ---- a crawl that is there stays as it is


@pytest.mark.parametrize(
    ("setting", "command"),
    [
        ("FOCUS_DIR", ["parse", "--spider", "best_first", "-a", "topic=sorting"]),
        ("JOBDIR", ["fetch", "--spider", "best_first", "-a", "topic=sorting"]),
        ("FOCUS_DIR", ["shell", "--spider", "best_first", "-a", "topic=sorting", "-c", "response.status"]),
        ("JOBDIR", ["shell", "-c", "response.status"]),
    ],
    ids=["parse", "fetch", "shell", "shell without a spider"],
)
def test_an_existing_crawl_is_not_touched(earlier, tmp_path, setting, command):
    before = contents(earlier)
    place = f"{setting}={earlier}"
    result = scrapy(*command, *DEMO, HANDBOOK, "-s", place, cwd=tmp_path, TMPDIR=str(tmp_path), **OURS)
    assert result.returncode == 0, result.stderr
    assert result.stdout
    assert contents(earlier) == before
    assert list(tmp_path.iterdir()) == []  # nothing was left here, nor in the place for temporary files


def test_nothing_is_written_where_no_crawl_was(look, tmp_path):
    web = small_web({"a": ["b"], "b": []}, {"a": "sort"})
    assert look("best_first", web, at("a"), "-a", "keywords=sort").exitcode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [parse, scrapys_parse], ids=["ours", "Scrapy's"])
def test_feeds_and_jobs_of_the_project_are_left_alone(look, tmp_path, command):
    """Also where a project has the add-on, but not our commands."""
    (tmp_path / "pages.csv").write_text("precious\n")
    web = small_web({"a": ["b"], "b": []}, {"a": "sort"})
    feeds = {"pages.csv": {"format": "csv", "overwrite": True}}
    settings = {"JOBDIR": str(tmp_path / "job"), "FOCUS_SITEMAPS": "all"}
    seen = look("best_first", web, at("a"), "-a", "keywords=sort", settings=settings, feeds=feeds, command=command)
    assert "http://a.example/" in seen.shown
    assert contents(tmp_path) == {"pages.csv": b"precious\n"}
    assert not (tmp_path / "job").exists()


def test_one_page_is_asked_for_and_robots_txt(tmp_path):
    web = small_web({"a": ["b", "c"], "b": [], "c": []}, {"a": "how to sort"})
    web.add("http://a.example/robots.txt", "User-agent: *\nAllow: /\n", content_type="text/plain")
    everything: list[str] = []
    answer = web.get
    with serving(web) as server:
        web.get = lambda url: (everything.append(url), answer(url))[1]
        proxy = {"http_proxy": server.address, "no_proxy": ""}
        found = scrapy(
            *("parse", "--spider", "best_first", "-a", "keywords=sort", "-s", "FOCUS_SITEMAPS=all", at("a")),
            cwd=tmp_path,
            **proxy,
            **OURS,
        )
    assert found.returncode == 0, found.stderr
    assert everything == [at("a/robots.txt"), at("a")]


def test_a_host_that_is_busy_is_not_pressed(look):
    web = MemoryWeb()
    web.answers[at("a")] = Answer(503, body=b"later")
    asked = watch(web)
    seen = look("best_first", web, at("a"), "-a", "keywords=sort")
    assert len(asked) == 1
    assert "HTTP 503" in seen.shown
    assert seen.exitcode == 1


def test_a_page_on_this_machine_opens_itself(tmp_path):
    """The URL that is given is like a seed: it may be local."""
    with serving(small_web({"a": ["b"], "b": []}, {"a": "how to sort"})) as server:
        found = scrapy(
            *("parse", "--spider", "best_first", "-a", "topic=sorting", f"{server.address}/a.example/"),
            *("-s", "FOCUS_CONTACT=http://x.example/"),
            cwd=tmp_path,
            no_proxy="*",
            **OURS,
        )
    assert found.returncode == 0, found.stderr
    assert '"a", HTTP 200' in found.stdout


def test_what_is_out_of_scope_is_not_asked_for(look):
    web = small_web({"a": []})
    asked = watch(web)
    seen = look("breadth_first", web, at("a"), settings={"FOCUS_DENY": ["a.example"]})
    assert (asked, seen.exitcode) == ([], 1)
    assert "out of scope" in seen.told


# ---- what parse shows


def test_parse_shows_what_the_spider_makes_of_a_page(look):
    web = MemoryWeb()
    web.add(
        at("a"),
        "<title>Sorting it out</title><p>How to sort an array: sort it.</p>"
        "<p><a href=/weather>the weather</a></p><p><a href=/merge-sort>merge sort of an array</a></p>",
    )
    seen = look("shark_search", web, at("a"), "-a", "keywords=sort,array:2")
    assert seen.exitcode == 0
    assert f'{at("a")}\n  "Sorting it out", HTTP 200' in seen.shown
    assert re.search(r"^  relevance 0\.\d+, matched = .*\bsort\b", seen.shown, re.MULTILINE)
    assert seen.links == [at("a/merge-sort"), at("a/weather")]
    assert '"merge sort of an array" = ' in seen.shown
    assert seen.told == ""


@pytest.mark.parametrize(
    ("head", "settings", "why"),
    [
        ("<p>Nothing but rain</p>", {}, "not matched (below the threshold of 0.3)"),
        ("<meta name=robots content=noindex><p>sort</p>", {}, "not matched (it asks not to be indexed)"),
        ("<meta name=robots content=noai><p>sort</p>", {"FOCUS_RIGHTS": ["noai"]}, "artificial intelligence"),
    ],
)
def test_parse_says_why_a_page_does_not_match(look, head, settings, why):
    web = MemoryWeb()
    web.add(at("a"), f"<title>a</title>{head}<a href=/x>x</a>")
    seen = look("best_first", web, at("a"), "-a", "keywords=sort", settings=settings)
    assert why in seen.shown
    assert seen.exitcode == 0


def test_parse_says_which_links_are_refused_and_why(look):
    web = MemoryWeb()
    web.add(at("a"), f"<p>sort <a href={at('b')}>sort</a> <a href={at('c')}>sort</a>")
    seen = look("best_first", web, at("a"), "-a", "keywords=sort", settings={"FOCUS_DENY": ["b.example"]})
    assert seen.links == [at("c"), at("b")]
    assert re.search(r"refused +http://b\.example/\n.*out of scope", seen.shown)


def test_parse_shows_no_page_text_that_moves_the_cursor(look):
    web = MemoryWeb()
    web.add(at("a"), "<title>a\x1b[2Jb\x9bc\rd</title><p>sort <a href=/x>s\x1b]0;title\x07ort</a>")
    seen = look("best_first", web, at("a"), "-a", "keywords=sort")
    assert "a [2Jb" in seen.shown
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", seen.shown)


def test_a_reader_may_stop_reading(tmp_path):
    program = f"{sys.executable} -u -m scrapy parse --spider best_first -a topic=sorting -s FOCUS_WEB=demo {HANDBOOK}"
    result = subprocess.run(
        ["bash", "-c", f"{program} --nolog | head -1"],
        cwd=tmp_path,
        env={**os.environ, **OURS},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (result.stdout, result.stderr) == (f"{HANDBOOK}\n", "")


def test_parse_can_leave_out_the_links_or_the_page(look):
    web = small_web({"a": ["b"], "b": []}, {"a": "sort"})
    assert look("best_first", web, at("a"), "-a", "keywords=sort", "--nolinks").links == []
    links = look("best_first", web, at("a"), "-a", "keywords=sort", "--noitems")
    assert links.links == [at("b")]
    assert "matched" not in links.shown


@pytest.mark.parametrize(
    ("url", "says"),
    [
        (at("missing"), "HTTP 404"),
        (at("a/private/x"), "robots.txt disallows it"),
        (at("a/picture"), "an image, which is never read"),
    ],
)
def test_a_page_that_cannot_be_read_fails_the_command(look, url, says):
    web = small_web({"a": []})
    web.add(at("a/robots.txt"), "User-agent: *\nDisallow: /private\n", content_type="text/plain")
    web.add(at("a/picture"), "\x89PNG", content_type="image/png")
    seen = look("best_first", web, url, "-a", "keywords=sort")
    assert seen.exitcode == 1
    assert says in seen.shown + seen.told
    assert "Traceback" not in seen.told


def test_a_redirect_is_followed_and_told(look):
    web = small_web({"b": ["c"]}, {"b": "sort"})
    web.redirect(at("a"), at("b"))
    seen = look("best_first", web, at("a"), "-a", "keywords=sort")
    assert f"{at('b')} (redirected from {at('a')})" in seen.shown


@pytest.mark.parametrize("option", ["-o", "-O"])
def test_pages_can_go_to_a_feed_that_is_asked_for(look, tmp_path, option):
    web = small_web({"a": ["b"], "b": []}, {"a": "sort"})
    asked = watch(web)
    look("best_first", web, at("a"), "-a", "keywords=sort", option, "page.csv", settings={"FOCUS_SITEMAPS": "all"})
    header, line = (tmp_path / "page.csv").read_text().splitlines()
    assert line.startswith(f"{at('a')},200,")
    assert dict(zip(header.split(","), line.split(","), strict=False))["matched"] == "True"
    assert len(asked) == 1


# ---- every spider


def learns(name: str) -> bool:
    """Whether a spider has to learn from example pages before it can judge or score."""
    return "examples" in LOADER.load(name).needs


@pytest.mark.parametrize("name", [name for name in LOADER.list() if not learns(name)])
def test_every_spider_tells_what_it_makes_of_a_page(look, tmp_path, name):
    options = ["-a", "dewey=005"] if hasattr(LOADER.load(name), "numbers") else []
    seen = look(name, demo_web(), HANDBOOK, "-a", "keywords=sort:2,array", *options)
    assert (seen.told, seen.exitcode) == ("", 0)
    assert "HTTP 200" in seen.shown
    assert len(seen.links) > 5
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*filter(learns, LOADER.list()), "treasure"])
def test_a_spider_that_has_to_fetch_pages_first_says_what_it_needs(look, tmp_path, name):
    web = demo_web()
    asked = watch(web)
    options = {"apprentice": ("-a", "lessons=auto"), "context_graph": ("-a", "crawl=auto")}
    seen = look(name, web, HANDBOOK, "-a", "topic=sorting", *options.get(name, ()))
    assert seen.exitcode == 2
    (line,) = seen.told.splitlines()
    assert line.startswith(f"focuscrawl: spider '{name}'")
    assert "-s FOCUS_DIR=DIR" in line
    assert asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("naive_bayes_threshold", {}),
        ("apprentice", {"training": "online"}),
        ("link_classifier", {}),
        ("context_graph", {"crawl": "auto", "crawl_pages": 120}),
        ("treasure", {}),
        ("intelligent", {}),
        ("hybrid", {}),
    ],
)
def test_a_spider_uses_what_a_crawl_of_its_own_has_learned(look, crawl, tmp_path_factory, name, options):
    """The crawl knows what it was made with: no topic need be given."""
    folder = tmp_path_factory.mktemp("learned") / "crawl"
    crawl(name, demo_web(), folder, topic="sorting", max_pages=40, **options)
    before = contents(folder)
    seen = look(name, demo_web(), HANDBOOK, settings={"FOCUS_DIR": str(folder)})
    assert (seen.told, seen.exitcode) == ("", 0)
    assert "matched" in seen.shown
    assert len(seen.links) > 5
    assert contents(folder) == before


def test_a_crawl_that_was_killed_is_read_as_it_is(look, crawl, tmp_path_factory):
    """What has not found its way from the log of SQLite into its file counts, too, and stays where it is."""
    folder, copy = (tmp_path_factory.mktemp("killed") / name for name in ("crawl", "copy"))
    crawl("pagerank", demo_web(), folder, topic="sorting", max_pages=5)
    copy.mkdir()
    open_still = sqlite3.connect(folder / "crawl.sqlite")
    open_still.execute("UPDATE meta SET value = '\"hits\"' WHERE key = 'spider'")
    open_still.commit()
    for name in ("crawl.sqlite", "crawl.sqlite-wal"):
        (copy / name).write_bytes((folder / name).read_bytes())
    open_still.close()
    before = contents(copy)
    assert before["crawl.sqlite-wal"]
    seen = look("pagerank", demo_web(), HANDBOOK, settings={"FOCUS_DIR": str(copy)})
    assert f"{copy} belongs to spider 'hits'" in seen.told
    assert look("hits", demo_web(), HANDBOOK, settings={"FOCUS_DIR": str(copy)}).exitcode == 0
    assert contents(copy) == before


def test_a_damaged_crawl_is_named_by_its_own_place(look, tmp_path_factory):
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "crawl.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 5000)
    seen = look("hits", small_web({"a": []}), at("a"), "-a", "keywords=x", settings={"FOCUS_DIR": str(folder)})
    (line,) = seen.told.splitlines()
    assert seen.exitcode == 2
    assert f"{folder / 'crawl.sqlite'} is damaged" in line
    assert tempfile.gettempdir() + "/focuscrawl" not in line


# ---- what is wrong is said in one line


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["parse", HANDBOOK], "give a spider with --spider NAME"),
        (["fetch", "--spider", "best_frist", HANDBOOK], "did you mean best_first?"),
        (["fetch", "--spider", "best_first", HANDBOOK], "no keywords given; use -a keywords="),
        (["shell", "--spider", "best_first", HANDBOOK, "-c", "1"], "no keywords given; use -a keywords="),
        (["fetch", "-s", "FOCUS_WEB=nowhere.sqlite", HANDBOOK], "web 'nowhere.sqlite': no such file"),
        (["runspider", "broken.py"], "no seeds given"),
    ],
)
def test_what_is_wrong_costs_one_line(tmp_path, arguments, says):
    (tmp_path / "broken.py").write_text(
        "from focuscrawl.spider import FocusedSpider\nclass Broken(FocusedSpider):\n    name = 'broken'\n"
        "    needs = ()\n"
    )
    result = scrapy(*arguments, "-L", "WARNING", cwd=tmp_path, **OURS)
    assert result.returncode == 2, result.stderr
    (line,) = result.stderr.splitlines()
    assert line.startswith("focuscrawl: ")
    assert says in line


def test_runspider_crawls_and_says_where(tmp_path):
    (tmp_path / "own.py").write_text(
        "from focuscrawl.spider import FocusedSpider\nclass Own(FocusedSpider):\n    name = 'own'\n    needs = ()\n"
        "    def score(self, page):\n        return self.alike(page, 0.5, {})\n"
    )
    options = ["-a", f"seeds={HANDBOOK}", "-a", "max_pages=3", *DEMO, "-s", "FOCUS_DIR=c"]
    result = scrapy("runspider", "own.py", *options, cwd=tmp_path, **OURS)
    assert result.returncode == 0, result.stderr
    assert f"The whole crawl is in {tmp_path / 'c' / 'crawl.sqlite'}" in result.stderr
    nowhere = [*options, "-a", "seeds=http://nowhere.example/", "-s", "FOCUS_DIR=d"]
    missing = scrapy("runspider", "own.py", *nowhere, cwd=tmp_path, **OURS)
    assert missing.returncode == 1
    assert "focuscrawl: no page could be read: http://nowhere.example/" in missing.stderr


# ---- the others of Scrapy's commands


def test_a_web_in_a_file_answers_without_a_spider_too(tmp_path):
    fetched = scrapy("fetch", "--nolog", *DEMO, HANDBOOK, cwd=tmp_path, **OURS)
    assert "<TITLE>Sorting algorithms</TITLE>" in fetched.stdout
    shell = scrapy("shell", "--nolog", *DEMO, HANDBOOK, "-c", "response.status", cwd=tmp_path, **OURS)
    assert shell.stdout == "200\n"
    viewed = scrapy("view", "--nolog", *DEMO, HANDBOOK, cwd=tmp_path, BROWSER="echo %s", **OURS)
    assert viewed.stdout.startswith("file://")
    assert list(tmp_path.iterdir()) == []


def test_the_shell_has_a_spider_that_judges(tmp_path):
    code = "round(spider.relevance(spider.read(response)), 2) > 0"
    options = ["--spider", "best_first", "-a", "topic=sorting"]
    shell = scrapy("shell", "--nolog", *DEMO, *options, HANDBOOK, "-c", code, cwd=tmp_path, **OURS)
    assert shell.stdout == "True\n", shell.stderr


def test_contracts_are_checked_without_a_crawl(tmp_path):
    (tmp_path / "spiders.py").write_text(
        "from focuscrawl.spider import FocusedSpider\n\nclass Own(FocusedSpider):\n    name = 'own'\n    needs = ()\n\n"
        "    def parse(self, response):\n"
        f'        """One page.\n\n        @url {HANDBOOK}\n        @returns items 1 1\n        """\n'
        "        yield from super().parse(response)\n"
    )
    (tmp_path / "own_settings.py").write_text("from focuscrawl.settings import *\nSPIDER_MODULES = ['spiders']\n")
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = own_settings\n")
    result = scrapy("check", *DEMO, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "OK" in result.stderr
    assert not (tmp_path / "crawls").exists()


def test_the_benchmark_of_scrapy_leaves_no_crawl(tmp_path):
    result = scrapy("bench", "-s", "CLOSESPIDER_PAGECOUNT=2", "-s", "CLOSESPIDER_TIMEOUT=5", cwd=tmp_path, **OURS)
    assert result.returncode == 0, result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("name", "value"), [("topic", "/etc/passwd"), ("keywords", ["a"]), ("topic", "/dev/zero")])
def test_a_crawl_of_somebody_elses_names_no_file_to_be_read(earlier, tmp_path, name, value):
    """What its file says it was made with is held to the same rules as in `scrapy recrawl`."""
    folder = tmp_path / "crawl"
    shutil.copytree(earlier, folder)
    connection = sqlite3.connect(folder / "crawl.sqlite")
    runs = json.loads(connection.execute("SELECT value FROM meta WHERE key = 'runs'").fetchone()[0])
    runs[-1]["arguments"][name] = value
    connection.execute("UPDATE meta SET value = ? WHERE key = 'runs'", (json.dumps(runs),))
    connection.commit()
    connection.close()
    result = scrapy("parse", "--spider", "best_first", *DEMO, "-s", f"FOCUS_DIR={folder}", HANDBOOK)
    assert result.returncode == 2
    assert "which is not taken from a file; give it again on the command line" in result.stderr
    assert "Traceback" not in result.stderr
