from __future__ import annotations

import asyncio

import pytest
from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.test import get_crawler

from focuscrawl.middlewares.addresses import AddressMiddleware, is_literal, kind


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("8.8.8.8", "public"), ("93.184.216.34", "public"), ("2606:4700::1111", "public"), ("::ffff:8.8.8.8", "public"),
        ("127.0.0.1", "loopback"), ("127.255.0.3", "loopback"), ("::1", "loopback"), ("::ffff:127.0.0.1", "loopback"),
        ("2002:7f00:1::", "loopback"), ("10.1.2.3", "private"), ("172.16.0.1", "private"), ("192.168.1.1", "private"),
        ("100.64.0.1", "private"), ("fc00::1", "private"), ("::ffff:10.0.0.1", "private"), ("192.0.2.1", "private"),
        ("169.254.169.254", "special"), ("0.0.0.0", "special"), ("224.0.0.1", "special"), ("255.255.255.255", "special"),
        ("::", "special"), ("fe80::1", "special"), ("fe80::1%eth0", "special"), ("ff02::1", "special"),
    ],
)  # fmt: skip
def test_where_addresses_are(address, where):
    assert kind(address) == where


def test_names_are_no_addresses():
    assert is_literal("127.0.0.1")
    assert is_literal("::1")
    assert not is_literal("localhost")


class Seeded(Spider):
    name = "seeded"


def guard(monkeypatch, *seeds: str, **settings) -> AddressMiddleware:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    crawler = get_crawler(Seeded, {"TWISTED_REACTOR_ENABLED": False, **settings})
    crawler.spider = Seeded(start_urls=list(seeds))
    return AddressMiddleware(crawler)


def refused(middleware: AddressMiddleware, *requested: str) -> bool:
    """Whether any of the requests would be refused, asked for in turn."""

    async def ask() -> None:
        for url in requested:
            await middleware.process_request(Request(url))

    try:
        asyncio.run(ask())
    except IgnoreRequest:
        return True
    return False


LOCAL, PRIVATE, METADATA = "http://127.0.0.2:8000/", "http://192.168.7.7/", "http://169.254.169.254/latest/meta-data/"


@pytest.mark.parametrize(
    "url", [LOCAL, PRIVATE, METADATA, "http://localhost/", "http://[::1]/", "http://[::ffff:10.0.0.1]/"]
)
def test_a_public_page_cannot_aim_the_crawl_at_the_local_network(monkeypatch, url):
    """Nothing is sent: the middleware is asked what it would let pass."""
    assert refused(guard(monkeypatch, "http://8.8.8.8/"), url)


def test_where_the_seeds_are_may_be_crawled_and_nowhere_else(monkeypatch):
    on_this_machine = guard(monkeypatch, "http://127.0.0.1:8000/")
    assert not refused(on_this_machine, LOCAL, "http://localhost/", "http://8.8.8.8/")
    assert refused(on_this_machine, PRIVATE)
    assert refused(on_this_machine, METADATA)
    by_name = guard(monkeypatch, "http://localhost:8000/")
    assert not refused(by_name, "http://localhost:8000/", LOCAL)
    in_the_house = guard(monkeypatch, "http://10.0.0.1/")
    assert not refused(in_the_house, PRIVATE)
    assert refused(in_the_house, LOCAL)
    assert refused(in_the_house, METADATA)


def test_names_that_cannot_be_looked_up_are_left_to_the_download(monkeypatch):
    assert not refused(guard(monkeypatch, "http://8.8.8.8/"), "http://no-such-name.invalid/")


def test_behind_a_proxy_names_are_the_proxys_affair(monkeypatch):
    middleware = guard(monkeypatch, "http://8.8.8.8/")
    middleware.proxied = True
    assert not refused(middleware, "http://localhost/")
    assert refused(middleware, LOCAL)


@pytest.mark.parametrize("settings", [{"FOCUS_PRIVATE_HOSTS": True}, {"FOCUS_WEB": "demo"}])
def test_it_is_off_if_asked_for_and_in_replay(monkeypatch, settings):
    with pytest.raises(NotConfigured):
        guard(monkeypatch, "http://8.8.8.8/", **settings)
