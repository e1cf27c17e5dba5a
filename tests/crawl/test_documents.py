"""Documents in a crawl: found, judged, followed, searched, visited again, and explained if they are not read."""

from __future__ import annotations

import threading

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.reading import pdf
from focuscrawl.reports.explain import explain
from focuscrawl.reports.report import crawl_report
from focuscrawl.search.index import Index
from focuscrawl.search.query import Query
from focuscrawl.store.store import Store
from focuscrawl.web.webs import MemoryWeb
from tests import pdfs
from tests.conftest import at, small_web
from tests.reading.test_word import docx, paragraph


def web_of_documents() -> MemoryWeb:
    """A page that links to documents of all kinds; each links on to a page of its own."""
    web = small_web(
        {name: [] for name in ("b/pdf", "b/word", "b/md", "b/txt", "b/feed")}, dict.fromkeys(["b/pdf"], "sort")
    )
    files = {
        "a/paper.pdf": ("application/pdf", pdfs.paper("Heap sort", "We sort.", links=(("a page", at("b/pdf")),))),
        "a/letter.docx": ("application/octet-stream", docx(paragraph(f"We sort, see {at('b/word')} too."))),
        "a/notes.md": ("text/plain", f"# We sort\n\n[a page]({at('b/md')})".encode()),
        "a/notes.txt": ("text/plain", f"We sort, see {at('b/txt')}".encode()),
        "a/news": (
            "application/rss+xml",
            f"<rss><channel><title>We sort</title><item><title>x</title><link>{at('b/feed')}</link></item></channel></rss>".encode(),
        ),
        "a/picture": ("image/png", b"\x89PNG"),
    }
    links = [*files, "a/data.zip", "a/photo.jpg"]
    web.add(at("a"), "<title>a</title><p>sort" + "".join(f'<p><a href="{at(name)}">to {name}</a>' for name in links))
    for name, (content_type, body) in files.items():
        web.add(at(name), body, content_type=content_type)
    return web


@pytest.fixture
def crawled(crawl):
    return crawl("keyword", web_of_documents(), seeds=at("a"), keywords="sort")


def told(crawled, url: str) -> str:
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    try:
        return "\n".join(explain(store, at(url)))
    finally:
        store.close()


def test_documents_match_and_their_links_are_followed(crawled):
    assert {*crawled.matched} == {
        at(name) for name in ("a", "a/paper.pdf", "a/letter.docx", "a/notes.md", "a/notes.txt", "b/pdf")
    }
    assert {at(f"b/{name}") for name in ("pdf", "word", "md", "txt", "feed")} <= {*crawled.urls}
    assert crawled.stats["focus/pdfs"] == 1


def test_the_bytes_of_a_document_are_stored_as_they_came(crawl):
    web = web_of_documents()
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert store.pages.body(at("a/paper.pdf")) == web.get(at("a/paper.pdf")).body
    store.close()


def test_files_that_are_not_read_are_explained(crawled):
    text = told(crawled, "a/data.zip")
    assert "[to a/data.zip]" in text
    assert text.endswith(f"linked from {at('a')}, not fetched: an archive, which is never read")
    assert "seed" in text
    assert at("a/data.zip") not in crawled.urls


def test_a_response_that_is_not_read_is_explained_in_the_same_words(crawled):
    assert told(crawled, "a/picture").endswith("not read: an image, which is never read")


@pytest.mark.parametrize(
    ("setting", "why"),
    [("off", "a PDF and FOCUS_DOCUMENTS is off"), ("text,word", "a PDF and FOCUS_DOCUMENTS has no pdf")],
)
def test_documents_that_are_off_are_not_fetched_and_explained(crawl, setting, why):
    crawled = crawl(
        "keyword", web_of_documents(), settings={"FOCUS_DOCUMENTS": setting}, seeds=at("a"), keywords="sort"
    )
    assert at("a/paper.pdf") not in crawled.urls
    assert told(crawled, "a/paper.pdf").endswith(f"linked from {at('a')}, not fetched: {why}")


def test_what_is_unknown_is_still_said_to_be(crawled):
    with pytest.raises(FocusError, match="no fetched page links to it"):
        told(crawled, "a/never.pdf")


def test_documents_that_are_turned_on_later_are_fetched(crawl):
    web = web_of_documents()
    crawl("keyword", web, settings={"FOCUS_DOCUMENTS": "off"}, seeds=at("a"), keywords="sort")
    crawled = crawl("keyword", web, settings={"FOCUS_DOCUMENTS": "pdf"}, seeds=at("a"), keywords="sort")
    assert at("a/paper.pdf") in crawled.matched
    assert at("b/pdf") in crawled.matched
    text = told(crawled, "a/paper.pdf")
    assert "[to a/paper.pdf]" in text
    assert "relevance of its page 1" in text
    assert crawled.sql("SELECT type FROM unread WHERE url = ?", at("a/letter.docx")) == [("word-processor file",)]


@pytest.mark.parametrize(
    ("page", "settings"),
    [
        ("<meta name=robots content=nofollow>sort", {}),
        ("nothing", {}),
        ("sort", {"DEPTH_LIMIT": 0, "FOCUS_NOFOLLOW": True}),
    ],
)
def test_what_a_rule_or_the_topic_speaks_against_is_not_fetched_later(crawl, page, settings):
    web = small_web({"a": ["b"]}, {"a": "sort"})
    web.add(at("b"), f"{page} <a href=x.pdf>x</a>")
    crawl("keyword", web, settings={"FOCUS_DOCUMENTS": "off", **settings}, seeds=at("a"), keywords="sort")
    crawled = crawl("keyword", web, settings=settings, seeds=at("a"), keywords="sort")
    assert at("b/x.pdf") not in crawled.urls


def test_the_depth_limit_holds_for_what_is_fetched_later(crawl):
    web = small_web({"a": ["b"]}, {"a": "sort"})
    web.add(at("b"), "sort <a href=x.pdf>x</a>")
    limit = {"DEPTH_LIMIT": 1}
    crawl("keyword", web, settings={"FOCUS_DOCUMENTS": "off", **limit}, seeds=at("a"), keywords="sort")
    assert at("b/x.pdf") not in crawl("keyword", web, settings=limit, seeds=at("a"), keywords="sort").urls
    assert at("b/x.pdf") in crawl("keyword", web, seeds=at("a"), keywords="sort").urls


def test_a_crawl_of_an_older_version_gets_the_table(crawl):
    web = small_web({"a": ["b"], "b": []}, {"a": "sort"})
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    store.execute("DROP TABLE unread")
    store.close()
    with pytest.raises(FocusError, match="unknown"):
        told(crawled, "a/x.pdf")
    again = crawl("keyword", web, seeds=at("a"), keywords="sort")
    assert again.sql("SELECT count(*) FROM unread") == [(0,)]


def test_rows_that_no_crawl_wrote_are_not_requested(crawl):
    web = web_of_documents()
    off = {"FOCUS_DOCUMENTS": "off"}
    crawled = crawl("keyword", web, settings=off, seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    with store.transaction():
        store.execute("UPDATE unread SET url = 'file:///etc/passwd' WHERE type = 'PDF'")
        store.execute("UPDATE unread SET position = 'x' WHERE type = 'word-processor file'")
    store.close()
    again = crawl("keyword", web, seeds=at("a"), keywords="sort")
    assert not [url for url in again.urls if "passwd" in url or "letter" in url]


def test_a_table_of_someone_else_is_refused(crawl):
    web = small_web({"a": []}, {"a": "sort"})
    crawled = crawl("keyword", web, seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    store.execute("DROP TABLE unread")
    store.execute("CREATE TABLE unread (key INTEGER PRIMARY KEY, url TEXT CHECK (url != 'x'))")
    store.close()
    with pytest.raises(FocusError, match="'unread' is not defined as in a crawl"):
        crawl("keyword", web, seeds=at("a"), keywords="sort")


def test_the_report_counts_types(crawled):
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    report = crawl_report(store)
    store.close()
    types, files = report.partition("<h2>Types</h2>")[2], report.partition("were not fetched</h2>")[2]
    assert "<td>PDF</td><td class=n>1</td><td class=n>1</td>" in types
    assert "<td>plain text</td><td class=n>2</td><td class=n>2</td>" in types
    assert "<td>feed</td><td class=n>1</td><td class=n>0</td>" in types
    assert "<td>archive</td><td class=n>1</td>" in files
    assert "<td>image</td><td class=n>1</td>" in files


def test_documents_are_found_by_their_words(crawl):
    crawled = crawl("keyword", web_of_documents(), settings={"FOCUS_INDEX": True}, seeds=at("a"), keywords="sort")
    store = Store(crawled.folder / "crawl.sqlite")
    (hit,) = Index(store).search(Query.parse("heap")).hits
    assert (hit.url, hit.title) == (at("a/paper.pdf"), [("Heap", True), (" sort", False)])
    assert Index(store).mend().added == 0  # indexed anew from the file, it is the same
    store.close()


def test_other_pages_are_fetched_while_a_pdf_is_read(crawl, monkeypatch):
    web = web_of_documents()
    web.add(at("a/paper.pdf"), pdfs.paper("A bomb"), content_type="application/pdf")
    all_fetched = threading.Event()

    def ask(body: bytes) -> dict[str, str]:
        """A process that takes as long as all pages that do not depend on it."""
        assert all_fetched.wait(timeout=60)
        return {"error": "it takes too much time or memory"}

    answer = web.get

    def get(url: str):
        if url == at("b/txt"):
            all_fetched.set()
        return answer(url)

    web.get = get  # type: ignore[method-assign]
    monkeypatch.setattr(pdf.WORKER, "ask", ask)
    settings = {"CONCURRENT_REQUESTS": 4, "CONCURRENT_REQUESTS_PER_DOMAIN": 4, "FOCUS_PATIENCE": 0}
    crawled = crawl("breadth_first", web, settings=settings, seeds=at("a"))
    problem = crawled.sql("SELECT problem FROM page WHERE url = ?", at("a/paper.pdf"))
    assert problem == [("unreadable PDF: it takes too much time or memory",)]
    assert at("b/txt") in crawled.urls


def test_a_wrong_setting_is_refused(crawl):
    with pytest.raises(FocusError, match=r"FOCUS_DOCUMENTS=pfd: expected all, off, or some of"):
        crawl("keyword", web_of_documents(), settings={"FOCUS_DOCUMENTS": "pfd"}, seeds=at("a"), keywords="sort")
