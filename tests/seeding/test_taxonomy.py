"""A topic from a node of a web directory: RDF, a table, or a folder of folders."""

from __future__ import annotations

import gzip
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from focuscrawl.errors import FocusError
from focuscrawl.seeding import taxonomy
from focuscrawl.seeding.taxonomy import read_node
from focuscrawl.topic import load_topic
from tests.conftest import at, scrapy
from tests.lessons import ENGINE, GARDEN, gardens, lessons_web

NODE = "Top/Home/Gardens"

TABLE = """\
category\turl\ttitle\tdescription
Top/Home/Gardens\thttp://a.example/1\tRoses\tHow to prune roses
Top/Home/Gardens/Soil\thttp://a.example/2\tSoil\tCompost and soil
# a comment

Top/Home/Gardens\tftp://a.example/3\tOld\tnot on the web
Top/Home/Gardens_and_more\thttp://c.example/1\tOther\tA sibling whose name begins alike
Top/Home/Engines\thttp://b.example/1\tPistons\tPistons
Top/Home/Engines/Diesel\thttp://b.example/2\tDiesel
Top/Home/Engines\thttp://www.a.example/1\tRoses again\tlisted twice
Top/Home\thttp://d.example/\tHome\tthe parent's own page
Top/Sports/Golf\thttp://e.example/\tGolf\tnot beside it
"""

RDF = """\
<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
  <Topic r:id="Top/Home/Gardens">
    <catid>2</catid>
    <d:Description>Growing &lt;b&gt;flowers&lt;/b&gt; &amp; herbs.</d:Description>
    <link r:resource="http://a.example/1"></link>
  </Topic>
  <ExternalPage about="http://a.example/1">
    <d:Title>Roses</d:Title><d:Description>How to prune</d:Description><topic>Top/Home/Gardens</topic>
  </ExternalPage>
  <ExternalPage about="http://a.example/2"><d:Title>Soil \x02 &amp; lime</d:Title><topic>Top/Home/Gardens/Soil</topic>
  </ExternalPage>
  <ExternalPage about="http://b.example/1"><topic>Top/Home/Engines</topic></ExternalPage>
  <ExternalPage about="http://e.example/"><topic>Top/Sports/Golf</topic></ExternalPage>
</RDF>
"""


def written(tmp_path, name: str, text: str):
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("name", ["dump.tsv", "dump.tsv.gz"])
def test_a_table_has_a_line_per_page(tmp_path, name):
    node = read_node(written(tmp_path, name, TABLE), NODE)
    assert sorted(node.pages) == ["http://a.example/1", "http://a.example/2"]
    # of each sibling in turn, without what is below the node as well
    assert set(node.others[:2]) >= {"http://c.example/1"}
    assert sorted(node.others) == ["http://b.example/1", "http://b.example/2", "http://c.example/1"]
    assert node.skipped == 1
    assert "How to prune roses" in node.description


@pytest.mark.parametrize("name", ["content.rdf.u8", "content.rdf.u8.gz"])
def test_a_dump_of_dmoz_may_have_control_characters(tmp_path, name):
    node = read_node(written(tmp_path, name, RDF), f"/{NODE}/")
    assert sorted(node.pages) == ["http://a.example/1", "http://a.example/2"]
    assert node.others == ["http://b.example/1"]
    assert node.description == "Growing flowers & herbs."


def test_without_a_description_of_its_own_a_node_is_described_by_its_pages(tmp_path):
    text = RDF.replace("<d:Description>Growing &lt;b&gt;flowers&lt;/b&gt; &amp; herbs.</d:Description>", "")
    node = read_node(written(tmp_path, "x.rdf", text), NODE)
    assert "Roses How to prune" in node.description


def test_from_many_pages_the_same_are_drawn_every_time(tmp_path, monkeypatch):
    monkeypatch.setattr(taxonomy, "MOST", 5)
    lines = [f"Top/{kind}\thttp://{kind}.example/{number}" for kind in ("a", "b", "c") for number in range(50)]
    path = written(tmp_path, "x.tsv", "\n".join(lines))
    node = read_node(path, "Top/a")
    assert len(node.pages) == 5
    assert len(node.others) == 10
    assert {url.split("/")[2] for url in node.others[:2]} == {"b.example", "c.example"}
    assert node == read_node(path, "Top/a")
    assert node.pages != [f"http://a.example/{number}" for number in range(5)]


@pytest.mark.parametrize(
    ("name", "text", "node", "says"),
    [
        ("x.tsv", TABLE, "Top/Home/Garden", "node 'Top/Home/Garden' has no pages; did you mean 'Top/Home/Gardens"),
        ("x.tsv", TABLE, "Top/Sports/Golf", "no siblings with pages"),
        ("x.tsv", TABLE, "Top/../Golf", "expected the path of a node"),
        ("x.tsv", TABLE, " ", "expected the path of a node"),
        ("x.tsv", "Top/a http://a.example/", "Top/a", "line 1: no tab in it"),
        ("x.tsv", "Top/a\t" + "x" * (1 << 20), "Top/a", "line 1: longer than 1,048,576 bytes"),
        ("x.csv", TABLE, NODE, "expected a folder, or a file that ends in .tsv"),
        ("x.rdf", "no XML", NODE, "no <ExternalPage> in it"),
        ("x.rdf", "", NODE, "not valid XML"),
        ("x.tsv.gz", "", NODE, "has no pages"),
    ],
)
def test_what_cannot_be_used_is_told_in_one_line(tmp_path, name, text, node, says):
    with pytest.raises(FocusError) as caught:
        read_node(written(tmp_path, name, text), node)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_missing_or_damaged_is_named(tmp_path):
    with pytest.raises(FocusError, match="no such file or folder"):
        read_node(tmp_path / "x.tsv", NODE)
    (tmp_path / "y.tsv.gz").write_bytes(b"not gzip")
    with pytest.raises(FocusError, match=r"y.tsv.gz: cannot be read"):
        read_node(tmp_path / "y.tsv.gz", NODE)
    (tmp_path / "z.rdf.gz").write_bytes(gzip.compress(RDF.encode())[:200])
    with pytest.raises(FocusError, match=r"z.rdf.gz: cannot be read"):
        read_node(tmp_path / "z.rdf.gz", NODE)


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE RDF [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>',
        '<!DOCTYPE RDF [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE RDF SYSTEM "http://127.0.0.1:1/x.dtd">',
    ],
)
def test_no_entity_is_expanded_and_nothing_is_fetched(tmp_path, declared):
    text = RDF.replace("<RDF", f"{declared}<RDF", 1).replace("Roses", "&a;&b;")
    with pytest.raises(FocusError, match="has a document type declaration"):
        read_node(written(tmp_path, "x.rdf", text), NODE)


def test_entities_that_are_not_declared_are_left_out(tmp_path):
    node = read_node(written(tmp_path, "x.rdf", RDF.replace("Roses", "Roses &nbsp;&a;")), NODE)
    assert len(node.pages) == 2


_LINES = st.lists(
    st.tuples(
        st.sampled_from(["Top/a", "Top/b/c", "Top", "", "/", "Top/a/\x00"]),
        st.sampled_from(["http://a.example/", "http://[", "http://" + "a" * 3000, "://", "ftp://a/", "x.pdf"]),
    )
)


@given(
    st.sampled_from([".tsv", ".rdf", ".tsv.gz", ".rdf.u8.gz"]),
    st.binary() | _LINES.map(lambda lines: "\n".join(map("\t".join, lines)).encode()),
    st.booleans(),
)
def test_any_file_is_a_taxonomy_or_refused_in_one_line(tmp_path_factory, ending, content, packed):
    path = tmp_path_factory.getbasetemp() / f"x{ending}"
    path.write_bytes(gzip.compress(content) if packed else content)
    try:
        node = read_node(path, "Top/a")
    except FocusError as refusal:
        message = str(refusal)
        assert message.startswith(f"taxonomy {path}")
        assert len(message.splitlines()) == 1
    else:
        assert node.pages == ["http://a.example/"]


# ---- the command


def test_a_topic_file_from_a_dump(tmp_path):
    lines = [f"Top/{kind}\thttp://{kind}.example/{number}\t{kind} page" for kind in ("a", "b") for number in range(50)]
    path = written(tmp_path, "x.tsv", "\n".join([*lines, "Top/a\tmailto://x"]))
    output = tmp_path / "a.toml"
    result = scrapy("seeds", "--taxonomy", path, "--node", "Top/a", "--output", output)
    assert result.returncode == 0, result.stderr
    assert "1 entries without a usable URL were left out" in result.stderr
    assert "10 seeds, 25 examples, 50 counterexamples, 25 targets" in result.stdout
    topic = load_topic(str(output))
    assert (topic.name, topic.keywords) == ("a", {"a": 1.0})
    assert topic.description.startswith("a page a page")
    assert topic.seeds == topic.examples[:10]
    assert not set(topic.targets) & set(topic.examples)
    assert len({*topic.targets, *topic.examples}) == 50
    again = scrapy("seeds", "--taxonomy", path, "--node", "Top/a", "--output", output)
    assert again.returncode == 2
    assert "already exists" in again.stderr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--node", "x"], "add --taxonomy FILE"),
        (["--taxonomy", "x"], "add --node NODE"),
        (["--taxonomy", "x", "--node", "y", "--list", "z"], "not both"),
    ],
)
def test_options_that_do_not_fit_are_told(options, says):
    result = scrapy("seeds", *options)
    assert result.returncode == 2
    assert says in result.stderr


def test_a_crawl_learns_from_a_folder_of_folders(tmp_path, crawl):
    """The siblings of the node are what the topic is not."""
    root = tmp_path / "directory"
    for kind, words in (("Gardens", GARDEN), ("Engines", ENGINE)):
        for place in range(8):
            page = root / "Home" / kind / ("Old [1]" if place % 2 else "") / f"{place}.html"
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(f"<p>{' '.join(words[place % 4 :])}</p>")
    (root / "Home" / "Gardens" / "description.txt").write_text("all about gardens")
    (root / "Home" / "Gardens" / ".hidden.html").write_text("<p>piston")
    output = tmp_path / "gardens.toml"
    result = scrapy("seeds", "--taxonomy", root, "--node", "Home/Gardens", "--output", output)
    assert result.returncode == 0, result.stderr
    assert "0 seeds, 8 examples, 8 counterexamples. Crawl it with" in result.stdout
    assert shlex.split(result.stdout.splitlines()[-1])[:3] == ["scrapy", "crawl", "baseline"]
    assert "-a seeds=" in result.stdout
    assert '"directory/Home/Gardens/' in output.read_text()
    topic = load_topic(str(output))
    assert topic.description == "all about gardens"
    assert {path.parent.parent.name for path in topic.counterexamples} <= {"Home", "Engines"}
    crawled = crawl("baseline", lessons_web(), tmp_path / "c", topic=output, seeds=at("w/seed"), max_pages=50)
    assert crawled.matched
    assert all("garden" in url for url in crawled.matched)
    assert gardens(crawled.urls) == len(crawled.matched)


def test_a_folder_without_the_node_is_told(tmp_path):
    (tmp_path / "Engines").mkdir()
    (tmp_path / "Engines" / "1.html").write_text("x")
    (tmp_path / "index.html").write_text("a page of no node")
    with pytest.raises(FocusError, match="nodes beside it: Engines"):
        read_node(tmp_path, "Gardens")
