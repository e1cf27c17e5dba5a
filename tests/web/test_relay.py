"""The relay between a page in the browser and the network, without a browser."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable

import pytest

from focuscrawl.web import relay as relays
from focuscrawl.web.addresses import Networks
from focuscrawl.web.relay import Relay

LOCAL = Networks(["http://127.0.0.1/"])


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(relays, "_ALLOWED_WITHIN", 0.1)


def name(host: str) -> bytes:
    return b"\x03" + bytes([len(host)]) + host.encode()


def ask(
    target: bytes,
    networks: Networks = LOCAL,
    *,
    allow: str | None = "http://127.0.0.1:{port}/",
    size: int = 1000,
    answer: bytes = b"an answer",
    before: Callable[[asyncio.AbstractEventLoop], None] = lambda loop: None,
    greeting: bytes = b"\x05\x01\x00",
) -> tuple[bytes, list[bytes], Relay]:
    """What a browser gets from a target, what the server there received, and the relay."""
    received: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read(100))
        writer.write(answer)
        await writer.drain()
        writer.close()

    async def go() -> tuple[bytes, list[bytes], Relay]:
        before(asyncio.get_running_loop())
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        relay = Relay(networks, size)
        place = await relay.open()
        if allow:
            relay.allow(allow.replace("{port}", str(port)))
        reader, writer = await asyncio.open_connection("127.0.0.1", int(place.rpartition(":")[2]))
        writer.write(greeting + b"\x05\x01\x00" + target + port.to_bytes(2, "big") + b"a question")
        got = await _all_of(reader.read)
        writer.close()
        await relay.close()
        server.close()
        return got, received, relay

    return asyncio.run(go())


async def _all_of(read: Callable[[int], Awaitable[bytes]]) -> bytes:
    got = b""
    try:
        while data := await read(10_000):
            got += data
    except ConnectionError:
        pass
    return got


IPV4 = b"\x01\x7f\x00\x00\x01"


@pytest.mark.parametrize("target", [IPV4, name("127.0.0.1")])
def test_an_allowed_host_is_connected_to(target):
    got, received, _ = ask(target)
    assert received == [b"a question"]
    assert got.endswith(b"an answer")


def test_a_name_is_resolved_here():
    got, received, _ = ask(name("localhost"), allow="http://localhost:{port}/")
    assert received == [b"a question"]
    assert got.endswith(b"an answer")


def test_a_host_that_was_not_allowed_is_not_connected_to():
    for allow in (None, "http://127.0.0.1:1/", "http://other.example:{port}/"):
        _, received, relay = ask(IPV4, allow=allow)
        assert received == []
        assert relay.private == {}


@pytest.mark.parametrize(
    ("target", "allow", "told"),
    [
        (IPV4, "http://127.0.0.1:{port}/", "127.0.0.1"),
        (name("localhost"), "http://localhost:{port}/", "localhost"),
        (b"\x04" + socket.inet_pton(socket.AF_INET6, "::1"), "http://[::1]:{port}/", "::1"),
        (
            b"\x04" + socket.inet_pton(socket.AF_INET6, "::ffff:127.0.0.1"),
            "http://[::ffff:7f00:1]:{port}/",
            "::ffff:7f00:1",
        ),
    ],
)
def test_a_private_address_is_not_connected_to(target, allow, told):
    _, received, relay = ask(target, Networks(), allow=allow)
    assert received == []
    assert list(map(_short, relay.private)) == [_short(told)]


def _short(host: str) -> str:
    return host.replace("::ffff:127.0.0.1", "::ffff:7f00:1")


def test_a_name_that_changes_its_address_gains_nothing():
    """What is checked is what is connected to: the name is resolved once."""
    asked: list[str] = []

    def change(loop: asyncio.AbstractEventLoop) -> None:
        async def getaddrinfo(host, port, **_):
            asked.append(host)
            address = "93.184.216.34" if host == "rebinding.example" and len(asked) > 1 else "127.0.0.1"
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

        loop.getaddrinfo = getaddrinfo  # type: ignore[method-assign]

    _, received, relay = ask(
        name("rebinding.example"), Networks(), allow="http://rebinding.example:{port}/", before=change
    )
    assert received == []
    assert relay.private == {"rebinding.example": "127.0.0.1"}


def test_bytes_are_limited():
    got, _, relay = ask(IPV4, size=1000, answer=b"x" * 1_000_000)
    assert relay.full
    assert len(got) < 200_000


@pytest.mark.parametrize("greeting", [b"\x04\x01\x00", b"GET / HTTP/1.1\r\n\r\n", b"\x05\x01\x00\x05\x02\x00"])
def test_who_does_not_speak_its_language_gets_nothing(greeting):
    _, received, _ = ask(IPV4, greeting=greeting)
    assert received == []
