"""The card of a dataset: README.md with the header that the Hugging Face Hub reads, and the columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from focuscrawl import __version__
from focuscrawl.errors import printable
from focuscrawl.export.records import COLUMNS, Column
from focuscrawl.store.store import Store

#: Upper bounds of the Hub's size categories.
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_SIZES_ABOVE = ((10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"), (1_000_000_000, "100M<n<1B"))
#: Most hosts and licences that are listed.
MOST = 20

_OWNERS = (
    "The pages belong to their authors. What each page, its headers and its host say about its use is in the columns"
    " `rights` and `licences`; check them for your purpose before you use or share the texts.\n"
)


class Facts(NamedTuple):
    """What there is to say about a selection of pages."""

    topic: str
    spider: str
    pages: int
    first: str | None
    last: str | None
    hosts: list[tuple[str, int]]
    languages: list[tuple[str, int]]
    rights: dict[str, int]
    licences: list[tuple[str, int]]
    left_out: list[tuple[str, int]]
    #: The conditions as the user wrote them.
    where: list[str]
    dedupe: bool
    text: str


def facts_of(store: Store, pages: int, where: Sequence[str], dedupe: bool, text: str) -> Facts:
    """The facts about the selected pages."""
    exports = store.exports
    return Facts(
        str(store.meta("topic") or ""),
        str(store.meta("spider") or ""),
        pages,
        *exports.dates(),
        exports.hosts(),
        [(language or "unknown", number) for language, number in exports.languages()],
        exports.rights(),
        exports.licences(MOST),
        exports.left_out(),
        list(where),
        dedupe,
        text,
    )


def size_category(pages: int) -> str:
    """The Hub's category for a number of pages."""
    return next((name for bound, name in (*_SIZES, *_SIZES_ABOVE) if pages < bound), "n>1T")


def header(facts: Facts, files: str) -> str:
    """The header of the card, in YAML; JSON strings are YAML, so nothing that a page says can leave its place."""
    lines = ["---", f"pretty_name: {quoted(facts.topic or 'a focused crawl')}"]
    known = [language for language, _ in facts.languages if len(language) == 2]
    if known:
        lines += ["language:", *(f"- {quoted(language)}" for language in known)]  # `no` would be a boolean
    lines += ["tags:", '- "web"', '- "focused-crawl"', "size_categories:", f"- {quoted(size_category(facts.pages))}"]
    lines += ["configs:", "- config_name: default", "  data_files:", "  - split: train", f"    path: {quoted(files)}"]
    return "\n".join([*lines, "---"])


def quoted(text: str) -> str:
    """A text in quotes, as JSON and YAML read it."""
    return json.dumps(printable(text))


def plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "".join(f"\\{char}" if char in "\\`*_{}[]<>()#+!|~&" else char for char in printable(text))


def card(facts: Facts, files: str, columns: Sequence[Column] = COLUMNS) -> str:
    """The card of the selected pages, whose Parquet files are at *files*."""
    parts = [
        header(facts, files),
        f"\n# {plain(facts.topic or 'A focused crawl')}\n",
        _told(facts),
        "## Columns\n",
        table(("column", "type", "what it says"), [(f"`{name}`", kind, told) for name, kind, told in columns]),
        "## Languages\n",
        table(("language", "pages"), [(name, f"{number:,}") for name, number in facts.languages[:MOST]]),
        "## Hosts\n",
        table(("host", "pages"), [(plain(name), f"{number:,}") for name, number in facts.hosts[:MOST]]),
        "## Rights\n",
        _OWNERS,
        table(("signal", "pages"), [(name, f"{number:,}") for name, number in facts.rights.items()]),
    ]
    if facts.licences:
        parts.append(table(("licence", "pages"), [(plain(name), f"{number:,}") for name, number in facts.licences]))
    if facts.left_out:
        parts.append("Pages that were fetched but are not here, and why (`copy` is left out by `--dedupe` only):\n")
        parts.append(table(("reason", "pages"), [(plain(name), f"{number:,}") for name, number in facts.left_out]))
    return "\n".join(parts)


def table(header_cells: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header_cells, ["---"] * len(header_cells), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _told(facts: Facts) -> str:
    return (
        f"{facts.pages:,} web pages on {len(facts.hosts):,} hosts, {_period(facts)}. Collected by the focused crawler"
        f" focuscrawl {__version__} with the strategy {plain(facts.spider)}; {_selection(facts)}\n"
    )


def _period(facts: Facts) -> str:
    first, last = (str(when or "")[:10] for when in (facts.first, facts.last))
    if not first:
        return "none fetched yet"
    return f"fetched on {plain(first)}" if first == last else f"fetched from {plain(first)} to {plain(last)}"


def _selection(facts: Facts) -> str:
    chosen = f"pages with {plain(', '.join(facts.where))}" if facts.where else "all pages that could be read"
    copies = "near-duplicates are left out" if facts.dedupe else "near-duplicates share a `duplicate_group`"
    return f"{chosen}; {copies}; texts are `--text {facts.text}`."
