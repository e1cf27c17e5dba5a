"""Metrics of a running crawl."""

from __future__ import annotations

import json
import re
import socket
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from focuscrawl.reports.metrics import Metric, exposition
from tests.conftest import ROOT, at, small_web

WEB = {"a": ["b", "c", "missing"], "b": [], "c": []}
TEXTS = {"a": "sort", "b": "sort them", "c": "garden"}
SAMPLE = re.compile(r'(focuscrawl_\w+)\{spider="best_first",topic="([^"]+)"(?:,(\w+)="([^"]*)")?\} (\S+)')


def samples(text: str) -> dict[tuple[str, str], float]:
    """The samples of a text, by name and label; every line is one, or a comment."""
    lines = [line for line in text.splitlines() if not line.startswith(("# HELP ", "# TYPE "))]
    found = [SAMPLE.fullmatch(line) for line in lines]
    assert all(found), text
    return {(match[1], match[4] or ""): float(match[5]) for match in found}


def test_the_file_says_how_the_crawl_ended(crawl, tmp_path):
    file = tmp_path / "crawl.prom"
    crawled = crawl(
        "best_first", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort", settings={"FOCUS_METRICS_FILE": file}
    )
    figures = samples(file.read_text())
    (relevant,) = crawled.sql("SELECT total(relevant) FROM page")[0]
    assert figures["focuscrawl_running", ""] == 0
    assert figures["focuscrawl_failed", ""] == 0
    assert figures["focuscrawl_pages_total", ""] == 4
    assert figures["focuscrawl_relevant_pages_total", ""] == relevant
    assert figures["focuscrawl_matched_pages_total", ""] == len(crawled.matched)
    assert figures["focuscrawl_responses_total", "404"] >= 1
    assert figures["focuscrawl_harvest_ratio", ""] == pytest.approx(relevant / 4)
    assert figures["focuscrawl_disk_free_bytes", ""] > 0


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_they_are_served_while_the_crawl_runs(crawl):
    port, seen = free_port(), []
    web = small_web(WEB, TEXTS)
    answer = web.get

    def get(url: str):
        if url == at("b"):
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as response:
                assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                seen.append(samples(response.read().decode()))
            with pytest.raises(HTTPError):
                urlopen(f"http://127.0.0.1:{port}/", timeout=10)
        return answer(url)

    web.get = get
    crawl("best_first", web, seeds=at("a"), keywords="sort", settings={"FOCUS_METRICS_PORT": port})
    assert seen[0]["focuscrawl_running", ""] == 1
    with pytest.raises(OSError, match="refused"):
        urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10)


def test_a_port_that_is_taken_does_not_stop_the_crawl(crawl, caplog):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        settings = {"FOCUS_METRICS_PORT": taken.getsockname()[1]}
        crawled = crawl("best_first", small_web(WEB, TEXTS), seeds=at("a"), keywords="sort", settings=settings)
    assert len(crawled.urls) == 4
    assert "choose another FOCUS_METRICS_PORT" in caplog.text


def test_labels_are_escaped():
    text = exposition(
        [Metric("m", "gauge", "Help.", {'a"b\\c\nd': 1.5}, "why"), Metric("none", "gauge", "", {})], {"topic": "t"}
    )
    assert text == '# HELP m Help.\n# TYPE m gauge\nm{topic="t",why="a\\"b\\\\c\\nd"} 1.5\n'


def test_examples_name_metrics_that_there_are():
    code = (ROOT / "focuscrawl" / "extensions" / "metrics.py").read_text()
    told = {*re.findall(r"focuscrawl_(\w+)", (ROOT / "deploy" / "prometheus-alerts.yml").read_text())}
    panels = json.loads((ROOT / "deploy" / "grafana.json").read_text())["panels"]
    told |= {
        name
        for panel in panels
        for target in panel["targets"]
        for name in re.findall(r"focuscrawl_(\w+)", target["expr"])
    }
    assert all(name.removesuffix("_total") in code for name in told)
    page = (ROOT / "docs" / "deploying.md").read_text()
    assert all(f"`focuscrawl_{name}" in page for name in told)
