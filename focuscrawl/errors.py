"""What a user can put right: told in one line, never as a traceback."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

# Ends of lines, what moves the cursor of a terminal, what turns the order of characters around (and lets a text look
# like another), and halves of characters, which cannot be printed.
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """A text of somebody else's as one line that a terminal can be shown."""
    return _UNPRINTABLE.sub(" ", text)


class FocusError(Exception):
    """Bad input or a bad place on disk.

    The message names the thing, the place and the way out; commands print it
    as one line and exit with a non-zero status. It is one line whatever it quotes.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(message))


def suggest(name: str, known: Iterable[str], written: str = "{}", *, cutoff: float = 0.6) -> str:
    """`did you mean X?` for the known name that is most like a wrong one; empty if none is.

    *written* is how the message shows a name; *cutoff* is how alike the names must be, from 0 to 1.
    """
    close = get_close_matches(name, list(known), 1, cutoff)
    return f"did you mean {written.format(close[0])}?" if close else ""
