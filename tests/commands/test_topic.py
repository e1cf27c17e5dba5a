"""`scrapy topic`."""

from __future__ import annotations

import pytest

from focuscrawl.topic import load_topic
from tests.conftest import at, scrapy, small_web
from tests.tiny_wordnet import write_wordnet

TOPIC = """# my topic
name = "Lutes"
keywords = { lute = 3 } # more to come
examples = ["on/*.html"]
counterexamples = ["off/*.html"]
"""


@pytest.fixture
def folder(tmp_path):
    """A topic whose examples have what its keywords lack."""
    for side, text in (("on", "The lute has gut strings, a round back and frets."), ("off", "The garden wants rain.")):
        (tmp_path / side).mkdir()
        for number in range(8):
            title = "Lute" if side == "on" else "Rose"
            (tmp_path / side / f"{number}.html").write_text(f"<title>{title} {number}</title><p>{text} Page {number}")
    (tmp_path / "lutes.toml").write_text(TOPIC)
    return tmp_path


def test_terms_are_suggested_and_nothing_is_written(folder):
    result = scrapy("topic", "suggest", folder / "lutes.toml")
    assert (result.returncode, result.stderr) == (0, "")
    assert "8 examples, against 8 counterexamples" in result.stdout
    assert "gut strings" in result.stdout
    assert "8/8" in result.stdout
    assert "relevant pages match (now 8), and 0 of 8 others (now 0)" in result.stdout
    assert (folder / "lutes.toml").read_text() == TOPIC


def test_terms_are_written_into_the_file_as_it_is(folder):
    result = scrapy("topic", "suggest", folder / "lutes.toml", "--apply", "--limit", 2)
    assert result.returncode == 0, result.stderr
    assert f"Wrote 2 keywords into {folder / 'lutes.toml'}\n" in result.stdout
    keywords = load_topic(str(folder / "lutes.toml")).keywords
    assert len(keywords) == 3
    assert keywords["lute"] == 3
    lines = (folder / "lutes.toml").read_text().splitlines()
    assert [line for line in lines if "keywords" not in line] == [
        line for line in TOPIC.splitlines() if "keywords" not in line
    ]
    assert lines[2].endswith(" } # more to come")


def test_a_shipped_topic_is_not_written():
    result = scrapy("topic", "suggest", "sorting", "--apply", "-s", "FOCUS_WEB=demo")
    assert result.returncode == 2
    assert "topic 'sorting' ships with focuscrawl and is not changed; copy " in result.stderr
    assert result.stdout == ""


def test_terms_by_a_crawl(crawl, tmp_path):
    pages = {f"p{number}": [f"p{number + 1}"] for number in range(16)} | {"p16": []}
    texts = {name: "lute with gut strings" if int(name[1:]) % 2 else "rain in a garden" for name in pages}
    path = tmp_path / "t.toml"
    path.write_text("name = 'Lutes'\nkeywords = { lute = 1 }\n")
    crawled = crawl("breadth_first", small_web(pages, texts), tmp_path / "c", seeds=at("p0"), topic=path)
    result = scrapy("topic", "suggest", path, "--from", crawled.folder)
    assert "8 relevant pages, against 9 other pages" in result.stdout
    assert "gut strings" in result.stdout
    assert scrapy("topic", "check", path, "--from", crawled.folder).returncode == 0


def test_synonyms_and_narrower_terms_without_any_page(tmp_path):
    write_wordnet(tmp_path / "data" / "corpora" / "wordnet")
    (tmp_path / "t.toml").write_text("name = 'Sorting'\ndescription = 'by a computer'\nkeywords = { sort = 2 }\n")
    data = str(tmp_path / "data")
    result = scrapy("topic", "suggest", tmp_path / "t.toml", "--wordnet", "--apply", NLTK_DATA=data, COLUMNS="120")
    assert result.returncode == 0, result.stderr
    assert "synonym of sort" in result.stdout
    assert "narrower than sort" in result.stdout
    assert load_topic(str(tmp_path / "t.toml")).keywords == {
        "sort": 2,
        "put in order": 2,
        "merge sort": 2,
        "mergesort": 2,
        "timsort": 2,
    }


def test_what_is_weak_is_said_with_exit_status_1(folder):
    fine = scrapy("topic", "check", folder / "lutes.toml")
    assert (fine.returncode, fine.stderr) == (0, "")
    assert fine.stdout == f"{folder / 'lutes.toml'}: nothing wrong; looked at 8 examples and 8 counterexamples\n"
    (folder / "lutes.toml").write_text(TOPIC.replace("lute = 3", "lute = 3, lutes = 1, quokka = 1"))
    weak = scrapy("topic", "check", folder / "lutes.toml")
    assert weak.returncode == 1
    assert weak.stdout.splitlines() == [
        "keywords: 'lutes' has the same stem as 'lute', so only one of them counts; remove 'lutes'",
        "keywords: no page has 'quokka'; check its spelling, or remove it",
        f"{folder / 'lutes.toml'}: 2 problems; looked at 8 examples and 8 counterexamples",
    ]


def test_what_was_not_looked_at_is_said():
    result = scrapy("topic", "check", "sorting")
    assert result.returncode == 0
    assert "Not looked at, because nothing is fetched: 2 seeds and 52 examples; --from DIR takes them" in result.stdout


def test_nothing_to_suggest_is_said(folder):
    for number in range(8):
        (folder / "on" / f"{number}.html").write_text("<title>lute</title><p>lute")
    result = scrapy("topic", "suggest", folder / "lutes.toml")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "Nothing to suggest: no further term tells 8 examples from 8 counterexamples\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["suggest"], "what to do? Give `scrapy topic suggest TOPIC` or"),
        (["praise", "sorting"], "what to do? Give `scrapy topic suggest TOPIC` or"),
        (["suggest", "sortin"], "unknown topic 'sortin'; did you mean 'sorting'?"),
        (["suggest", "sorting", "--limit", "0"], "--limit 0: expected a whole number, at least 1"),
        (["check", "sorting", "--threshold", "3"], "--threshold 3: expected a number from 0 to 1"),
        (["suggest", "sorting"], "its examples are on the web, and nothing is fetched; crawl the topic"),
        (["suggest", "sorting", "--from", "no/where"], "is no/where the directory of a crawl"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, says):
    result = scrapy("topic", *arguments)
    assert result.returncode == 2
    assert says in result.stderr
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)


def test_examples_without_others_are_not_enough(folder):
    path = folder / "lutes.toml"
    path.write_text(TOPIC.replace("counterexamples", "# counterexamples"))
    result = scrapy("topic", "suggest", path)
    assert result.returncode == 2
    assert "there are 8 examples, but nothing to tell them from; add counterexamples = […] to it, or" in result.stderr


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        (
            "keywords = { lute = 1 }",
            "has no examples; add examples = […] to it, give a crawl with --from DIR, or try --wordnet",
        ),
        ("", "has no keywords"),
    ],
)
def test_a_topic_with_nothing_to_go_by_is_told_what_to_add(tmp_path, parts, says):
    (tmp_path / "t.toml").write_text(f"name = 'x'\n{parts}\n")
    result = scrapy("topic", "suggest", tmp_path / "t.toml", *([] if parts else ["--wordnet"]))
    assert result.returncode == 2
    assert says in result.stderr
    assert len(result.stderr.splitlines()) == 1
