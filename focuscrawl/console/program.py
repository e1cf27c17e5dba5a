"""The program as the user calls it: `focuscrawl`, or `scrapy` with focuscrawl's settings.

Help texts and messages that show a command line ask here for its first word.
"""

from __future__ import annotations

_called = "scrapy"


def called_as(name: str) -> None:
    """Set the name; `focuscrawl` does so before it runs a command."""
    global _called
    _called = name


def program() -> str:
    """The first word of the command lines that the user types."""
    return _called
