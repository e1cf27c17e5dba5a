"""Addresses: which networks a crawl may connect to. Keeps pages from pointing the crawl at the local network."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from focuscrawl import urls

PUBLIC, LOOPBACK, LINK_LOCAL, SPECIAL = "public", "loopback", "link-local", "special"

#: Private networks; a seed opens the one it is in.
_PRIVATE: tuple[IPv4Network | IPv6Network, ...] = tuple(
    ip_network(block) for block in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
)
#: IPv6 addresses that embed an IPv4 address for translation (RFC 6052).
_NAT64 = ip_network("64:ff9b::/96")


class Networks:
    """The networks a crawl may connect to: the public internet, and those that its seeds name by address.

    A seed on this machine (127.0.0.1, localhost) opens this machine; a seed that is a private address opens its
    network. A host name opens nothing, because its owner, not the user, decides what it resolves to.
    """

    def __init__(self, seeds: Iterable[str] = (), *, everything: bool = False) -> None:
        self.everything = everything
        self._open = {PUBLIC}
        for seed in seeds:
            self.add_seed(seed)

    def add_seed(self, url: str) -> None:
        """Open the network of a URL that the user asked for."""
        host = urls.host(url)
        if urls.is_local(url):
            self._open.add(LOOPBACK)
        elif is_literal(host):
            self._open.add(network(host))

    def allow(self, address: str) -> bool:
        """Whether the crawl may connect to an address."""
        return self.everything or network(address) in self._open


def is_literal(host: str) -> bool:
    """Whether a host is an address and not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def network(address: str) -> str:
    """The network of an address: public, loopback, link-local, the block of a private one, or special."""
    found = _embedded(ip_address(address.partition("%")[0]))
    if found.is_loopback:
        return LOOPBACK
    if found.is_link_local:
        return LINK_LOCAL
    for block in _PRIVATE:
        if found in block:
            return str(block)
    if found.is_multicast or found.is_unspecified or found.is_reserved or not found.is_global:
        return SPECIAL
    return PUBLIC


def _embedded(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address embedded in an IPv6 address, or else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else address)
