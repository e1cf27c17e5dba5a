"""`focuscrawl COMMAND …`: our commands and Scrapy's, from any directory and without environment variables.

Inside a Scrapy project of the user's, that project's settings apply, as with `scrapy`; elsewhere focuscrawl's own do.
Our commands are there in any case, and go before commands of the same name.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from focuscrawl import __version__, commands
from focuscrawl.console import program
from focuscrawl.errors import FocusError, say, suggest

if TYPE_CHECKING:
    from scrapy.settings import Settings

#: The order in which the commands are listed: that of a first crawl. Others follow by name.
_FIRST = ("demo", "new", "crawl", "explain", "search", "recrawl", "topic", "seeds")


def main(arguments: list[str] | None = None) -> None:
    """Run a command, and exit with its status."""
    program.called_as("focuscrawl")
    given = sys.argv[1:] if arguments is None else arguments
    try:
        _run([program.program(), *given])
    except FocusError as error:
        say(str(error))
        sys.exit(2)
    except BrokenPipeError:  # `focuscrawl … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _run(argv: list[str]) -> None:
    name = next((word for word in argv[1:] if not word.startswith("-")), None)
    if name is None and {"--version", "-V"} & {*argv[1:]}:
        print(f"focuscrawl {__version__} (Scrapy {version('scrapy')}, Python {sys.version.split()[0]})")
        return
    if name is None and not {"--help", "-h"}.issuperset(argv[1:]):
        raise FocusError(f"unknown option {argv[1]}; `focuscrawl` lists the commands")
    settings = project_settings()
    if name is None:
        from focuscrawl.console.listing import listing

        print(listing(settings, _FIRST))
        return
    if name in our_commands():  # only this one is imported
        settings.set("COMMANDS_MODULE", f"{commands.__name__}.{name}", priority="cmdline")
    elif name not in (known := other_commands(settings)):
        hint = suggest(name, [*our_commands(), *known], "`focuscrawl {}`") or "`focuscrawl` lists them"
        raise FocusError(f"unknown command '{name}'; {hint}")
    _execute(argv, settings)


def our_commands() -> list[str]:
    """The names of our commands; nothing is imported."""
    return sorted(module.name for module in iter_modules(commands.__path__))


def other_commands(settings: Settings) -> list[str]:
    """The names of the commands of Scrapy, of other packages and of the user's project."""
    from importlib import import_module
    from importlib.metadata import entry_points

    found = {point.name for point in entry_points(group="scrapy.commands")}
    for package in ("scrapy.commands", settings.get("COMMANDS_MODULE")):
        if package and package != commands.__name__:
            found |= {module.name for module in iter_modules(getattr(import_module(package), "__path__", ()))}
    return sorted(found.difference(our_commands()))


def project_settings() -> Settings:
    """The settings of the user's project around the current directory, else focuscrawl's."""
    from scrapy.utils.conf import closest_scrapy_cfg, init_env
    from scrapy.utils.project import ENVVAR, get_project_settings

    given = os.environ.get(ENVVAR)
    init_env(os.environ.get("SCRAPY_PROJECT", "default"))
    module = os.environ.setdefault(ENVVAR, "focuscrawl.settings")
    try:
        settings = get_project_settings()
    except ImportError as error:
        place = f"the environment variable {ENVVAR}" if given else closest_scrapy_cfg() or "scrapy.cfg"
        raise FocusError(
            f"{place} names the settings '{module}', which cannot be imported: {error}; correct it, or run focuscrawl"
            " elsewhere"
        ) from None
    if editor := os.environ.get("EDITOR"):  # as in Scrapy
        settings.set("EDITOR", editor, priority="project")
    return settings


def _execute(argv: list[str], settings: Settings) -> None:
    """Run one of Scrapy's commands or ours as Scrapy does, under our name."""
    from scrapy import cmdline

    class Parser(cmdline.ScrapyArgumentParser):
        """Scrapy's parser, whose help begins with the program that was called."""

        def __init__(self, *, usage: str, **options: object) -> None:
            words = usage.split(" ", 2)
            words[0] = program.program()
            super().__init__(prog=" ".join(words[:2]), usage=" ".join(words), **options)  # type: ignore[arg-type]

    cmdline.ScrapyArgumentParser = Parser  # type: ignore[assignment, misc]
    sys.argv = argv  # as if Scrapy had been called
    cmdline.execute(argv, settings)
