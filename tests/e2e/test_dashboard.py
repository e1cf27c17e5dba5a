"""The dashboard in a real browser: on a running crawl, by keyboard, on narrow and wide screens, with hostile pages."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread

import pytest
from scrapy.settings import Settings

from focuscrawl import testing
from focuscrawl.dashboard.server import serving
from focuscrawl.errors import FocusError
from focuscrawl.store.places import read_crawl
from focuscrawl.web.browser_choice import find_browser
from focuscrawl.web.webs import MemoryWeb
from tests.browsing import needs_browser, wait_until
from tests.conftest import ROOT, Crawled, at
from tests.lessons import lessons_web, topic_file

pytestmark = [needs_browser, pytest.mark.slow]

VIEWS = ("", "pages", "page/1", "review", "review?of=random", "search?q=sort", "frontier", "map", "topic")
NARROW, WIDE = 380, 1600


@contextmanager
def browsing():
    """A browser, and what its pages complain about."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        executable = find_browser(Settings({"FOCUS_BROWSER": "shells"}))
        browser = play.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDE, "height": 900})
        page.complaints = []
        page.on(
            "console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (page.complaints.append(dialog.message), dialog.dismiss()))
        try:
            yield page
        finally:
            browser.close()


def serious(page) -> list[str]:
    """What axe finds that keeps people out."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [
        f"{page.url}: {one['id']}: {one['nodes'][0]['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


@contextmanager
def crawling(folder, spider, *options, latency=0.1):
    """A crawl that takes its time, in a process of its own."""
    given = ("-s", f"FOCUS_DIR={folder}", "-s", f"FOCUS_WEB_LATENCY={latency}", "-s", "CONCURRENT_REQUESTS=1")
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "crawl", spider, *options, *given, "-L", "ERROR"], cwd=ROOT
    )
    try:
        wait_until(lambda: (folder / "crawl.sqlite").exists() and stored(folder) > 5)
        yield process
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def stored(folder) -> int:
    try:
        with read_crawl(folder, check=False) as store:
            return store.pages.last_number()
    except FocusError:  # it is being created
        return 0


def test_every_view_works_on_a_running_crawl_by_keyboard_on_any_screen(tmp_path):
    folder = tmp_path / "crawl"
    demo = ("-a", "topic=sorting", "-s", "FOCUS_WEB=demo", "-s", "FOCUS_INDEX=True")
    with crawling(folder, "best_first", *demo) as process, serving(str(folder)) as server, browsing() as page:
        base = f"{server.address}c/crawl/"
        shown = lambda: int(page.text_content("#pages").split()[0].replace(",", ""))  # noqa: E731

        # numbers move without reloading
        page.goto(base)
        page.evaluate("window.here = true")
        before = shown()
        wait_until(lambda: shown() > before)
        assert page.evaluate("window.here")
        assert page.is_visible("text=running")
        page.wait_for_selector(".hosts li >> text=busy")

        # everything fits on a phone and on a wide screen, and is open to everybody
        problems = []
        for view in VIEWS:
            for width in (NARROW, WIDE):
                page.set_viewport_size({"width": width, "height": 800})
                page.goto(base + view)
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    problems.append(f"{view} is wider than {width} pixels")
            problems += serious(page)
        page.emulate_media(color_scheme="dark")
        for view in ("page/1", "search?q=sort"):
            page.goto(base + view)
            problems += serious(page)
        assert problems == []

        # from the search to a page, by keyboard alone
        page.goto(f"{base}search")
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("sorting")
        page.keyboard.press("Enter")
        page.wait_for_selector(".hits li a")
        assert page.text_content("mark").lower().startswith("sort")
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_selector("form.mark")

        # marks reach the file
        page.keyboard.press("n")
        page.wait_for_selector("button.no[aria-pressed=true]")
        page.goto(f"{base}review")
        page.keyboard.press("u")
        wait_until(lambda: page.text_content("#marked") == "2")
        with read_crawl(folder, check=False) as store:
            assert [mark.verdict for mark in store.marks.all()] == ["no", "unsure"]

        # the crawl obeys: it pauses, goes on to another number of pages, and stops
        page.goto(base)
        page.click("text=Pause")
        page.wait_for_selector("text=Continue")
        paused = None
        while paused != (paused := stored(folder)):
            page.wait_for_timeout(1500)
        page.click("text=Continue")
        wait_until(lambda: stored(folder) > paused)
        page.click("text=Stop >> nth=0")
        assert process.wait(30) == 0
        page.goto(base)
        assert page.is_visible("text=not running")
        assert page.complaints == []


MARKED = 14


def test_marks_in_the_browser_change_what_a_running_crawl_fetches_next(tmp_path):
    web, folder = lessons_web(), tmp_path / "crawl"
    web.save(tmp_path / "web.sqlite")
    given = ("-a", f"topic={topic_file(tmp_path / 'topic')}", "-s", f"FOCUS_WEB={tmp_path / 'web.sqlite'}")
    with (
        crawling(folder, "adaptive", *given, latency=0.1) as process,
        serving(str(folder)) as server,
        browsing() as page,
    ):
        base = f"{server.address}c/crawl/"
        wait_until(lambda: stored(folder) > MARKED)
        page.goto(base)
        page.click("text=Pause")
        page.wait_for_selector("text=Continue")
        paused = None
        while paused != (paused := stored(folder)):
            page.wait_for_timeout(1200)

        # the topic is gardens; the reader says that it is engines
        for number in range(2, MARKED + 2):
            page.goto(f"{base}page/{number}")
            key, verdict = ("y", "yes") if "engine" in page.text_content("h1") else ("n", "no")
            page.keyboard.press(key)
            page.wait_for_selector(f"button.{verdict}[aria-pressed=true]")
        page.goto(base)
        page.click("text=Continue")
        wait_until(lambda: stored(folder) >= paused + 20)
        page.click("text=Stop >> nth=0")
        assert process.wait(30) == 0
        assert page.complaints == []
    marked = Crawled(folder).urls
    alone = testing.crawl(
        "adaptive", web, tmp_path / "alone", topic=tmp_path / "topic" / "Gardens.toml", max_pages=paused + 20
    )
    assert alone.urls[:paused] == marked[:paused]
    engines = [sum("engine" in url for url in urls[paused : paused + 20]) for urls in (marked, alone.urls)]
    assert engines[0] > engines[1] + 3, "it goes where the reader says"


HOSTILE = """<!DOCTYPE html><title>sort &lt;script&gt;alert('title')&lt;/script&gt; \u202egnp.exe</title>
<meta http-equiv="refresh" content="0; url={out}refreshed">
<base target="_top"><link rel="stylesheet" href="{out}style.css"><style>@import "{out}import.css"; p {{ color: rgb(1, 2, 3) }}</style>
<script>top.location = "{out}script"; alert(1)</script>
<p id="p" onclick="alert(2)">sort <img src="{out}image" onerror="alert(3)"> <iframe src="{out}frame"></iframe></p>
<form action="{out}form"><button id="send">sort</button></form>
<a id="away" href="{out}away">sort &lt;img src=x onerror=alert(4)&gt;</a> <a href="javascript:alert(5)">sort</a>
<a href="/%22onmouseover=%22alert(6)">sort</a> <a href="{next}">sort &lt;svg onload=alert(7)&gt;</a>"""
ALERTS = ("1", "2", "3", "4", "5", "6", "7", "title")


class Listening(BaseHTTPRequestHandler):
    asked: list[str]

    def do_GET(self):
        self.server.asked.append(self.path)
        self.send_error(404)

    def log_message(self, *_):
        pass


@contextmanager
def listening():
    """A server outside, which should hear nothing."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Listening) as outside:
        outside.asked = []
        outside.address = f"http://127.0.0.1:{outside.server_port}/"
        Thread(target=outside.serve_forever, daemon=True).start()
        yield outside
        outside.shutdown()


def hostile_web(outside, pages: int = 1) -> MemoryWeb:
    """Pages that attack who looks at them, each with a link to the next."""
    web = MemoryWeb()
    names = [f"a/{number}" for number in range(pages + 1)]
    for name, following in pairwise(names):
        web.add(at(name), HOSTILE.format(out=outside.address, next=at(following)))
    return web


def look_at_hostile_pages(page, address: str, outside) -> None:
    """Look at all views, and click on what the pages offer: nothing happens."""
    base = f"{address}c/crawl/"
    elsewhere: list[str] = []
    page.on("response", lambda answer: None if answer.url.startswith(address) else elsewhere.append(answer.url))
    for view in ("", "pages", "search?q=script", "frontier", "map", "topic", "review", "page/1"):
        page.goto(base + view)
        assert page.evaluate("document.querySelectorAll('main img, main script, main [onclick]').length") == 0
    assert "<script>alert('title')</script>" in page.text_content("h1")
    page.click("text=Stored copy")
    frame = page.frame_locator("iframe")
    frame.locator("#p").wait_for()
    frame.locator("#p").click()
    frame.locator("#send").click()
    frame.locator("#away").click()
    page.wait_for_timeout(500)
    page.goto(f"{base}page/1/copy")  # the copy alone is in the sandbox as well
    page.wait_for_timeout(500)
    assert page.url == f"{base}page/1/copy"
    assert outside.asked == []
    assert elsewhere == []
    assert [said for said in page.complaints if said in ALERTS] == []


def test_hostile_pages_stay_inert(tmp_path):
    with listening() as outside:
        web = hostile_web(outside)
        testing.crawl("best_first", web, tmp_path / "crawl", {"FOCUS_INDEX": True}, seeds=at("a/0"), keywords="sort")
        with serving(str(tmp_path / "crawl")) as server, browsing() as page:
            look_at_hostile_pages(page, server.address, outside)


def test_hostile_pages_stay_inert_while_they_are_crawled(tmp_path):
    """What the view of a running crawl puts in by itself is as harmless as what it was loaded with."""
    folder = tmp_path / "crawl"
    with listening() as outside:
        hostile_web(outside, 2_000).save(tmp_path / "web.sqlite")
        given = ("-a", f"seeds={at('a/0')}", "-a", "keywords=sort", "-s", f"FOCUS_WEB={tmp_path / 'web.sqlite'}")
        with (
            crawling(folder, "best_first", *given, "-s", "FOCUS_INDEX=True") as process,
            serving(str(folder)) as server,
            browsing() as page,
        ):
            page.goto(f"{server.address}c/crawl/")
            page.evaluate("window.here = true")
            first = page.text_content("#pages")
            wait_until(lambda: page.text_content("#pages") != first)  # and with them the latest pages
            assert page.evaluate("window.here")
            assert "<script>alert('title')</script>" in page.text_content("main")
            assert page.evaluate("document.querySelectorAll('main img, main script, main [onclick]').length") == 0
            look_at_hostile_pages(page, server.address, outside)
            assert process.poll() is None, "it is still running"
