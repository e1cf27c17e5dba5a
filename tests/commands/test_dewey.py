"""`scrapy dewey` and `scrapy tgraph`."""

from __future__ import annotations

from tests.conftest import scrapy


def test_a_text_is_drawn_digit_by_digit():
    result = scrapy("dewey", "The cello and the violin are played with a bow in an orchestra")
    assert result.returncode == 0
    assert result.stdout.count("digit") == 3
    assert "→  78" in result.stdout
    assert "cello, violin" in result.stdout


def test_a_file_and_nothing_known(tmp_path):
    (tmp_path / "a.html").write_text("<html><title>x</title><p>Petals, sepals and stamens of shrubs")
    assert "→  58" in scrapy("dewey", tmp_path / "a.html").stdout
    (tmp_path / "a.txt").write_text("violins, cellos")
    assert "→  78" in scrapy("dewey", tmp_path / "a.txt").stdout
    assert "None of its words" in scrapy("dewey", "xyzzy plugh").stdout


def test_a_url_that_cannot_be_fetched_costs_one_line():
    result = scrapy("dewey", "http://127.0.0.1:9/")
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "cannot be fetched" in result.stderr
    assert scrapy("dewey").returncode == 2


def test_a_t_graph_is_built_from_a_crawl_and_shown(tmp_path):
    crawl = tmp_path / "crawl"
    result = scrapy(
        *("crawl", "best_first", "-a", "topic=sorting", "-a", "max_pages=80", "-L", "ERROR"),
        *("-s", "FOCUS_WEB=demo", "-s", f"FOCUS_DIR={crawl}"),
    )
    assert result.returncode == 0, result.stderr
    graph, picture = tmp_path / "t.json", tmp_path / "t.svg"
    result = scrapy("tgraph", "build", "--topic", "sorting", "--crawl", crawl, "-o", graph, "--svg", picture)
    assert result.returncode == 0, result.stderr
    assert "level 1:" in result.stdout
    assert picture.read_text().startswith("<svg")
    assert scrapy("tgraph", "show", graph).stdout == result.stdout
    again = scrapy("tgraph", "build", "--topic", "sorting", "--crawl", crawl / "crawl.sqlite", "-o", graph)
    assert again.stdout == result.stdout
    other = tmp_path / "other.toml"
    other.write_text('name = "Birds"\nseeds = ["http://a.example/"]\n')
    result = scrapy("tgraph", "build", "--topic", other, "--crawl", crawl, "-o", graph)
    assert result.returncode == 2
    assert "not 'Birds'" in result.stderr


def test_a_t_graph_of_example_files(tmp_path):
    (tmp_path / "a.html").write_text("<h1>A</h1><p>see <a href='b.html'>b</a></p>")
    (tmp_path / "b.html").write_text("<h1>B</h1><p>nothing")
    (tmp_path / "t.toml").write_text('name = "T"\nexamples = ["b.html"]\ncounterexamples = ["a.html"]\n')
    result = scrapy("tgraph", "build", "--topic", tmp_path / "t.toml", "-o", tmp_path / "t.json")
    assert "1 nodes on 1 levels" in result.stdout, result.stderr
    (tmp_path / "t.toml").write_text('name = "T"\nexamples = ["a.html"]\n')
    result = scrapy("tgraph", "build", "--topic", tmp_path / "t.toml", "-o", tmp_path / "t.json")
    assert result.returncode == 2
    assert "the T-Graph is empty" in result.stderr


def test_wrong_arguments():
    assert scrapy("tgraph").returncode == 2
    assert scrapy("tgraph", "build").returncode == 2
    result = scrapy("tgraph", "show", "nothing.json")
    assert result.returncode == 2
    assert "cannot be read" in result.stderr


def test_a_text_of_any_length_is_a_text():
    for length in (300, 900, 5000):
        result = scrapy("dewey", ("a sorting algorithm " * 300)[:length])
        assert result.returncode == 0, result.stderr
        assert "005" in result.stdout
