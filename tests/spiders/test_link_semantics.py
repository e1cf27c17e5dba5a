"""Link semantics: related terms from an ontology file."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.spiders.link_semantics import read_ontology, related_terms
from focuscrawl.strategies import wordnet
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import at
from tests.tiny_wordnet import write_wordnet

ONTOLOGY = """
[sort]
order = 0.8
"bubble sort" = 1.0
[order]
sequence = 0.5
[sequence]
series = 0.5
"""


@pytest.fixture
def ontology(tmp_path):
    path = tmp_path / "ontology.toml"
    path.write_text(ONTOLOGY)
    return path


def test_related_terms_count_by_the_product_of_relations(ontology):
    terms = related_terms({"sorting": 2.0}, read_ontology(ontology), least=0.3)
    assert terms == pytest.approx({"sorting": 2, "order": 1.6, "bubble sort": 2, "sequence": 0.8})
    assert "series" in related_terms({"sorting": 2.0}, read_ontology(ontology), least=0.2)


def test_relations_in_a_circle_end():
    assert related_terms({"a1": 1.0}, {"a1": {"b1": 1.0}, "b1": {"a1": 1.0}}, 0.1) == {"a1": 1.0, "b1": 1.0}


def two_links(*texts):
    """A page with two links, to a and b."""
    web = MemoryWeb()
    body = "".join(f"<p><a href='{at(name)}'>{text}</a></p>" for name, text in zip("ab", texts, strict=True))
    web.add(at("root"), f"<title>x</title>{body}")
    for name in "ab":
        web.add(at(name), "<p>nothing")
    return web


def test_a_link_is_followed_for_a_related_word(crawl, ontology, tmp_path):
    web = two_links("birds", "in order")
    plain, related = (
        crawl("link_semantics", web, tmp_path / name, seeds=at("root"), keywords="sort", **options).urls
        for name, options in (("plain", {}), ("related", {"ontology": ontology}))
    )
    assert plain == [at("root"), at("a"), at("b")]
    assert related == [at("root"), at("b"), at("a")]


@pytest.fixture
def no_wordnet(monkeypatch, tmp_path):
    import nltk.data

    monkeypatch.setattr(nltk.data, "path", [])
    monkeypatch.setattr(wordnet, "DEBIAN", str(tmp_path / "wordnet"))
    monkeypatch.delenv("NLTK_DATA", raising=False)
    return tmp_path / "wordnet"


def test_a_link_is_followed_for_a_synonym_or_a_narrower_term_in_wordnet(crawl, no_wordnet):
    write_wordnet(no_wordnet)
    crawled = crawl(
        "link_semantics", two_links("birds", "about style"), seeds=at("root"), keywords="sort", ontology="wordnet"
    )
    assert crawled.urls == [at("root"), at("b"), at("a")]


def test_wordnet_that_is_not_installed_is_said_before_anything_is_fetched(crawl, no_wordnet, tmp_path):
    with pytest.raises(FocusError, match="WordNet is not installed; install its data with `python -m nltk"):
        crawl("link_semantics", MemoryWeb(), tmp_path / "c", seeds=at("a"), keywords="sort", ontology="wordnet")
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("sort = 1", "must be a table of related terms"),
        ("[sort]\norder = 2", "must be a number from 0 to 1"),
        ("[sort", "not valid TOML"),
        (None, "cannot be read"),
    ],
)
def test_mistakes_in_an_ontology_are_named(tmp_path, content, says):
    if content is not None:
        (tmp_path / "o.toml").write_text(content)
    with pytest.raises(FocusError, match=says):
        read_ontology(tmp_path / "o.toml")


def test_weights_above_one_together_are_refused(crawl):
    with pytest.raises(FocusError, match="expected a sum of at most 1"):
        crawl("link_semantics", MemoryWeb(), seeds=at("a"), keywords="sort", anchors=0.8, urls=0.3)
