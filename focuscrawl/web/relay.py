"""Relay: the only way from a page in the browser to the network.

A SOCKS5 server on this machine, one for each page. The browser resolves no names itself. The relay does, checks the
address against the crawl's networks, and connects to the very address that it has checked: a name that resolves
differently the second time gains nothing. Whatever the browser tries by itself, such as connections to its maker, ends
here as well, because only hosts that were allowed for the page are connected to.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import urlsplit

from focuscrawl.web.addresses import Networks, is_literal

#: Seconds that a connection waits until its host is allowed: a redirect may connect before it is checked.
_ALLOWED_WITHIN = 2.0
#: Seconds for the browser to say where to, and for a host to accept a connection.
_GREET_WITHIN, _CONNECT_WITHIN = 10.0, 15.0
#: Most connections of one page at a time: a browser opens six to a host.
_MAX_CONNECTIONS = 64
_PIECE = 1 << 16

_NO_LOGIN = b"\x05\x00"
_DONE, _REFUSED = (bytes((5, code, 0, 1, 0, 0, 0, 0, 0, 0)) for code in (0, 2))
_CONNECT, _IPV4, _NAME, _IPV6 = 1, 1, 3, 4


class _RefusedError(Exception):
    """The relay does not connect there."""


class Relay:
    """Connects one page to the hosts that it may reach; open it with `open`, and `close` it with the page."""

    def __init__(self, networks: Networks, size: int) -> None:
        self.networks = networks
        #: Most bytes that the page may receive.
        self.size = size
        self.received = 0
        #: Hosts that are outside the crawl's networks, by the address that they resolved to.
        self.private: dict[str, str] = {}
        self._allowed: set[tuple[str, int]] = set()
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def open(self) -> str:
        """Start to listen; returns the address for the browser."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"socks5://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def close(self) -> None:
        """End all connections."""
        if self._server is not None:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    @property
    def full(self) -> bool:
        """Whether the page has received more than it may."""
        return self.received > self.size

    def allow(self, url: str) -> None:
        """Let the page connect to the host of a URL."""
        self._allowed.add(_place(url))

    # ---- connections

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._connect(reader, writer)
        except (OSError, EOFError, _RefusedError):
            with suppress(OSError):
                writer.write(_REFUSED)
        except asyncio.CancelledError:
            pass  # the page is closed; raised, it would be logged as an error
        finally:
            self._connections.discard(task)
            writer.close()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) > _MAX_CONNECTIONS:
            raise _RefusedError
        async with asyncio.timeout(_GREET_WITHIN):
            place = await _greet(reader, writer)
        await self._wait_until_allowed(place)
        async with asyncio.timeout(_CONNECT_WITHIN):
            address = await self._address(*place)
            incoming, outgoing = await asyncio.open_connection(address, place[1])
        writer.write(_DONE)
        try:
            await self._pass_on(reader, writer, incoming, outgoing)
        finally:
            outgoing.close()

    async def _wait_until_allowed(self, place: tuple[str, int]) -> None:
        for _ in range(int(_ALLOWED_WITHIN / 0.02)):
            if place in self._allowed:
                return
            await asyncio.sleep(0.02)
        raise _RefusedError

    async def _address(self, host: str, port: int) -> str:
        """The first address of a host that the crawl may connect to."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        for *_, address in found:
            if self.networks.allow(str(address[0])):
                return str(address[0])
        if found:
            self.private[host] = str(found[0][-1][0])
        raise _RefusedError

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        incoming: asyncio.StreamReader,
        outgoing: asyncio.StreamWriter,
    ) -> None:
        """Pass bytes on in both directions until either side ends."""

        async def send() -> None:
            while data := await reader.read(_PIECE):
                outgoing.write(data)
                await outgoing.drain()

        async def receive() -> None:
            while (data := await incoming.read(_PIECE)) and not self.full:
                self.received += len(data)
                writer.write(data)
                await writer.drain()

        ways = [asyncio.ensure_future(way) for way in (send(), receive())]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)


async def _greet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Where the browser wants to go: host and port."""
    version, methods = await reader.readexactly(2)
    if version != 5:
        raise _RefusedError
    await reader.readexactly(methods)
    writer.write(_NO_LOGIN)
    _, command, _, kind = await reader.readexactly(4)
    if kind == _NAME:
        (length,) = await reader.readexactly(1)
        host = (await reader.readexactly(length)).decode("ascii", "replace").lower()
    elif kind in (_IPV4, _IPV6):
        host = str(ip_address(await reader.readexactly(4 if kind == _IPV4 else 16)))
    else:
        raise _RefusedError
    port = int.from_bytes(await reader.readexactly(2), "big")
    if command != _CONNECT:
        raise _RefusedError
    return _normal(host), port


def _place(url: str) -> tuple[str, int]:
    """Host and port of a URL, as the browser writes it."""
    parts = urlsplit(url)
    return _normal(parts.hostname or ""), parts.port or (443 if parts.scheme in ("https", "wss") else 80)


def _normal(host: str) -> str:
    host = host.strip("[]")
    return str(ip_address(host)) if is_literal(host) else host
