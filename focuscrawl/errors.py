"""What a user can put right: told in one line, never as a traceback."""

from __future__ import annotations


class FocusError(Exception):
    """Bad input or a bad place on disk.

    The message names the thing, the place and the way out; commands print it
    as one line and exit with a non-zero status.
    """
