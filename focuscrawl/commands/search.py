"""`scrapy search`: the pages of a crawl that match a query, best first."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text
from scrapy.exceptions import UsageError

from focuscrawl import urls
from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable
from focuscrawl.search.folder import search_folder
from focuscrawl.search.index import Answer, Hit, Piece
from focuscrawl.search.query import Query
from focuscrawl.store.places import crawl_folder, has_crawl
from focuscrawl.store.search import Filter


class Command(FocusCommand):
    """Search the stored pages of a crawl."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR>... <QUERY> [--host HOST] [--topic TOPIC] [--since DATE] [--until DATE] [--limit N] [--json]"

    def short_desc(self) -> str:
        return "Search the pages of a crawl, or of several"

    def long_desc(self) -> str:
        return (
            "Show the pages of the crawl in DIR, or of several, that contain all words of QUERY, best first."
            ' "a phrase" must occur as'
            " it is, -word excludes pages, a OR b needs one of them: put the whole query in quotes. Pages that are not"
            f" in the index yet are indexed first. Example: {program()} search crawls/demo/best_first 'merge OR"
            " quick sort"
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
        places, words = _split(args)
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
        folders = [crawl_folder(place) for place in places]
        text = " ".join(words)
        query = Query.of(text)
        try:
            found = [search_folder(folder, query, where, opts.limit, self.say) for folder in folders]
        except KeyboardInterrupt:
            self.say("stopped; the next search continues indexing from here")
            self.exitcode = 130
            return
        answer, waiting = _merged([one for one, _ in found], opts.limit), sum(number for _, number in found)
        if opts.json:
            several = {"crawls": places} if len(places) > 1 else {}
            results = [_record(hit) | ({"crawl": places[place]} if several else {}) for hit, place in answer.hits]
            print(
                json.dumps(
                    {
                        "query": text,
                        **several,
                        "total": answer.total,
                        "more": answer.more,
                        "not_indexed": waiting,
                        "results": results,
                    },
                    indent=1,
                )
            )
        else:
            _show(answer, places)


class _Merged(NamedTuple):
    """The answers of several crawls as one: each page with the place of its crawl among them."""

    hits: list[tuple[Hit, int]]
    total: int
    more: bool


def _split(args: list[str]) -> tuple[list[str], list[str]]:
    """The crawls, which come first, and the words of the query, of which at least one is left."""
    places = args[:1]
    for argument in args[1:-1]:
        if not has_crawl(crawl_folder(argument)):
            break
        places.append(argument)
    return places, [argument for argument in args[len(places) :] if argument != "--"]


def _merged(answers: list[Answer], limit: int) -> _Merged:
    """The best page of each crawl, then the second best of each …: scores of different crawls cannot be compared.

    A page in several crawls is shown once, from the crawl that ranks it best.
    """
    ranked = sorted(
        ((rank, place, hit) for place, answer in enumerate(answers) for rank, hit in enumerate(answer.hits)),
        key=lambda one: one[:2],
    )
    hits: dict[int, tuple[Hit, int]] = {}
    for _, place, hit in ranked:
        hits.setdefault(urls.key(hit.url), (hit, place))
    total = sum(answer.total for answer in answers) - (len(ranked) - len(hits))
    return _Merged([*hits.values()][:limit], total, any(answer.more for answer in answers))


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


def _show(answer: _Merged, places: list[str]) -> None:
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for number, (hit, place) in enumerate(answer.hits, 1):
        console.print(f"{number}. ", _marked(hit.title or [("(no title)", False)]), sep="")
        console.print("   ", Text(printable(hit.url), "cyan"), sep="")
        console.print("   ", _marked(hit.snippet), sep="")
        facts = [hit.fetched_at[:10], *([] if hit.relevance is None else [f"relevance {hit.relevance:.4f}"])]
        facts += [*(["matched"] if hit.matched else []), *map(printable, map(str, hit.topics))]
        facts += [f"by {printable(', '.join(hit.authors))}"] if hit.authors else []
        facts += [f"published {printable(hit.published)}"] if hit.published else []
        facts += [f"on {printable(hit.site_name)}"] if hit.site_name else []
        facts += [f"in {printable(places[place])}"] if len(places) > 1 else []
        console.print("   ", Text(", ".join(facts), "dim"), "\n", sep="")
    shown = len(answer.hits)
    if shown < answer.total and shown:
        more = "more than " if answer.more else ""
        console.print(f"{shown:,} of {more}{answer.total:,} pages; --limit shows more")
    else:
        console.print(f"{answer.total:,} page{'' if answer.total == 1 else 's'}" if shown else "no pages found")


def _marked(pieces: list[Piece]) -> Text:
    return Text.assemble(*((text, "bold" if found else "") for text, found in pieces))
