"""Why a request gave no page, in words."""

from __future__ import annotations

from scrapy.exceptions import DownloadFailedError, IgnoreRequest
from scrapy.spidermiddlewares.httperror import HttpError


def root(error: BaseException) -> BaseException:
    """What went wrong in a failed download: Scrapy and Twisted each wrap it."""
    reasons = getattr(error.__cause__, "reasons", None)
    if isinstance(error, DownloadFailedError) and reasons:
        return reasons[0].value  # type: ignore[no-any-return]
    return error


def reason_of(error: BaseException) -> str:
    """Why a request gave no page, in one line: what went wrong, then the details."""
    message = " ".join(str(error).split())
    if isinstance(error, IgnoreRequest):
        if "exceeded DOWNLOAD_MAXSIZE" in message:  # Scrapy names the response first
            return "too large: the body exceeds DOWNLOAD_MAXSIZE when unpacked"
        if isinstance(error, HttpError):  # for spiders that do not ask for failures
            return f"HTTP {error.response.status}"
        return message or "ignored"
    error = root(error)
    name = type(error).__name__
    if name.lower() == "error":  # zlib.error, OpenSSL.SSL.Error …: the module says what
        name = f"{type(error).__module__}.{name}"
    message = " ".join(str(error).split())[:300]
    return f"{name}: {message}" if message else name
