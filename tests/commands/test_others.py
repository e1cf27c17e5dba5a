"""`scrapy demo`, `scrapy web`, `scrapy explain`."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import pairwise
from urllib.request import ProxyHandler, build_opener

import pytest

from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from focuscrawl.web.webs import open_web
from tests.conftest import ROOT, Crawled, at, scrapy, small_web


def test_the_demo_shows_that_focused_crawls_find_more_and_touches_nothing_else(tmp_path):
    (tmp_path / "breadth_first").mkdir()
    (tmp_path / "breadth_first" / "mine.txt").write_text("mine")
    result = scrapy("demo", "--dir", tmp_path, "--pages", 150)
    assert result.returncode == 0, result.stderr
    found = {name: int(count) for name, count in re.findall(r"│ (\w+) +│ +(\d+) │", result.stdout)}
    assert found["keyword"] > 1.2 * found["breadth_first"]
    assert found["best_first"] > 1.2 * found["breadth_first"]
    assert found["adaptive"] > 1.2 * found["breadth_first"]
    assert str(tmp_path / "report.html") in result.stdout
    assert "<svg" in (tmp_path / "report.html").read_text()
    assert len(Crawled(tmp_path / "keyword").urls) == 150
    command = result.stdout.strip().splitlines()[-1].split()
    explained = scrapy(*command[1:])
    assert explained.stdout.startswith("seed\nhttp://")
    assert scrapy("demo", "--dir", tmp_path, "--pages", 3).returncode == 0  # in place of the first
    assert (tmp_path / "breadth_first" / "mine.txt").read_text() == "mine"


def test_the_demo_takes_the_place_of_no_other_crawl(crawl, tmp_path):
    folder = tmp_path / "breadth_first"
    crawl("breadth_first", small_web({"a": []}), folder, seeds=at("a"))
    result = scrapy("demo", "--dir", tmp_path, "--pages", 3)
    assert result.returncode == 2
    assert "holds a crawl of topic" in result.stderr
    assert (folder / "crawl.sqlite").exists()


def test_the_demo_takes_no_arguments():
    assert scrapy("demo", "x").returncode == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["explain", "nowhere", "http://a.example/"], "no such file; is nowhere the directory of a crawl"),
        (["web", "nowhere.sqlite"], "web 'nowhere.sqlite': no such file"),
        (["web", "--synthetic", "0"], "write synthetic:PAGES"),
        (["web", "demo", "--port", "99999"], "--port 99999: expected a port from 0 to 65535"),
        (["web", "--synthetic", "5", "--save", "x.sqlite"], "only demo can"),
    ],
)
def test_bad_arguments_cost_one_line(arguments, says):
    result = scrapy(*arguments)
    assert result.returncode == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_crawl_may_be_named_by_its_file(crawl):
    folder = crawl("breadth_first", small_web({"a": ["b"], "b": []}), seeds=at("a")).folder
    explained = scrapy("explain", folder / "crawl.sqlite", at("b"))
    assert explained.returncode == 0, explained.stderr
    assert explained.stdout == scrapy("explain", folder, at("b")).stdout
    assert "is nowhere the directory of a crawl" in scrapy("explain", "nowhere/crawl.sqlite", at("b")).stderr


@pytest.mark.parametrize("arguments", [["explain", "x"], ["web"]])
def test_missing_arguments_are_asked_for(arguments):
    assert scrapy(*arguments).returncode == 2


@pytest.mark.parametrize(
    "command", ["crawl", "demo", "web", "explain", "search", "seeds", "lab", "recrawl", "genspider", "tgraph"]
)
def test_help_has_an_example(command):
    result = scrapy(command, "--help")
    assert result.returncode == 0
    assert f"scrapy {command} " in re.sub(r"\s+", " ", result.stdout)
    # Scrapy makes a heading of any line that ends in a colon, also of one that happens to
    lines = result.stdout.splitlines()
    assert not [line for line, below in pairwise(lines) if below.startswith("===") and line.startswith("  ")]


def test_a_web_is_served_until_it_is_stopped():
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "web", "--synthetic", "1000", "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )
    try:
        lines = [process.stdout.readline() for _ in range(3)]
        address = re.search(r"http://127.0.0.1:\d+", lines[1]).group()
        body = build_opener(ProxyHandler({"http": address})).open("http://host-1.synthetic.example/", timeout=10).read()
        assert b"<h1>" in body
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0


def test_the_embedded_web_can_be_saved(tmp_path):
    path = tmp_path / "demo.sqlite"
    assert "pages on" in scrapy("web", "demo", "--save", path).stdout
    assert open_web(str(path)).get("http://crossroads.example/").status == 200
    assert "already exists" in scrapy("web", "demo", "--save", path).stderr
    assert os.path.getsize(path) > 100_000


def test_commands_do_not_wait_for_libraries_that_only_learning_needs():
    """Every command imports every spider; scikit-learn and SciPy would make each of them a second slower."""
    program = "import sys; from scrapy.cmdline import execute; execute(['scrapy', 'list'])"
    check = (
        "import atexit, sys; atexit.register(lambda: print('loaded', 'sklearn' in sys.modules, 'scipy' in sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", f"{check}; {program}"], cwd=ROOT, capture_output=True, text=True)
    assert "apprentice" in result.stdout
    assert "loaded False False" in result.stdout


def test_scrapys_own_commands_look_at_a_single_page(tmp_path):
    """`scrapy shell` and `scrapy fetch` crawl nothing: there is no topic, no frontier and no store."""
    with serving(demo_web()) as server:
        proxy = {"http_proxy": server.address, "no_proxy": ""}
        fetched = scrapy("fetch", "--nolog", "http://crossroads.example/", **proxy)
        assert "<title>Crossroads, a directory</title>" in fetched.stdout
        shell = scrapy("shell", "-c", "response.status", "--nolog", f"{server.address}/crossroads.example/")
        assert shell.stdout.strip() == "200"
