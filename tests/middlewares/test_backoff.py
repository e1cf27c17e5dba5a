from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from focuscrawl.frontier import hosts
from focuscrawl.middlewares.backoff import retry_after
from focuscrawl.web.webs import Answer
from tests.conftest import at, small_web


@pytest.mark.parametrize(
    ("value", "seconds"), [("0", 0), ("120", 120), ("", None), ("soon", None), ("-5", None), ("²", None)]
)
def test_retry_after_is_a_number_of_seconds(value, seconds):
    assert retry_after(value) == seconds


def test_or_a_date():
    later = datetime.now(UTC) + timedelta(seconds=90)
    assert retry_after(format_datetime(later, usegmt=True)) == pytest.approx(90, abs=2)
    assert retry_after("Wed, 21 Oct 2015 07:28:00 GMT") == 0
    assert retry_after("Wed, 21 Oct 2015 07:28:00") == 0


def test_a_busy_host_rests_while_others_are_crawled(crawl, monkeypatch):
    monkeypatch.setattr(hosts, "FIRST_REST", 0.3)
    web = small_web({"seed": ["busy", "a", "b"], "a": [], "b": []})
    web.answers[at("busy")] = Answer(503, "text/html", b"too much")
    crawled = crawl("breadth_first", web, seeds=at("seed"))
    assert crawled.urls == [at("seed"), at("a"), at("b"), at("busy")]
    times = {page["url"]: datetime.fromisoformat(page["fetched_at"]) for page in crawled.pages}
    # 0.3 s, then 0.6 s of rest between its three tries
    assert (times[at("busy")] - times[at("b")]).total_seconds() > 0.6
    assert crawled.stats["focus/backoff"] == 3


def test_rest_is_bounded(crawl):
    web = small_web({"seed": ["busy"]})
    web.answers[at("busy")] = Answer(429, "text/html", b"too much")
    crawled = crawl("breadth_first", web, settings={"FOCUS_BACKOFF_MAX": 0.01}, seeds=at("seed"))
    assert [page["status"] for page in crawled.pages] == [200, 429]
