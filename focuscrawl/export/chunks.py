"""Chunks: the texts of pages in pieces that a retrieval index takes, each with its source.

A chunk's id is made of the page's URL and the chunk's text: it stays the same from one export to the next as long as
both do, so that an index can be brought up to date.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

#: Characters of a chunk, unless told otherwise; the least and the most that may be asked for.
SIZE, LEAST, MOST = 1_500, 100, 100_000

_SENTENCE = re.compile(r"[.!?…。！？](?:[\"'”’»)\]]?)(?:\s|$)|[。！？]")


def chunks_of(records: Iterable[dict[str, Any]], size: int = SIZE) -> Iterator[dict[str, Any]]:
    """The chunks of the records, in order."""
    for record in records:
        seen: Counter[str] = Counter()
        for position, text in enumerate(cut(record["text"] or "", size)):
            seen[text] += 1
            yield {
                "id": chunk_id(record["url"], text, seen[text]),
                "url": record["url"],
                "title": record["title"],
                "position": position,
                "text": text,
                "fetched_at": record["fetch_time"],
                "language": record["language"],
                "relevance": record["relevance"],
                "matched": record["matched"],
                "licences": record["licences"],
                "rights": record["rights"],
            }


def chunk_id(url: str, text: str, occurrence: int = 1) -> str:
    """The id of a chunk: 128 bits in hexadecimal."""
    content = f"{url}\n{occurrence}\n{text}".encode("utf-8", "replace")
    return blake2b(content, digest_size=16).hexdigest()


def cut(text: str, size: int = SIZE) -> Iterator[str]:
    """A text in pieces of at most *size* characters: whole paragraphs, else whole sentences, else words."""
    held: list[str] = []
    length = 0
    for piece in _pieces(text, size):
        if held and length + 1 + len(piece) > size:
            yield "\n".join(held)
            held, length = [], 0
        length += len(piece) + bool(held)
        held.append(piece)
    if held:
        yield "\n".join(held)


def _pieces(text: str, size: int) -> Iterator[str]:
    """The paragraphs of a text; those longer than *size* in several pieces."""
    for line in text.splitlines():
        paragraph = line.strip()
        start = 0
        while len(paragraph) - start > size:
            end = _end(paragraph, start, size)
            if piece := paragraph[start:end].strip():
                yield piece
            start = end
        if piece := paragraph[start:].strip():
            yield piece


def _end(text: str, start: int, size: int) -> int:
    """Where to cut a text within *size* characters: after its last sentence, word or character there."""
    end = start
    for match in _SENTENCE.finditer(text, start, start + size):
        end = match.end()
    if end - start > size // 3:
        return end
    space = text.rfind(" ", start, start + size)
    return space if space - start > size // 3 else start + size
