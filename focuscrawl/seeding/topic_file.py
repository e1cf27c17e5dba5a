"""Adding keywords to a topic file, which keeps its comments and its layout."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from focuscrawl import resources
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.seeding.seeding import number_text, quoted
from focuscrawl.topic import named_topics

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_VALUE = re.compile(r"^[ \t]*[\"']?keywords[\"']?[ \t]*=[ \t]*([{\[])", re.MULTILINE)
_HEADER = re.compile(r"^[ \t]*\[[ \t]*[\"']?keywords[\"']?[ \t]*\][^\r\n]*", re.MULTILINE)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_DOTTED = re.compile(r"^[ \t]*keywords[ \t]*\.[^\r\n]*", re.MULTILINE)
#: A line with a key.
_LINE = re.compile(r"^[ \t]*[^\s#][^\r\n]*", re.MULTILINE)
#: A comment, a string, or one character.
_TOKEN = re.compile(r"""#[^\n]*|\"\"\".*?\"\"\"|'''.*?'''|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|.""", re.DOTALL)


def writable_file(name: str) -> Path:
    """The file of a topic that the user may change; raises FocusError if it is not theirs."""
    path = Path(name)
    if not path.is_file():
        file = named_topics().get(name)
        raise FocusError(f"topic '{name}' {_ships(str(file or name))}")
    if path.is_symlink():
        raise FocusError(f"topic '{name}' is a link to {path.readlink()}; give that file")
    data = resources.data()
    if isinstance(data, Path) and path.resolve().is_relative_to(data.resolve()):
        raise FocusError(f"topic '{name}' {_ships(name)}")
    return path


def _ships(file: str) -> str:
    return f"ships with focuscrawl and is not changed; copy {file} and give the copy, such as my-topic.toml"


def add_keywords(path: Path, new: Mapping[str, float]) -> None:
    """Write further keywords into a topic file, or leave it as it is and raise FocusError."""
    where = f"topic '{path}'"
    try:
        text = path.read_bytes().decode("utf-8")
        changed = _with_keywords(text, new)
        wished = _is_as_wished(text, changed, new)
    except OSError as error:
        raise FocusError(f"{where}: cannot be read: {error.strerror}") from None
    except ValueError:  # it is not written as expected; also from tomllib
        wished = False
    if not wished:
        raise FocusError(f"{where}: its keywords are written in an unusual way; {_by_hand(new)}")
    try:
        if not path.stat().st_mode & 0o200:
            raise FocusError(f"{where}: is read-only; make it writable, or give a copy of it")
        write_whole(path, changed.encode("utf-8"), mode_of=path)
    except OSError as error:
        raise FocusError(f"{where}: cannot be written: {error.strerror}; give a copy of it") from None


def _with_keywords(text: str, new: Mapping[str, float]) -> str:
    """A topic file with further keywords, in the form that it has: a table in one line or in several, a list …"""
    end = "\r\n" if "\r\n" in text else "\n"
    pairs = [f"{_key(word)} = {number_text(weight)}" for word, weight in new.items()]
    if found := _VALUE.search(text):
        last, close = _inside(text, found.end() - 1)
        if found[1] == "{":
            if text[last - 1] == "{":  # an empty table
                return f"{text[:last]} {', '.join(pairs)} {text[close:]}"
            return text[:last] + "".join(f", {pair}" for pair in pairs) + text[last:]
        return _longer_list(text, last, close, [quoted(word) for word in new], end)
    if found := _HEADER.search(text):
        following = _ANY_HEADER.search(text, found.end())
        section = text[found.end() : following.start() if following else len(text)]
        lines = [*_LINE.finditer(section)]
        place = found.end() + (lines[-1].end() if lines else 0)
    elif dotted := [*_DOTTED.finditer(text)]:
        place = dotted[-1].end()
        pairs = [f"keywords.{pair}" for pair in pairs]
    else:
        place = len(text.rstrip())
        pairs = [f"keywords = {{ {', '.join(pairs)} }}"]
    return text[:place] + "".join(f"{end}{pair}" for pair in pairs) + (text[place:] or end)


def _longer_list(text: str, last: int, close: int, items: list[str], end: str) -> str:
    """A file with more items in the list that closes at *close*, and whose last item ends at *last*."""
    if text[last - 1] == "[":
        return text[:last] + ", ".join(items) + text[last:]
    if "\n" not in text[last:close]:
        return text[:last] + "".join(f", {item}" for item in items) + text[last:]
    start = text.rfind("\n", 0, last) + 1
    indent = text[start : len(text) - len(text[start:].lstrip())]
    comma = "" if text[last:].lstrip().startswith(",") else ","
    line = text.rfind("\n", 0, close) + 1
    more = "".join(f"{indent}{item},{end}" for item in items)
    return text[:last] + comma + text[last:line] + more + text[line:]


def _inside(text: str, start: int) -> tuple[int, int]:
    """Where the last value in the brackets that open at *start* ends, and where the brackets close."""
    depth, last = 0, start + 1
    for token in _TOKEN.finditer(text, start):
        if token[0] in ("{", "["):
            depth += 1
        elif token[0] in ("}", "]"):
            depth -= 1
            if not depth:
                return last, token.start()
        if token.start() > start and not token[0].isspace() and token[0] != "," and not token[0].startswith("#"):
            last = token.end()
    raise ValueError("its brackets are not closed")


def _key(word: str) -> str:
    return word if _BARE.fullmatch(word) else quoted(word)


def _is_as_wished(before: str, after: str, new: Mapping[str, float]) -> bool:
    """Whether a file has the new keywords, and is otherwise says the same, comments included."""
    old, now = (tomllib.loads(text.removeprefix("\ufeff")) for text in (before, after))
    keywords = old.get("keywords", {})
    wished: object = [*keywords, *new] if isinstance(keywords, list) else {**keywords, **new}
    comments = [
        [line.strip() for line in text.splitlines() if line.strip().startswith("#")] for text in (before, after)
    ]
    return now == {**old, "keywords": wished} and comments[0] == comments[1]


def _by_hand(new: Mapping[str, float]) -> str:
    return "add these to its keywords yourself: " + ", ".join(f'"{word}" = {weight:g}' for word, weight in new.items())
