"""`focuscrawl new`: from an idea to a topic that can be crawled."""

from __future__ import annotations

import os
import pty
import select
import shlex
import sys
import time

import pytest

from focuscrawl.topic import load_topic
from focuscrawl.web.server import serving
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import ROOT, focuscrawl, scrapy
from tests.searx import serving as serving_searx

IDEA = "sorting algorithms, how they compare and their running time"
HANDBOOK = "http://sorting-handbook.example/"
DEMO = ["-s", "FOCUS_WEB=demo"]


def test_a_sentence_becomes_a_topic_and_its_command_crawls(tmp_path):
    result = focuscrawl("new", IDEA, "--seeds", HANDBOOK, "--seeds", "http://gone.example/", *DEMO, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "sorting algorithms" in result.stdout
    assert "Language: English" in result.stdout
    topic = load_topic(str(tmp_path / "sorting-algorithms.toml"))
    assert (topic.name, topic.description, topic.languages) == ("Sorting algorithms", IDEA, ["en"])
    assert topic.seeds == [HANDBOOK]
    assert topic.keywords["sorting algorithms"] > topic.keywords["compare"]
    text = (tmp_path / "sorting-algorithms.toml").read_text("utf-8")
    assert f'"{HANDBOOK}",  # about the topic' in text
    assert "# left out: http://gone.example/ (not reachable: HTTP 404)" in text
    command = shlex.split(result.stdout.splitlines()[-1])
    assert command[:3] == ["focuscrawl", "crawl", "-a"]
    crawled = focuscrawl(*command[1:-3], "max_pages=5", *DEMO, cwd=tmp_path)
    assert crawled.returncode == 0, crawled.stderr
    assert (tmp_path / "crawls" / "adaptive-sorting-algorithms").is_dir()


def test_what_is_given_is_taken(tmp_path):
    given = ["--name", "My topic", "--keywords", 'heap,"bubble sort":3', "--languages", "en,de", "--output", "my.toml"]
    result = scrapy("new", IDEA, *given, "--seeds", HANDBOOK, "--no-look", cwd=tmp_path, **SETTINGS)
    assert result.returncode == 0, result.stderr
    topic = load_topic(str(tmp_path / "my.toml"))
    assert (topic.name, topic.keywords, topic.languages) == ("My topic", {"heap": 1, "bubble sort": 3}, ["en", "de"])
    assert topic.seeds == [HANDBOOK]
    assert "scrapy crawl -a topic=my.toml -a max_pages=200" in result.stdout


SETTINGS = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "what are the pages about? Say it in a sentence: focuscrawl new"),
        ([IDEA, "--seeds", "www.example.org"], "is neither a file nor a URL"),
        ([IDEA, "--languages", "english"], "--languages: unknown language 'english'"),
        ([IDEA, "--most", "0"], "--most 0: expected a whole number"),
        ([IDEA, "--output", "taken.toml"], "taken.toml already exists; choose another --output, or overwrite it with"),
        ([IDEA, "--output", "no/such/folder.toml"], "cannot write no/such/folder.toml"),
    ],
)
def test_wrong_input_costs_one_line_and_nothing_is_written(arguments, message, tmp_path):
    (tmp_path / "taken.toml").write_text("mine")
    result = focuscrawl("new", *arguments, *DEMO, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["taken.toml"]
    assert (tmp_path / "taken.toml").read_text() == "mine"


def page(text: str, *links: str) -> str:
    return f"<html><title>{text}</title><body><p>{text}</p>{''.join(links)}</body></html>"


def test_seeds_are_looked_at_over_http_as_a_crawl_would(tmp_path):
    """robots.txt is obeyed; a page cannot send us into the local network; feeds and lists of links are opened."""
    root = "http://fire.example/"
    web = MemoryWeb()
    links = [f'<a href="{root}{name}">volcano</a> ' for name in ("good", "closed")]
    web.add(f"{root}robots.txt", "User-agent: *\nDisallow: /closed", content_type="text/plain")
    web.add(f"{root}good", page("A volcano and its magma"))
    web.add(f"{root}closed", page("A volcano"))
    web.add(f"{root}off", page("Knitting a scarf"))
    web.add(f"{root}links", page("Volcano links", *links, f'<a href="{root}off">a volcano of wool</a>'))
    web.add(f"{root}inside", page("x", '<a href="http://10.0.0.1/volcano">volcano</a>'))
    entry = f"<item><title>Volcano</title><link>{root}good</link></item>"
    feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>x</title>{entry}</channel></rss>'
    web.add(f"{root}feed", feed, content_type="application/rss+xml")
    sources = [f"links:{root}links", f"links:{root}inside", f"{root}feed", f"{root}off?chosen"]
    web.add(f"{root}off?chosen", page("Knitting a scarf"))
    seeds = [part for source in sources for part in ("--seeds", source)]
    with serving(web) as server:
        proxy = {"http_proxy": server.address, "no_proxy": ""}
        result = focuscrawl("new", "volcano", *seeds, "-s", "DOWNLOAD_DELAY=0", cwd=tmp_path, **proxy)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "volcano.toml").read_text("utf-8")
    assert load_topic(str(tmp_path / "volcano.toml")).seeds == [f"{root}good", f"{root}off?chosen"]
    assert f"# left out: {root}closed (robots.txt disallows it)" in text
    assert f"# left out: {root}inside (no link to a page on it)" in text
    assert f"# left out: {root}off (not about the topic)" in text
    assert f'"{root}off?chosen",  # not about the topic' in text  # the user chose it


def test_seeds_from_a_search(tmp_path):
    with serving_searx() as searx:
        searx.results[("", '"volcano"')] = ["http://a.example/volcano", "http://b.example/"]
        result = focuscrawl("new", "volcano", "--seeds", f"searxng:{searx.address}", "--no-look", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert load_topic(str(tmp_path / "volcano.toml")).seeds == ["http://a.example/volcano", "http://b.example/"]


def test_without_a_usable_seed_the_file_is_written_and_the_status_tells(tmp_path):
    result = focuscrawl("new", "volcano", "--seeds", "http://gone.example/", *DEMO, cwd=tmp_path)
    assert result.returncode == 1
    assert "none of the seeds can be used; add others to volcano.toml" in result.stderr
    assert load_topic(str(tmp_path / "volcano.toml")).seeds == []


@pytest.mark.slow
def test_on_a_terminal_it_asks(tmp_path):
    child, terminal = pty.fork()
    if not child:
        os.chdir(tmp_path)
        os.environ["PYTHONPATH"] = str(ROOT)
        os.execv(sys.executable, [sys.executable, "-m", "focuscrawl", "new", *DEMO])
    shown = b""

    def answer(question: bytes, text: str) -> None:
        nonlocal shown
        end = time.monotonic() + 120
        while question not in shown:
            assert time.monotonic() < end, shown
            if select.select([terminal], [], [], 1)[0]:
                shown += os.read(terminal, 4096)
        shown = b""
        os.write(terminal, f"{text}\n".encode())

    try:
        answer(b"What are the pages about?", IDEA)
        answer(b"Keywords:", "sort:3,algorithm")
        answer(b"Name [Sorting algorithms]:", "Sorting")
        answer(b"Seed:", HANDBOOK)
        answer(b"Seed:", "nonsense")
        answer(b"neither a file nor a URL", "")
        answer(b"Crawl it with", "")
    finally:
        os.close(terminal)
        os.waitpid(child, 0)
    topic = load_topic(str(tmp_path / "sorting.toml"))
    assert (topic.seeds, topic.keywords) == ([HANDBOOK], {"sort": 3, "algorithm": 1})
