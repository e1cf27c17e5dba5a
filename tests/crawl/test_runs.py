"""What a later run takes over from the notes in a crawl's file, and what it has to be given again."""

from __future__ import annotations

import json
import os
import shlex

import pytest
from scrapy.settings import Settings

from focuscrawl import settings as project
from focuscrawl.crawl.runs import NOTED, arguments_again, given_settings, settings_again
from focuscrawl.spiders.apprentice import ApprenticeSpider
from focuscrawl.spiders.best_first import BestFirstSpider


def in_force(**changed: object) -> Settings:
    settings = Settings()
    settings.setmodule(project, priority="project")
    settings.update(changed, priority="project")
    return settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AUTOTHROTTLE_ENABLED", True),
        ("CONCURRENT_REQUESTS", 4),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", "1"),
        ("DEPTH_LIMIT", 3),
        ("DOWNLOAD_DELAY", "2.5"),
        ("DOWNLOAD_MAXSIZE", 1000),
        ("DOWNLOAD_SLOTS", {"slow.example": {"delay": 10, "concurrency": 1}}),
        ("DOWNLOAD_SLOTS", {"127.0.0.1": {"delay": 0, "concurrency": 8}}),
        ("DOWNLOAD_TIMEOUT", 10),
        ("FOCUS_ALLOW", "a.example,b.example/path"),
        ("FOCUS_DENY", ["/private/"]),
        ("FOCUS_FRONTIER_SIZE", 1000),
        ("FOCUS_INDEX", "True"),
        ("FOCUS_LOAD_MAX", "1.5"),
        ("FOCUS_BANDWIDTH_MAX", 500),
        ("FOCUS_NOFOLLOW", True),
        ("FOCUS_PACE", {"08:00-18:00": 0.25}),
        ("FOCUS_PRIVATE_HOSTS", "False"),
        ("FOCUS_RIGHTS", "noai"),
        ("FOCUS_TOPIC", "sorting"),
        ("FOCUS_TOPIC", {"name": "x", "keywords": {"x": 1}, "examples": ["http://a.example/"]}),
        ("FOCUS_WEB", "demo"),
        ("ROBOTSTXT_OBEY", "True"),
    ],
)
def test_what_is_as_polite_as_the_settings_in_force_is_taken_over(name, value):
    assert settings_again({name: value}, in_force()) == ({name: value}, [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CONCURRENT_REQUESTS", 0),  # without bound
        ("CONCURRENT_REQUESTS", 500),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", "8"),
        ("CONCURRENT_REQUESTS_PER_DOMAIN", -1),
        ("DOWNLOAD_DELAY", "0"),
        ("DOWNLOAD_DELAY", None),
        ("DOWNLOAD_DELAY", "nan"),
        ("DOWNLOAD_DELAY", ["0"]),
        ("DOWNLOAD_MAXSIZE", 0),
        ("DOWNLOAD_SLOTS", {"host.example": {"delay": 0}}),
        ("DOWNLOAD_SLOTS", {"host.example": {"concurrency": 9}}),
        ("DOWNLOAD_SLOTS", {"host.example": 1}),
        ("DOWNLOAD_SLOTS", "{"),
        ("DOWNLOAD_TIMEOUT", 1e9),
        ("FOCUS_ALLOW", ["re:(a+)+$"]),
        ("FOCUS_BACKOFF_MAX", 0),
        ("FOCUS_BROWSER", "always"),
        ("FOCUS_BROWSER_EXECUTABLE", "/somewhere/program"),
        ("FOCUS_BROWSER_REQUESTS", 0),
        ("FOCUS_BROWSER_TIMEOUT", 1e9),
        ("FOCUS_CONTACT", "https://somebody.example/"),
        ("FOCUS_CRAWL_DELAY_MAX", "0"),
        ("FOCUS_PATIENCE_MAX", 1e9),
        ("FOCUS_PRIVATE_HOSTS", True),
        ("FOCUS_PRIVATE_HOSTS", "yes"),
        ("FOCUS_ROBOTS_META", False),
        ("FOCUS_SCOPE", "/etc/passwd"),
        ("FOCUS_TOPIC", "/etc/passwd"),
        ("FOCUS_TOPIC", {"name": "x", "examples": ["/somewhere/**/*"]}),
        ("FOCUS_TOPIC", [1]),
        ("FOCUS_WEB", "/somewhere/web.sqlite"),
        ("FOCUS_WEB", "synthetic:10?bytes=99999999999"),
        ("FOCUS_WEB_LATENCY", 1e9),
        ("ROBOTSTXT_OBEY", "False"),
        ("ROBOTSTXT_OBEY", []),
        ("ROBOTSTXT_USER_AGENT", "other"),
        ("USER_AGENT", "Mozilla/5.0"),
    ],
)
def test_what_is_less_polite_or_points_elsewhere_is_asked_for(name, value):
    taken, (asked,) = settings_again({name: value}, in_force())
    assert taken == {}
    flag, given = shlex.split(asked)
    assert (flag, given.partition("=")[0]) == ("-s", name)
    assert given.partition("=")[2] in (str(value), json.dumps(value))


@pytest.mark.parametrize(
    ("name", "value", "now"),
    [
        ("DOWNLOAD_DELAY", 2, 3),
        ("FOCUS_DENY", [], ["/private/"]),
        ("FOCUS_RIGHTS", [], ["noai"]),
        ("FOCUS_PACE", {}, {"08:00-18:00": 0}),
        ("AUTOTHROTTLE_ENABLED", False, True),
        ("FOCUS_WEB", None, "demo"),
    ],
)
def test_the_projects_own_settings_are_the_measure(name, value, now):
    assert len(settings_again({name: value}, in_force(**{name: now}))[1]) == 1
    assert settings_again({name: now}, in_force(**{name: now})) == ({}, [])


def test_what_is_given_on_the_command_line_is_not_asked_for():
    settings = in_force()
    settings.set("ROBOTSTXT_OBEY", "True", priority="cmdline")
    assert settings_again({"ROBOTSTXT_OBEY": False, "DOWNLOAD_DELAY": 3}, settings) == ({"DOWNLOAD_DELAY": 3}, [])


def test_nobody_is_bothered_by_a_crawl_of_the_embedded_web():
    noted = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS_PER_DOMAIN": 16, "FOCUS_WEB": "demo", "USER_AGENT": "me"}
    assert settings_again(noted, in_force()) == (noted, [])


def test_what_is_noted_and_what_is_taken_over_are_one_list():
    settings = in_force()
    everything = [*settings, "FEEDS"]
    for name in (name for name in dir(project) if name.isupper()):
        settings.set(name, settings.get(name), priority="cmdline")
    assert given_settings(settings).keys() <= NOTED
    assert {"FEEDS", "EXTENSIONS", "ITEM_PIPELINES", "FOCUS_DIR", "FOCUS_STRATEGY"}.isdisjoint(NOTED)
    taken, asked = settings_again(dict.fromkeys(everything, "x"), in_force())
    assert taken.keys() | {line.removeprefix("-s ").partition("=")[0] for line in asked} <= NOTED


def test_a_value_that_is_shown_is_safe_to_copy_and_to_look_at():
    _, asked = settings_again({"USER_AGENT": "'; rm -rf ~ #", "FOCUS_CONTACT": "x" * 1000}, in_force())
    assert asked == ["-s FOCUS_CONTACT=…", "-s " + shlex.quote("USER_AGENT='; rm -rf ~ #")]


def test_only_arguments_that_the_spider_declares_are_taken_over():
    noted = {"keywords": "sort", "seeds": "http://a.example/", "threshold": "0.2", "max_pages": "3", "crawler": "x"}
    taken, asked = arguments_again(noted, BestFirstSpider, {"threshold": "0.5"})
    assert (taken, asked) == ({"threshold": "0.5", "keywords": "sort", "seeds": "http://a.example/"}, [])


def test_files_are_read_for_the_sake_of_a_crawls_file_only_if_they_are_meant_for_it(tmp_path):
    (tmp_path / "seeds.txt").write_text("# mine\nhttp://a.example/\n\nhttps://b.example/x,y\n")
    (tmp_path / "secret.txt").write_text("http://a.example/\npassword: 123\n")
    (tmp_path / "topic.toml").write_text("name = 'x'")
    (tmp_path / "topic.txt").write_text("name = 'x'")
    os.mkfifo(tmp_path / "pipe.toml")
    fine = {"seeds": f"@{tmp_path / 'seeds.txt'}", "topic": str(tmp_path / "topic.toml"), "lessons": str(tmp_path)}
    assert arguments_again(fine, ApprenticeSpider, {}) == (fine, [])
    for name, value in (
        ("seeds", f"@{tmp_path / 'secret.txt'}"),
        ("seeds", f"@{tmp_path / 'pipe.toml'}"),
        ("seeds", "@/dev/zero"),
        ("topic", str(tmp_path / "topic.txt")),
        ("topic", str(tmp_path / "pipe.toml")),
        ("topic", ["x"]),
        ("lessons", "/dev/zero"),
        ("lessons", {"x": "y"}),
        ("keywords", "x" * 2_000_000),
    ):
        taken, asked = arguments_again({name: value}, ApprenticeSpider, {})
        assert (taken, len(asked)) == ({}, 1), value


@pytest.mark.parametrize(
    ("seeds", "taken"),
    [
        ("http://a.example/", True),
        ("http://127.0.0.1:8000/", False),
        ("http://a.example/,http://localhost/", False),
        ("http://192.168.1.1/", False),
        ("http://a.example/,http://[fe80::1]/", False),
        ("http://169.254.169.254/latest/", False),
        ("file:///etc/passwd", False),
    ],
)
def test_seeds_in_a_file_lead_into_no_private_network(seeds, taken):
    assert bool(arguments_again({"seeds": seeds}, BestFirstSpider, {})[0]) is taken
