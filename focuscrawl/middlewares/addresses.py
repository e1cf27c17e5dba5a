"""Addresses: a public page cannot aim the crawl at the local network."""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING
from urllib.request import getproxies

from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.utils.defer import maybe_deferred_to_future
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.reactor import is_reactor_installed

from focuscrawl import urls
from focuscrawl.crawl import Crawl

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request
    from scrapy.crawler import Crawler


class AddressMiddleware:
    """Refuses requests to private, loopback, link-local and other addresses that are not public.

    The name is looked up first, and Scrapy's cache of names makes the download use the same answer; redirects come by
    here too. Where the seeds are may be crawled: a seed on this machine opens this machine, one on a private network
    opens private networks, and neither opens the other. Settings: FOCUS_PRIVATE_HOSTS. Stats:
    ``focus/private_address``.
    """

    def __init__(self, crawler: Crawler) -> None:
        settings = crawler.settings
        if settings.getbool("FOCUS_PRIVATE_HOSTS") or settings.get("FOCUS_WEB"):
            raise NotConfigured
        self.crawler = crawler
        self.proxied = settings.getbool("HTTPPROXY_ENABLED") and bool(getproxies().keys() & {"http", "https", "all"})
        self.seeds: set[str] = set()
        #: Kinds of addresses that may be asked.
        self.open = {"public"}
        self._allowed: dict[str, bool] = {}
        for seed in getattr(crawler.spider, "start_urls", ()):
            self.add_seed(seed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        Crawl.of(crawler)  # for a single page, as in `scrapy shell`, there is none
        return cls(crawler)

    def add_seed(self, url: str) -> None:
        """The crawl begins here: what is on the same network may be asked."""
        host = urls.host(url)
        if host not in self.seeds:
            self.seeds.add(host)
            if is_literal(host):
                self.open.add(kind(host))
            self._allowed.clear()

    async def process_request(self, request: Request) -> None:
        host = urlparse_cached(request).hostname or ""
        if host not in self._allowed:
            if len(self._allowed) > 100_000:
                self._allowed.clear()
            self._allowed[host] = await self._may_be_asked(host)
        if not self._allowed[host]:
            self.crawler.stats.inc_value("focus/private_address")
            raise IgnoreRequest(f"private address: {host} is not on the public internet")

    async def _may_be_asked(self, host: str) -> bool:
        if is_literal(host):
            return kind(host) in self.open
        if self.proxied:  # the proxy looks names up, and sees other hosts than we do
            return True
        try:
            kinds = {kind(address) for address in await _look_up(host)}
        except OSError:
            return True  # the download will say what is wrong with the name
        if host in self.seeds:
            self.open |= kinds
        return kinds <= self.open


async def _look_up(host: str) -> list[str]:
    if is_reactor_installed():
        from twisted.internet import reactor

        try:
            return [await maybe_deferred_to_future(reactor.resolve(host))]  # type: ignore[arg-type]
        except Exception as error:
            raise OSError(str(error)) from error
    rows = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(row[4][0]) for row in rows]


def is_literal(host: str) -> bool:
    """Whether a host is an address and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def kind(address: str) -> str:
    """Where an address is: public, loopback, private or special (link-local, multicast, reserved …)."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour or (found.teredo[1] if found.teredo else None)
        if inner is not None:
            found = inner
    if found.is_loopback:
        return "loopback"
    if found.is_multicast or found.is_link_local or found.is_unspecified or found.is_reserved:
        return "special"
    return "public" if found.is_global else "private"
