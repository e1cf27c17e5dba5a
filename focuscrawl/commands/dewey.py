"""`scrapy dewey`: what a text is about, as Dewey decimal numbers."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from rich.console import Console
from rich.table import Table
from scrapy.exceptions import UsageError

from focuscrawl import urls, words
from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.strategies.dewey import Lexicon, dotted, lexicon

#: Regions shown per digit, words shown per number, and the width of the longest bar.
_SHOWN, _WORDS, _BAR = 6, 8, 30
_LARGEST = 10_000_000


class Command(FocusCommand):
    """Draw the galaxy of a text: per digit, the weights of the regions."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<TEXT | FILE | URL>"

    def short_desc(self) -> str:
        return "Show what a text, a file or a page is about, as Dewey decimal numbers"

    def long_desc(self) -> str:
        return (
            "Look up the words of a text, a file (HTML or plain) or a page on the web in the Dewey lexicon, and show"
            " where they are densest, digit by digit. A topic file can use the numbers at the end as dewey = […]."
            f' Example: {program()} dewey "The cello and the violin are played with a bow"'
        )

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("give a text, a file or a URL", print_help=False)
        _draw(_words(" ".join(args)), lexicon(), Console(highlight=False, markup=False))


def _words(what: str) -> list[str]:
    """The words of a text, of a file or of a page on the web."""
    if what.startswith(("http://", "https://")):
        try:
            with urlopen(Request(what, headers={"User-Agent": "focuscrawl"}), timeout=30) as response:  # noqa: S310
                return read_page(Page(what), response.read(_LARGEST), response.headers.get("Content-Type", "")).words
        except HTTPError as error:
            raise FocusError(f"{what} cannot be fetched: HTTP {error.code}") from None
        except (URLError, OSError, ValueError) as error:
            reason = getattr(error, "reason", error)  # of a URLError: the error below it
            raise FocusError(f"{what} cannot be fetched: {getattr(reason, 'strerror', None) or reason}") from None
    path = Path(what)
    try:
        # not Path.is_file, which fails if the text is too long for a file name
        if os.path.isfile(what):
            body = path.read_bytes()
            html = path.suffix.lower() in (".html", ".htm", ".xhtml") or b"<html" in body[:1000].lower()
            if html:
                return read_page(Page(urls.of_file(path)), body, "text/html").words
            what = body.decode("utf-8", "replace")
    except OSError as error:
        raise FocusError(f"{path} cannot be read: {error.strerror}") from None
    return words.tokenize(what)


def _draw(tokens: list[str], known: Lexicon, console: Console) -> None:
    dots = known.dots(tokens)
    (focus,) = dots.galaxies()
    if not focus:
        console.print("None of its words is in the Dewey lexicon.")
        return
    for digits, weights in enumerate(dots.weights(), 1):
        best = sorted(weights, key=lambda region: (-weights[region], region))[:_SHOWN]
        table = Table(box=None, show_header=False, padding=(0, 1), title=f"digit {digits}", title_justify="left")
        for region in best:
            kept = weights[region] >= max(weights.values()) * (1 - 1e-9)
            bar = "█" * max(1, round(_BAR * weights[region] / max(weights.values())))
            table.add_row(
                "→" if kept else "",
                dotted(region),
                bar,
                f"{weights[region]:,.0f}",
                known.name(region),
                style="bold" if kept else "",
            )
        console.print(table)
    terms = Counter(known.find(tokens))
    console.print()
    for number in focus:
        made_by = [(term, n) for term, n in terms.most_common() if any(d.startswith(number) for d in known.terms[term])]
        written = [(known.written[term], n) for term, n in made_by[:_WORDS]]
        words_of = ", ".join(f"{term} {n}" if n > 1 else term for term, n in written)
        console.print(
            f"{dotted(number)}  {known.name(number[:2]) or known.name(number[0])}: {words_of}", soft_wrap=True
        )
