from __future__ import annotations

import time

import pytest

from focuscrawl.errors import FocusError
from focuscrawl.seeding import searxng
from focuscrawl.seeding.searxng import SearXNG
from tests.searx import closed_port, serving


@pytest.fixture
def searx():
    with serving() as server:
        yield server


def pages(count, name="a"):
    return [f"http://{name}.example/{number}" for number in range(count)]


def fail(message):
    raise AssertionError(message)


def test_results_come_in_order_from_as_many_pages_as_it_takes(searx):
    searx.results["", "sorting things"] = pages(25)
    assert SearXNG(searx.address).search("sorting things", 23, fail) == pages(23)
    assert searx.asked == [{"q": "sorting things", "format": "json", "pageno": str(n)} for n in (1, 2, 3)]


def test_the_last_page_ends_the_search(searx):
    searx.results["", "x"] = pages(12)
    assert SearXNG(searx.address).search("x", 50, fail) == pages(12)
    assert len(searx.asked) == 3


def test_an_engine_that_repeats_its_only_page_is_not_asked_for_ever(searx):
    searx.mode = "no pages"
    searx.results["", "x"] = pages(12)
    assert SearXNG(searx.address).search("x", 50, fail) == pages(12)
    assert len(searx.asked) == 2


@pytest.mark.parametrize("path", ["", "/", "/search", "/search/"])
def test_an_address_may_hold_query_and_parameters(searx, path):
    searx.results["b", "x"] = pages(3)
    instance = SearXNG(f"{searx.address}{path}?q=x&language=de&engines=b&format=html")
    assert instance.query == "x"
    assert instance.search(instance.query, 3, fail) == pages(3)
    assert searx.asked == [{"q": "x", "language": "de", "engines": "b", "format": "json", "pageno": "1"}]


def test_what_is_no_page_is_passed_over(searx):
    good = "https://a.example/b%C3%A4r"
    searx.results["", "x"] = ["magnet:?x", "https://A.example/bär#top", "http://a.example/b.pdf", "", "/relative", good]
    assert SearXNG(searx.address).search("x", 9, fail) == [good]


def test_an_engine_the_instance_does_not_know_is_named(searx):
    searx.results["mojeek", "x"] = pages(3)
    assert SearXNG(searx.address).search("x", 3, fail, "mojeek") == pages(3)
    with pytest.raises(FocusError, match=r"requested engine 'mojek', got results from mojeek; choose engines that are"):
        SearXNG(searx.address).search("x", 3, fail, "mojek")


def test_engines_that_do_not_answer_are_named(searx):
    searx.unresponsive = [["brave", "too many requests"]]
    said: list[str] = []
    assert SearXNG(searx.address).search("x", 3, said.append, "brave") == []
    assert said == [f"SearXNG at {searx.address}: no answer from brave too many requests"]


def test_a_failure_half_way_keeps_what_was_there(searx):
    searx.mode = "429 later"
    searx.results["", "x"] = pages(25)
    said: list[str] = []
    assert SearXNG(searx.address).search("x", 25, said.append) == pages(10)
    assert "HTTP 429: rate limit exceeded" in said[0]
    assert said[0].endswith("keeping the first 10 results")


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("403", "HTTP 403: JSON is disabled, or access is denied; add json to the formats in its settings.yml"),
        ("429", "HTTP 429: rate limit exceeded"),
        ("500", "HTTP 500: see its log"),
        ("says <!doctype html><title>SearXNG</title>", "the answer is not JSON"),
        ("says ", "the answer is not JSON"),
        ("says " + "[" * 100_000, "the answer is not JSON"),
        ("says [1]", "the answer has no 'results'"),
        ('says {"results": 3}', "the answer has no 'results'"),
        ("silent", "no answer within 0.5 seconds; raise --timeout"),
        ("slow", "no answer within 0.5 seconds; raise --timeout"),
        ("torn", "not JSON"),
        ("no HTTP", "not reachable (220 mail.example ESMTP"),
    ],
)
def test_failures_cost_one_line_that_names_the_instance(searx, mode, says):
    searx.mode = mode
    begin = time.monotonic()
    with pytest.raises(FocusError) as error:
        SearXNG(searx.address, timeout=0.5).search("x", 5, fail)
    assert time.monotonic() - begin < 10
    assert says in str(error.value)
    assert str(error.value).startswith(f"SearXNG at {searx.address}: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("http://127.0.0.1:PORT", "not reachable (Connection refused); is it running"),
        ("http://nobody.invalid", "not reachable ("),
        ("http://a..b.invalid", "not reachable ("),
        ("localhost:8888", "did you mean 'http://localhost:8888'?"),
        ("ftp://localhost", "not an http or https URL; give an address such as http://localhost:8888"),
    ],
)
def test_wrong_addresses_cost_one_line(address, says):
    with pytest.raises(FocusError) as error:
        SearXNG(address.replace("PORT", str(closed_port())), timeout=5).search("x", 5, fail)
    assert says in str(error.value)


def test_a_wrong_path_is_told(searx):
    with pytest.raises(FocusError, match="HTTP 404: is this the address of a SearXNG instance"):
        SearXNG(f"{searx.address}/elsewhere").search("x", 5, fail)


def test_an_endless_answer_is_cut_off(searx, monkeypatch):
    monkeypatch.setattr(searxng, "MAX_BYTES", 100)
    searx.results["", "x"] = pages(100)
    with pytest.raises(FocusError, match="the answer is larger than"):
        SearXNG(searx.address).search("x", 5, fail)


def test_an_instance_on_this_machine_is_asked_directly(searx, monkeypatch):
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{closed_port()}")
    searx.results["", "x"] = pages(3)
    assert SearXNG(searx.address).search("x", 3, fail) == pages(3)


def test_other_instances_are_asked_at_most_once_a_second(searx, monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(searxng.time, "sleep", slept.append)
    monkeypatch.setenv("http_proxy", searx.address)  # the proxy is the instance
    monkeypatch.setenv("no_proxy", "")
    searx.results["", "x"] = pages(15)
    assert SearXNG("http://searx.example").search("x", 15, fail) == pages(15)
    assert slept == [searxng.PAUSE]


@pytest.mark.parametrize(
    "target", ["ftp://127.0.0.1/", "file:///etc/passwd", "http://127.0.0.2:1/search", "http://[", "data:,x"]
)
def test_a_redirect_leads_nowhere_but_to_the_instance_itself(searx, target):
    searx.mode = f"to {target}"
    with pytest.raises(FocusError, match=r"not reachable|HTTP 302"):
        SearXNG(searx.address).search("sorting", 5, fail)


def test_a_redirect_on_its_own_host_is_followed(searx):
    searx.results["", "sorting"] = ["http://a.example/"]
    searx.mode = f"to {searx.address}/search?q=sorting&format=json"
    assert SearXNG(searx.address).search("sorting", 5, fail) == ["http://a.example/"]
