"""`focuscrawl completion`: a script with which a shell completes commands, options, spiders, topics and crawls."""

from __future__ import annotations

import argparse

from scrapy.spiderloader import get_spider_loader

from focuscrawl import settings as ours
from focuscrawl.command import FocusCommand
from focuscrawl.console.completion import SHELLS, Completed, script
from focuscrawl.console.listing import command_of
from focuscrawl.console.main import other_commands, our_commands
from focuscrawl.errors import FocusError, suggest
from focuscrawl.options import options_of
from focuscrawl.topic import shipped_topics

_TOPIC = {"topic": "a topic file, or a shipped topic", "seeds": "URLs, or @FILE", "keywords": "words with weights"}


class Command(FocusCommand):
    """Print a completion script."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "bash | zsh | fish"

    def short_desc(self) -> str:
        return "Print a script that completes commands, options, spiders, topics and crawls in your shell"

    def long_desc(self) -> str:
        return (
            "Print a script for your shell, which then completes `focuscrawl`. Completing starts no Python. bash:"
            " focuscrawl completion bash > ~/.local/share/bash-completion/completions/focuscrawl. zsh: focuscrawl"
            " completion zsh > DIR/_focuscrawl, where DIR is in your fpath. fish: focuscrawl completion fish >"
            " ~/.config/fish/completions/focuscrawl.fish. Do so again after an update"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1 or args[0] not in SHELLS:
            hint = suggest(args[0], SHELLS) if args else ""
            shells = "give one of " + ", ".join(SHELLS)
            raise FocusError(f"which shell? {hint or shells}")
        settings = self.settings
        assert settings is not None
        settings.set("COMMANDS_MODULE", None, priority="cmdline")
        commands = []
        for package, names in (("focuscrawl.commands", our_commands()), ("scrapy.commands", other_commands(settings))):
            for name in names:
                command = command_of(name, package)
                command.settings = settings
                commands.append(Completed.of(name, command))
        loader = get_spider_loader(settings)
        spiders = {
            name: _TOPIC | {option: one.help for option, one in options_of(loader.load(name)).items()}
            for name in sorted(loader.list())
        }
        known = [name for name in dir(ours) if name.isupper()]
        print(script(args[0], commands, spiders, shipped_topics(), known), end="")
