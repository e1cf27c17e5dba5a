"""`scrapy signkey`: a key that signs requests, and the directory by which sites know it."""

from __future__ import annotations

import argparse
from pathlib import Path

from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.manners.signing import DIRECTORY, directory, load_key, make_key


class Command(FocusCommand):
    """Make a private key unless there is one, and print the directory with its public half."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<FILE>"

    def short_desc(self) -> str:
        return "Make a key that signs requests, and print the directory to publish"

    def long_desc(self) -> str:
        return (
            "Write a new private key to FILE, which only you can read, or use the one that is there, and print the"
            f" directory with its public half, to be published at https://YOUR-SITE{DIRECTORY}. The settings"
            f" FOCUS_SIGN_KEY=FILE and FOCUS_SIGN_AGENT=https://YOUR-SITE then sign every request. Example: {program()}"
            " signkey bot.pem > http-message-signatures-directory"
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the file of the private key", print_help=False)
        path = Path(args[0])
        if path.exists():
            key = load_key(args[0], "signkey")
        else:
            key = make_key(path)
            self.say(f"the private key is in {path}; keep it secret, and publish what follows")
        print(directory(key))
