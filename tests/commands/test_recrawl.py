"""`scrapy recrawl`, as a user meets it."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sqlite3
import subprocess
import sys
from time import monotonic, sleep
from xml.etree import ElementTree

import pytest

from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from focuscrawl.web.webs import Answer
from tests.conftest import ROOT, Crawled, at, scrapy, small_web

ATOM = "{http://www.w3.org/2005/Atom}"
TOPIC = 'name = "Sorting"\nseeds = ["http://a.example/"]\nkeywords = { sort = 2 }\n'


def recrawl(*arguments: object, returncode: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    result = scrapy("recrawl", *arguments, **environment)
    assert result.returncode == returncode, result.stderr
    assert "Traceback" not in result.stderr
    return result


def complaint(*arguments: object) -> str:
    result = recrawl(*arguments, returncode=2)
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("focuscrawl: ")]
    return line


def report(*arguments: object, **environment: str) -> dict:
    return json.loads(recrawl(*arguments, "--json", **environment).stdout)


def urls(pages: list[dict]) -> list[str]:
    return [page["url"] for page in pages]


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A crawl of a web file with a topic file, made from another directory than the one it is visited from."""
    folder = tmp_path_factory.mktemp("small")
    web = small_web({"a": ["b", "c"], "b": [], "c": []}, {"a": "sort", "b": "sort of", "c": "nothing"})
    web.save(folder / "web.sqlite")
    (folder / "t.toml").write_text(TOPIC)
    result = scrapy(
        *("crawl", "best_first", "-a", "topic=t.toml", "-a", "threshold=0.2", "-a", "max_pages=10"),
        *("-s", "FOCUS_WEB=web.sqlite", "-s", "FOCUS_DIR=crawl", "-s", "FOCUS_DENY=/private/"),
        cwd=folder,
        SCRAPY_SETTINGS_MODULE="focuscrawl.settings",
        PYTHONPATH=str(ROOT),
    )
    assert result.returncode == 0, result.stderr
    return folder


@pytest.fixture
def copy(small, tmp_path):
    """The same crawl, to do with as one likes."""
    (tmp_path / "crawl").mkdir()
    for name in ("crawl.sqlite", "URLs.txt", "pages.jsonl"):
        (tmp_path / "crawl" / name).write_bytes((small / "crawl" / name).read_bytes())
    return tmp_path / "crawl"


@pytest.fixture
def web(small):
    """The web of the crawl, on the command line."""
    return "-s", f"FOCUS_WEB={small / 'web.sqlite'}"


def test_over_http_a_changed_a_deleted_and_a_new_page_are_found_with_fewer_requests_than_a_crawl(tmp_path):
    web = demo_web()
    with serving(web) as server:
        proxy = {"http_proxy": server.address, "no_proxy": ""}
        result = scrapy(
            *("crawl", "best_first", "-a", "topic=sorting", "-a", "max_pages=300", "-s", f"FOCUS_DIR={tmp_path}"),
            *("-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"),
            **proxy,
        )
        assert result.returncode == 0, result.stderr
        crawl_requests, pages = server.requests, Crawled(tmp_path).urls
        kept = dict(web.answers)
        try:
            handbook = "http://sorting-handbook.example/articles/"
            web.add(
                f"{handbook}bogosort.html", "<title>Bogosort</title><p>Shuffle an array until it is sorted: a sort."
            )
            changed, gone = f"{handbook}merge-sort.html", f"{handbook}heap-sort.html"
            assert {changed, gone} <= set(pages)
            text = b"<p>See also <a href='bogosort.html'>bogosort, a sort by chance</a>.</p>"
            web.add(changed, web.get(changed).body + text, content_type="text/html; charset=utf-8")
            del web.answers[gone]
            server.requests = server.not_modified = 0
            hurry = "-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8"
            found = report(tmp_path, "--older-than", 0, "--pages", 150, "--new", 10, *hurry, **proxy)
        finally:
            web.answers.clear()
            web.answers.update(kept)
    assert urls(found["changed"]) == [changed]
    assert urls(found["gone"]) == [gone]
    assert f"{handbook}bogosort.html" in urls(found["new"])
    assert found["visits"] == {"unchanged": 148, "changed": 1, "gone": 1}
    assert server.not_modified == 148
    assert server.requests < 0.6 * crawl_requests


def test_topic_options_and_settings_are_those_of_the_crawl(small, copy, web):
    found = report(copy, "--older-than", 0, *web)
    assert found["topic"] == "Sorting"
    assert found["visits"] == {"unchanged": 3}
    runs = json.loads(Crawled(copy).sql("SELECT value FROM meta WHERE key = 'runs'")[0][0])
    assert len(runs) == 2
    assert runs[1]["arguments"] == {"topic": str(small / "t.toml"), "threshold": "0.2"}
    assert runs[1]["settings"] == {"FOCUS_WEB": str(small / "web.sqlite"), "FOCUS_DENY": "/private/"}


def test_its_file_will_do_too(copy, web):
    assert report(copy / "crawl.sqlite", "--older-than", 0, *web)["visits"] == {"unchanged": 3}
    assert report(copy / "crawl.sqlite", "--report")["visits"] == {"unchanged": 3}


def test_a_topic_file_that_is_gone_is_named_with_the_way_out(small, copy, web, tmp_path):
    moved = small / "t.toml"
    moved.rename(tmp_path / "elsewhere.toml")
    try:
        line = complaint(copy)
        assert f"was made with topic {moved}, which no longer exists; give its new path with -a topic=FILE" in line
        found = report(copy, "--older-than", 0, "-a", f"topic={tmp_path / 'elsewhere.toml'}", *web)
        assert found["visits"] == {"unchanged": 3}
    finally:
        (tmp_path / "elsewhere.toml").rename(moved)


def test_what_was_visited_just_now_is_not_due(copy, web):
    result = recrawl(copy, *web)
    assert f"no page of {copy} is due: all were visited within the last 1d; see --older-than" in result.stderr
    assert "no visits, 0 new pages" in result.stdout


def test_another_crawl_in_the_directory_is_waited_for(copy, web):
    with (copy / ".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert "is in use by another crawl" in complaint(copy, "--older-than", 0, *web)
        assert "since" in recrawl(copy, "--report").stdout  # reading is always possible


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["/nowhere"], "/nowhere/crawl.sqlite: no such file"),
        (["DIR", "--pages", "-1"], "--pages -1: expected a whole number, at least 0"),
        (["DIR", "--older-than", "soon"], "--older-than soon: expected an age such as 12h, 7d or 2w"),
        (["DIR", "--report", "--since", "soon"], "--since soon: expected a date"),
        (["DIR", "-a", "max_pages=3"], "new ones by --new"),
        (["DIR", "-a", "max_hours=3"], "-a max_hours: stored pages are bounded by --pages"),
        (["DIR", "-a", "colour=red"], "has no option 'colour'"),
        (["DIR", "--report", "--atom", "/nowhere/feed.xml"], "cannot write /nowhere/feed.xml"),
    ],
)
def test_bad_arguments_cost_one_line(copy, web, arguments, says):
    assert says in complaint(*(copy if argument == "DIR" else argument for argument in arguments), *web)


def test_without_a_directory_it_says_what_is_missing():
    assert "give the directory of a crawl" in scrapy("recrawl").stdout + scrapy("recrawl").stderr


def test_help_has_an_example():
    result = scrapy("recrawl", "--help")
    assert result.returncode == 0
    assert "scrapy recrawl DIR --report --since 2026-11-01" in " ".join(result.stdout.split())


def test_the_report_since_a_date_asks_for_nothing_and_is_a_valid_feed(small, copy, tmp_path):
    web = small_web({"a": ["b", "c", "d"], "c": [], "d": []}, {"a": "sort", "c": "sort & <more>", "d": "sort"})
    web.answers[at("c")] = Answer(200, body=b"<title>Sort &amp; \x1b[31mred\x0b</title><p>sort & more")
    web.save(tmp_path / "web.sqlite")
    recrawl(copy, "--older-than", 0, "--new", 1, "-s", f"FOCUS_WEB={tmp_path / 'web.sqlite'}")
    (tmp_path / "web.sqlite").unlink()
    feed = tmp_path / "feed.xml"
    text = recrawl(copy, "--report", "--since", "2026-01-01", "--atom", feed).stdout
    assert "\x1b" not in text
    assert "Gone (1)" in text
    found = report(copy, "--report")
    assert (urls(found["new"]), set(urls(found["changed"])), urls(found["gone"])) == (
        [at("d")],
        {at("a"), at("c")},
        [at("b")],
    )
    assert report(copy, "--report", "--since", "2050-01-01")["changed"] == []
    root = ElementTree.fromstring(feed.read_bytes())
    assert root.tag == f"{ATOM}feed"
    for element in (root, *root.findall(f"{ATOM}entry")):
        for name in ("id", "title", "updated"):
            (child,) = element.findall(f"{ATOM}{name}")
            assert child.text
    entries = root.findall(f"{ATOM}entry")
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == len(ids) == 4
    assert root.findtext(f"{ATOM}author/{ATOM}name")
    times = [entry.findtext(f"{ATOM}updated") for entry in entries]
    assert root.findtext(f"{ATOM}updated") == max(times) == times[0]
    assert {entry.find(f"{ATOM}link").get("href") for entry in entries} == {at(name) for name in "abcd"}
    before = feed.read_bytes()
    recrawl(copy, "--report", "--since", "2026-01-01", "--atom", feed)
    assert feed.read_bytes() == before


def test_a_network_that_is_down_stops_it_and_is_not_held_against_the_pages(tmp_path):
    names = [f"a/{number}" for number in range(10)]
    web = small_web({"a": names, **{name: [] for name in names}}, dict.fromkeys(("a", *names), "sort"))
    with serving(web) as server:
        arguments = ["-a", f"seeds={server.address}/a.example/", "-a", "keywords=sort", "-s", f"FOCUS_DIR={tmp_path}"]
        assert scrapy("crawl", "best_first", *arguments).returncode == 0
        port = server.server_address[1]
    again = ["--older-than", 0, *arguments[:2]]  # a seed on this machine is not taken from a file
    down = recrawl(tmp_path, *again, "-s", "FOCUS_OUTAGE=5", "-s", "RETRY_ENABLED=False", returncode=1)
    assert "focuscrawl: the network seems to be down: 5 requests in a row" in down.stderr
    with serving(web, port):
        found = report(tmp_path, *again, "-s", "FOCUS_OUTAGE=100")
    assert found["visits"] == {"unchanged": 11}


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_stopped_half_way_nothing_is_lost_and_nothing_visited_twice(tmp_path, how):
    names = [f"a/{number}" for number in range(40)]
    web = small_web({"a": names, **{name: [] for name in names}}, dict.fromkeys(("a", *names), "sort"))
    with serving(web) as server:
        seed = f"{server.address}/a.example/"
        arguments = ["-a", f"seeds={seed}", "-a", "keywords=sort", "-s", f"FOCUS_DIR={tmp_path / 'c'}"]
        assert scrapy("crawl", "best_first", *arguments).returncode == 0
        slow = ["-s", 'DOWNLOAD_SLOTS={"127.0.0.1": {"delay": 0.05, "concurrency": 1}}']
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "scrapy",
                "recrawl",
                str(tmp_path / "c"),
                "--older-than",
                "0",
                *arguments[:2],
                *slow,
            ],
            cwd=ROOT,
            env=dict(os.environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        crawled = Crawled(tmp_path / "c")
        until = monotonic() + 60
        while crawled.sql("SELECT count(*) FROM visit")[0][0] < 10 and process.poll() is None:
            assert monotonic() < until
            sleep(0.01)
        process.send_signal(how)
        errors = process.communicate(timeout=60)[1]
        assert "Traceback" not in errors
        done = crawled.sql("SELECT count(*) FROM visit")[0][0]
        assert 10 <= done < 41, errors
        assert crawled.sql("PRAGMA integrity_check") == [("ok",)]
        # what was not reached comes first now
        report(tmp_path / "c", "--older-than", "0", "--pages", 41 - done, *arguments[:2])
        assert crawled.sql("SELECT count(*), count(DISTINCT page) FROM visit") == [(41, 41)]


# ---- a crawl of somebody else's


def note(folder, **facts) -> None:
    """Write into the notes of a crawl's last run, as somebody may who hands on a crawl."""
    connection = sqlite3.connect(folder / "crawl.sqlite")
    runs = json.loads(connection.execute("SELECT value FROM meta WHERE key = 'runs'").fetchone()[0])
    for name, value in facts.items():
        runs[-1][name] |= value
    connection.execute("UPDATE meta SET value = ? WHERE key = 'runs'", (json.dumps(runs),))
    connection.commit()
    connection.close()


def test_the_file_of_a_crawl_sets_nothing_but_what_a_crawl_notes(copy, web, tmp_path):
    precious, module = tmp_path / "precious.txt", tmp_path / "evil.py"
    precious.write_text("mine")
    module.write_text(f"open({str(tmp_path / 'imported')!r}, 'w')")
    note(
        copy,
        settings={
            "FEEDS": {str(precious): {"format": "jsonlines", "overwrite": True}},
            "EXTENSIONS": {"evil.Extension": 1},
            "SPIDER_MODULES": ["evil"],
            "TELNETCONSOLE_ENABLED": True,
            "LOG_FILE": str(precious),
            "FOCUS_STRATEGY": "evil.Strategy",
        },
        arguments={"crawler": "x", "self": "x", "_job": "x", "colour": "red"},
    )
    result = recrawl(copy, "--older-than", 0, "--new", 1, *web, PYTHONPATH=str(tmp_path))
    assert "3 unchanged" in result.stdout
    assert precious.read_text() == "mine"
    assert not (tmp_path / "imported").exists()
    assert "Telnet" not in result.stderr


def test_what_a_crawl_was_made_with_and_a_stranger_may_not_decide_is_asked_for_again(copy, web):
    note(copy, settings={"ROBOTSTXT_OBEY": False, "FOCUS_ROBOTS_META": "0"})
    line = complaint(copy, "--older-than", 0, *web)
    assert (
        f"{copy} was made with -s FOCUS_ROBOTS_META=0 -s ROBOTSTXT_OBEY=False, which is not taken from a file" in line
    )
    assert "give it again on the command line, or give another value" in line
    again = "-s", "ROBOTSTXT_OBEY=False", "-s", "FOCUS_ROBOTS_META=1"
    assert report(copy, "--older-than", 0, *web, *again)["visits"] == {"unchanged": 3}
