"""`scrapy search`: the pages of a crawl that match a query, best first."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand
from focuscrawl.errors import FocusError, printable
from focuscrawl.search.folder import search_folder
from focuscrawl.search.index import Answer, Hit, Piece
from focuscrawl.search.query import Query
from focuscrawl.store.search import Filter
from focuscrawl.store.store import crawl_folder


class Command(FocusCommand):
    """Search the stored pages of a crawl."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> <QUERY> [--host HOST] [--topic TOPIC] [--since DATE] [--until DATE] [--limit N] [--json]"

    def short_desc(self) -> str:
        return "Search the pages of a crawl"

    def long_desc(self) -> str:
        return (
            'Show the pages of the crawl in DIR that contain all words of QUERY, best first. "a phrase" must occur as'
            " it is, -word excludes pages, a OR b needs one of them: put the whole query in quotes. Pages that are not"
            " in the index yet are indexed first. Example: scrapy search crawls/demo/best_first 'merge OR quick sort"
            ' -"bubble sort"\' --host example --limit 5'
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Search").add_argument
        add("--topic", help="only pages with this topic among theirs")
        add("--relevant", action="store_true", help="only pages judged relevant to the topic of the crawl")
        add("--matched", action="store_true", help="only pages whose URL is in URLs.txt")
        add("--host", help="only pages of this host and its subdomains")
        add(
            "--since",
            metavar="DATE",
            help="only pages fetched at this time or later: 2026-11-16 or 2026-11-16T08:30, UTC",
        )
        add("--until", metavar="DATE", help="only pages fetched at this time or earlier; a date includes the whole day")
        add("--author", metavar="NAME", help="only pages by an author whose name has these words, in any order")
        add("--site", metavar="NAME", help="only pages of a site whose name has these words")
        add(
            "--published-since",
            metavar="DATE",
            help="only pages published on this day or later: 2021, 2021-03, 2021-03-04",
        )
        add(
            "--published-until", metavar="DATE", help="only pages published on this day or earlier; 2021 is all of 2021"
        )
        add("--limit", type=int, default=10, metavar="N", help="maximum number of pages shown (default 10)")
        add("--json", action="store_true", help="print JSON")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) < 2:
            raise UsageError("give the directory of a crawl and a query", print_help=False)
        args = [argument for argument in args if argument != "--"]
        if opts.limit < 1:
            raise FocusError(f"--limit {opts.limit}: expected a whole number, at least 1")
        where = Filter(
            opts.topic,
            opts.relevant,
            opts.matched,
            opts.host,
            _time("since", opts.since),
            _time("until", opts.until, end=True),
            _words("author", opts.author),
            _words("site", opts.site),
            _day("published-since", opts.published_since),
            _day("published-until", opts.published_until),
        )
        text = " ".join(args[1:])
        try:
            answer, waiting = search_folder(crawl_folder(args[0]), Query.of(text), where, opts.limit, self.say)
        except KeyboardInterrupt:
            self.say("stopped; the next search continues indexing from here")
            self.exitcode = 130
            return
        if opts.json:
            results = [_record(hit) for hit in answer.hits]
            print(
                json.dumps(
                    {
                        "query": text,
                        "total": answer.total,
                        "more": answer.more,
                        "not_indexed": waiting,
                        "results": results,
                    },
                    indent=1,
                )
            )
        else:
            _show(answer)


def _time(option: str, text: str | None, *, end: bool = False) -> str | None:
    """A date or time in the format of `fetched_at`; with *end*, just after it, which for a date is the next day."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        if end:
            moment += timedelta(days=1) if len(text.strip()) <= len("2026-11-16") else timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        raise FocusError(f"--{option} {text}: expected a date such as 2026-11-16 or 2026-11-16T08:30") from None
    return moment.isoformat(timespec="milliseconds")


def _day(option: str, text: str | None) -> str | None:
    """A day, month or year in ISO 8601."""
    if text is None:
        return None
    day = text.strip()
    try:
        if len(day) not in (4, 7, 10) or not day.isascii():
            raise ValueError
        date.fromisoformat(f"{day}-01-01"[:10])
    except ValueError:
        raise FocusError(f"--{option} {text}: expected a date such as 2021, 2021-03 or 2021-03-04") from None
    return day


def _words(option: str, text: str | None) -> str | None:
    if text is not None and not any(map(str.isalnum, text)):
        raise FocusError(f"--{option} '{text}': expected a name")
    return text


def _record(hit: Hit) -> dict[str, Any]:
    return hit._asdict() | {"title": _plain(hit.title), "snippet": _plain(hit.snippet), "score": round(hit.score, 4)}


def _plain(pieces: list[Piece]) -> str:
    return "".join(text for text, _ in pieces)


def _show(answer: Answer) -> None:
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for number, hit in enumerate(answer.hits, 1):
        console.print(f"{number}. ", _marked(hit.title or [("(no title)", False)]), sep="")
        console.print("   ", Text(printable(hit.url), "cyan"), sep="")
        console.print("   ", _marked(hit.snippet), sep="")
        facts = [hit.fetched_at[:10], *([] if hit.relevance is None else [f"relevance {hit.relevance:.4f}"])]
        facts += [*(["matched"] if hit.matched else []), *map(printable, map(str, hit.topics))]
        facts += [f"by {printable(', '.join(hit.authors))}"] if hit.authors else []
        facts += [f"published {printable(hit.published)}"] if hit.published else []
        facts += [f"on {printable(hit.site_name)}"] if hit.site_name else []
        console.print("   ", Text(", ".join(facts), "dim"), "\n", sep="")
    shown = len(answer.hits)
    if shown < answer.total and shown:
        more = "more than " if answer.more else ""
        console.print(f"{shown:,} of {more}{answer.total:,} pages; --limit shows more")
    else:
        console.print(f"{answer.total:,} page{'' if answer.total == 1 else 's'}" if shown else "no pages found")


def _marked(pieces: list[Piece]) -> Text:
    return Text.assemble(*((text, "bold" if found else "") for text, found in pieces))
