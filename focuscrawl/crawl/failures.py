"""Why a request yielded no page: the kinds of failure, and their descriptions."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    IgnoreRequest,
    ResponseDataLossError,
)
from scrapy.spidermiddlewares.httperror import HttpError
from twisted.internet.error import ConnectError, ConnectionClosed

from focuscrawl import urls


class PrivateAddress(IgnoreRequest):
    """The address of a host is outside the networks that the crawl may connect to."""

    def __init__(self, address: str, host: str = "") -> None:
        self.address = address
        where = host if host in ("", address) else f"{host} is at {address}, which"
        super().__init__(
            f"private address: {where or address} is not on the public internet; to crawl it, give"
            " -s FOCUS_PRIVATE_HOSTS=True"
        )


class RobotsUnreachable(IgnoreRequest):
    """A robots.txt could not be read, so its host is left alone for now. *silent*: there was no answer at all."""

    def __init__(self, problem: str, *, silent: bool = False) -> None:
        super().__init__(f"robots.txt could not be read: {problem}")
        self.silent = silent


class HostRests(IgnoreRequest):
    """The back-off of a host is longer than the request can wait."""


class TooManyFiles(Exception):  # noqa: N818 - as Scrapy's own
    """The process cannot open more files or connections."""


#: Temporary failures: the URL stays in the file and is retried when the crawl is resumed.
PASSING = (
    CannotResolveHostError,
    ConnectError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    HostRests,
    ResponseDataLossError,
    RobotsUnreachable,
    TooManyFiles,
)


def root(error: BaseException) -> BaseException:
    """The cause of a failed download, which Scrapy and Twisted each wrap."""
    reasons = getattr(error.__cause__, "reasons", None)
    if isinstance(error, DownloadFailedError) and reasons:
        return reasons[0].value  # type: ignore[no-any-return]
    return error


def is_no_answer(error: BaseException) -> bool:
    """Whether there was no answer at all. If that happens with every host, the network is down."""
    if isinstance(error, CannotResolveHostError | DownloadConnectionRefusedError | DownloadTimeoutError):
        return True
    if isinstance(error, RobotsUnreachable):
        return error.silent
    return isinstance(root(error), ConnectError | ConnectionClosed)


def reason_of(error: BaseException) -> str:
    """Why a request yielded no page, in one line: the kind of failure, then the details."""
    message = " ".join(str(error).split())
    if isinstance(error, IgnoreRequest):
        if "exceeded DOWNLOAD_MAXSIZE" in message:  # Scrapy names the response first
            return "too large: the body exceeds DOWNLOAD_MAXSIZE when unpacked"
        if isinstance(error, HttpError):  # for spiders that do not handle error statuses
            return f"HTTP {error.response.status}"
        return message or "ignored"
    if isinstance(error, TooManyFiles):
        return "too many open files"
    error = root(error)
    name = type(error).__name__
    if name.lower() == "error":  # zlib.error, OpenSSL.SSL.Error …: the module tells them apart
        name = f"{type(error).__module__}.{name}"
    message = " ".join(str(error).split())[:300]
    return f"{name}: {message}" if message else name


def is_embedded_only(url: str, reason: str) -> bool:
    """Whether a URL failed because its host is on the embedded web, as the seeds of the shipped topics are.

    The names under .example are reserved (RFC 2606): none is ever on the internet.
    """
    return urls.host(url).endswith(".example") and CannotResolveHostError.__name__ in reason
