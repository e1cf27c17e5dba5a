"""Scrapyd runs crawls out of a deployed egg: a real one, where focuscrawl itself is not installed."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest

from focuscrawl.page import FIELDS
from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import serving
from tests.conftest import ROOT, Crawled
from tests.e2e.conftest import outside

#: Seconds after which something that is waited for will not happen any more.
PATIENCE = 180


class Scrapyd:
    """A Scrapyd on a free port, with the settings that docs/deploying.md offers and a directory of its own."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder = folder
        shutil.copy(ROOT / "deploy" / "scrapyd.conf", folder)
        (folder / ".scrapyd.conf").write_text("[scrapyd]\npoll_interval = 0.1\nmax_proc = 2\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with (folder / "scrapyd.log").open("w") as log:
            self.process = subprocess.Popen(
                [python, "-m", "scrapyd", "--pidfile="],
                cwd=folder,
                env=outside(HOME=str(folder), SCRAPYD_HTTP_PORT=str(port)),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.address = f"http://127.0.0.1:{port}/"
        self.wait_for(lambda: f"Site starting on {port}" in self.said)

    @property
    def said(self) -> str:
        return (self.folder / "scrapyd.log").read_text()

    def wait_for(self, happened: Callable[[], bool]) -> None:
        until = monotonic() + PATIENCE
        while not happened():
            assert self.process.poll() is None, self.said
            assert monotonic() < until, self.said
            sleep(0.05)

    def ask(self, service: str, parameters: list[tuple[str, str]] | None = None) -> dict[str, Any]:
        data = urlencode(parameters).encode() if parameters else None
        opener = build_opener(ProxyHandler({}))
        answer: dict[str, Any] = json.load(opener.open(self.address + service, data, timeout=PATIENCE))
        assert answer["status"] == "ok", answer
        return answer

    def schedule(self, spider: str, settings: dict[str, str], **arguments: object) -> str:
        given = [("project", "focuscrawl"), ("spider", spider)]
        given += [("setting", f"{name}={value}") for name, value in settings.items()]
        given += [(name, str(value)) for name, value in arguments.items()]
        return str(self.ask("schedule.json", given)["jobid"])

    def cancel(self, job: str) -> str:
        return str(self.ask("cancel.json", [("project", "focuscrawl"), ("job", job)])["prevstate"])

    def finish(self, job: str) -> None:
        self.wait_for(
            lambda: job in [row["id"] for row in self.ask("listjobs.json?project=focuscrawl")["finished"]],
        )

    def log(self, spider: str, job: str) -> str:
        return (self.folder / "logs" / "focuscrawl" / spider / f"{job}.log").read_text("utf-8")

    def items(self, spider: str, job: str) -> list[dict[str, Any]]:
        lines = (self.folder / "items" / "focuscrawl" / spider / f"{job}.jl").read_text("utf-8").splitlines()
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory, clean_python, checkout):
    """A Scrapyd to which the checkout was deployed, as docs/deploying.md says."""
    folder = tmp_path_factory.mktemp("scrapyd")
    installed = subprocess.run(
        [clean_python, "-c", "import focuscrawl"], cwd=folder, stderr=subprocess.PIPE, check=False
    )
    assert b"No module named 'focuscrawl'" in installed.stderr
    server = Scrapyd(folder, clean_python)
    try:
        cfg = checkout / "scrapy.cfg"
        cfg.write_text(cfg.read_text().replace("http://localhost:6800/", server.address))
        command = [Path(sys.executable).with_name("scrapyd-deploy")]
        deployed = subprocess.run(command, cwd=checkout, capture_output=True, text=True, env=outside(), check=False)
        assert deployed.returncode == 0, deployed.stdout + deployed.stderr
        yield server
    finally:
        os.killpg(server.process.pid, signal.SIGTERM)  # crawls outlive their Scrapyd
        server.process.wait(PATIENCE)


def test_jobs_leave_their_files_log_and_items(scrapyd):
    """Topic, web and lexicon come out of the egg."""
    shipped = {path.stem for path in (ROOT / "focuscrawl" / "spiders").glob("[a-z]*.py")}
    assert set(scrapyd.ask("listspiders.json?project=focuscrawl")["spiders"]) == shipped
    options: dict[str, dict[str, object]] = {"keyword": {}, "apprentice": {"lessons": "auto", "lesson_pages": 60}}
    jobs = {
        spider: scrapyd.schedule(
            spider,
            {"FOCUS_WEB": "demo", "FOCUS_DIR": f"jobs/{spider}"},
            topic="sorting",
            max_pages=40,
            **options.get(spider, {}),
        )
        for spider in ("keyword", "apprentice", "treasure")
    }
    for spider, job in jobs.items():
        scrapyd.finish(job)
        log = scrapyd.log(spider, job)
        assert "Spider closed (max_pages)" in log
        assert not re.search("ERROR:|Traceback|\x1b", log), log
        assert f"The crawl is in {scrapyd.folder / 'jobs' / spider}" in log
        assert f"matched URLs are in {scrapyd.folder / 'jobs' / spider}/URLs.txt" in log
        crawled = Crawled(scrapyd.folder / "jobs" / spider)
        assert len(crawled.urls) == 40
        assert crawled.matched
        assert crawled.sql("SELECT url FROM page ORDER BY id") == [(url,) for url in crawled.urls]
        assert json.loads(crawled.sql("SELECT value FROM meta WHERE key = 'runs'")[0][0])[0]["job"] == job
        assert "</html>" in (crawled.folder / "report.html").read_text("utf-8")
        items = scrapyd.items(spider, job)
        assert sorted(items, key=lambda item: item["url"]) == sorted(crawled.pages, key=lambda page: page["url"])
        assert list(items[0]) == FIELDS


def test_a_cancelled_crawl_goes_on_and_asks_for_nothing_twice(scrapyd):
    """No page after the hundredth is answered before the crawl was cancelled, so that it cannot be done by then."""
    web, asked, go_on = demo_web(), Counter[str](), threading.Event()
    answer = web.get

    def get(url: str):
        asked[url] += 1
        if len(asked) > 100:
            go_on.wait(PATIENCE)
        return answer(url)

    web.get = get  # type: ignore[method-assign]
    with serving(web) as server:
        asked.clear()  # a server looks at every host's robots.txt first
        seed = f"{server.address}/sorting-handbook.example/"
        arguments = {"seeds": seed, "keywords": 'sort:2,"running time"', "max_pages": 400}
        cancelled = scrapyd.schedule("best_first", {}, **arguments)
        scrapyd.wait_for(lambda: len(asked) > 100)
        assert scrapyd.cancel(cancelled) == "running"
        go_on.set()
        scrapyd.finish(cancelled)
        crawled = Crawled(scrapyd.folder / "crawls" / "best_first-sort-running-time")
        pages = len(crawled.urls)
        assert 50 < pages < 400
        resumed = scrapyd.schedule("best_first", {}, **arguments)
        scrapyd.finish(resumed)
    assert "Spider closed (shutdown)" in scrapyd.log("best_first", cancelled)
    assert f"Resuming {crawled.folder}: {pages} pages stored" in scrapyd.log("best_first", resumed)
    assert len(crawled.urls) == len(set(crawled.urls)) == 400
    assert len(scrapyd.items("best_first", resumed)) == 400 - pages
    assert [url for url, times in asked.items() if times > 1 and "/.well-known/" not in url] == []


def test_a_job_that_cannot_begin_says_why_in_its_log(scrapyd):
    job = scrapyd.schedule("keyword", {"FOCUS_WEB": "demo"}, topic="sorting", colour="red")
    scrapyd.finish(job)
    assert "spider 'keyword' has no option 'colour'" in scrapyd.log("keyword", job)


def test_the_commands_of_the_guide_work(scrapyd, clean_python):
    text = (ROOT / "docs" / "deploying.md").read_text("utf-8")
    script = "".join(re.findall(r"```sh\n(.*?)```", text, re.DOTALL)).replace("http://localhost:6800/", scrapyd.address)
    jobs = []
    for command in re.split(r"^(?=curl )", script, flags=re.MULTILINE)[1:]:
        said = subprocess.run(["sh", "-c", command], env=outside(no_proxy="*"), capture_output=True, check=True).stdout
        answer = json.loads(said)
        assert answer["status"] == "ok", command
        jobs += [answer["jobid"]] if "jobid" in answer else []
        if answer.get("prevstate") == "running":
            scrapyd.finish(jobs[0])
    for job in jobs[1:]:
        scrapyd.finish(job)
    folder = scrapyd.folder / "crawls"
    assert len(Crawled(folder / "keyword-time-bubble-bubble-sort").urls) == 100
    urls = Crawled(folder / "best_first-sorting-algorithms").urls
    assert len(urls) == len(set(urls)) == 600
    explained = subprocess.run(
        [clean_python, "-m", "scrapyd.runner", "explain", "crawls/best_first-sorting-algorithms", urls[-1]],
        cwd=scrapyd.folder,
        env=outside(SCRAPY_PROJECT="focuscrawl"),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "page 600 of the crawl" in explained.stdout
