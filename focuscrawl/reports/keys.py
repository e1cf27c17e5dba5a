"""Keys pressed on a terminal, one at a time and without Enter; or characters of a pipe or a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

try:
    import termios
    import tty
except ImportError:  # Windows: a key needs Enter
    termios = None  # type: ignore[assignment]


@contextmanager
def single_keys() -> Iterator[None]:
    """Read keys without Enter, as long as the block lasts; Ctrl-C still interrupts."""
    if termios is None or not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin)
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def read_key() -> str:
    """The next key, in lower case, white space left out; `q` at the end of the input."""
    while pressed := sys.stdin.read(1):
        if pressed.strip():
            return pressed.lower()
    return "q"
