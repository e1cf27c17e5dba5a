"""JSON Lines, plain text and CSV: one record after another, to any binary stream.

In CSV, a text that a spreadsheet would run as a formula gets an apostrophe in front, and so does one that begins with
an apostrophe. To undo it, remove one apostrophe from the front of each cell that begins with one.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import Any, BinaryIO

from focuscrawl.export.records import NAMES

Record = dict[str, Any]

#: What a cell must not begin with: a spreadsheet takes it for a formula. The apostrophe marks defused cells.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20", "'")
#: Characters that some readers take for the end of a line, escaped.
_SEPARATORS = {number: f"\\u{number:04x}" for number in (0x85, 0x2028, 0x2029)}


def write_jsonl(records: Iterable[Record], file: BinaryIO) -> None:
    """Write one JSON object per line."""
    for record in records:
        file.write(json_line(record))


def json_line(record: Record) -> bytes:
    """A record as a line of JSON; line separators that some readers split at are escaped."""
    line = json.dumps(record, ensure_ascii=False).translate(_SEPARATORS)
    return f"{line}\n".encode("utf-8", "replace")


def write_csv(records: Iterable[Record], file: BinaryIO) -> None:
    """Write a table with a header, as RFC 4180 has it, in UTF-8; lists are JSON."""
    text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(NAMES)
    for record in records:
        writer.writerow([cell(value) for value in record.values()])
    text.flush()
    text.detach()


def cell(value: object) -> object:
    """A value as it is in CSV: formulas defused, NUL replaced, which other readers take for the end."""
    if isinstance(value, list):
        value = json.dumps(value, ensure_ascii=False) if value else ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        value = value.replace("\x00", "\ufffd")
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value


def undo_cell(text: str) -> str:
    """The text of a cell as it was before formulas were defused."""
    return text[1:] if text.startswith("'") else text


def write_text(records: Iterable[Record], file: BinaryIO) -> None:
    """Write the texts: before each its title and URL, after it an empty line. Pages without text are left out."""
    for record in records:
        if record["text"]:
            head = f"# {' '.join(record['title'].split())}\n# {record['url']}\n\n"
            file.write(f"{head}{record['text'].strip()}\n\n\n".encode("utf-8", "replace"))
