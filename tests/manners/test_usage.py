from __future__ import annotations

import json
import sqlite3
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuscrawl.manners.robots import Rules
from focuscrawl.manners.usage import licence_links, parse_signal, parse_usage
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reports.explain import explain
from focuscrawl.reports.report import crawl_report
from focuscrawl.store.places import read_crawl
from focuscrawl.web.webs import Answer, MemoryWeb
from tests.conftest import at

RSL = "application/rsl+xml"


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("train-ai=n", ["ai-train"]),
        ("train-ai=n, search=n", ["ai-train", "search"]),
        ("train-ai=n,search=y", ["ai-train"]),
        ("train-ai=y, train-ai=n", ["ai-train"]),
        ("train-ai=n, train-ai=y", []),  # the last one counts
        ("train-ai=y, train-ai, search=n, search=\"n\"", []),  # no tokens
        ("train-ai;allow=y=n", []),
        ("train-ai=n;because=\"a, b\";x, search=n", ["ai-train", "search"]),
        ("images=(a b;c \"d\");q=1, n=1.5, b=:YQ==:, t=?1, search=n", ["search"]),
        ("train-genai=n, bots=n", []),  # unknown labels
        ("TRAIN-AI=n", []),  # malformed: keys are in lower case
        ("train-ai=N", []),
        ("train-ai=n, ", []),
        ("train-ai=n search=n", []),
        ("", []),
    ],
)  # fmt: skip
def test_content_usage_is_a_dictionary_of_structured_fields(text, refused):
    statement = parse_usage(text)
    assert list(statement.refuses) == refused
    assert statement.said == text


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("search=yes, ai-train=no", ["ai-train"]),
        ("Search = No,AI-Input=no", ["ai-input", "search"]),
        ("ai-train=yes, ai-train=no", ["ai-train"]),
        ("search=yes;ai-train=no", ["ai-train"]),
        ("use=no", []),
        ("ai-train=not sure", []),
    ],
)
def test_content_signals_say_yes_or_no(text, refused):
    assert list(parse_signal(text).refuses) == refused


@given(st.text(alphabet='ab=,;()" \\:?1-y*n', max_size=60))
def test_no_preference_is_an_error(text):
    parse_usage(text)
    parse_signal(text)
    list(licence_links(text))


@pytest.mark.parametrize(
    "piece", ["a", "a,", "a;b", "a=(", 'a="', 'a="\\"', "a=(b ", ";", "a=:", "<", '<a>;rel="', " "]
)
def test_long_preferences_are_read_in_a_moment(piece):
    begin = process_time()
    text = piece * 20_000
    parse_usage(text)
    parse_signal(text)
    list(licence_links(text))
    assert process_time() - begin < 2


def said(robots: str, path: str, agent: str = "focuscrawl") -> list[tuple[str, str]]:
    usage = Rules.read(robots.encode(), agent).usage
    return [] if usage is None else [(one.signal, one.said) for one in usage.of_path(path)]


#: The example of the draft.
EXAMPLE = """
User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""


@pytest.mark.parametrize(
    ("path", "agent", "expected"),
    [
        ("/test", "focuscrawl", "train-ai=n"),
        ("/ai-ok/test", "focuscrawl", "train-ai=y"),
        ("/test", "ExampleBot", "train-ai=y"),
    ],
)
def test_the_longest_path_in_the_group_for_us_counts(path, agent, expected):
    assert said(EXAMPLE, path, agent) == [("Content-Usage", expected)]
    assert not Rules.read(EXAMPLE.encode(), "focuscrawl").allows("http://a.example/never/x")


def test_several_statements_for_one_path_all_apply_and_the_strictest_comes_first():
    robots = "User-agent: *\nContent-Usage: /a search=y\nContent-Usage: /a search=n\nContent-Usage: / train-ai=n"
    assert said(robots, "/a/b") == [("Content-Usage", "search=n"), ("Content-Usage", "search=y")]


def test_of_patterns_of_one_length_the_one_that_refuses_counts():
    robots = "User-agent: *\nContent-Usage: /*b train-ai=y\nContent-Usage: /ab train-ai=n"
    assert said(robots, "/ab") == [("Content-Usage", "train-ai=n")]


def test_lines_above_the_first_group_are_for_all_and_licences_for_everybody():
    robots = (
        "License: https://a.example/rsl.xml\nContent-Signal: ai-train=no\n"
        "User-agent: other\nContent-Signal: search=no\nUser-agent: focuscrawl\nContent-Signal: /x/*.pdf$ ai-input=no"
    )
    licence = ("RSL", "https://a.example/rsl.xml")
    assert said(robots, "/") == [("Content-Signal", "ai-train=no"), licence]
    assert said(robots, "/x/a.pdf") == [("Content-Signal", "ai-input=no"), licence]


def test_a_line_about_usage_ends_the_names_of_a_group():
    robots = b"User-agent: *\nContent-Signal: ai-train=no\n\nUser-agent: other\nDisallow: /"
    assert Rules.read(robots, "focuscrawl").allows("http://a.example/")
    assert not Rules.read(robots, "other").allows("http://a.example/")


LINES = ["User-agent: *", "User-agent: other", "Allow: /", "Disallow: /x", "License:", "License: x", "Content-Usage:"]
VALUES = st.text(alphabet='/x*$ =,;"yn\x00é#search', max_size=20)


@given(
    st.lists(
        st.sampled_from(LINES)
        | st.builds("Content-Usage: {}".format, VALUES)
        | st.builds("content-signal : {}".format, VALUES),
        max_size=12,
    )
)
def test_any_robots_txt_is_read(lines):
    usage = Rules.read("\n".join(lines).encode(), "focuscrawl").usage
    for path in ("/", "/x", "/x?é", ""):
        assert usage is None or len(usage.of_path(path)) <= 15


def test_a_robots_txt_without_preferences_costs_nothing():
    assert Rules.read(b"User-agent: *\nDisallow: /x\nSitemap: http://a.example/s.xml", "focuscrawl").usage is None


def test_a_hostile_robots_txt_is_bounded():
    lines = "".join(f"Content-Usage: /{'a' * 900}{number} train-ai=n\n" for number in range(5_000))
    licences = "".join(f"License: http://a.example/{number}\n" for number in range(5_000))
    begin = process_time()
    rules = Rules.read(f"User-agent: *\n{lines}{licences}".encode(), "focuscrawl")
    assert process_time() - begin < 2
    assert rules.usage is not None
    assert len(rules.usage.of_path("/")) <= 5
    assert rules.usage.size < 5_000_000


@pytest.mark.parametrize(
    ("header", "links"),
    [
        (f'<https://a.example/l.xml>; rel="license"; type="{RSL}"', [("https://a.example/l.xml", True)]),
        ("</cc>; rel=license, </next>; rel=next", [("/cc", False)]),
        (f'<a>; title="x, <b>; rel=license"; rel="alternate License"; type={RSL}', [("a", True)]),
        ("<a>; rel=licenses", []),
        ("rel=license", []),
    ],
)
def test_licences_in_link_headers(header, links):
    assert list(licence_links(header)) == links


def test_an_rsl_licence_on_a_page_is_no_licence_to_use_it():
    html = (
        f'<link rel="license" type="{RSL}" href="/rsl.xml"><a rel=license type="{RSL}; charset=utf-8" href=b.xml>b</a>'
        f'<link rel=license href="/cc"><script type="{RSL}"><rsl></rsl></script>'
    )
    found = read_html(Page("http://a.example/x/"), html.encode(), "text/html").rights
    assert found.licences == ["http://a.example/cc"]
    told = [signal["said"] for signal in found.signals]
    assert told == ["http://a.example/rsl.xml", "http://a.example/x/b.xml", "on the page"]
    assert found.reserved(["unlicensed", "rsl"]) == "rsl"


def test_what_is_kept_for_a_page_is_bounded():
    links = "".join(f'<link rel=license type="{RSL}" href="/{number}{"x" * 1000}">' for number in range(100))
    signals = read_html(Page("http://a.example/"), links.encode(), "text/html").rights.signals
    assert len(signals) == 5
    assert len(json.dumps(signals)) < 5 * 500


ROBOTS = (
    "License: https://signals.example/rsl.xml\nUser-agent: *\nContent-Signal: search=yes, ai-input=no\n"
    "Content-Usage: /free/ train-ai=y, search=y\nContent-Usage: train-ai=n, new-label=n\n"
)


def signalling() -> MemoryWeb:
    web = MemoryWeb()
    names = ("signals", "signals/free/a", "signals/gone", "header", "plain")
    links = "".join(f'<a href="{at(name)}">sort</a>' for name in names)
    web.add(at("a"), f"<p>sort of a list {links}")
    web.add(at("signals/robots.txt"), ROBOTS, content_type="text/plain")
    web.add(at("signals"), "<p>sort one")
    web.add(at("signals/free/a"), "<p>sort two things")
    web.answers[at("signals/gone")] = Answer(301, "text/html", b"", headers=(("Location", at("plain/b")),))
    web.add(at("plain/b"), "<p>sort of the other page, moved away")
    web.answers[at("header")] = Answer(
        200,
        "text/html",
        b'<meta name=robots content="noimageai"><p>sort three other things',
        headers=(
            ("Content-Usage", "train-ai=y, odd=(1 2)"),
            ("Content-Usage", "search=n"),
            ("Link", f'</rsl.xml>; rel="license"; type="{RSL}"'),
            ("TDM-Reservation", "0"),
            ("X-Robots-Tag", "noai"),
        ),
    )
    web.add(at("plain"), "<p>sort of plain text")
    return web


def ledger(crawled) -> dict[str, list[dict[str, str]]]:
    rows = crawled.sql("SELECT url, signals FROM rights JOIN page ON page.id = page")
    return {url: signals and json.loads(signals) for url, signals in rows}


def test_the_ledger_says_which_signal_said_what_where_and_when(crawl):
    crawled = crawl("best_first", signalling(), seeds=at("a"), keywords="sort")
    found = ledger(crawled)
    fetched = dict(crawled.sql("SELECT url, fetched_at FROM page"))
    assert found[at("a")] is found[at("plain")] is found[at("plain/b")] is None
    when = {signal.pop("when") for signal in found[at("signals")]}
    assert len(when) == 1
    assert when.pop() <= fetched[at("signals")]  # robots.txt came first
    assert found[at("signals")] == [
        {"signal": "Content-Usage", "said": "train-ai=n, new-label=n", "where": "robots.txt", "refuses": "ai-train"},
        {"signal": "Content-Signal", "said": "search=yes, ai-input=no", "where": "robots.txt", "refuses": "ai-input"},
        {"signal": "RSL", "said": "https://signals.example/rsl.xml", "where": "robots.txt"},
    ]
    assert [signal["said"] for signal in found[at("signals/free/a")]][:2] == [
        "train-ai=y, search=y",
        "search=yes, ai-input=no",
    ]
    assert {signal.pop("when") for signal in found[at("header")]} == {fetched[at("header")]}
    assert found[at("header")] == [
        {"signal": "robots", "said": "noai", "where": "header", "refuses": "ai-input, ai-train"},
        {"signal": "Content-Usage", "said": "train-ai=y, odd=(1 2), search=n", "where": "header", "refuses": "search"},
        {"signal": "RSL", "said": "http://header.example/rsl.xml", "where": "header"},
        {"signal": "robots", "said": "noimageai", "where": "page"},
        {"signal": "TDM-Reservation", "said": "0", "where": "header"},
    ]


@pytest.mark.parametrize(
    ("wanted", "missing"),
    [
        ("search", {"header"}),
        ("ai-input", {"signals", "signals/free/a", "header"}),
        ("ai-train", {"signals", "header"}),
        ("tdm", set()),
        ("rsl", {"signals", "signals/free/a", "header"}),
        ("search,ai-train", {"signals", "header"}),
    ],
)
def test_pages_that_refuse_a_purpose_are_left_out_of_the_exports(crawl, wanted, missing):
    crawled = crawl("best_first", signalling(), settings={"FOCUS_RIGHTS": wanted}, seeds=at("a"), keywords="sort")
    assert set(crawled.urls) - set(crawled.matched) == {at(name) for name in missing}


def test_explain_and_the_report_tell_of_the_signals(crawl):
    crawled = crawl("best_first", signalling(), seeds=at("a"), keywords="sort")
    with read_crawl(crawled.folder) as store:
        lines = explain(store, at("signals"))
        plain = explain(store, at("plain"))
        report = crawl_report(store)
    day = crawled.pages[0]["fetched_at"][:10]
    assert f'  Content-Usage in robots.txt of {day}: "train-ai=n, new-label=n", which refuses ai-train' in lines
    assert not any("robots.txt" in line for line in plain)
    row = (
        "<td>Content-Signal</td><td>search=yes, ai-input=no</td><td>robots.txt</td><td>ai-input</td><td class=n>2</td>"
    )
    assert row in report


def test_a_file_whose_signals_are_nonsense_is_read(crawl):
    crawled = crawl("best_first", signalling(), seeds=at("a"), keywords="sort")
    nonsense = '[1, "x", null, {"signal": 7, "said": [1], "where": {}, "refuses": 3, "x": 1}, {"a": 1}]'
    connection = sqlite3.connect(crawled.folder / "crawl.sqlite")
    connection.execute("UPDATE rights SET signals = ?", (nonsense,))
    connection.commit()
    connection.close()
    with read_crawl(crawled.folder) as store:
        assert store.rights.get(1).signals == [{"signal": "7", "said": "[1]", "where": "{}", "refuses": "3"}]
        assert explain(store, at("a"))
        assert crawl_report(store)
