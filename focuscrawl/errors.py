"""Errors that a user can fix: shown as one line, never as a traceback."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from types import TracebackType
from typing import Any

# Line breaks, terminal control characters, bidirectional overrides (which can disguise a text), and surrogates, which
# cannot be printed.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """Untrusted text as one line that is safe to print on a terminal."""
    return _UNPRINTABLE.sub(" ", text)


def say(message: str) -> None:
    """Tell the user something in one line on standard error; the message may quote a page."""
    sys.stderr.write(f"focuscrawl: {printable(message)}\n")


def hide_interrupts() -> None:
    """Say one line, without a traceback, when Ctrl-C ends a command."""
    show, show_ignored = sys.excepthook, sys.unraisablehook

    def interrupted() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second one must not interrupt this
        say("stopped; run the same command again to resume")

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            interrupted()
        else:
            show(kind, error, trace)

    def ignored(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):  # it hit a destructor, where Python would go on
            interrupted()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        elif not sys.is_finalizing():  # at the very end, Python itself has no words left for an event loop that is open
            show_ignored(unraisable)

    sys.excepthook, sys.unraisablehook = hook, ignored


class FocusError(Exception):
    """Bad input, or a file or directory that cannot be used.

    The message names the problem, the place and the fix, always in one line. Commands print it and exit with a non-zero
    status.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def suggest(name: str, known: Iterable[str], written: str = "{}", *, cutoff: float = 0.6) -> str:
    """`did you mean X?` for the known name closest to a wrong one; empty if none is close.

    *written* formats the name for the message; *cutoff* is the minimum similarity, from 0 to 1.
    """
    close = get_close_matches(name, list(known), 1, cutoff)
    return f"did you mean {written.format(close[0])}?" if close else ""
