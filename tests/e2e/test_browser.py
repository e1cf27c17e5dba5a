"""Crawls of pages that scripts fill, with a real browser over real HTTP."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic

import pytest

from focuscrawl.store.places import read_crawl
from tests.browsing import descendants, is_running, needs_browser, wait_until
from tests.conftest import ROOT, Crawled, scrapy
from tests.hosts import MISSING, Answer, ManyHosts, page, serving

pytestmark = needs_browser

SCRIPT: dict[str, str] = {"Content-Type": "text/javascript"}
ROSES = "Roses in the garden need sun and water every day of the summer, says the gardener."
APP = """
fetch('/data' + location.pathname).then(answer => answer.json()).then(data => {
  document.title = data.title;
  const root = document.getElementById('root');
  root.innerHTML = `<h1>${data.title}</h1><p>${data.text}</p>`;
  for (const link of data.links) root.innerHTML += `<p><a href="${link}">${link}</a></p>`;
});
"""


def shell(script: str = '<script src="/app.js"></script>', title: str = "Roses, garden, roses") -> Answer:
    """A page that a script fills."""
    notice = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    return 200, {}, f"<title>{title}</title><body>{notice}<div id=root></div>{script}".encode()


def data(title: str, text: str, *links: str) -> Answer:
    return (
        200,
        {"Content-Type": "application/json"},
        json.dumps({"title": title, "text": text, "links": links}).encode(),
    )


SITE: dict[str, Answer] = {
    "/": page("/app", "/other", "/plain", text="A garden of links"),
    "/app": shell(),
    "/other": shell(),
    "/plain": page(text=ROSES),
    "/app.js": (200, SCRIPT, APP.encode()),
    "/data/app": data("The rose garden", ROSES, "/found"),
    "/data/other": data("Engines", "Engines need oil and a mechanic who knows how to change it in time."),
    "/found": page(text="More of the garden: a rose that climbs walls, and one that does not."),
}


def crawl(folder: Path, server: ManyHosts, seed: str = "/", **settings: object):
    """Crawl from one page of the server."""
    given = {"FOCUS_DIR": folder, "FOCUS_BROWSER": "shells", **settings}
    options = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
    seeds = f"seeds={server.at('127.0.0.1', seed)}"
    done = scrapy("crawl", "best_first", "-a", seeds, "-a", "keywords=rose,garden", *options)
    assert "Traceback" not in done.stderr, done.stderr
    return done, Crawled(folder)


def by_path(crawled: Crawled) -> dict[str, dict]:
    return {"/" + found["url"].partition("//")[2].partition("/")[2]: found for found in crawled.pages}


def test_a_page_made_by_a_script_is_read_judged_and_followed(tmp_path):
    with serving(lambda _, path: SITE.get(path, MISSING)) as server:
        done, crawled = crawl(tmp_path / "crawl", server)
        asked = [path for _, _, path in server.asked]
        explained = scrapy("explain", crawled.folder, server.at("127.0.0.1", "/app"))
    assert done.returncode == 0, done.stderr
    pages = by_path(crawled)
    assert set(pages) == {"/", "/app", "/other", "/plain", "/found"}
    assert pages["/app"]["title"] == "The rose garden"
    assert pages["/app"]["matched"]
    assert pages["/found"]["parent"].endswith("/app")
    assert pages["/other"]["title"] == "Engines"  # its shell is about roses
    assert not pages["/other"]["matched"]
    assert asked.count("/app") == 1
    assert asked.count("/app.js") == 2  # for the shells, and only for them
    assert "read with a browser" in explained.stdout


def test_without_a_browser_it_is_unread(tmp_path):
    with serving(lambda _, path: SITE.get(path, MISSING)) as server:
        done, crawled = crawl(tmp_path / "crawl", server, FOCUS_BROWSER="off")
        assert done.returncode == 0, done.stderr
        assert by_path(crawled)["/app"]["relevance"] is None
        assert "/app.js" not in [path for _, _, path in server.asked]
        # the same crawl with a browser: what was not read before is visited again
        seeds = f"seeds={server.at('127.0.0.1')}"
        options = ["--older-than", "0s", "--new", "5", "-a", seeds, "-s", "FOCUS_BROWSER=shells"]
        done = scrapy("recrawl", crawled.folder, *options)
        assert done.returncode == 0, done.stderr
    assert crawled.sql("SELECT title, matched, problem FROM page WHERE url LIKE '%/app'") == [
        ("The rose garden", 1, None)
    ]
    assert crawled.sql("SELECT count(*) FROM page WHERE url LIKE '%/found'") == [(1,)]


def test_always_and_hosts(tmp_path):
    site = SITE | {"/": (200, {}, b"<title>x</title><p>garden</p><script src=/add.js></script>" + b"roses " * 50)}
    site["/add.js"] = (200, SCRIPT, b"document.body.innerHTML += '<a href=/found>more</a>'")
    with serving(lambda _, path: site.get(path, MISSING)) as server:
        for number, (value, found) in enumerate(
            {"shells": False, "always": True, "127.0.0.1,b.example": True, "b.example": False}.items()
        ):
            done, crawled = crawl(tmp_path / str(number), server, FOCUS_BROWSER=value)
            assert done.returncode == 0, done.stderr
            assert ("/found" in by_path(crawled)) == found, value


def test_robots_txt_and_pace_hold_for_what_the_browser_requests(tmp_path):
    robots = (200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /data/other\n")
    site = SITE | {"/robots.txt": robots}
    with serving(lambda _, path: site.get(path, MISSING)) as server:
        done, crawled = crawl(tmp_path / "crawl", server, DOWNLOAD_DELAY=0.5)
        assert done.returncode == 0, done.stderr
        when = {path: moment for moment, _, path in reversed(server.asked)}
    assert "/data/app" in when
    assert "/data/other" not in when
    assert when["/app.js"] - when["/app"] > 0.4
    ((problem,),) = crawled.sql("SELECT problem FROM page WHERE url LIKE '%/other'")
    assert problem == "empty shell: <div id=root> is left to scripts, in a browser too: it stays empty"


HOSTILE = {
    "/requests": "let n = 0; setInterval(() => fetch('/x' + n++).catch(() => 0), 2)",
    "/flood": "let n = 0; setInterval(() => { for (let i = 0; i < 50; i++) fetch('/x' + n++).catch(() => 0) }, 1)",
    "/alerts": "while (true) alert('roses')",
    "/busy": "while (true);",
    "/memory": "const all = []; while (true) all.push(new Uint8Array(50e6).fill(1))",
    "/objects": "const all = []; while (true) all.push({all: new Array(1000).fill(all.length)})",
    "/file": "location = 'file:///etc/passwd'; fetch('file:///etc/passwd').then(r => r.text()).then(t => document.body.append(t))",
    "/private": "for (const h of ['10.0.0.1', '169.254.169.254', '192.168.1.1', '[::ffff:10.0.0.1]']) fetch(`http://${h}/`)",
    "/redirects": "let n = 0; setInterval(() => location = '/nowhere' + n++, 1)",
    "/restless": "setInterval(() => { document.title += 'x'; fetch('/again').catch(() => 0) }, 50)",
    "/large": "document.body.append('x'.repeat(5e7))",
    "/nested": "let e = document.body; for (let i = 0; i < 5000; i++) { e.append(document.createElement('b')); e = e.firstChild || e }",
    "/popups": "setInterval(() => window.open('/popup'), 5); setInterval(() => { const a = document.createElement('a'); a.href = '/app'; a.target = '_blank'; a.click() }, 5)",
}


def test_hostile_pages_cost_themselves_only(tmp_path):
    site = SITE | {path: shell(f"<script>{script}</script>") for path, script in HOSTILE.items()}
    site["/"] = page(*HOSTILE, "/app", "/plain", text="A garden of links")
    with serving(lambda _, path: site.get(path, MISSING)) as server:
        began = monotonic()
        limits = {"FOCUS_BROWSER_TIMEOUT": 5, "FOCUS_BROWSER_REQUESTS": 50, "DOWNLOAD_MAXSIZE": 2_000_000}
        done, crawled = crawl(tmp_path / "crawl", server, **limits)
        asked = [path for _, _, path in server.asked]
    assert done.returncode == 0, done.stderr
    pages = by_path(crawled)
    assert set(HOSTILE) <= set(pages)
    assert pages["/app"]["matched"], done.stderr
    assert pages["/found"]["matched"]
    assert not any(pages[path]["matched"] for path in HOSTILE)
    assert sum(path.startswith("/x") for path in asked) <= 2 * 50
    assert "/popup" not in asked
    with read_crawl(crawled.folder) as store:
        assert b"root:" not in (store.pages.body(pages["/file"]["url"]) or b"")
    assert monotonic() - began < 120


def start(folder: Path, server: ManyHosts, seed: str) -> subprocess.Popen:
    command = f"-m scrapy crawl best_first -a keywords=rose -a seeds={server.at('127.0.0.1', seed)}"
    options = f"-s FOCUS_BROWSER=shells -s FOCUS_DIR={shlex.quote(str(folder))} -s FOCUS_BROWSER_TIMEOUT=60"
    return subprocess.Popen(
        [sys.executable, *shlex.split(f"{command} {options}")],
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_no_process_is_left_and_the_crawl_resumes(tmp_path, how):
    restless = shell("<script>setInterval(() => fetch('/again').catch(() => 0), 100)</script>")
    site = SITE | {"/restless": restless}
    with serving(lambda _, path: site.get(path, MISSING)) as server:
        process = start(tmp_path / "crawl", server, "/restless")
        wait_until(lambda: "/again" in [path for _, _, path in server.asked], 60)
        family = descendants(process.pid)
        assert len(family) > 3  # the driver, the browser and its helpers
        if how == signal.SIGINT:
            os.killpg(process.pid, how)  # a terminal sends Ctrl-C to the driver of the browser, too
        else:
            process.kill()
        process.wait(60)
        wait_until(lambda: not any(map(is_running, family)))
        assert Crawled(tmp_path / "crawl").sql("SELECT count(*) FROM page") == [(0,)]
        site["/restless"] = SITE["/app"]
        site["/data/restless"] = SITE["/data/app"]
        done, crawled = crawl_again(tmp_path / "crawl", server)
        assert done.returncode == 0, done.stderr
    assert by_path(crawled)["/restless"]["title"] == "The rose garden"


def crawl_again(folder: Path, server: ManyHosts):
    seeds = f"seeds={server.at('127.0.0.1', '/restless')}"
    arguments = ["-a", seeds, "-a", "keywords=rose", "-s", f"FOCUS_DIR={folder}", "-s", "FOCUS_BROWSER=shells"]
    return scrapy("crawl", "best_first", *arguments), Crawled(folder)


def test_a_browser_that_does_not_start_costs_one_line(tmp_path):
    program = tmp_path / "broken"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    with serving(lambda _, path: SITE.get(path, MISSING)) as server:
        done, crawled = crawl(tmp_path / "crawl", server, FOCUS_BROWSER_EXECUTABLE=program)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("The browser does not start") == 1
    assert by_path(crawled)["/plain"]["matched"]
    ((problem,),) = crawled.sql("SELECT problem FROM page WHERE url LIKE '%/app'")
    assert problem.endswith("in a browser too: the browser does not start")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"FOCUS_BROWSER": "shell"}, "expected off, shells, always or host names; did you mean shells?"),
        ({"FOCUS_BROWSER_EXECUTABLE": "/nowhere/chromium"}, "FOCUS_BROWSER_EXECUTABLE=/nowhere/chromium: there is no"),
        ({"FOCUS_BROWSER_TIMEOUT": "soon"}, "expected a number"),
    ],
)
def test_a_wrong_setting_is_told_before_anything_is_fetched(tmp_path, settings, told):
    with serving(lambda _, path: SITE.get(path, MISSING)) as server:
        done, _ = crawl(tmp_path / "crawl", server, **settings)
        assert server.asked == []
    assert done.returncode == 2
    assert told in done.stderr
