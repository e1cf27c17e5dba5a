"""The single interface to private parts of Scrapy and Twisted.

All uses of their private names are here, and a test per name records the version in which it exists. `Engine` is the
crawl's view of Scrapy's engine and downloader. `Pool` and the classes after it are the connections of
`web/download.py`: Twisted has no public way to check an address when connecting, to learn when a request leaves, or to
limit the size of headers.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from time import monotonic
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.core import downloader as scrapy_downloader
from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _TunnelingTCP4ClientEndpoint,
)
from scrapy.extensions import corestats
from scrapy.utils import asyncio as scrapy_asyncio
from scrapy.utils.defer import _schedule_coro
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.interfaces import IHandshakeListener
from twisted.protocols.policies import ProtocolWrapper
from twisted.web._newclient import HEADER, STATUS, ParseError
from twisted.web.client import HTTPConnectionPool
from zope.interface import directlyProvides, implementer, providedBy

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.core.downloader import Slot
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.iweb import IResponse

#: Most bytes before the body, including interim responses (1xx).
HEAD_LIMIT = 256 * 1024
#: Seconds that an idle connection is kept.
IDLE_SECONDS = 20


class Engine:
    """Scrapy's engine and downloader, as the frontier sees them."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    def nudge(self) -> None:
        """Make the engine ask for the next request."""
        slot = self._crawler.engine._slot
        if slot is not None and slot.closing is None:
            slot.nextcall.schedule()

    @property
    def closing(self) -> bool:
        """Whether the engine is about to stop, or has not started."""
        slot = self._crawler.engine._slot
        return slot is None or slot.closing is not None

    def is_through_with(self, request: Request) -> bool:
        """Whether the engine is done with a request."""
        slot = self._crawler.engine._slot
        return slot is not None and request not in slot.inprogress

    def start(self, work: Coroutine[Any, Any, Any]) -> None:
        """Run a coroutine in the background."""
        _schedule_coro(work)

    def stop(self, reason: str) -> None:
        """End the crawl."""
        _schedule_coro(self._crawler.engine.close_spider_async(reason=reason))

    async def download(self, request: Request) -> Response:
        """Download a request, bypassing the queue."""
        return await self._crawler.engine.download_async(request)

    # ---- hosts; Scrapy keeps a slot per host

    def host_of(self, request: Request) -> str:
        """The name under which the delay and back-off of a request's host are kept."""
        return self._crawler.engine.downloader.get_slot_key(request)

    def take_over_concurrency(self) -> float:
        """The settings' limit of requests in flight; from now on the frontier enforces it, not the downloader."""
        downloader = self._crawler.engine.downloader
        most, downloader.total_concurrency = downloader.total_concurrency or inf, 0
        return most

    def _slot(self, host: str) -> Slot | None:
        return self._crawler.engine.downloader.slots.get(host)

    def delay(self, host: str, *, jitter: bool = True) -> float:
        """The delay between two requests to a host by the settings or AutoThrottle; with *jitter*, its maximum."""
        slot = self._slot(host)
        if slot is not None:
            return slot.delay * (1 + slot.jitter) if jitter else slot.delay
        downloader = self._crawler.engine.downloader
        options: dict[str, Any] = downloader.per_slot_settings.get(host, {})
        delay = float(options.get("delay", downloader._delay))
        return delay * (1 + float(options.get("jitter", downloader._jitter))) if jitter else delay

    def concurrency(self, host: str) -> int:
        """Most requests in flight to a host; 0 for no limit."""
        slot = self._slot(host)
        if slot is not None:
            return slot.concurrency
        downloader = self._crawler.engine.downloader
        return int(downloader.per_slot_settings.get(host, {}).get("concurrency", downloader.domain_concurrency))

    def keep_distance(self, host: str, delay: float) -> None:
        """Send requests to a host one at a time, *delay* seconds apart."""
        downloader = self._crawler.engine.downloader
        downloader.per_slot_settings[host] = {"delay": delay, "concurrency": 1}  # applies when the slot is recreated
        slot = self._slot(host)
        if slot is not None:
            slot.delay, slot.concurrency = delay, 1


@contextmanager
def scrapy_clock(monotonic: Callable[[], float]) -> Iterator[None]:
    """Let Scrapy's downloader, timers and stats read another clock for a while."""
    replaced: list[tuple[ModuleType, str, Any]] = [
        (scrapy_downloader, "monotonic", monotonic),
        (corestats, "monotonic", monotonic),
        (scrapy_asyncio, "time", SimpleNamespace(monotonic=monotonic)),
    ]
    before = [getattr(module, name) for module, name, _ in replaced]
    for module, name, value in replaced:
        setattr(module, name, value)
    try:
        yield
    finally:
        for (module, name, _), value in zip(replaced, before, strict=True):
            setattr(module, name, value)


# ---- connections


def install_pool(
    handler: HTTP11DownloadHandler, idle: int, allow: Callable[[str], None], left: Callable[[str], None]
) -> Pool:
    """Give a download handler our pool, which keeps *idle* connections.

    *allow* raises if an address must not be connected to. *left* is called with the host of each request that leaves.
    """
    reactor = handler._pool._reactor
    _use_steady_clock(reactor)
    pool = Pool(reactor, handler._pool.maxPersistentPerHost, idle, allow, left)
    handler._pool = pool
    return pool


def _use_steady_clock(reactor: Any) -> None:
    """Make the reactor use the monotonic clock: if the system clock is set back, all timers would stop."""
    if reactor.seconds is not monotonic:
        difference = monotonic() - reactor.seconds()
        for call in reactor.getDelayedCalls():
            call.time += difference
            call.seconds = monotonic
        reactor.seconds = monotonic


class _GuardedReactor:
    """The reactor, with a check of every address before connecting."""

    def __init__(self, reactor: Any, allow: Callable[[str], None]) -> None:
        self._reactor = reactor
        self._allow = allow
        directlyProvides(self, providedBy(reactor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def connectTCP(self, host: str, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
        self._allow(host)
        return self._reactor.connectTCP(host, *args, **kwargs)


class Pool(HTTPConnectionPool):
    """Connections to checked addresses. Keeps the *idle* most recently used idle connections."""

    cachedConnectionTimeout = IDLE_SECONDS  # noqa: N815
    #: The frontier retries failed requests, with the host's politeness delay.
    retryAutomatically = False  # noqa: N815

    def __init__(
        self, reactor: Any, per_host: int, idle: int, allow: Callable[[str], None], left: Callable[[str], None]
    ) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self.maxPersistentPerHost = max(1, per_host)
        self.idle = idle
        self._keys: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._guarded = _GuardedReactor(reactor, allow)
        self._factory = partial(_Factory, left)  # type: ignore[assignment]

    def _newConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802
        if key[0] != b"http-proxy" and not isinstance(endpoint, _TunnelingTCP4ClientEndpoint):
            inner = getattr(endpoint, "_wrappedEndpoint", endpoint)  # TLS wraps it
            if not isinstance(inner, HostnameEndpoint):
                raise TypeError(f"{inner!r} connects in an unknown way, so its address cannot be checked")
            inner._reactor = self._guarded
        return super()._newConnection(key, endpoint)

    def getConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802
        connection = super().getConnection(key, endpoint)
        self._tidy(key)
        return connection

    def _putConnection(self, key: Any, connection: Any) -> None:  # noqa: N802
        super()._putConnection(key, connection)  # type: ignore[no-untyped-call]
        self._keys[connection] = key
        while len(self._timeouts) > self.idle:
            self._drop(next(iter(self._timeouts)))  # the least recently used

    def _removeConnection(self, key: Any, connection: Any) -> None:  # noqa: N802
        super()._removeConnection(key, connection)  # type: ignore[no-untyped-call]
        self._tidy(key)

    def _tidy(self, key: Any) -> None:
        """Forget a host that has no idle connection."""
        if not self._connections.get(key, True):
            del self._connections[key]

    def _drop(self, connection: Any) -> None:
        self._timeouts[connection].cancel()
        self._removeConnection(self._keys[connection], connection)

    def drop_idle(self, host: str | None = None) -> None:
        """Close all idle connections, or those to a host."""
        for connection in list(self._timeouts):
            if host is None or self._keys[connection][1] == host.encode():
                self._drop(connection)


class HeadTooLargeError(Exception):
    """The part of a response before its body exceeds HEAD_LIMIT."""


class _Parser(_LenientHTTPClientParser):
    MAX_LENGTH = HEAD_LIMIT  # per line; some policies and cookies exceed Twisted's 16 KiB
    _head = 0

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        super().dataReceived(data)  # type: ignore[no-untyped-call]
        if self.state in (STATUS, HEADER):
            self._head += len(data)
            if self._head > HEAD_LIMIT:
                raise HeadTooLargeError

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802
        raise HeadTooLargeError

    def statusReceived(self, status: bytes) -> None:  # noqa: N802
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not 100 <= self.response.code <= 999:
            raise ParseError("not a status code", status)  # type: ignore[no-untyped-call]


@implementer(IHandshakeListener)
class _Protocol(_LenientHTTP11ClientProtocol):
    """Reports when a request leaves."""

    def __init__(self, quiescent: Any, left: Callable[[str], None]) -> None:
        super().__init__(quiescent)  # type: ignore[no-untyped-call]
        self._left = left
        self._host = ""

    def request(self, request: TxRequest) -> Deferred[IResponse]:
        deferred = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _Parser  # as Scrapy does: Twisted has no other way
        if (uri := request._parsedURI) is not None:
            self._host = uri.host.decode("ascii", "replace").lower()
            self._flush()
            self._left(self._host)
        return deferred

    def _flush(self) -> None:
        """Send what was written at once: the reactor would send it later, at an unknown time."""
        transport: Any = self.transport
        while isinstance(transport, ProtocolWrapper):  # TLS
            transport = transport.transport
        if hasattr(transport, "doWrite"):
            transport.doWrite()  # if it fails, the reactor notices when it writes again

    def handshakeCompleted(self) -> None:  # noqa: N802
        if self._host:  # over TLS, the first request leaves only now
            self._left(self._host)


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, left: Callable[[str], None], quiescent: Any, metadata: Any) -> None:
        super().__init__(quiescent, metadata)  # type: ignore[no-untyped-call]
        self._left = left

    def buildProtocol(self, addr: IAddress | None) -> _Protocol:  # noqa: N802
        return _Protocol(self._quiescentCallback, self._left)
