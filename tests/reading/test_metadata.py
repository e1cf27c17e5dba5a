"""What a page says of itself: authors, dates, site name, description, kind."""

from __future__ import annotations

import json
from time import process_time

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reading.metadata import MAX_AUTHORS, MAX_DESCRIPTION, MAX_NAME, author_names

URL = "http://news.example/2021/glass"


def read(html: str, url: str = URL) -> Page:
    return read_html(Page(url), html.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8")


def ld(*blocks: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(block)}</script>' for block in blocks)


def said(html: str, url: str = URL) -> dict[str, object]:
    """What is known of a page, without what is empty."""
    page = read(html, url)
    fields = ("authors", "published", "modified", "site_name", "description", "kind")
    return {name: value for name in fields if (value := getattr(page, name))}


ARTICLE = {
    "@context": "https://schema.org",
    "@type": "NewsArticle",
    "headline": "Glass",
    "author": {"@type": "Person", "name": "Jane Doe"},
    "datePublished": "2021-03-04T10:30:00+01:00",
    "dateModified": "2021-03-05T08:00:00Z",
}


# ---- one source at a time


def test_json_ld_of_an_article():
    assert said(ld(ARTICLE)) == {
        "authors": ["Jane Doe"],
        "published": "2021-03-04T10:30:00+01:00",
        "modified": "2021-03-05T08:00:00+00:00",
        "kind": "NewsArticle",
    }


def test_json_ld_with_a_graph_and_references():
    graph = [
        {"@type": "WebSite", "@id": "http://news.example/#site", "name": "The News"},
        {"@type": "WebPage", "@id": URL, "description": "All about glass", "dateModified": "2021-03-06"},
        {"@type": ["Article", "BlogPosting"], "author": {"@id": "#jane"}, "datePublished": "2021-03-04",
         "publisher": {"@id": "#org"}},
        {"@type": "Person", "@id": "#jane", "name": "Jane Doe"},
        {"@type": "Organization", "@id": "#org", "name": "News Ltd."},
        {"@type": "BreadcrumbList", "itemListElement": [{"@type": "ListItem", "name": "Home"}]},
    ]  # fmt: skip
    assert said(ld({"@context": "https://schema.org", "@graph": graph})) == {
        "authors": ["Jane Doe"],
        "published": "2021-03-04",
        "modified": "2021-03-06",
        "site_name": "The News",
        "description": "All about glass",
        "kind": "Article",
    }


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ("Jane Doe", ["Jane Doe"]),
        ("Jane Doe and John Smith", ["Jane Doe", "John Smith"]),
        (["Jane Doe", {"name": "John Smith"}, None, 3.5, [], {}], ["Jane Doe", "John Smith"]),
        ({"name": ["Jane Doe", "John Smith"]}, ["Jane Doe", "John Smith"]),
        ({"@type": "Person", "givenName": "Jane", "familyName": "Doe"}, ["Jane Doe"]),
        ({"@type": "Organization", "name": "Department of Glass and Sand"}, ["Department of Glass and Sand"]),
        ({"name": {"@value": "Jane Doe", "@language": "en"}}, ["Jane Doe"]),
        ({"name": "Jane &amp; Sons"}, ["Jane & Sons"]),
        ({"@id": "#nowhere"}, []),
        ({"url": "http://news.example/jane"}, []),
        ("http://news.example/jane", []),
        ("admin", []),
        ("@jane", []),
        (True, []),
    ],
)
def test_authors_in_json_ld_take_many_forms(author, names):
    assert read(ld(ARTICLE | {"author": author})).authors == names


def test_a_creator_is_an_author_and_an_upload_a_publication():
    video = {"@type": "VideoObject", "creator": {"name": "Jane Doe"}, "uploadDate": "2021-03-04"}
    assert said(ld(video)) == {"authors": ["Jane Doe"], "published": "2021-03-04", "kind": "VideoObject"}


def test_of_several_articles_the_one_with_the_pages_url_counts():
    others = [ARTICLE | {"url": f"http://news.example/{name}", "author": name} for name in ("first", "second")]
    own = ARTICLE | {"mainEntityOfPage": {"@id": "https://www.news.example/2021/glass#main"}, "author": "Own Name"}
    assert read(ld(*others, own)).authors == ["Own Name"]
    canonical = "<link rel=canonical href=/second>"
    assert read(canonical + ld(*others)).authors == ["second"]
    assert said(ld(*others)) == {}


def test_what_json_ld_says_of_other_things_is_not_the_pages():
    comment = {"@type": "Comment", "author": "Somebody Else", "datePublished": "2022-01-01"}
    listing = {"@type": "ItemList", "itemListElement": [{"@type": "ListItem", "item": ARTICLE}]}
    event = {"@type": "Event", "name": "Fair", "startDate": "2021-03-04", "author": "Somebody Else"}
    assert said(ld(comment, listing, event)) == {}
    assert read(ld(ARTICLE | {"comment": [comment], "isPartOf": listing})).authors == ["Jane Doe"]


def test_the_main_entity_of_a_page_is_read():
    page = {"@type": "WebPage", "mainEntity": ARTICLE | {"@type": "http://schema.org/TechArticle"}}
    assert said(ld(page))["kind"] == "TechArticle"


@pytest.mark.parametrize(
    "around", ["//<![CDATA[\n{}\n//]]>", "<!--{}-->", "/*<![CDATA[*/{}/*]]>*/", "{};", "\n\t {} \n", "<![CDATA[{}]]>"]
)
def test_json_ld_wrapped_as_scripts_once_were(around):
    wrapped = around.replace("{}", json.dumps(ARTICLE))
    assert read(f'<script type="application/ld+json">{wrapped}</script>').authors == ["Jane Doe"]


def test_json_ld_with_raw_line_breaks_in_texts():
    assert read('<script type="application/ld+json">{"@type":"Article","author":"Jane\nDoe"}</script>').authors == ["Jane Doe"]  # fmt: skip


def test_open_graph():
    head = """
    <meta property="og:type" content="article"><meta property="og:site_name" content="The News">
    <meta property="og:description" content="All about glass">
    <meta property="article:author" content="https://facebook.example/jane">
    <meta property="article:author" content="Jane Doe">
    <meta property="article:published_time" content="2021-03-04T10:30:00Z">
    <meta property="article:modified_time" content="2021-03-05T10:30:00Z">"""
    assert said(head) == {
        "authors": ["Jane Doe"],
        "published": "2021-03-04T10:30:00+00:00",
        "modified": "2021-03-05T10:30:00+00:00",
        "site_name": "The News",
        "description": "All about glass",
        "kind": "article",
    }


def test_a_scholarly_page():
    head = """
    <meta name="citation_author" content="Doe, Jane"><meta name="citation_author" content="Smith, John A.">
    <meta name="citation_publication_date" content="2021/03/04"><meta name="citation_year" content="2020">
    <meta name="DC.creator" content="The Publisher's System"><meta name="dc.Date" content="2022-01-01">"""
    assert said(head) == {"authors": ["Doe, Jane", "Smith, John A."], "published": "2021-03-04"}


def test_dublin_core():
    head = """
    <meta name="DCTERMS.creator" content="Jane Doe"><meta name="dcterms.issued" content="2021-03">
    <meta name="dcterms.modified" content="2021-04-01"><meta name="DC.publisher" content="The Library">
    <meta name="DC.description" content="All about glass">"""
    assert said(head) == {
        "authors": ["Jane Doe"],
        "published": "2021-03",
        "modified": "2021-04-01",
        "site_name": "The Library",
        "description": "All about glass",
    }


def test_plain_meta_tags():
    head = '<meta name="Author" content=" Jane  Doe "><meta name=date content=2021-03-04><meta name=description content="x  y">'
    assert said(head) == {"authors": ["Jane Doe"], "published": "2021-03-04", "description": "x y"}


def test_microdata():
    html = """
    <div itemscope itemtype="https://schema.org/BlogPosting">
      <span itemprop="author" itemscope itemtype="https://schema.org/Person">
        Written by <a href="/jane"><span itemprop="name">Jane Doe</span></a>, glazier</span>
      <span itemprop="author">John Smith</span>
      <time itemprop="datePublished" datetime="2021-03-04T10:30:00Z">yesterday</time>
      <meta itemprop="dateModified" content="2021-03-05">
      <div itemprop="publisher" itemscope><span itemprop="name">News Ltd.</span></div>
      <div itemprop="comment" itemscope><span itemprop="author">Somebody Else</span>
        <time itemprop="datePublished" datetime="2022-01-01"></time></div>
      <p>Text
    </div>"""
    assert said(html) == {
        "authors": ["Jane Doe", "John Smith"],
        "published": "2021-03-04T10:30:00+00:00",
        "modified": "2021-03-05",
    }


def test_rdfa():
    html = """
    <article vocab="http://schema.org/" typeof="Article"><h1 property="headline">Glass</h1>
      <span property="schema:author" typeof="Person"><b property="name">Jane Doe</b></span>
      <span property="datePublished" content="2021-03-04">March</span></article>"""
    assert said(html) == {"authors": ["Jane Doe"], "published": "2021-03-04"}


def test_a_link_to_the_author_a_byline_and_a_time():
    assert said('<p>By <a rel="author" href=/jane>Jane Doe</a><time datetime="2021-03-04">x</time>') == {
        "authors": ["Jane Doe"],
        "published": "2021-03-04",
    }
    assert said('<p class="post byline">By Jane Doe &amp; John Smith</p><p>text') == {
        "authors": ["Jane Doe", "John Smith"]
    }
    assert said('<span class="author vcard">Von Hans Müller</span>') == {"authors": ["Hans Müller"]}


def test_dates_in_classes():
    html = '<p class=byline>x</p><abbr class="published" title="2021-03-04T10:30:00Z">x</abbr><i class=updated>5 March 2021</i>'
    assert (read(html).published, read(html).modified) == ("2021-03-04T10:30:00+00:00", "2021-03-05")


def test_a_date_of_both_versions_is_that_of_the_first():
    html = '<time class="entry-date published updated" datetime="2021-03-04T10:30:00+01:00">4 March</time>'
    assert said(html) == {"published": "2021-03-04T10:30:00+01:00"}


def test_a_time_is_no_author():
    html = '<time class="author" datetime="2021-03-04T10:30:00Z">x</time>'
    assert said(html) == said(f"{html}<p class=byline>") == {"published": "2021-03-04T10:30:00+00:00"}


# ---- which one to believe


def test_the_most_trusted_source_that_says_something_valid_wins():
    sources = [
        ('<time datetime="2021-01-08"></time>', "2021-01-08"),
        ('<time class="dt-published" datetime="2021-01-07">x</time>', "2021-01-07"),
        ("<meta name=date content=2021-01-06>", "2021-01-06"),
        ('<meta name=dc.date content="2021-01-05">', "2021-01-05"),
        ('<meta itemprop=datePublished content="2021-01-04">', "2021-01-04"),
        ('<meta property="article:published_time" content="2021-01-03">', "2021-01-03"),
        ('<meta name=citation_date content="2021-01-02">', "2021-01-02"),
        (ld(ARTICLE | {"datePublished": "2021-01-01"}), "2021-01-01"),
    ]
    html = ""
    for source, date in sources:
        html += source
        assert read(html).published == date
    wrong = ld(ARTICLE | {"datePublished": "0000-00-00"}) + "<meta name=citation_date content=soon>"
    assert read(wrong + sources[5][0]).published == "2021-01-03"


def test_a_list_of_articles_has_no_author_and_no_date_of_its_own():
    entries = "".join(
        f'<article class="hentry"><a rel=author href=/>Author {number}0</a><time datetime="2021-03-0{number}">x</time>'
        f'<span itemprop=author>Author {number}</span><meta itemprop=datePublished content="2021-03-0{number}"></article>'
        for number in range(1, 5)
    )
    assert said(entries) == {}


def test_equal_dates_agree_and_the_most_precise_is_kept():
    html = '<time datetime="2021-03-04">x</time><time datetime="2021-03-04T10:30:00Z">x</time>'
    assert read(html).published == "2021-03-04T10:30:00+00:00"
    assert read(html + '<time datetime="2021-03-04T10:31:00Z">x</time>').published == "2021-03-04"
    assert read(html + '<time datetime="2021-03-05">x</time>').published is None


def test_a_change_before_the_publication_is_dropped():
    assert said(ld({"@type": "Article", "datePublished": "2021-03-04", "dateModified": "2021-03-01"})) == {
        "published": "2021-03-04",
        "kind": "Article",
    }


def test_the_description_for_search_engines_comes_before_that_for_previews():
    assert read("<meta property=og:description content=b><meta name=description content=a>").description == "a"
    assert read("<meta name=description content=''><meta property=og:description content=b>").description == "b"


def test_the_language_of_the_page_settles_a_date():
    for language, date in (("en-US", "2021-03-04"), ("fr", "2021-04-03"), ("en", None)):
        assert read(f"<html lang={language}><meta name=date content=03/04/2021>").published == date


def test_a_page_that_says_nothing_has_no_metadata():
    assert said("<title>x</title><p>An author wrote this at some <b>time</b>.") == {}
    assert said("<template><meta name=x><span class=author>Jane Doe</span></template><p>byline") == {}


# ---- names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("By Jane Doe", ["Jane Doe"]),
        ("Author: Jane Doe", ["Jane Doe"]),
        ("Jane Doe, John Smith", ["Jane Doe", "John Smith"]),
        ("Jane Doe, John Smith and Ann Lee", ["Jane Doe", "John Smith", "Ann Lee"]),
        ("Jane Doe; John Smith", ["Jane Doe", "John Smith"]),
        ("Doe, Jane; Smith, John", ["Doe, Jane", "Smith, John"]),
        ("Doe, Jane", ["Doe, Jane"]),
        ("Johnson & Johnson", ["Johnson & Johnson"]),
        ("jane@news.example (Jane Doe)", ["Jane Doe"]),
        ("Byron", ["Byron"]),
        ("山田太郎", ["山田太郎"]),
        ("Administrator", []),
        ("www.news.example", []),
        ("https://news.example/jane", []),
        ("---", []),
        ("", []),
    ],
)
def test_names_of_authors(text, names):
    assert author_names(text) == names


# ---- hostile pages


def timed(html: str) -> Page:
    began = process_time()
    page = read(html)
    assert process_time() - began < 5
    return page


@pytest.mark.parametrize(
    "block",
    [
        '{"@type":"Article","author":"Jane Doe","x":[' + "[],"*3_300_000 + "[]]}",
        "[" * 5_000_000,
        '{"a":' * 1_000_000 + "1" + "}" * 1_000_000,
        json.dumps([{"@type": "Article", "author": "x y"}] * 100_000),
        json.dumps({"@type": "Article", "author": ["Jane Doe"] * 500_000}),
        json.dumps({"@graph": [[[{"@type": "Article"}]]] * 10_000}),
        '{"@type":"Article","datePublished":' + "9" * 10_000 + "}",
        '{"@type":{"@type":[]},"@id":[],"author":{"@id":{}},"@graph":"x","mainEntityOfPage":7}',
        "null", "7", '"text"', "[]", "", "{", "\x00", "NaN",
    ],
    ids=range(16),
)  # fmt: skip
def test_any_json_ld_is_read_in_bounded_time(block):
    assert timed(f'<script type="application/ld+json">{block}</script><p>text').text == "text"


def test_a_million_meta_tags_are_read_in_bounded_time_and_space():
    page = timed("<meta name=author content='Jane Doe'>" * 300_000 + "<p>text")
    assert page.authors == ["Jane Doe"]
    page = timed("".join(f"<meta name=author content='Jane Doe{n}'>" for n in range(100_000)))
    assert len(page.authors) == MAX_AUTHORS


@pytest.mark.parametrize(
    "piece",
    [
        "<span class=author>",
        "<time>",
        "<span itemprop=author itemscope>",
        "<b itemprop=name>",
        "<i itemprop=comment itemscope>",
    ],
)
def test_marks_without_end_are_read_in_bounded_time(piece):
    timed(piece * 50_000)
    timed(f"{piece}x</span>" * 50_000)


def test_texts_are_bounded_and_free_of_control_characters():
    long = "x" * 100_000
    page = read(
        f"<meta name=description content='{long}'><meta property=og:site_name content='{long}'>"
        + ld(ARTICLE | {"author": {"name": "Jane\x00\x1b[2J \u202eDoe\ud800"}, "description": "y"})
    )
    assert page.authors == ["Jane [2J Doe"]
    assert len(page.description) == MAX_DESCRIPTION
    assert len(page.site_name) == MAX_NAME
    "".join((*page.authors, page.description, page.site_name)).encode("utf-8")


def test_licences_are_still_found_in_the_same_data():
    page = read(ld(ARTICLE | {"image": {"license": "http://licence.example/"}}))
    assert (page.rights.licences, page.authors) == (["http://licence.example/"], ["Jane Doe"])
