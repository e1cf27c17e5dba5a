"""Download: Scrapy's own handler for http and https, with limits for what comes before the body.

It checks every address at the moment it connects to it, and keeps few idle connections.
"""

from __future__ import annotations

import os
from errno import EMFILE, ENFILE
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
    _TunnelingTCP4ClientEndpoint,
)
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadFailedError,
    IgnoreRequest,
    NotConfigured,
)
from scrapy.utils.httpobj import urlparse_cached
from twisted.internet.endpoints import HostnameEndpoint
from twisted.internet.error import ConnectBindError
from twisted.internet.interfaces import IHandshakeListener
from twisted.protocols.policies import ProtocolWrapper
from twisted.web._newclient import HEADER, STATUS, ParseError
from twisted.web.client import HTTPConnectionPool
from zope.interface import directlyProvides, implementer, providedBy

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.failures import PrivateAddress, TooManyFiles, root
from focuscrawl.web.addresses import Networks, is_literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.iweb import IResponse

#: Most bytes before the body, interim answers (1xx) included.
HEAD_LIMIT = 256 * 1024
#: Idle connections that are kept, at least and for each request that may be under way, and for how many seconds.
IDLE, IDLE_PER_REQUEST, IDLE_SECONDS = 32, 2, 20


class DownloadHandler(HTTP11DownloadHandler):
    """Scrapy's handler, hardened.

    It connects to no address outside the crawl's networks, whatever name stands for it: a page, robots.txt, a sitemap,
    a redirect. It refuses headers without end, which Twisted would keep until memory is full, and statuses that are
    none. Settings: FOCUS_PRIVATE_HOSTS, CONCURRENT_REQUESTS. Stats: ``focus/private_address``.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        try:
            self.crawl: Crawl | None = Crawl.of(crawler)
            self.networks = self.crawl.networks
        except NotConfigured:  # a single page, as in `scrapy fetch`: what the user asks for is like a seed
            self.crawl = None
            self.networks = Networks(everything=crawler.settings.getbool("FOCUS_PRIVATE_HOSTS"))
        _use_steady_clock(self._pool._reactor)
        idle = max(IDLE, IDLE_PER_REQUEST * crawler.settings.getint("CONCURRENT_REQUESTS"))
        self._pool: _Pool = _Pool(self._pool._reactor, self._pool.maxPersistentPerHost, idle, self.networks, self._left)

    def _left(self, host: str) -> None:
        if self.crawl is not None:
            self.crawl.hosts.left(host)

    async def download_request(self, request: Request) -> Response:
        host = urlparse_cached(request).hostname or ""
        looked_at = self.crawl is None or self.crawl.throw_away is not None
        if looked_at and "redirect_times" not in request.meta:
            self.networks.add_seed(request.url)
        try:
            # a proxy looks names up, and sees other hosts than we do; an address is the same for both
            if request.meta.get("proxy") and is_literal(host) and not self.networks.allow(host):
                raise PrivateAddress(host)
            return await super().download_request(request)
        except PrivateAddress as error:
            self._crawler.stats.inc_value("focus/private_address")
            raise PrivateAddress(error.address, host) from None
        except DownloadCancelledError:
            raise IgnoreRequest("too large: the body exceeds DOWNLOAD_MAXSIZE") from None
        except (ConnectBindError, CannotResolveHostError) as error:
            if getattr(error, "osError", None) in (EMFILE, ENFILE) or _no_file_left():
                self._pool.drop_idle()
                raise TooManyFiles from None
            raise
        except DownloadFailedError as error:
            if isinstance(root(error), _HeadTooLargeError):
                raise IgnoreRequest("too large: the headers") from None
            raise


def _use_steady_clock(reactor: Any) -> None:
    """Have the reactor measure time by a clock that nobody sets: by its own, one that is set back stops all timers."""
    if reactor.seconds is not monotonic:
        difference = monotonic() - reactor.seconds()
        for call in reactor.getDelayedCalls():
            call.time += difference
            call.seconds = monotonic
        reactor.seconds = monotonic


def _no_file_left() -> bool:
    """Whether the process may open no more files; looking a name up fails for that, too, but does not say so."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (EMFILE, ENFILE)
    return False


class _GuardedReactor:
    """The reactor, but for connections: it makes none to an address outside the crawl's networks."""

    def __init__(self, reactor: Any, networks: Networks) -> None:
        self._reactor = reactor
        self._networks = networks
        directlyProvides(self, providedBy(reactor))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reactor, name)

    def connectTCP(self, host: str, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
        if not self._networks.allow(host):
            raise PrivateAddress(host)
        return self._reactor.connectTCP(host, *args, **kwargs)


class _Pool(HTTPConnectionPool):
    """Connections whose addresses were checked. It keeps the *idle* ones that were used last."""

    cachedConnectionTimeout = IDLE_SECONDS  # noqa: N815
    #: A request that failed is for the frontier to try again, at its host's distance.
    retryAutomatically = False  # noqa: N815

    def __init__(self, reactor: Any, per_host: int, idle: int, networks: Networks, left: Callable[[str], None]) -> None:
        super().__init__(reactor, persistent=True)  # type: ignore[no-untyped-call]
        self.maxPersistentPerHost = max(1, per_host)
        self.idle = idle
        self._keys: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self._guarded = _GuardedReactor(reactor, networks)
        self._factory = partial(_Factory, left)  # type: ignore[assignment]

    def _newConnection(self, key: Any, endpoint: Any) -> Any:  # noqa: N802
        if key[0] != b"http-proxy" and not isinstance(endpoint, _TunnelingTCP4ClientEndpoint):
            inner = getattr(endpoint, "_wrappedEndpoint", endpoint)  # TLS is wrapped around it
            if not isinstance(inner, HostnameEndpoint):
                raise TypeError(f"{inner!r} connects in a way that cannot be checked")
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
            self._drop(next(iter(self._timeouts)))  # the one that was used longest ago

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

    def drop_idle(self) -> None:
        """Close the connections that nobody uses."""
        for connection in list(self._timeouts):
            self._drop(connection)


class _HeadTooLargeError(Exception):
    pass


class _Parser(_LenientHTTPClientParser):
    MAX_LENGTH = HEAD_LIMIT  # of a line; Twisted's 16 KiB are less than some policies and cookies take
    _head = 0

    def dataReceived(self, data: bytes) -> None:  # noqa: N802
        super().dataReceived(data)  # type: ignore[no-untyped-call]
        if self.state in (STATUS, HEADER):
            self._head += len(data)
            if self._head > HEAD_LIMIT:
                raise _HeadTooLargeError

    def lineLengthExceeded(self, line: bytes) -> None:  # noqa: N802
        raise _HeadTooLargeError

    def statusReceived(self, status: bytes) -> None:  # noqa: N802
        super().statusReceived(status)  # type: ignore[no-untyped-call]
        if not 100 <= self.response.code <= 999:
            raise ParseError("not a status code", status)  # type: ignore[no-untyped-call]


@implementer(IHandshakeListener)
class _Protocol(_LenientHTTP11ClientProtocol):
    """Says when a request leaves."""

    def __init__(self, quiescent: Any, left: Callable[[str], None]) -> None:
        super().__init__(quiescent)  # type: ignore[no-untyped-call]
        self._left = left
        self._host = ""

    def request(self, request: TxRequest) -> Deferred[IResponse]:
        deferred = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _Parser  # as Scrapy does: Twisted leaves no other way
        if (uri := request._parsedURI) is not None:
            self._host = uri.host.decode("ascii", "replace").lower()
            self._flush()
            self._left(self._host)
        return deferred

    def _flush(self) -> None:
        """Send what was written now: the reactor would do it when it has time, and nobody would know when that was."""
        transport: Any = self.transport
        while isinstance(transport, ProtocolWrapper):  # TLS
            transport = transport.transport
        if hasattr(transport, "doWrite"):
            transport.doWrite()  # what goes wrong, the reactor sees when it tries again

    def handshakeCompleted(self) -> None:  # noqa: N802
        if self._host:  # only now does the first request over TLS leave
            self._left(self._host)


class _Factory(_LenientHTTP11ClientFactory):
    def __init__(self, left: Callable[[str], None], quiescent: Any, metadata: Any) -> None:
        super().__init__(quiescent, metadata)  # type: ignore[no-untyped-call]
        self._left = left

    def buildProtocol(self, addr: IAddress | None) -> _Protocol:  # noqa: N802
        return _Protocol(self._quiescentCallback, self._left)
