"""Topics: what a crawl is about, from a TOML file or from the command line."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from focuscrawl import resources, urls, words
from focuscrawl.errors import FocusError, suggest
from focuscrawl.language.languages import NAMES, code_of

#: The keys of a topic file, each with an example.
KEYS = {
    "name": 'name = "Sorting algorithms"',
    "description": 'description = "pages about …"',
    "seeds": 'seeds = ["http://…"]',
    "keywords": 'keywords = { sort = 3, "bubble sort" = 5 }',
    "languages": 'languages = ["de", "fr"]',
    "examples": 'examples = ["pages/*.html", "http://…"]',
    "counterexamples": 'counterexamples = ["others/*.html", "http://…"]',
    "dewey": 'dewey = ["005"]',
    "targets": 'targets = ["http://…"]',
    "label": 'label = "sorting"',
}

#: The parts of a topic whose key is not what a message calls them.
_PARTS = {"dewey": "Dewey numbers"}

#: The parts of a topic that can be arguments of a spider.
_ARGUMENTS = {
    "keywords": '-a keywords=word,other:2,"a phrase":3',
    "seeds": "-a seeds=http://…,http://… or -a seeds=@FILE",
}

#: A longer key in a topic file is not quoted in a message.
_MAX_KEY = 100

#: The source of a topic that is not from a file.
INLINE = "the command line"


@dataclass
class Topic:
    """What a crawl is about."""

    name: str
    description: str = ""
    seeds: list[str] = field(default_factory=list)
    #: Words and phrases with their weights.
    keywords: dict[str, float] = field(default_factory=dict)
    #: Pages on the topic and off it: paths of files, or URLs.
    examples: list[Path | str] = field(default_factory=list)
    counterexamples: list[Path | str] = field(default_factory=list)
    #: Dewey decimal numbers.
    dewey: list[str] = field(default_factory=list)
    #: Known relevant URLs, for measuring target recall only.
    targets: list[str] = field(default_factory=list)
    #: The label in a labelled web that counts as relevant, for measuring only.
    label: str = ""
    #: Where the topic came from, for messages.
    source: str = INLINE
    #: More keywords, for the pages in one language, by its code.
    keywords_in: dict[str, dict[str, float]] = field(default_factory=dict)
    #: The codes of the languages that its pages are expected in; empty: any.
    languages: list[str] = field(default_factory=list)

    @property
    def slug(self) -> str:
        """The name as part of a path."""
        return slug(self.name)

    @property
    def all_keywords(self) -> dict[str, float]:
        """The keywords of all languages, each with its largest weight."""
        merged = dict(self.keywords)
        for keywords in self.keywords_in.values():
            for word, weight in keywords.items():
                merged[word] = max(weight, merged.get(word, 0.0))
        return merged

    def lacks(self, part: str, *, in_settings: bool = False) -> str:
        """The message for a spider that needs *part*, which this topic does not have.

        *in_settings*: the topic can only be given as a setting, because the arguments belong to another spider.
        """
        missing = _PARTS.get(part, part)
        inline = self.source == INLINE
        what = f"no {missing} given" if inline else f"topic '{self.name}' ({self.source}) has no {missing}"
        if in_settings:
            return f"{what}; set FOCUS_TOPIC to a topic file with {KEYS[part]} in it, or to a table with the same keys"
        ways = [f"-a topic=FILE with {KEYS[part]} in it" if inline else f"add {KEYS[part]} to it"]
        if part in _ARGUMENTS:
            ways.insert(0, _ARGUMENTS[part])
        return f"{what}; {'use ' if inline or part in _ARGUMENTS else ''}{', or '.join(ways)}"


def slug(text: str) -> str:
    """A text as lower-case letters, digits and dashes; never empty."""
    return "-".join(re.findall(r"[^\W_]+", text.lower()))[:60].strip("-") or "topic"


def load_topic(name: str) -> Topic:
    """Load a topic from a file, or one that comes with the project by its name."""
    path = Path(name)
    try:
        is_file = path.is_file()
        content = path.read_bytes() if is_file else b""
    except OSError as error:
        raise FocusError(f"topic '{name}': cannot be read: {error.strerror}") from None
    if is_file:
        return read_topic(content, name, path.parent)
    if path.suffix == ".toml":
        raise FocusError(f"topic '{name}': no such file")
    files = named_topics()
    if name not in files:
        hint = suggest(name, files, "'{}'")
        raise FocusError(
            f"unknown topic '{name}'; {f'{hint} Or ' if hint else ''}give a FILE.toml or one of {', '.join(files)}"
        )
    return read_topic(files[name].read_bytes(), name, None)


def named_topics() -> dict[str, Traversable]:
    """The files of the topics that can be given by name: the shipped ones, and those of the papers' experiments."""
    return _topics_in("topics") | _topics_in("topics", "papers")


def shipped_topics() -> list[str]:
    """Names of the topics of the embedded web."""
    return list(_topics_in("topics"))


def _topics_in(*folder: str) -> dict[str, Traversable]:
    files = {file.name: file for file in resources.data(*folder).iterdir() if file.name.endswith(".toml")}
    return {name.removesuffix(".toml"): files[name] for name in sorted(files)}


def read_topic(content: bytes, source: str, folder: Path | None) -> Topic:
    """Check and read a topic file; paths in it are relative to *folder*."""
    where = f"topic '{source}'"
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FocusError(f"{where}: not UTF-8 text ({error}); save it as UTF-8") from None
    try:
        table = tomllib.loads(text)
    except ValueError as error:  # from tomllib, or from Python for a number with thousands of digits
        raise FocusError(f"{where}: {_unquoted(text, str(error)) or f'not valid TOML: {error}'}") from None
    except RecursionError:
        raise FocusError(f"{where}: not valid TOML: nested too deeply") from None
    return topic_of(table, source, folder)


def _unquoted(text: str, error: str) -> str:
    """How to quote the key that tomllib stopped at, if quotes are what it lacks: TOML's plain keys are ASCII words."""
    place = re.search(r"\(at line (\d+), column (\d+)\)\Z", error)
    if place is None:
        return ""
    line, column = text.split("\n")[int(place[1]) - 1], int(place[2]) - 1
    start = max(line.rfind(mark, 0, column) for mark in "{,") + 1
    before, equals, rest = line[start:].partition("=")
    key, value = before.strip(), re.split("[,}#]", rest, maxsplit=1)[0].strip() or "1"
    plain = re.fullmatch(r"[\w.-]*", key, re.ASCII)
    if plain or column > start + len(before) or len(key) > _MAX_KEY or set(key) & set('"\\[]{}#'):
        return ""
    if not equals and not key.isalpha():
        return ""
    return f'line {place[1]}: the key {key} needs quotes; write "{key}" = {value}'


def topic_of(table: Mapping[str, Any], source: str, folder: Path | None = None) -> Topic:
    """Check and read a topic given as a table with the keys of a topic file."""
    where = f"topic '{source}'"
    for key in table:
        if key not in KEYS:
            hint = suggest(key, KEYS, "'{}'") or f"known keys: {', '.join(KEYS)}"
            raise FocusError(f"{where}: unknown key '{key}'; {hint}")
    for key in ("name", "description", "label"):
        if not isinstance(table.get(key, ""), str):
            raise FocusError(f"{where}: '{key}' must be a string, as in {KEYS[key]}")
    for key in ("seeds", "examples", "counterexamples", "dewey", "targets", "languages"):
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise FocusError(f"{where}: '{key}' must be a list of strings, as in {KEYS[key]}")
    if not table.get("name", "").strip():
        raise FocusError(f"{where}: 'name' is missing; add {KEYS['name']}")
    keywords, keywords_in = _keyword_tables(table.get("keywords", {}), where)
    languages = [_language(tag, "languages", where) for tag in table.get("languages", [])]
    for language in keywords_in:
        if languages and language not in languages:
            raise FocusError(
                f"{where}: it has [keywords.{language}], but '{language}' is not in 'languages'; add it there"
            )
    return Topic(
        name=table["name"].strip(),
        description=table.get("description", ""),
        seeds=table.get("seeds", []),
        keywords=keywords,
        keywords_in=keywords_in,
        languages=languages or list(keywords_in),
        examples=_examples(table.get("examples", []), "examples", where, folder),
        counterexamples=_examples(table.get("counterexamples", []), "counterexamples", where, folder),
        dewey=table.get("dewey", []),
        targets=table.get("targets", []),
        label=table.get("label", ""),
        source=source,
    )


def _language(tag: str, key: str, where: str) -> str:
    """The code of a language that a topic names."""
    code = code_of(tag)
    if not code:
        by_name = {name.lower(): code for code, name in NAMES.items()}
        meant = by_name.get(tag.strip().lower())
        hint = f"write '{meant}'" if meant else "languages have codes of two letters, such as 'de' for German"
        raise FocusError(f"{where}: '{key}': unknown language '{tag}'; {hint}")
    return code


def _keyword_tables(value: Any, where: str) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """The keywords without a language, and those in tables of their own: [keywords.de]."""
    if not isinstance(value, Mapping):
        return _keyword_table(value, where), {}
    tables = {word: table for word, table in value.items() if isinstance(table, Mapping | list)}
    plain = _keyword_table({word: weight for word, weight in value.items() if word not in tables}, where)
    in_languages = {}
    for tag, table in tables.items():
        in_languages[_language(tag, f"keywords.{tag}", where)] = _keyword_table(table, where)
    return plain, in_languages


def _keyword_table(value: Any, where: str) -> dict[str, float]:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        value = dict.fromkeys(value, 1)
    if not isinstance(value, Mapping):
        raise FocusError(f"{where}: 'keywords' must be a table of words and weights, as in {KEYS['keywords']}")
    for word, weight in value.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight <= sys.float_info.max:
            raise FocusError(f"{where}: the weight of keyword '{word}' must be a number above 0, not {_shown(weight)}")
        if not words.tokenize(str(word)):
            raise FocusError(f"{where}: keyword '{word}' contains no letter or digit")
    return {str(word): float(weight) for word, weight in value.items()}


def _shown(value: Any) -> str:
    """A value as quoted in a message."""
    try:
        text = repr(value)
    except ValueError:  # Python refuses to print numbers with thousands of digits
        return "a number with thousands of digits"
    return text if len(text) <= 100 else f"{text[:100]}…"


def _examples(items: list[str], key: str, where: str, folder: Path | None) -> list[Path | str]:
    found: list[Path | str] = []
    for item in items:
        if "://" in item:
            try:
                found.append(urls.check(item))
            except ValueError as error:
                raise FocusError(f"{where}: '{key}': {error}") from None
            continue
        base = folder or Path()
        path = Path(item)
        if path.is_absolute():
            base, path = Path(path.anchor), path.relative_to(path.anchor)
        try:
            files = sorted(file for file in base.glob(str(path)) if file.is_file())
        except (ValueError, NotImplementedError, IndexError, OSError, RecursionError):  # not a valid pattern
            files = []
        if not files:
            raise FocusError(f"{where}: '{key}': {item} matches no file (paths are relative to the topic file)")
        found += files
    return found


def parse_keywords(text: str) -> dict[str, float]:
    """Parse keywords from the command line: `time,sort:2,"bubble sort":3`."""
    keywords: dict[str, float] = {}
    if text.count('"') % 2:
        raise FocusError(f"keywords: a quotation mark is missing in '{text.strip()}'; write \"a phrase\":3")
    # quotes protect a comma in a phrase; a weight may follow the closing quote
    for item in re.findall(r'(?:"[^"]*"|[^,"])+', text):
        name, colon, weight = item.rpartition(":")
        if not colon:
            name, weight = item, "1"
        name = name.strip().strip("\"'").strip()
        try:
            value = float(weight)
        except ValueError:
            value = 0.0
        if not words.tokenize(name) or not 0 < value < float("inf"):
            raise FocusError(f"keywords: cannot read '{item.strip()}'; write word, word:2 or \"a phrase\":3")
        keywords[name] = value
    if not keywords:
        raise FocusError('keywords: none given; write word, word:2 or "a phrase":3, separated by commas')
    return keywords


def parse_seeds(text: str) -> list[str]:
    """Parse seeds from the command line: comma-separated URLs, or @FILE with one per line (# starts a comment)."""
    if not text.startswith("@"):
        seeds = [seed.strip() for seed in text.split(",") if seed.strip()]
        for seed in seeds:
            if "://" not in seed and _is_file(seed):
                raise FocusError(f"seeds: {seed} is a file, not a URL; to read the URLs in it, write -a seeds=@{seed}")
        return seeds
    path = Path(text[1:])
    try:
        lines = path.read_text("utf-8-sig").splitlines()
    except OSError as error:
        raise FocusError(f"seeds: cannot read {path}: {error.strerror}") from None
    except ValueError as error:  # not text, or not a valid file name
        raise FocusError(f"seeds: cannot read {path}: {error}") from None
    rows = (line.strip() for line in lines)
    return [row for row in rows if row and not row.startswith("#")]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def make_topic(
    topic: str | Mapping[str, Any] | None = None, seeds: str | None = None, keywords: str | None = None
) -> Topic:
    """The topic of a crawl from its command-line arguments; *seeds* and *keywords* override those of *topic*."""
    if isinstance(topic, Mapping):
        made = topic_of(topic, "setting FOCUS_TOPIC")
    else:
        made = load_topic(topic) if topic else Topic("")
    if keywords is not None:
        made.keywords, made.keywords_in = parse_keywords(keywords), {}
    if seeds is not None:
        made.seeds = parse_seeds(seeds)
    if not made.name:
        made.name = " ".join(made.all_keywords) or (urls.host(made.seeds[0]) if made.seeds else "")
    return made


#: Changed keywords that a message names.
_CHANGES_NAMED = 8


def keyword_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """How keywords differ, in words."""
    parts = [f"+{name}" for name in now if name not in before] + [f"-{name}" for name in before if name not in now]
    parts += [f"{name} {before[name]}→{now[name]}" for name in now if name in before and now[name] != before[name]]
    return ", ".join(parts[:_CHANGES_NAMED]) + (", …" if len(parts) > _CHANGES_NAMED else "")
