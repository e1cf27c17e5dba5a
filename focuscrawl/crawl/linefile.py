"""Text files that repeat the store's contents line by line: `URLs.txt`, `pages.jsonl`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


class LineFile:
    """A file with one line per page, in fetch order.

    The store is authoritative: when a killed crawl is resumed, a truncated last line and lines of pages that did not
    reach the store are removed, and missing lines are added.
    """

    def __init__(self, path: Path, lines: Iterator[str] | None) -> None:
        """Open *path*; *lines* is what it should hold by now, None to keep what it has."""
        self.path = path
        good = 0
        missing: list[str] = []
        if path.exists() and lines is None:
            with path.open("r+b") as file:
                file.truncate(sum(map(len, (line for line in file if line.endswith(b"\n")))))
        elif path.exists() and lines is not None:
            with path.open("rb") as file:
                for line in lines:
                    if file.readline() != f"{line}\n".encode():
                        missing.append(line)
                        break
                    good = file.tell()
            with path.open("r+b") as file:
                file.truncate(good)
        self._file: BinaryIO = path.open("ab")
        for line in missing:
            self.write(line)
        for line in lines or ():
            self.write(line)

    def write(self, line: str) -> None:
        """Append a line and flush it, so that it survives if the process is killed."""
        self._file.write(f"{line}\n".encode())
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
