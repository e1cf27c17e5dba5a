"""`scrapy seeds`."""

from __future__ import annotations

import re
import shlex

import pytest

from focuscrawl.topic import load_topic
from tests.conftest import Crawled, scrapy
from tests.searx import closed_port, serving


@pytest.fixture
def folder(tmp_path):
    """Three lists and a negative one, in files."""
    for name, letters in {"one": "abcx", "two": "bay", "three": "czb", "off": "qab", "four": "klm"}.items():
        lines = [f"http://{letter}.example/" for letter in letters]
        (tmp_path / f"{name}.txt").write_text("\n".join(["# best first", *lines]))
    return tmp_path


def files(folder, *names: str) -> list[object]:
    return [argument for name in names for argument in ("--list", folder / f"{name}.txt")]


@pytest.fixture
def searx():
    with serving() as server:
        yield server


def test_seeds_are_what_the_lists_agree_on(folder):
    output = folder / "my topic.toml"
    lists = files(folder, "one", "two", "three")
    result = scrapy("seeds", *lists, "--negative", folder / "off.txt", "--query", "Bubble sort", "--output", output)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    topic = load_topic(str(output))
    assert topic.name == "Bubble sort"
    assert topic.description == "pages about Bubble sort; seeds from 3 ranked lists"
    assert topic.seeds == ["http://b.example/", "http://a.example/", "http://c.example/"]
    assert topic.examples == topic.seeds
    assert topic.counterexamples == ["http://q.example/"]
    assert topic.keywords == {"bubble": 1.0, "sort": 1.0}
    text = output.read_text("utf-8")
    assert text.index("# Class 3, most relevant: in all 3 lists") < text.index('"http://b.example/"')
    assert text.index('"http://b.example/"') < text.index("# Class 2, relevant: in at least two lists")
    counts = re.findall(r"│ ((?:most )?relevant|in one list only) +│ +(\d+) │ (\S+)", result.stdout)
    assert counts == [
        ("most relevant", "1", "http://b.example/"),
        ("relevant", "2", "http://a.example/"),
        ("in one list only", "3", "http://z.example/"),
    ]
    assert "3 seeds, 3 examples, 1 counterexamples" in result.stdout
    command = shlex.split(result.stdout.strip().splitlines()[-1])
    assert command[:6] == ["scrapy", "crawl", "best_first", "-a", f"topic={output}", "-a"]


def test_options_choose_how_many_and_what_they_are_called(folder):
    result = scrapy(
        "seeds",
        *files(folder, "one", "two", "three"),
        *("--single", "--seeds", 2, "--examples", 5, "--counterexamples", 0, "--negative", folder / "off.txt"),
        *("--name", 'The "best" \\ sorts', "--description", "mine", "--keywords", 'sort:2,"a, b":0.5'),
        *("--output", folder / "t.toml"),
    )
    assert result.returncode == 0, result.stderr
    topic = load_topic(str(folder / "t.toml"))
    assert (topic.name, topic.description) == ('The "best" \\ sorts', "mine")
    assert topic.keywords == {"sort": 2.0, "a, b": 0.5}
    assert (len(topic.seeds), len(topic.examples), topic.counterexamples) == (2, 5, [])
    assert topic.examples[:2] == topic.seeds


def test_a_file_is_not_written_over_unasked(folder):
    output = folder / "t.toml"
    output.write_text("mine")
    arguments = ["seeds", *files(folder, "one", "two"), "--query", "x", "--output", output]
    refused = scrapy(*arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "t.toml already exists; choose another --output, or overwrite it with --force" in refused.stderr
    assert output.read_text() == "mine"
    assert scrapy(*arguments, "--force").returncode == 0
    assert load_topic(str(output)).seeds == ["http://a.example/", "http://b.example/"]


def test_lists_that_agree_on_nothing_give_no_topic_but_advice(folder):
    arguments = ["seeds", *files(folder, "one", "four"), "--query", "x", "--output", folder / "t.toml"]
    result = scrapy(*arguments)
    assert result.returncode == 2
    assert result.stderr == (
        "focuscrawl: no seeds: no URL is in two of the 2 lists; raise --top (now 50), add a --list, or take those in one"
        " list with --single\n"
    )
    assert not (folder / "t.toml").exists()
    assert scrapy(*arguments, "--single").returncode == 0
    assert len(load_topic(str(folder / "t.toml")).seeds) == 7


def test_bad_lines_and_empty_lists_are_told_and_left_out(folder):
    (folder / "one.txt").write_text("http://a.example/\nnothing\n")
    (folder / "three.txt").write_text("# none\n")
    lists = files(folder, "one", "two", "three")
    result = scrapy("seeds", *lists, "--query", "x", "--output", folder / "t.toml")
    assert result.returncode == 0
    assert "one.txt, line 2: left out: 'nothing' is not a URL" in result.stderr
    assert "three.txt: no URL in it; left out" in result.stderr
    assert "in both lists" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "the topic has no keywords; give --query"),
        (["--query", "- …"], "the topic has no keywords; give --query"),
        (["--query", "x"], "at least two lists with URLs are needed, not 0; add --list FILE"),
        (["--query", "x", "a.txt"], "unexpected argument 'a.txt'; give a list with --list SOURCE"),
        (["--query", "x", "--lists", "a.txt"], "unknown option --lists"),
        (["--query", "x", "--list", "nowhere.txt"], "list nowhere.txt: no such file"),
        (["--query", "x", "--list", "a", "--list", "a"], "list a is given twice"),
        (["--query", "x", "--list", "crawl:nowhere"], "is nowhere the directory of a crawl"),
        (["--keywords", "x", "--list", "crawl:nowhere"], "what to search for? Give --query"),
        (["--keywords", ","], "keywords: none given"),
        (["--query", "x", "--top", "0"], "--top 0: expected a whole number, at least 1"),
        (["--query", "x", "--seeds", "0"], "--seeds 0: expected a whole number, at least 1"),
        (["--query", "x", "--timeout", "nan"], "--timeout nan: expected seconds"),
        (["--query", "x", "--engines", "a,b"], "--engines needs the address of a SearXNG instance; add --searxng URL"),
        (["--keywords", "x", "--searxng", "http://localhost"], "--searxng: no query is given; give --query"),
        (["--query", "x", "--negative-query", "y"], "--negative-query: nothing to search"),
        (["--query", "x", "--searxng", "localhost:8888"], "did you mean 'http://localhost:8888'?"),
        (["--query", "x", "--searxng", "http://127.0.0.1:PORT"], "not reachable (Connection refused)"),
    ],
)
def test_bad_arguments_cost_one_line(arguments, says, tmp_path):
    arguments = [argument.replace("PORT", str(closed_port())) for argument in arguments]
    result = scrapy("seeds", *arguments, "--output", tmp_path / "t.toml")
    assert result.returncode == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_place_that_cannot_be_written_is_named(folder):
    result = scrapy("seeds", *files(folder, "one", "two"), "--query", "x", "--output", folder / "no" / "t.toml")
    assert result.returncode == 2
    assert result.stderr.endswith("t.toml: No such file or directory; choose another --output\n")


def test_three_engines_of_searxng_give_three_lists_and_the_negated_words_counterexamples(searx, tmp_path):
    for engine, letters in {"p": "abc", "q": "bad", "r": "eb"}.items():
        searx.results[engine, "bubble sort"] = [f"http://{letter}.example/" for letter in letters]
        searx.results[engine, "-bubble -sort"] = [f"http://{engine}.off.example/", "http://a.example/"]
    arguments = ["seeds", "--query", "bubble sort", "--searxng", searx.address, "--engines", "p,q, r,p"]
    result = scrapy(*arguments, "--output", tmp_path / "t.toml")
    assert result.returncode == 0, result.stderr
    topic = load_topic(str(tmp_path / "t.toml"))
    assert topic.seeds == ["http://b.example/", "http://a.example/"]
    assert sorted(topic.counterexamples) == [f"http://{engine}.off.example/" for engine in "pqr"]
    asked = {(request["engines"], request["q"]) for request in searx.asked}
    assert asked == {(engine, query) for engine in "pqr" for query in ("bubble sort", "-bubble -sort")}


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        (["--negative-query", "cooking"], {"sort", "cooking"}),
        (["--negative-query", ""], {"sort"}),
        (["--negative", "off.txt"], {"sort"}),
        (["--negative", "off.txt", "--negative-query", "cooking"], {"sort", "cooking"}),
    ],
)
def test_the_negative_query_is_ours_only_if_nothing_else_is_given(searx, folder, options, asked):
    searx.results["", "sort"] = ["http://a.example/"]
    searx.results["", "cooking"] = ["http://cake.example/"]
    options = [folder / option if option == "off.txt" else option for option in options]
    arguments = ["--searxng", searx.address, *files(folder, "one"), *options, "--output", folder / "t.toml"]
    result = scrapy("seeds", "--query", "sort", *arguments)
    assert result.returncode == 0, result.stderr
    assert {request["q"] for request in searx.asked} == asked
    assert ("http://cake.example/" in load_topic(str(folder / "t.toml")).counterexamples) == ("cooking" in asked)


def test_a_search_can_be_one_of_the_lists(searx, folder):
    searx.results["", "other words"] = ["http://c.example/"]
    source = f"searxng:{searx.address}?q=other+words"
    result = scrapy(
        "seeds", "--list", source, *files(folder, "three"), "--keywords", "x", "--output", folder / "t.toml"
    )
    assert result.returncode == 0, result.stderr
    assert load_topic(str(folder / "t.toml")).seeds == ["http://c.example/"]


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("403", "HTTP 403: JSON is disabled, or access is denied; add json to the formats in its settings.yml"),
        ("500", "HTTP 500"),
        ("says <html>", "the answer is not JSON"),
        ("silent", "no answer within 0.5 seconds"),
    ],
)
def test_failures_of_searxng_cost_one_line_and_no_file(searx, tmp_path, mode, says):
    searx.mode = mode
    arguments = ["--searxng", searx.address, "--engines", "p,q", "--timeout", 0.5, "--output", tmp_path / "t.toml"]
    result = scrapy("seeds", "--query", "sort", *arguments)
    assert result.returncode == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "t.toml").exists()


def test_earlier_crawls_give_the_topic_of_the_next(tmp_path):
    def crawl(spider: str, topic: object, name: str) -> Crawled:
        arguments = ["-a", f"topic={topic}", "-a", "max_pages=100", "-s", "FOCUS_WEB=demo"]
        result = scrapy("crawl", spider, *arguments, "-s", f"FOCUS_DIR={tmp_path / name}")
        assert result.returncode == 0, result.stderr
        return Crawled(tmp_path / name)

    crawl("breadth_first", "sorting", "one")
    crawl("best_first", "sorting", "two")
    lists = ["--list", f"crawl:{tmp_path / 'one'}", "--list", f"crawl:{tmp_path / 'two'}"]
    negative = ["--negative", f"crawl:{tmp_path / 'one' / 'crawl.sqlite'}"]
    output = tmp_path / "made.toml"
    result = scrapy("seeds", "--query", 'sort array "bubble sort"', *lists, *negative, "--seeds", 5, "--output", output)
    assert result.returncode == 0, result.stderr
    topic = load_topic(str(output))
    assert len(topic.seeds) == 5
    assert "http://sorting-handbook.example/articles/bubble-sort.html" in topic.seeds
    assert "http://crossroads.example/gardening.html" in topic.counterexamples
    made = crawl("best_first", output, "made")
    assert len(made.urls) == 100
    assert set(topic.seeds) <= set(made.urls)
    assert len(made.matched) > 20
