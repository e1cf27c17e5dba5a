"""Documents over real HTTP on loopback, with the command line: found, followed, explained; a bomb costs its own page."""

from __future__ import annotations

import pytest

from tests import pdfs
from tests.conftest import Crawled, scrapy
from tests.hosts import MISSING, Answer, page, serving


def answers(port_of) -> dict[str, Answer]:
    """The pages by path; the links of a PDF need the port of the server."""
    paper = pdfs.paper(
        "Heap sort", "We sort with a heap.", links=(("more", f"http://127.0.0.1:{port_of()}/deep.html"),)
    )
    return {
        "/": page("/paper.pdf", "/bomb.pdf", "/locked.pdf", "/photo.jpg", "/next.html", text="sort"),
        "/paper.pdf": (200, {"Content-Type": "application/pdf"}, paper),
        "/bomb.pdf": (200, {"Content-Type": "application/pdf"}, pdfs.BOMBS["doubling-forms"]()),
        "/locked.pdf": (200, {"Content-Type": "application/pdf"}, dict(pdfs.unreadable())["password-RC4"].body),
        "/deep.html": page(text="sort deeper"),
        "/next.html": page(text="sort"),
    }


@pytest.fixture
def crawled(tmp_path):
    """A crawl of these pages, with settings of its own."""

    def run(*options: str):
        known: dict[str, Answer] = {}
        with serving(lambda name, path: known.get(path, MISSING)) as server:
            known.update(answers(lambda: server.server_port))
            result = scrapy(
                *("crawl", "keyword", "-a", f"seeds={server.at('127.0.0.1')}", "-a", "keywords=sort"),
                *("-s", f"FOCUS_DIR={tmp_path / 'c'}", *options),
                timeout=300,
            )
            assert result.returncode == 0, result.stderr
            assert "Traceback" not in result.stderr, result.stderr

            def explain(path: str) -> str:
                return scrapy("explain", tmp_path / "c", server.at("127.0.0.1", path)).stdout

            return Crawled(tmp_path / "c"), explain

    return run


def test_relevant_pdfs_are_found_and_their_links_followed(crawled):
    result, explain = crawled()
    paths = {url.partition("/")[2].partition("/")[2].partition("/")[2]: url for url in result.matched}
    assert {"paper.pdf", "deep.html", "next.html"} <= set(paths)
    titles = {line["title"] for line in result.pages}
    assert "Heap sort" in titles
    assert "unreadable PDF: it takes too much time or memory" in explain("/bomb.pdf")
    assert "unreadable PDF: it needs a password" in explain("/locked.pdf")
    assert "[more]" in explain("/deep.html")
    assert "not fetched: an image, which is never read" in explain("/photo.jpg")


def test_pdfs_that_are_off_are_explained(crawled):
    result, explain = crawled("-s", "FOCUS_DOCUMENTS=off")
    assert not [url for url in result.urls if url.endswith(".pdf")]
    said = explain("/paper.pdf")
    assert "linked from http://127.0.0.1" in said
    assert said.rstrip().endswith("not fetched: a PDF and FOCUS_DOCUMENTS is off")
