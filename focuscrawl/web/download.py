"""Download: Scrapy's own handler for http and https, with limits for what comes before the body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.handlers.http11 import (
    HTTP11DownloadHandler,
    _LenientHTTP11ClientFactory,
    _LenientHTTP11ClientProtocol,
    _LenientHTTPClientParser,
)
from scrapy.exceptions import DownloadCancelledError, DownloadFailedError, IgnoreRequest
from twisted.web._newclient import HEADER, STATUS, ParseError

from focuscrawl.failures import root

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred
    from twisted.internet.interfaces import IAddress
    from twisted.web._newclient import Request as TxRequest
    from twisted.web.iweb import IResponse

#: Most bytes before the body, interim answers (1xx) included.
HEAD_LIMIT = 256 * 1024


class DownloadHandler(HTTP11DownloadHandler):
    """Refuses headers without end, which Twisted would keep until memory is full, and statuses that are none."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._pool._factory = _Factory

    async def download_request(self, request: Request) -> Response:
        try:
            return await super().download_request(request)
        except DownloadCancelledError:
            raise IgnoreRequest("too large: the body exceeds DOWNLOAD_MAXSIZE") from None
        except DownloadFailedError as error:
            if isinstance(root(error), _HeadTooLargeError):
                raise IgnoreRequest("too large: the headers") from None
            raise


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


class _Protocol(_LenientHTTP11ClientProtocol):
    def request(self, request: TxRequest) -> Deferred[IResponse]:
        deferred = super().request(request)
        if self._parser is not None:
            self._parser.__class__ = _Parser  # as Scrapy does: Twisted leaves no other way
        return deferred


class _Factory(_LenientHTTP11ClientFactory):
    def buildProtocol(self, addr: IAddress | None) -> _Protocol:  # noqa: N802
        return _Protocol(self._quiescentCallback)  # type: ignore[no-untyped-call]
