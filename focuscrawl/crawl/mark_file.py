"""Files of marks: lines of a URL, a verdict and a note; or CSV or JSON Lines with `url`, `verdict` and `note`."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from focuscrawl.crawl.marking import NewMark
from focuscrawl.errors import FocusError
from focuscrawl.store.marks import VERDICTS

#: Largest file that is read, in bytes.
MAX_FILE = 50_000_000


def read_marks(path: Path) -> list[NewMark]:
    """The marks in a file; `-` is standard input. A wrong line is an error that names it."""
    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(MAX_FILE + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise FocusError(f"cannot read {path}: {error.strerror}") from None
    if len(data) > MAX_FILE:
        raise FocusError(f"{path} has more than {MAX_FILE // 1_000_000} MB; split it")
    text = data.decode("utf-8-sig", "replace")
    return [_checked(path, line, mark) for line, mark in _marks(path, text)]


def _marks(path: Path, text: str) -> Iterator[tuple[int, NewMark]]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    columns = [name.strip().strip('"').lower() for name in first.split(",")]
    if first.lstrip().startswith("{"):
        yield from _from_json(path, text)
    elif "url" in columns and "verdict" in columns:
        yield from _from_csv(path, text)
    else:
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split(None, 2)
            if words and not line.lstrip().startswith("#"):
                yield number, NewMark(words[0], words[1].lower() if len(words) > 1 else "", "".join(words[2:]).strip())


def _from_json(path: Path, text: str) -> Iterator[tuple[int, NewMark]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                record = json.loads(line)
                yield number, NewMark(*(str(record.get(name) or "") for name in NewMark._fields))
            except (ValueError, AttributeError, RecursionError):
                raise FocusError(f"{path}, line {number}: not a JSON object with url and verdict") from None


def _from_csv(path: Path, text: str) -> Iterator[tuple[int, NewMark]]:
    reader = csv.reader(io.StringIO(text))
    try:
        names = [name.strip().lower() for name in next(reader)]
        for row in reader:
            if any(cell.strip() for cell in row):
                record = dict(zip(names, row, strict=False))
                yield reader.line_num, NewMark(*(record.get(name, "").strip() for name in NewMark._fields))
    except csv.Error as error:
        raise FocusError(f"{path}, line {reader.line_num}: {error}") from None


def _checked(path: Path, line: int, mark: NewMark) -> NewMark:
    mark = mark._replace(verdict=mark.verdict.lower())
    if mark.verdict not in VERDICTS:
        raise FocusError(f"{path}, line {line}: '{mark.verdict[:50]}' is no verdict; expected {', '.join(VERDICTS)}")
    return mark
