"""What `focuscrawl` alone shows: our commands with one line each, then Scrapy's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import scrapy.commands
from scrapy.commands import ScrapyCommand

from focuscrawl import __version__, commands
from focuscrawl.console import main
from focuscrawl.console.program import program

if TYPE_CHECKING:
    from scrapy.settings import Settings


def command_of(name: str, package: str = commands.__name__) -> ScrapyCommand:
    """One of our commands, or one of another package."""
    module = import_module(f"{package}.{name}")
    found = next(
        one
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, ScrapyCommand) and one.__module__ == module.__name__
    )
    return found()


def listing(settings: Settings, first: Sequence[str]) -> str:
    """All commands; *first* are those that a new user needs."""
    # those that only adapt one of Scrapy's are for people who know Scrapy
    adapted = [module.name for module in iter_modules(scrapy.commands.__path__) if module.name not in first]
    ours = [name for name in main.our_commands() if name not in adapted]
    ordered = [*(name for name in first if name in ours), *(name for name in ours if name not in first)]
    theirs: dict[str, str] = {}
    for name in sorted({*main.other_commands(settings), *adapted}):
        for package in (commands.__name__, settings.get("COMMANDS_MODULE"), "scrapy.commands"):
            try:
                theirs[name] = command_of(name, package or "").short_desc()
                break
            except (ImportError, StopIteration, ValueError):
                theirs[name] = ""
    return "\n".join(
        (
            f"focuscrawl {__version__}: crawl the pages about a topic",
            "",
            f"Usage: {program()} COMMAND [OPTIONS] [ARGUMENTS]",
            "",
            *_lines((name, command_of(name).short_desc()) for name in ordered),
            "",
            "Of Scrapy, and of this project:" if settings.get("COMMANDS_MODULE") != commands.__name__ else "Of Scrapy:",
            *_lines(theirs.items()),
            "",
            f"`{program()} COMMAND --help` shows the options of a command, with an example.",
        )
    )


def _lines(described: Iterable[tuple[str, str]]) -> Iterable[str]:
    return (f"  {name:<12} {text}" for name, text in described)
