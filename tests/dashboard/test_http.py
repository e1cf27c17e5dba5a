"""The dashboard's answers: what each view shows, who may change something, and that nothing escapes."""

from __future__ import annotations

import json
import re
from time import sleep

import pytest

from focuscrawl.crawl.lock import take_lock
from focuscrawl.crawl.marking import mark_pages
from focuscrawl.store.places import read_crawl
from focuscrawl.store.store import Store
from tests.conftest import at, small_web
from tests.dashboard.asking import Asking
from tests.lessons import MemoryWeb

WEB = {"a": ["b", "c", "a/d"], "b": ["c"], "c": ["a/d"], "a/d": []}
TEXTS = {"a": "heap sort and quick sort", "b": "merge sort of a heap", "c": "gardening", "a/d": "a sort of heap"}
VIEWS = ("", "now", "pages", "page/1", "review", "review?of=random", "search?q=heap", "frontier", "map", "topic")
EVIL = "<img src=x onerror=alert(1)>"


@pytest.fixture
def crawled(crawl):
    return crawl("best_first", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort", settings={"FOCUS_INDEX": True})


@pytest.fixture
def asking(crawled):
    return Asking(crawled.folder)


# ---- what is shown


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_answers(asking, view):
    answer = asking.get(view)
    assert answer.status_code == 200, answer.text
    assert "sort" in answer.text


def test_a_crawl_is_at_the_root_and_may_be_named_by_its_file(crawled):
    asking = Asking(crawled.folder / "crawl.sqlite")
    assert asking.get("/").headers["location"] == "/c/crawl/"


def test_a_folder_is_an_overview_of_its_crawls(crawl, tmp_path):
    for name in ("one", "deeper/two"):
        crawl("best_first", small_web(WEB, TEXTS), tmp_path / name, seeds=at("a"), keywords="sort")
    (tmp_path / "empty").mkdir()
    asking = Asking(tmp_path)
    text = asking.get("/").text
    assert "2 crawls" in text
    assert 'href="/c/one/"' in text
    assert asking.get("/c/deeper/two/pages").status_code == 200
    assert asking.get("/c/three/").status_code == 404


def test_now_shows_what_the_file_says(asking):
    text = asking.get().text
    assert re.search(r'<dd id="pages">4', text)
    assert "not running" in text
    assert "HTTP 200" in text


def test_a_running_crawl_is_known_by_its_lock(crawled, asking):
    with take_lock(crawled.folder):
        assert ">running<" in asking.get().text
    assert "not running" in asking.get().text


def test_pages_are_filtered_sorted_and_searched(asking, crawled):
    facts = crawled.sql("SELECT id, url, relevance, matched, relevant FROM page ORDER BY id")
    relevance = {number: value for number, _, value, _, _ in facts}
    assert asking.pages("pages") == [4, 3, 2, 1]
    assert asking.pages("pages?order=oldest") == [1, 2, 3, 4]
    assert asking.pages("pages?state=matched") == [number for number, *_, matched, _ in facts[::-1] if matched]
    assert asking.pages("pages?state=off") == [number for number, *_, relevant in facts[::-1] if not relevant]
    assert [relevance[number] for number in asking.pages("pages?order=best")] == sorted(relevance.values())[::-1]
    assert [relevance[number] for number in asking.pages("pages?order=worst")] == sorted(relevance.values())
    of_a = [number for number, url, *_ in facts[::-1] if url.startswith(at("a"))]
    assert asking.pages("pages?host=a.example") == asking.pages("pages?q=//A.example") == of_a
    assert asking.pages("pages?low=2") == []
    assert asking.pages("pages?since=2001-01-01&until=2001-01-02") == []
    assert asking.pages("pages?since=2001-01-01&status=2xx") == [4, 3, 2, 1]
    assert asking.pages("pages?q=no+such+thing") == []


@pytest.mark.parametrize(
    "query", ["order=x", "after=x_y", "low=abc", "since=tomorrow", "status=teapot", "state=x", "q=%00"]
)
def test_filters_that_make_no_sense_do_no_harm(asking, query):
    assert asking.get(f"pages?{query}").status_code == 200


def test_lists_are_paged_by_key_and_miss_nothing(crawl, monkeypatch):
    names = [f"other{number}" for number in range(23)]
    web = small_web({"a": names, **{name: [] for name in names}}, dict.fromkeys(names, "sort"))
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort", settings={"FOCUS_DUPLICATES": 0})
    monkeypatch.setattr("focuscrawl.dashboard.listing.SHOWN", 5)
    monkeypatch.setattr("focuscrawl.dashboard.listing._BATCH", 4)
    asking = Asking(crawled.folder)
    for query in ("order=best", "order=worst", "order=newest", "order=best&q=OTHER"):
        seen: list[int] = []
        view = f"pages?{query}"
        while view:
            seen += asking.pages(view)
            following = re.search(r'rel="next" href="[^"]*(pages[^"]*)"', asking.get(view).text)
            view = following[1].replace("&amp;", "&") if following else ""
        assert sorted(seen) == list(range(1, 25)) if "q=" not in query else sorted(seen) == list(range(2, 25))
        assert len(seen) == len(set(seen))


def test_a_page_shows_its_text_its_chain_and_its_links(asking, crawled):
    (number,) = crawled.sql("SELECT id FROM page WHERE url = ?", at("b"))[0]
    text = asking.get(f"page/{number}").text
    assert "merge sort of a heap" in text
    assert f'href="{asking.base}page/1"' in text
    assert "what became of" in text
    assert asking.get("page/99").status_code == 404


def test_search_ranks_marks_and_answers_json(asking):
    text = asking.get("search?q=merge+heap").text
    assert "<mark>merge</mark>" in text
    answer = asking.get("search.json?q=heap").json()
    assert answer["total"] == 3
    assert {hit["url"] for hit in answer["results"]} == {at("a"), at("b"), at("a/d")}
    assert all(hit["page"] for hit in answer["results"])
    assert asking.get("search.json?q=heap&host=b.example").json()["total"] == 1
    assert asking.get("search.json?q=heap&language=xx").json()["total"] == 0
    assert asking.get("search.json?q=-heap").status_code == 400
    assert asking.get("search.json?q=heap&since=never").status_code == 400


def test_a_crawl_without_an_index_is_indexed_on_request(crawl):
    crawled = crawl("best_first", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort")
    asking = Asking(crawled.folder)
    text = asking.get("search?q=heap").text
    for _ in range(100):  # they are counted in the background
        if "4 pages are not indexed yet" in text:
            break
        sleep(0.1)
        text = asking.get("search?q=heap").text
    assert "4 pages are not indexed yet" in text
    assert asking.post("index", {}).status_code == 303
    asking.crawls.all()[0].start("index", lambda store: None).wait(10)
    assert asking.get("search.json?q=heap").json()["total"] == 3


def test_the_frontier_says_what_comes_next_and_why(crawl):
    crawled = crawl("best_first", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort", max_pages=1)
    text = Asking(crawled.folder).get("frontier").text
    assert "3 URLs wait" in text
    assert "to b" in text
    assert "relevance of its page" in text


# ---- marks and wishes


def test_a_mark_reaches_the_file_and_the_precision(asking, crawled):
    assert (
        asking.post("mark", {"number": "1", "verdict": "no", "note": "not this", "back": "page/1"}).status_code == 303
    )
    with read_crawl(crawled.folder) as store:
        (mark,) = store.marks.all()
    assert (mark.url, mark.verdict, mark.note, mark.marked_by) == (at("a"), "no", "not this", "dashboard")
    assert asking.pages("pages?state=no") == [1]
    assert 1 not in asking.pages("pages?state=unmarked")
    asking.post("mark", {"number": "1", "verdict": "none"})
    assert asking.pages("pages?state=marked") == []


def test_the_precision_grows_with_the_random_sample(asking, crawled):
    verdicts = iter(["yes", "yes", "no"])
    for verdict in verdicts:
        number = re.search(r'name="number" value="(\d+)"', asking.get("review?of=random").text)
        if number is None:
            break
        assert (
            asking.post("mark", {"number": number[1], "verdict": verdict, "back": "review?of=random"}).status_code
            == 303
        )
    shown = re.search(r'id="precision">(\d+)%<small> (\d+)% to (\d+)%', asking.get("review?of=random").text)
    assert shown
    share, low, high = map(int, shown.groups())
    assert 0 < low < share <= high <= 100


def test_marks_of_others_are_seen(asking, crawled):
    mark_pages(crawled.folder, [(at("b"), "yes", "")], "somebody")
    assert len(asking.pages("pages?state=yes")) == 1


def test_a_crawl_that_does_not_run_is_asked_for_nothing(asking, crawled):
    assert asking.post("ask", {"do": "stop"}).status_code == 409
    with take_lock(crawled.folder):
        assert asking.post("ask", {"do": "stop"}).status_code == 303
        assert asking.post("ask", {"do": "explode"}).status_code == 500
        assert asking.post("ask", {"do": "max_pages", "pages": "-1"}).status_code == 500
    with read_crawl(crawled.folder) as store:
        assert store.meta("wish")["do"] == "stop"


# ---- safety


def test_no_script_style_or_frame_from_elsewhere(asking):
    headers = asking.get().headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    for view in VIEWS:
        text = asking.get(view).text
        assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=", text), view


def test_a_stored_page_is_in_a_sandbox(asking):
    answer = asking.get("page/1/copy")
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "allow-" not in answer.headers["content-security-policy"]
    assert answer.headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8080", "127.0.0.1:9", "evil.example:8080", ""]
)
def test_another_name_for_this_machine_is_refused(asking, host):
    assert asking.get(Host=host).status_code == 400


@pytest.mark.parametrize("name", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080"])
def test_loopback_has_several_names(asking, name):
    assert asking.get(Host=name).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1:9"},
    ],
)
def test_a_change_that_another_site_asks_for_is_refused(asking, crawled, headers):
    assert asking.post("mark", {"number": "1", "verdict": "yes"}, **headers).status_code == 403
    with read_crawl(crawled.folder) as store:
        assert store.marks.all() == []


def test_a_change_needs_the_secret_of_the_form(asking):
    for secret in ("", "wrong", "é"):
        assert asking.post("mark", {"number": "1", "verdict": "yes", "secret": secret}).status_code == 403


def test_a_change_leads_back_to_our_own_views_only(asking):
    for place in ("//evil.example", "http://evil.example", "page/1/../../x", "javascript:alert(1)", "page/1\r\nX: y"):
        answer = asking.post("mark", {"number": "1", "verdict": "yes", "back": place})
        assert answer.headers["location"] == asking.base


def test_large_forms_and_other_methods_are_refused(asking):
    assert asking.post("mark", {"number": "1", "verdict": "yes", "note": "x" * 70_000}).status_code == 403
    assert asking.client.put(asking.base).status_code == 405
    assert asking.get("/static/../app.py").status_code == 404


def test_with_a_token_nothing_is_shown_without_it(crawled):
    asking = Asking(crawled.folder, token="open-sesame")
    assert asking.get().status_code == 401
    assert asking.get("?token=wrong").status_code == 401
    answer = asking.get("?token=open-sesame")
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    asking.client.cookies.clear()
    assert asking.get(Cookie="focuscrawl=open-sesame").status_code == 200
    assert asking.get(Authorization="Bearer open-sesame").status_code == 200
    assert asking.get(Cookie="focuscrawl=wrong").status_code == 401


def test_what_pages_say_is_never_markup(crawl):
    web = MemoryWeb()
    web.add(
        at("a"),
        f"<title>&lt;script&gt;alert(1)&lt;/script&gt;{EVIL} sort</title><p>sort &lt;b&gt;bold&lt;/b&gt;</p>"
        f'<a href="/x?q=%22%3E%3Cscript%3E">&lt;svg onload=alert(2)&gt; sort</a>',
    )
    web.add(f"{at('a')}x?q=%22%3E%3Cscript%3E", "<title>\u202eevil</title><p>sort")
    crawled = crawl("best_first", web, seeds=at("a"), keywords="sort", settings={"FOCUS_INDEX": True})
    asking = Asking(crawled.folder)
    for view in (*VIEWS, "page/2", "search?q=script", "pages?q=%3Cscript%3E&host=%22%3E%3Cscript%3E"):
        text = asking.get(view).text
        assert not re.search(r"<script(?! src=)|<svg onload|<img|<b>bold", text), view
        assert "\u202e" not in text


def test_urls_that_are_no_web_addresses_are_no_links(crawled):
    store = Store(crawled.folder / "crawl.sqlite")
    store.execute("UPDATE page SET url = 'javascript:alert(1)//http' WHERE id = 2")
    store.execute("UPDATE failure SET url = 'data:text/html,x'")
    store.close()
    asking = Asking(crawled.folder)
    for view in ("pages", "page/2", "frontier", ""):
        assert not re.search(r'href="(javascript|data):', asking.get(view).text)


def test_a_damaged_file_is_one_line_and_not_a_traceback(crawled):
    asking = Asking(crawled.folder)
    assert asking.get("pages").status_code == 200
    store = Store(crawled.folder / "crawl.sqlite")
    store.execute("UPDATE page SET why = '[', topics = 'x', relevance = 'abc'")
    store.close()
    asking = Asking(crawled.folder)
    for view in VIEWS:
        assert asking.get(view).status_code in (200, 500)
    (crawled.folder / "crawl.sqlite").unlink()
    answer = asking.get("pages")
    assert answer.status_code == 500
    assert "is gone" in answer.text


def test_meta_of_an_untrusted_file_is_shown_as_text(crawled):
    store = Store(crawled.folder / "crawl.sqlite")
    store.execute("UPDATE meta SET value = ? WHERE key = 'topic'", (json.dumps(EVIL),))
    store.close()
    assert EVIL not in Asking(crawled.folder).get("topic").text
