"""Reasons: what became of a request, in one line."""

from __future__ import annotations

import zlib

import pytest
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError, IgnoreRequest
from twisted.python.failure import Failure
from twisted.web.client import ResponseFailed

from focuscrawl.crawl.failures import reason_of


def wrapped(error: Exception) -> DownloadFailedError:
    """An error as Twisted and Scrapy hand it on."""
    failure = DownloadFailedError("[<twisted.python.failure.Failure …>]")
    failure.__cause__ = ResponseFailed([Failure(error)])
    return failure


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (DownloadTimeoutError("too\nslow"), "DownloadTimeoutError: too slow"),
        (DownloadTimeoutError(), "DownloadTimeoutError"),
        (DownloadFailedError("alone"), "DownloadFailedError: alone"),
        (wrapped(ValueError("<a> ] b")), "ValueError: <a> ] b"),
        (zlib.error("Error -3"), "zlib.error: Error -3"),
        (IgnoreRequest("robots.txt disallows it"), "robots.txt disallows it"),
        (IgnoreRequest(), "ignored"),
        (
            IgnoreRequest("Ignored response <200 http://a/> because its body exceeded DOWNLOAD_MAXSIZE (1 B)"),
            "too large: the body exceeds DOWNLOAD_MAXSIZE when unpacked",
        ),
        (ValueError("x" * 1000), "ValueError: " + "x" * 300),
    ],
)
def test_a_reason_names_what_went_wrong_first(error, reason):
    assert reason_of(error) == reason
