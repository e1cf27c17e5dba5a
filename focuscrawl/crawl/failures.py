"""Why a request gave no page: the kinds of failure, and each of them in words."""

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


class PrivateAddress(IgnoreRequest):
    """A host is at an address outside the networks that the crawl may connect to."""

    def __init__(self, address: str, host: str = "") -> None:
        self.address = address
        where = host if host in ("", address) else f"{host} is at {address}, which"
        super().__init__(
            f"private address: {where or address} is not on the public internet; if it is meant to be crawled, give"
            " -s FOCUS_PRIVATE_HOSTS=True"
        )


class RobotsUnreachable(IgnoreRequest):
    """A host could not say what it allows, so nothing is asked of it for now. A *silent* one said nothing at all."""

    def __init__(self, problem: str, *, silent: bool = False) -> None:
        super().__init__(f"robots.txt could not be read: {problem}")
        self.silent = silent


class HostRests(IgnoreRequest):
    """A host has asked to be left alone for longer than the request can wait."""


class TooManyFiles(Exception):  # noqa: N818 - as Scrapy's own
    """The process may open no more files, or connections."""


#: Failures that may pass: the URL stays in the file and is tried again when the crawl is resumed.
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
    """What went wrong in a failed download: Scrapy and Twisted each wrap it."""
    reasons = getattr(error.__cause__, "reasons", None)
    if isinstance(error, DownloadFailedError) and reasons:
        return reasons[0].value  # type: ignore[no-any-return]
    return error


def is_no_answer(error: BaseException) -> bool:
    """Whether nobody answered at all: if that goes on with every host, the network is down."""
    if isinstance(error, CannotResolveHostError | DownloadConnectionRefusedError | DownloadTimeoutError):
        return True
    if isinstance(error, RobotsUnreachable):
        return error.silent
    return isinstance(root(error), ConnectError | ConnectionClosed)


def reason_of(error: BaseException) -> str:
    """Why a request gave no page, in one line: what went wrong, then the details."""
    message = " ".join(str(error).split())
    if isinstance(error, IgnoreRequest):
        if "exceeded DOWNLOAD_MAXSIZE" in message:  # Scrapy names the response first
            return "too large: the body exceeds DOWNLOAD_MAXSIZE when unpacked"
        if isinstance(error, HttpError):  # for spiders that do not ask for failures
            return f"HTTP {error.response.status}"
        return message or "ignored"
    if isinstance(error, TooManyFiles):
        return "too many open files"
    error = root(error)
    name = type(error).__name__
    if name.lower() == "error":  # zlib.error, OpenSSL.SSL.Error …: the module says what
        name = f"{type(error).__module__}.{name}"
    message = " ".join(str(error).split())[:300]
    return f"{name}: {message}" if message else name
