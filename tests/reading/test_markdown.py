from __future__ import annotations

import pytest

from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page

TEXT = """---
title: "Sorting, explained"
author: Ada
date: 2026-02-01
lang: en
---
Intro with *emphasis*, snake_case_name and [a link](docs/heap.html "Heaps"), [by name][merge] and [merge].
[![build](badge.png)](http://ci.example/build) a < b & c &amp; d, <https://auto.example/x>, https://bare.example/y.
Escaped \\[not a link\\](x) and `code [nor](this)`.

# Sorting `fast` #

- first [item](one.md)
- second
  goes on

Text after the list.

Quick sort
----------

```python
heap[<x>] = [no](link.html)
```

> quoted [words](quoted.html)

| a | [cell](cell.html) |

![picture of a heap](heap.png)
<p align="center"><a href="raw.html">raw HTML</a></p>

[merge]: http://b.example/merge 'Merge'
"""


def read(text: str, url: str = "http://a.example/r/README.md", content_type: str = "text/markdown") -> Page:
    return read_page(Page(url), text.encode(), content_type)


@pytest.fixture(scope="module")
def page() -> Page:
    return read(TEXT)


def test_links_of_every_kind(page):
    assert [(link.url, link.anchor) for link in page.links] == [
        ("http://a.example/r/docs/heap.html", "a link"),
        ("http://b.example/merge", "by name"),
        ("http://b.example/merge", "merge"),
        ("http://ci.example/build", "build"),
        ("https://auto.example/x", "https://auto.example/x"),
        ("https://bare.example/y", "https://bare.example/y"),
        ("http://a.example/r/one.md", "item"),
        ("http://a.example/r/quoted.html", "words"),
        ("http://a.example/r/cell.html", "cell"),
        ("http://a.example/r/raw.html", "raw HTML"),
    ]


def test_what_the_front_matter_says(page):
    assert (page.title, page.authors, page.published, page.declared_language) == (
        "Sorting, explained",
        ["Ada"],
        "2026-02-01",
        "en",
    )


def test_headings_lists_and_text(page):
    assert [(heading.level, heading.text) for heading in page.headings] == [(1, "Sorting fast"), (2, "Quick sort")]
    assert page.links[6].block == "first item second goes on"
    assert page.links[6].headings == []
    assert "emphasis, snake_case_name" in page.text
    assert "a < b & c & d" in page.text
    assert "[not a link](x) and code [nor](this)" in page.text
    assert "heap[<x>] = [no](link.html)" in page.text
    assert "picture of a heap" in page.text


def test_the_first_heading_is_the_title_if_there_is_no_other():
    assert read("Words\n\n## The *best* [way](x.html)\n").title == "The best way"


@pytest.mark.parametrize(
    ("url", "content_type", "is_markdown"),
    [
        ("http://a.example/README.md", "text/plain", True),
        ("http://a.example/README.md", "", True),
        ("http://a.example/README.md?raw=1", "application/octet-stream", True),
        ("http://a.example/readme", "text/markdown; charset=utf-8", True),
        ("http://a.example/readme.txt", "text/plain", False),
    ],
)
def test_it_is_recognised_by_its_type_or_its_name(url, content_type, is_markdown):
    page = read("# Heading\n\n[link](x.html)", url, content_type)
    assert bool(page.headings) is is_markdown


def test_a_page_about_a_markdown_file_is_html():
    page = read("<!DOCTYPE html><title>README.md</title><h1>Shown</h1>", content_type="text/html")
    assert (page.title, page.main_heading) == ("README.md", "Shown")


def test_html_that_is_declared_as_text_is_html():
    assert read("<html><title>Shown</title><p>x", content_type="text/plain").title == "Shown"


@pytest.mark.parametrize(
    "piece", ["[", "`", "*", "![", "[a](", "- ", "> ", "#", "_a", "<a ", "[a]: b\n", "---\n", "``a`"]
)
def test_no_text_takes_long(piece):
    page = read(piece * (500_000 // len(piece)))
    assert page.problem is None or "without text" in page.problem or "nested" in page.problem


def test_markdown_that_is_off_is_not_read():
    page = read_page(Page("http://a.example/x"), b"# x", "text/markdown", documents=())
    assert page.problem == "not read: a Markdown text and FOCUS_DOCUMENTS is off"
