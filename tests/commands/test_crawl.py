"""`scrapy crawl`, as a user meets it: what it prints, and how it exits."""

from __future__ import annotations

import json
import os
import socket
import sqlite3

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.web.server import serving
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import Crawled, at, scrapy, small_web

DEMO = ["-s", "FOCUS_WEB=demo", "-a", "seeds=http://sorting-handbook.example/"]


def complaint(*arguments: object, **environment: str) -> str:
    """The one line that a crawl that cannot be done prints."""
    result = scrapy("crawl", *arguments, **environment)
    assert result.returncode != 0
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("focuscrawl: ")]
    assert len(lines) == 1
    return lines[0]


def test_a_crawl_from_the_command_line(tmp_path):
    result = scrapy(
        *("crawl", "keyword", "-a", "keywords=time,bubble,sort", "-a", "max_pages=30", *DEMO),
        *("-s", f"FOCUS_DIR={tmp_path / 'c'}", "-O", tmp_path / "out.csv"),
    )
    assert result.returncode == 0, result.stderr
    crawled = Crawled(tmp_path / "c")
    assert len(crawled.urls) == 30
    assert "30/30 pages" in result.stderr
    assert "harvest" in result.stderr
    assert (tmp_path / "out.csv").read_text().count("\n") == 31


def test_where_the_results_are_is_in_the_log_where_there_is_no_terminal(tmp_path):
    log = tmp_path / "log"
    arguments = ["crawl", "breadth_first", *DEMO, "-a", "max_pages=3", "-s", "FOCUS_DIR=c"]
    environment = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
    result = scrapy(*arguments, cwd=tmp_path, **environment)
    folder = tmp_path / "c"
    lines = [line.partition(" INFO: ")[2] for line in result.stderr.splitlines()]
    assert lines[-2:] == [
        f"3 matched URLs are in {folder / 'URLs.txt'}",
        f"The whole crawl is in {folder / 'crawl.sqlite'}, a summary in {folder / 'report.html'}",
    ]
    assert scrapy(*arguments, "--logfile", log, cwd=tmp_path, **environment).stderr == ""
    assert log.read_text("utf-8").splitlines()[-1].endswith(lines[-1])
    silent = scrapy(*arguments, "--nolog", cwd=tmp_path, **environment)
    assert (silent.returncode, silent.stdout, silent.stderr) == (0, "", "")


def test_every_spider_is_listed():
    result = scrapy("list")
    assert {"breadth_first", "keyword", "best_first"} <= set(result.stdout.split())


def test_a_crawl_lives_in_crawls_by_default(tmp_path):
    environment = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
    result = scrapy(
        "crawl", "keyword", "-a", "keywords=time,bubble sort", "-a", "max_pages=2", *DEMO, cwd=tmp_path, **environment
    )
    assert result.returncode == 0, result.stderr
    assert len(Crawled(tmp_path / "crawls" / "keyword-time-bubble-sort").urls) == 2


def test_scrapys_jobdir_is_as_good_a_place(tmp_path):
    arguments = ["crawl", "keyword", "-a", "keywords=sort", *DEMO, "-s", f"JOBDIR={tmp_path / 'job'}"]
    for pages in (3, 6):
        assert scrapy(*arguments, "-a", f"max_pages={pages}").returncode == 0
        assert len(Crawled(tmp_path / "job").urls) == pages


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["keyword", "-a", "keywords=x"], "no seeds given"),
        (["keyword", *DEMO], "no keywords given"),
        (["keyword", "--frobnicate", *DEMO], "unknown option --frobnicate"),
        (["keyword", "-a", 'keywords="bubble sort', *DEMO], "keywords: a quotation mark is missing in"),
        (["keyword", "-a", "seeds=not a url", "-a", "keywords=x"], "'not a url' is not a URL"),
        (["keyword", "-a", "topic=nothing-known"], "unknown topic 'nothing-known'"),
        (["keyword", "-a", "topic=missing.toml"], "topic 'missing.toml': no such file"),
        (["keyword", "-a", "match=lots", "-a", "keywords=x", *DEMO], "option match=lots"),
        (["keyword", "-a", "colour=red", "-a", "keywords=x", *DEMO], "has no option 'colour'"),
        (["keyword", "-a", "seed=http://a.example/"], "did you mean seeds?"),
        (["keyword", "-a", "threshold=2", "-a", "keywords=x", *DEMO], "expected a number from 0 to 1"),
        (["best_frist", "-a", "keywords=x", *DEMO], "unknown spider 'best_frist'; did you mean best_first?"),
        (
            ["zzz", "-a", "keywords=x", *DEMO],
            "unknown spider 'zzz'; known spiders: adaptive, apprentice, baseline, best_first, ",
        ),
        (["best_first", "-a", "keywords=x"], 'or -a seeds=@FILE, or -a topic=FILE with seeds = ["http://…"] in it'),
        (["best_first", *DEMO], 'or -a topic=FILE with keywords = { sort = 3, "bubble sort" = 5 } in it'),
        (["--max-pages", "100", *DEMO], "options of a spider are written -a max_pages=100"),
        (["keyword", "--max-pages=7", *DEMO], "options of a spider are written -a max_pages=7"),
        (["topic=sorting", *DEMO], "'topic=sorting' is not a spider; write -a topic=sorting"),
        (["keyword", "topic=sorting", *DEMO], "'topic=sorting' is not a spider; write -a topic=sorting"),
        (["sorting", *DEMO], "'sorting' is not a spider; write -a topic=sorting"),
        (["mine.toml", *DEMO], "'mine.toml' is not a spider; write -a topic=mine.toml"),
        (["http://a.example/", *DEMO], "write -a seeds=http://a.example/"),
        (["keyword", "best_first", *DEMO], "one spider at a time"),
        (["breadth_first", "-a", "seeds=htp:/foo"], "no valid seed: 'htp:/foo' is not a URL; give another"),
    ],
)
def test_bad_arguments_cost_one_line(arguments, says):
    assert says in complaint(*arguments)


def test_what_is_wrong_is_in_the_log_file_too(tmp_path):
    """Whoever has a log file may see nothing else, as with Scrapyd."""
    log = tmp_path / "log"
    to_log = ["-s", f"LOG_FILE={log}", "-s", f"FOCUS_DIR={tmp_path / 'c'}"]
    assert "has no option 'colour'" in complaint("keyword", "-a", "topic=sorting", "-a", "colour=red", *to_log)
    assert "ERROR: spider 'keyword' has no option 'colour'" in log.read_text("utf-8")
    complaint("keyword", "-a", "keywords=x", "-a", "seeds=http://sorting-handbook.example/nothing", *to_log, *DEMO[:2])
    assert "ERROR: no page could be read: http://sorting-handbook.example/nothing: HTTP 404" in log.read_text("utf-8")


def test_a_missing_web_file_is_named(tmp_path):
    assert "no such file" in complaint(
        "breadth_first",
        "-a",
        "seeds=http://a.example/",
        "-s",
        "FOCUS_WEB=nowhere.sqlite",
        "-s",
        f"FOCUS_DIR={tmp_path}",
    )


def test_a_seed_that_cannot_be_reached(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/"
    line = complaint(
        "breadth_first",
        "-a",
        f"seeds={url}",
        "-s",
        f"FOCUS_DIR={tmp_path}",
        "-s",
        "RETRY_ENABLED=False",
        "-s",
        "ROBOTSTXT_OBEY=False",
    )
    assert f"no page could be read: {url}" in line
    assert "refused" in line


def test_a_seed_that_could_not_be_reached_is_tried_again(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["breadth_first", "-a", f"seeds=http://127.0.0.1:{port}/a.example/", "-s", f"FOCUS_DIR={tmp_path}"]
    assert "robots.txt could not be read" in complaint(*arguments, "-s", "RETRY_ENABLED=False")
    web = MemoryWeb()
    web.add("http://a.example/", "<p>here")
    with serving(web, port):
        assert scrapy("crawl", *arguments).returncode == 0
    assert len(Crawled(tmp_path).urls) == 1


def test_an_outage_stops_the_crawl_and_loses_nothing(tmp_path):
    web = MemoryWeb()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    names = [f"http://a.example/{n}" for n in range(60)]
    web.add("http://a.example/", "".join(f"<a href='{name}'>x</a>" for name in names))
    for name in names:
        web.add(name, "<p>page")
    arguments = [
        "crawl",
        "breadth_first",
        "-a",
        f"seeds=http://127.0.0.1:{port}/a.example/",
        "-s",
        f"FOCUS_DIR={tmp_path}",
    ]
    arguments += ["-s", "RETRY_ENABLED=False", "-s", "FOCUS_OUTAGE=20", "-s", "ROBOTSTXT_OBEY=False"]
    with serving(web, port):
        assert scrapy(*arguments, "-a", "max_pages=5").returncode == 0
    down = scrapy(*arguments)
    assert down.returncode == 1
    assert "focuscrawl: the network seems to be down: 20 requests in a row" in down.stderr
    with serving(web, port):
        assert scrapy(*arguments).returncode == 0
    assert len(Crawled(tmp_path).urls) == 61


@pytest.mark.parametrize("path", ["nosuch.html", "private/accounts.html"])
def test_a_crawl_without_a_page_that_could_be_read_has_failed(tmp_path, path):
    line = complaint(
        "breadth_first",
        "-a",
        f"seeds=http://sorting-handbook.example/{path}",
        "-s",
        "FOCUS_WEB=demo",
        "-s",
        f"FOCUS_DIR={tmp_path}",
    )
    assert f"no page could be read: http://sorting-handbook.example/{path}" in line


def test_files_that_belong_to_no_crawl_are_not_written_over(tmp_path):
    (tmp_path / "URLs.txt").write_text("mine")
    assert "contains URLs.txt, but no crawl.sqlite" in complaint("breadth_first", *DEMO, "-s", f"FOCUS_DIR={tmp_path}")
    assert (tmp_path / "URLs.txt").read_text() == "mine"


def test_a_misspelt_setting_is_named(tmp_path):
    line = complaint("breadth_first", *DEMO, "-s", "FOCUS_FRONTIERSIZE=3", "-s", f"FOCUS_DIR={tmp_path}")
    assert "unknown setting FOCUS_FRONTIERSIZE; did you mean FOCUS_FRONTIER_SIZE?" in line


def test_for_a_setting_that_is_like_none_no_guess_is_made(tmp_path):
    line = complaint("breadth_first", *DEMO, "-s", "FOCUS_FOO=3", "-s", f"FOCUS_DIR={tmp_path / 'c'}")
    assert line == "focuscrawl: unknown setting FOCUS_FOO; see docs/settings.md"
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("setting", "value", "expected"),
    [
        ("FOCUS_DUPLICATES", "2", "a number, 0 to 1"),
        ("FOCUS_DUPLICATES", "abc", "a number, 0 to 1"),
        ("FOCUS_AGEING", "inf", "a number, at least 0"),
        ("FOCUS_AGEING", "nan", "a number, at least 0"),
        ("FOCUS_OUTAGE", "abc", "a whole number, at least 0"),
        ("FOCUS_CRAWL_DELAY_MAX", "abc", "a number, at least 0"),
        ("FOCUS_BACKOFF_MAX", "-1", "a number, at least 0"),
        ("FOCUS_ANY_SCHEME", "maybe", "True or False"),
        ("FOCUS_NOFOLLOW", "maybe", "True or False"),
        ("FOCUS_ROBOTS_META", "maybe", "True or False"),
        ("FOCUS_PRIVATE_HOSTS", "maybe", "True or False"),
        ("FOCUS_PROGRESS", "maybe", "True or False"),
    ],
)
def test_a_value_that_a_setting_cannot_have_is_named(crawl, setting, value, expected):
    with pytest.raises(FocusError, match=f"^setting {setting}={value}: expected {expected}$"):
        crawl("breadth_first", small_web({"a": []}), settings={setting: value}, seeds=at("a"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("CONCURRENT_REQUESTS=many", "a whole number"),
        ("DOWNLOAD_DELAY=fast", "a number"),
        ("DOWNLOAD_TIMEOUT=soon", "a number"),
        ("TELNETCONSOLE_ENABLED=maybe", "True or False"),
        ("LOG_STDOUT=maybe", "True or False"),
        ("TWISTED_REACTOR_ENABLED=maybe", "True or False"),
        ("LOG_LEVEL=LOUD", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("FOCUS_OUTAGE=abc", "a whole number, at least 0"),
    ],
)
def test_a_value_that_scrapy_could_not_read_costs_one_line_and_leaves_nothing_behind(tmp_path, given, expected):
    place = "-s", f"FOCUS_DIR={tmp_path / 'c'}"
    result = scrapy("crawl", "best_first", "-a", "topic=sorting", "-s", "FOCUS_WEB=demo", *place, "-s", given)
    assert (result.returncode, result.stderr) == (2, f"focuscrawl: setting {given}: expected {expected}\n")
    assert not (tmp_path / "c").exists()


def test_a_value_that_cannot_be_read_is_in_the_log_file_too(tmp_path):
    log = tmp_path / "log"
    arguments = "-s", f"LOG_FILE={log}", "-s", "DOWNLOAD_DELAY=fast", "-L", "LOUD"
    line = complaint("breadth_first", *DEMO, "-s", f"FOCUS_DIR={tmp_path / 'c'}", *arguments)
    assert "ERROR: " + line.removeprefix("focuscrawl: ") in log.read_text("utf-8")


def test_no_limit_on_requests_is_no_hang(tmp_path):
    result = scrapy(
        "crawl",
        "breadth_first",
        *DEMO,
        "-s",
        "CONCURRENT_REQUESTS=0",
        "-a",
        "max_pages=30",
        "-s",
        f"FOCUS_DIR={tmp_path}",
    )
    assert result.returncode == 0, result.stderr
    assert len(Crawled(tmp_path).urls) == 30


def test_every_run_is_noted(tmp_path):
    for pages in (2, 4):
        assert (
            scrapy(
                "crawl", "breadth_first", *DEMO, "-a", f"max_pages={pages}", "-s", f"FOCUS_DIR={tmp_path}"
            ).returncode
            == 0
        )
    runs = json.loads(Crawled(tmp_path).sql("SELECT value FROM meta WHERE key = 'runs'")[0][0])
    assert [run["options"]["max_pages"] for run in runs] == [2, 4]
    assert runs[0]["seeds"] == ["http://sorting-handbook.example/"]


def test_a_seed_that_robots_forbid(tmp_path):
    line = complaint(
        "breadth_first",
        "-a",
        "seeds=http://ask-anybody.example/search?q=help",
        "-s",
        "FOCUS_WEB=demo",
        "-s",
        f"FOCUS_DIR={tmp_path}",
    )
    assert "robots.txt disallows it" in line


def test_a_directory_that_cannot_be_written():
    assert "cannot write to /dev/null/crawl" in complaint("breadth_first", *DEMO, "-s", "FOCUS_DIR=/dev/null/crawl")


def test_a_directory_of_another_crawl(tmp_path):
    place = ["-s", f"FOCUS_DIR={tmp_path}", "-a", "max_pages=3"]
    assert scrapy("crawl", "breadth_first", *DEMO, *place).returncode == 0
    before = Crawled(tmp_path).urls
    assert "belongs to spider 'breadth_first'" in complaint("keyword", "-a", "keywords=x", *DEMO, *place)
    assert Crawled(tmp_path).urls == before


def test_a_damaged_file(tmp_path):
    place = ["-s", f"FOCUS_DIR={tmp_path}", "-a", "max_pages=20"]
    assert scrapy("crawl", "breadth_first", *DEMO, *place).returncode == 0
    path = tmp_path / "crawl.sqlite"
    data = bytearray(path.read_bytes())
    data[5000:60000] = os.urandom(55000)
    path.write_bytes(data)
    assert "is damaged" in complaint("breadth_first", *DEMO, *place)
    assert path.read_bytes() == bytes(data)
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(path).execute("SELECT count(*), sum(length(body)) FROM page").fetchone()


def test_scrapyds_arguments_are_taken(tmp_path):
    result = scrapy(
        "crawl", "breadth_first", "-a", "_job=abc", "-a", "max_pages=1", *DEMO, "-s", f"FOCUS_DIR={tmp_path}"
    )
    assert result.returncode == 0, result.stderr


def test_a_crawl_without_a_spiders_name_is_adaptive(tmp_path):
    arguments = ["crawl", "-a", "topic=sorting", "-a", "max_pages=5", "-s", "FOCUS_WEB=demo"]
    environment = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
    assert scrapy(*arguments, cwd=tmp_path, **environment).returncode == 0
    assert scrapy(*arguments, "-s", "FOCUS_STRATEGY=keyword", cwd=tmp_path, **environment).returncode == 0
    made = {folder.name for folder in (tmp_path / "crawls").iterdir()}
    assert made == {"adaptive-sorting-algorithms", "keyword-sorting-algorithms"}


def test_a_file_in_place_of_seeds_is_told_how_to_give_it(tmp_path):
    file = tmp_path / "bookmarks.txt"
    file.write_text("http://a.example/\n")
    assert f"write -a seeds=@{file}" in complaint("breadth_first", "-a", f"seeds={file}")


def test_a_shipped_topic_without_the_embedded_web_is_told_where_its_seeds_are(tmp_path):
    said = complaint("best_first", "-a", "topic=sorting", "-s", f"FOCUS_DIR={tmp_path}", "-s", "RETRY_TIMES=0")
    assert "exists on the embedded web only; add -s FOCUS_WEB=demo" in said


def test_why_is_stored_as_people_read_it(tmp_path, crawl):
    web = small_web({"a": ["b"], "b": []}, {"a": "茶 の 歴史", "b": "茶"})
    crawled = crawl("best_first", web, seeds=at("a"), keywords="茶")
    ((why,), *_) = crawled.sql("SELECT why FROM page ORDER BY id")
    assert "茶" in why
    assert json.loads(why).keys() == {"茶"}


def test_a_crawl_without_keywords_does_not_speak_of_relevant_pages(crawl):
    crawled = crawl("breadth_first", small_web({"a": ["b"], "b": []}), seeds=at("a"))
    report = (crawled.folder / "report.html").read_text("utf-8")
    assert "relevant pages yet" not in report.lower()
    assert "No page was judged, because the topic has no keywords or examples" in report
    judged = crawl("breadth_first", small_web({"a": ["b"], "b": []}), crawled.folder / "2", seeds=at("a"), keywords="x")
    assert "Relevant: on the topic in the spider’s own judgement" in (judged.folder / "report.html").read_text("utf-8")
