"""The search index of a crawl's file."""

from __future__ import annotations

import pytest

from focuscrawl.crawl.verdict import settle
from focuscrawl.page import Judgement, Page
from focuscrawl.reading.html import read_html
from focuscrawl.search import index as module
from focuscrawl.search.index import Filter, Index
from focuscrawl.search.query import Query
from focuscrawl.store.store import Store
from tests.conftest import at, small_web


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "crawl.sqlite")
    yield store
    store.close()


@pytest.fixture
def index(store):
    index = Index(store)
    index.prepare()
    return index


def made(name: str, body: str, **facts) -> Page:
    page = Page(at(name), fetched_at=facts.pop("fetched_at", "2026-11-16T08:00:00.000+00:00"))
    for fact, value in facts.items():
        setattr(page, fact, value)
    read_html(page, f"<meta charset=utf-8>{body}".encode(), "text/html")
    page.wanted = page.matched
    settle(page, reservations=["noai"])
    return page


def keep(index: Index, *pages: Page) -> list[int]:
    """Store pages and index them, as a crawl does."""
    ids = []
    for page in pages:
        page.url_id = index.store.pages.count() + 1
        with index.store.transaction():
            ids.append(index.store.pages.add(page, None))
            index.add(ids[-1], page)
    return ids


def found(index: Index, text: str, limit: int = 10, **where) -> list[str]:
    return [hit.url for hit in index.search(Query.of(text), Filter(**where), limit).hits]


def test_words_are_found_in_any_form_case_and_with_or_without_accents(index):
    keep(index, made("a", "<p>Sorting naïve CAFÉS"), made("b", "<p>nothing"))
    for text in ("sort", "SORTED", "naive", "café", "cafes", "sorts café"):
        assert found(index, text) == [at("a")], text


def test_all_words_must_occur_phrases_in_order_and_unwanted_words_nowhere(index):
    keep(
        index,
        made("a", "<p>merge sort is stable"),
        made("b", "<p>sort, then merge"),
        made("c", "<title>heap</title><p>merge sort"),
        made("d", "<p>quick"),
    )
    assert set(found(index, "merge sort")) == {at("a"), at("b"), at("c")}
    assert set(found(index, '"merge sort"')) == {at("a"), at("c")}
    assert set(found(index, '"merge sort" -heap')) == {at("a")}
    assert set(found(index, "quick OR stable")) == {at("a"), at("d")}
    assert found(index, "merge quick") == []


def test_the_title_counts_more_than_headings_and_these_more_than_text(index):
    filler = "other words here " * 5
    keep(
        index,
        made("text", f"<title>x</title><h1>y</h1><p>heap {filler}"),
        made("heading", f"<title>x</title><h1>heap</h1><p>y {filler}"),
        made("title", f"<title>heap</title><h1>y</h1><p>x {filler}"),
    )
    assert found(index, "heap") == [at("title"), at("heading"), at("text")]


def test_chinese_and_japanese_are_found_without_spaces_between_words(index):
    keep(index, made("a", "<title>排序算法</title><p>快速排序算法是一种排序方法"))
    answer = index.search(Query.of("排序"))
    assert [hit.url for hit in answer.hits] == [at("a")]
    assert "".join(text for text, _ in answer.hits[0].snippet) == "快速排序算法是一种排序方法"
    assert found(index, "序排") == []


def test_scripts_and_styles_are_not_found(index):
    keep(index, made("a", "<script>hidden</script><style>hidden</style><p>seen"))
    assert found(index, "hidden") == []


@pytest.mark.parametrize(
    "facts",
    [
        {"problem": "soft 404"},
        {"duplicate_of": 1},
        {"listing": True},
        {"robots": {"noindex"}},
    ],
)
def test_what_cannot_or_must_not_be_found_is_not_indexed(index, facts):
    keep(index, made("a", "<p>heap", **facts))
    assert found(index, "heap") == []
    assert index.waiting() == 0


def test_what_rights_leave_out_is_not_indexed(index):
    keep(index, made("a", "<p>heap", robots={"noai"}))
    assert found(index, "heap") == []
    assert index.waiting() == 0


def test_a_snippet_shows_where_the_words_are_and_marks_them(index):
    keep(index, made("a", f"<title>On heaps</title><p>{'before ' * 100} a binary heap is a tree {'after ' * 100}"))
    (hit,) = index.search(Query.of('"binary heap"')).hits
    assert ("binary heap", True) in hit.snippet
    assert hit.title == [("On heaps", False)]
    (hit,) = index.search(Query.of("heap")).hits
    assert hit.title == [("On ", False), ("heaps", True)]
    assert len("".join(text for text, _ in hit.snippet).split()) <= module.SNIPPET_WORDS + 2


def test_what_a_page_says_cannot_move_the_cursor_of_a_terminal(index):
    keep(index, made("a", "<title>heap\x1b[2J</title><p>\x1b]0;x\x07 heap \x02 here"))
    (hit,) = index.search(Query.of("heap")).hits
    text = "".join(text for text, _ in hit.title + hit.snippet)
    assert text.isprintable()


def test_pages_are_filtered_by_topic_judgement_host_and_date(index):
    keep(
        index,
        made("a", "<p>heap", topics=["Sorting", "trees"], fetched_at="2026-01-01T12:00:00.000+00:00"),
        made("a/2", "<p>heap", matched=True, fetched_at="2026-02-01T12:00:00.000+00:00"),
        made("sub.a", "<p>heap", judgement=Judgement(1.0, True, {}), fetched_at="2026-03-01T12:00:00.000+00:00"),
        made("ba", "<p>heap", topics=["sort"], fetched_at="2026-04-01T12:00:00.000+00:00"),
    )
    assert found(index, "heap", topic="sorting") == [at("a")]
    assert found(index, "heap", topic="sort") == [at("ba")]
    assert found(index, "heap", matched=True) == [at("a/2")]
    assert found(index, "heap", relevant=True) == [at("sub.a")]
    assert set(found(index, "heap", host="a.example")) == {at("a"), at("a/2"), at("sub.a")}
    assert found(index, "heap", host="sub.a.example") == [at("sub.a")]
    assert set(found(index, "heap", host="Example")) == {at("a"), at("a/2"), at("sub.a"), at("ba")}
    assert found(index, "heap", since="2026-03-01", until="2026-04-01") == [at("sub.a")]
    assert index.search(Query.of("heap"), Filter(host="a.example"), 1).total == 3


def test_a_dewey_number_finds_its_decimals(index):
    numbers = {"a": ["512"], "b": ["512.5", "780"], "c": ["515.2"]}
    keep(index, *[made(name, "<p>heap", topics=topics) for name, topics in numbers.items()])
    assert set(found(index, "heap", topic="512")) == {at("a"), at("b")}
    assert found(index, "heap", topic="512.5") == [at("b")]
    assert found(index, "heap", topic="51") == []


def test_an_entry_is_replaced_when_its_page_has_changed(index):
    (number,) = keep(index, made("a", "<p>heap"))
    index.add(number, made("a", "<p>quick"))
    assert found(index, "heap") == []
    assert found(index, "quick") == [at("a")]
    assert index.search(Query.of("quick")).total == 1
    assert index.waiting() == 0


def test_a_removed_page_is_not_found_until_it_is_added_again(index):
    page = made("a", "<p>heap")
    (number,) = keep(index, page)
    index.remove(number)
    index.remove(number)
    assert found(index, "heap") == []
    assert index.update() == 0
    index.add(number, page)
    assert found(index, "heap") == [at("a")]


def test_an_index_of_mostly_old_entries_is_built_anew(index, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 2)
    page = made("a", "<p>heap")
    (number,) = keep(index, page)
    for _ in range(5):
        index.add(number, page)
    assert index.update() == 1
    assert index.store.execute("SELECT count(*) FROM search_docsize").fetchone() == (1,)
    assert found(index, "heap") == [at("a")]


def test_stored_pages_are_indexed_as_they_would_have_been_when_they_came(store, monkeypatch):
    monkeypatch.setattr(module, "BATCH", 2)
    sitemap = "<urlset><url><loc>http://a.example/heap</loc></url></urlset>"
    pages = [
        made("a", "<title>heap</title><p>heap", matched=True, topics=["x"], judgement=Judgement(0.5, True, {})),
        made("b", "<p>heap", robots={"noindex"}),
        made("c", "<p>heap", problem="HTTP 404"),
        made("d", "<p>heap", duplicate_of=1),
        made("e", sitemap, listing=True),
        made("f", "<p>heap", robots={"noai"}),
        made("g", "<p>heap"),
    ]
    index = Index(store)
    for number, page in enumerate(pages, 1):
        page.url_id = number
        store.pages.add(page, None)
    assert not index.exists()
    assert index.waiting() == 7
    told = []
    assert index.update(told.append) == 7
    assert told == [2, 4, 6, 7]
    assert found(index, "heap") == [at("a"), at("g")]
    assert found(index, "heap", matched=True, relevant=True, topic="x") == [at("a")]
    assert index.waiting() == 0


def test_of_very_many_matches_those_with_the_words_in_title_or_headings_come_first(index, monkeypatch):
    monkeypatch.setattr(module, "MAX_RANKED", 3)
    keep(index, *(made(f"t{n}", "<p>heap and more heap") for n in range(5)))
    keep(
        index,
        made("h", "<h1>heap</h1><p>x"),
        made("t", "<title>heap</title><p>x"),
        made("n", "<title>heap</title><p>sort"),
    )
    answer = index.search(Query.of("heap -sort"), limit=4)
    assert [hit.url for hit in answer.hits[:2]] == [at("t"), at("h")]
    assert len({hit.url for hit in answer.hits}) == 4
    assert at("n") not in [hit.url for hit in answer.hits]


def test_the_best_pages_are_given_by_number(index):
    ids = keep(
        index,
        made("a", "<p>heap, a long text about many other things"),
        made("b", "<title>heap</title><p>x"),
        made("c", "<p>quick"),
        made("d", "<p>heap", robots={"noindex"}),
    )
    assert index.best(Query.of("heap"), 9) == [ids[1], ids[0]]
    assert index.best(Query.of("heap"), 1) == [ids[1]]
    assert index.best(Query.of("heap -long"), 9) == [ids[1]]


def test_a_query_that_only_excludes_gives_the_other_pages_as_stored(index):
    names = {"a": "quick", "b": "heap", "c": "排序", "d": "merge sort"}
    ids = keep(index, *(made(name, f"<p>{text}") for name, text in names.items()))
    keep(index, made("hidden", "<p>x", robots={"noindex"}))
    index.add(ids[0], made("a", "<p>quick again"))  # its first entry stays in the index, but belongs to no page
    assert index.best(Query.parse("-heap"), 9) == [ids[0], ids[2], ids[3]]
    assert index.best(Query.parse('-quick -排序 -"sort merge"'), 9) == [ids[1], ids[3]]
    assert index.best(Query.parse("-zebra"), 2) == ids[:2]
    assert index.best(Query.parse(""), 9) == ids


@pytest.mark.parametrize("indexed", [0, 1, 3])
def test_a_file_opened_read_only_is_searched_in_full_and_stays_as_it_is(tmp_path, indexed):
    path = tmp_path / "crawl.sqlite"
    store = Store(path)
    for number, page in enumerate((made("a", "<p>heap"), made("b", "<p>sort"), made("c", "<p>heap sort")), 1):
        page.url_id = number
        page_id = store.pages.add(page, None)
        if number <= indexed:
            Index(store).prepare()
            Index(store).add(page_id, page)
    store.close()
    before = path.read_bytes()
    store = Store(path, create=False, check=False)
    index = Index.complete(store)
    assert set(found(index, "heap")) == {at("a"), at("c")}
    assert index.best(Query.parse("-heap"), 9) == [2]
    assert index.waiting() == 0
    store.close()
    assert path.read_bytes() == before
    store = Store(path, create=False, check=False)
    assert Index(store).waiting() == 3 - indexed
    store.close()


def test_an_index_in_the_file_is_used_if_it_is_complete(index):
    keep(index, made("a", "<p>heap"), made("b", "<p>sort"))
    index.add(1, made("a", "<p>marmalade"))  # only the index says so
    assert found(Index.complete(index.store), "marmalade") == [at("a")]


def test_a_crawl_indexes_what_it_stores_if_asked_to(crawl):
    web = small_web({"a": ["b"], "b": []}, {"a": "quick", "b": "heap"})
    crawled = crawl("breadth_first", web, seeds=at("a"), settings={"FOCUS_INDEX": True})
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert Index(store).waiting() == 0
    assert found(Index(store), "heap") == [at("b")]
    store.close()


def test_without_being_asked_a_crawl_has_no_index(crawl):
    crawled = crawl("breadth_first", small_web({"a": []}), seeds=at("a"))
    assert crawled.sql("SELECT name FROM sqlite_master WHERE name IN ('search', 'indexed')") == []


def test_a_crawl_that_was_begun_without_an_index_goes_on_with_one(crawl):
    web = small_web({"a": ["b"], "b": []}, {"a": "heap", "b": "heap"})
    crawl("breadth_first", web, seeds=at("a"), max_pages=1)
    crawled = crawl("breadth_first", web, seeds=at("a"), settings={"FOCUS_INDEX": True})
    store = Store(crawled.folder / "crawl.sqlite")
    index = Index(store)
    assert index.waiting() == 1
    assert index.update() == 1
    assert set(found(index, "heap")) == {at("a"), at("b")}
    store.close()


# ---- an index that differs from the pages


def test_what_is_missing_is_added_and_what_belongs_to_no_page_is_removed(store, index):
    one, two, _ = keep(index, made("a", "<p>merge"), made("b", "<p>merge"), made("c", "<p>heap"))
    with store.transaction():
        store.execute("DELETE FROM indexed WHERE page = ?", (one,))
        store.execute("INSERT INTO indexed (entry, page, host) VALUES (77, 4711, 'nowhere')")
        store.execute("DELETE FROM page WHERE id = ?", (two,))
    assert index.mend() == (1, 2, False)
    assert found(index, "merge") == [at("a")]
    assert index.mend() == (0, 0, False)


def test_entries_that_say_something_else_than_their_page_are_replaced(store, index):
    gone, back, other = keep(index, made("a", "<p>merge"), made("b", "<p>merge", problem="gone"), made("c", "<p>heap"))
    with store.transaction():
        store.execute("UPDATE page SET problem = 'HTTP 410', matched = 0 WHERE id = ?", (gone,))
        store.execute("UPDATE page SET problem = NULL WHERE id = ?", (back,))
        store.execute("UPDATE page SET matched = 1 WHERE id = ?", (other,))
    assert index.mend() == (2, 1, False)
    assert found(index, "merge") == [at("b")]
    assert found(index, "heap", matched=True) == [at("c")]
    assert index.mend() == (0, 0, False)


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM search_data WHERE id > 10",
        "UPDATE search_data SET block = x'00' WHERE id > 10",
        "DELETE FROM search_docsize",
    ],
)
def test_an_index_that_cannot_be_read_is_built_anew(store, index, damage):
    keep(index, made("a", "<p>merge sort"), made("b", "<p>heap sort"))
    store.execute(damage)
    mended = index.mend()
    assert mended.added == 2
    assert found(index, "merge") == [at("a")]
    assert len(found(index, "sort")) == 2
    assert index.mend() == (0, 0, False)


def test_a_crawl_without_an_index_is_given_one(store):
    index = Index(store)
    with store.transaction():
        page = made("a", "<p>merge")
        page.url_id = 1
        store.pages.add(page, None)
    assert index.mend() == (1, 0, False)
    assert found(index, "merge") == [at("a")]


def test_pages_are_found_by_what_they_say_of_themselves(index):
    def said(name: str, **facts: str) -> Page:
        tags = {"author": "name=author", "date": "name=date", "site": "property=og:site_name"}
        return made(name, "".join(f"<meta {tags[key]} content='{text}'>" for key, text in facts.items()) + "<p>sort")

    keep(
        index,
        said("a", author="Jane Doe; José Álvarez Núñez", date="2021-03-04", site="The News of the World"),
        said("b", author="Doe, John", date="2021-12-31T23:30:00-05:00", site="Blog"),
        said("c", date="2020"),
        said("x", date="2021-04"),
        said("e"),
    )
    for where, names in (
        ({"author": "doe"}, "ab"),
        ({"author": "DOE jane"}, "a"),
        ({"author": "alvarez jose"}, "a"),
        ({"author": "jane alvarez"}, ""),  # of two authors
        ({"author": "do"}, ""),
        ({"site": "world news"}, "a"),
        ({"published_since": "2021"}, "abx"),
        ({"published_since": "2021-03-05"}, "bx"),
        ({"published_since": "2020-01-01"}, "abcx"),
        ({"published_until": "2021-03"}, "ac"),
        ({"published_until": "2021-03-03"}, "c"),
        ({"published_until": "2021"}, "abcx"),
        ({"published_since": "2021-12-31", "published_until": "2021-12-31"}, "b"),
        ({"author": "doe", "published_since": "2021-06", "host": "b.example"}, "b"),
        ({"author": "doe' OR 1 --"}, ""),
    ):
        assert sorted(found(index, "sort", **where)) == [at(name) for name in names], where
    (hit,) = index.search(Query.of("sort"), Filter(author="jane"), 10).hits
    assert (hit.authors, hit.published, hit.site_name) == (
        ["Jane Doe", "José Álvarez Núñez"],
        "2021-03-04",
        "The News of the World",
    )
