"""Where seeds come from."""

from __future__ import annotations

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.seeding.seed_sources import wishes

BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<DL><p>
    <DT><H3>Reading</H3>
    <DL><p>
        <DT><A HREF="http://weather.example/" ADD_DATE="1">Rain tomorrow</A>
        <DT><A HREF="http://a.example/sort" ADD_DATE="1">Sorting numbers</A>
        <DT><A HREF="javascript:sort()">Sort this page</A>
        <DT><A HREF="http://192.168.0.1/sort">Sort the router</A>
        <DT><A HREF="http://b.example/heap-sort">Heaps</A>
    </DL><p>
</DL>
"""
FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>
<item><title>Sorting</title><link>http://a.example/1</link></item>
<item><title>Sorting again</title><link>http://a.example/2</link></item></channel></rss>"""
SITEMAP = """<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>http://a.example/sorting</loc></url></urlset>"""


def found(source: object, most: int = 20) -> list[str]:
    return [wish.url for wish in wishes(str(source), "sort", {"sort": 1.0}, most, print)]


def test_bookmarks_about_the_topic_are_taken_and_no_others(tmp_path):
    (tmp_path / "bookmarks.html").write_text(BOOKMARKS)
    assert set(found(tmp_path / "bookmarks.html")) == {"http://a.example/sort", "http://b.example/heap-sort"}
    assert len(found(tmp_path / "bookmarks.html", most=1)) == 1


def test_saved_feeds_sitemaps_and_lists_are_read(tmp_path):
    for name, text in (("feed.xml", FEED), ("sitemap.xml", SITEMAP), ("list.txt", "# best\nhttp://a.example/x\n")):
        (tmp_path / name).write_text(text)
    assert found(tmp_path / "feed.xml") == ["http://a.example/1", "http://a.example/2"]
    assert found(tmp_path / "sitemap.xml") == ["http://a.example/sorting"]
    assert found(tmp_path / "list.txt") == found(f"@{tmp_path / 'list.txt'}") == ["http://a.example/x"]


def test_a_page_of_links_is_told_from_a_page():
    (page,) = wishes("http://a.example/", "", {}, 5, print)
    (links,) = wishes("links:http://a.example/", "", {}, 5, print)
    assert (page.url, page.links, links.url, links.links) == ("http://a.example/", False, "http://a.example/", True)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("www.example.org", "is neither a file nor a URL; a URL begins with https://"),
        ("links:nowhere", "is not a URL"),
        ("http://", "is not a valid URL"),
        ("missing.txt", "is neither a file nor a URL"),
        ("crawl:missing", "missing"),
    ],
)
def test_what_is_no_source_is_named(source, message):
    with pytest.raises(FocusError, match=message):
        found(source)


def test_a_file_without_links_is_named(tmp_path):
    (tmp_path / "empty.html").write_text("<html><p>nothing</p></html>")
    with pytest.raises(FocusError, match="no link to a page in it"):
        found(tmp_path / "empty.html")
