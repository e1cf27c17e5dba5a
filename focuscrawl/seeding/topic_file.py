"""Adding keywords to a topic file, which keeps its comments and its layout."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from focuscrawl import resources
from focuscrawl.crawl.files import write_whole
from focuscrawl.errors import FocusError
from focuscrawl.topic import named_topics


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
        content = path.read_bytes()
        text = content.decode("utf-8")
        changed = _with_keywords(text, new)
    except OSError as error:
        raise FocusError(f"{where}: cannot be read: {error.strerror}") from None
    except Exception as error:  # tomlkit has errors of its own, and is stricter in places
        raise FocusError(f"{where}: cannot be changed: {error}; {_by_hand(new)}") from None
    if not _is_as_wished(text, changed, new):
        raise FocusError(f"{where}: cannot be changed without changing more than its keywords; {_by_hand(new)}")
    try:
        if not path.stat().st_mode & 0o200:
            raise FocusError(f"{where}: is read-only; make it writable, or give a copy of it")
        write_whole(path, changed.encode("utf-8"), mode_of=path)
    except OSError as error:
        raise FocusError(f"{where}: cannot be written: {error.strerror}; give a copy of it") from None


def _with_keywords(text: str, new: Mapping[str, float]) -> str:
    import tomlkit
    from tomlkit.items import InlineTable

    mark = "\ufeff" if text.startswith("\ufeff") else ""
    document = tomlkit.parse(text.removeprefix(mark))
    if "keywords" not in document:
        document["keywords"] = tomlkit.inline_table()
    keywords: Any = document["keywords"]
    airy = isinstance(keywords, InlineTable) and keywords.as_string().endswith(" }")
    if isinstance(keywords, list):
        for word in new:
            keywords.append(word)  # a list has no weights
    else:
        for word, weight in new.items():
            keywords[word] = int(weight) if weight == int(weight) else weight
    changed = tomlkit.dumps(document)
    if airy:  # tomlkit forgets the space before the brace
        inline = keywords.as_string()
        changed = changed.replace(inline, f"{inline[:-1].rstrip()} }}", 1)
    return mark + changed


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
