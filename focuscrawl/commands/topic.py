"""`scrapy topic`: better keywords for a topic, and what is weak in it."""

from __future__ import annotations

import argparse
import shlex

from rich.console import Console
from rich.table import Table
from rich.text import Text

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable
from focuscrawl.options import options_of
from focuscrawl.seeding.evidence import Evidence, Library, gather
from focuscrawl.seeding.suggest import Pages, Suggestion, suggest
from focuscrawl.seeding.topic_check import check
from focuscrawl.seeding.topic_file import add_keywords, writable_file
from focuscrawl.spider import FocusedSpider
from focuscrawl.strategies.wordnet import WordNet, context_of
from focuscrawl.topic import Topic, load_topic

_THRESHOLD = options_of(FocusedSpider)["threshold"].default
#: WordNet's terms at most this many steps below a keyword are candidates: strength 1/3 is two steps.
_LEAST_STRENGTH = 0.3


class Command(FocusCommand):
    """Suggest keywords for a topic, and check it."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "suggest TOPIC [--from DIR] [--wordnet] [--apply] | check TOPIC [--from DIR]"

    def short_desc(self) -> str:
        return "Suggest keywords for a topic, or say what is weak in it"

    def long_desc(self) -> str:
        return (
            "suggest: words and phrases that the relevant pages of a topic have and others lack, with the pages that"
            " each would win or lose. The pages are the topic's examples and counterexamples and, with --from, those of"
            " a crawl. check: keywords that tell nothing, examples among the counterexamples, seeds off topic; the exit"
            f" status is 1 if anything is weak. Nothing is fetched. Example: {program()} topic suggest birds.toml"
            " --from"
            f" crawls/best_first-birds --apply; {program()} topic check birds.toml --from crawls/best_first-birds"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Topic").add_argument
        add("--from", dest="crawl", metavar="DIR", help="a crawl of the topic: its relevant pages, and the others")
        add(
            "--threshold",
            type=float,
            default=_THRESHOLD,
            metavar="T",
            help=f"relevance from which a page is on topic (default {_THRESHOLD:g})",
        )
        add("--limit", type=int, default=10, metavar="N", help="suggest: the best N terms (default 10)")
        add("--wordnet", action="store_true", help="suggest: also synonyms and narrower terms of the keywords")
        add("--apply", action="store_true", help="suggest: write the terms into the topic file")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 2 or args[0] not in ("suggest", "check"):
            raise FocusError(f"what to do? Give `{program()} topic suggest TOPIC` or `{program()} topic check TOPIC`")
        if opts.limit < 1:
            raise FocusError(f"--limit {opts.limit}: expected a whole number, at least 1")
        if not 0 <= opts.threshold <= 1:
            raise FocusError(f"--threshold {opts.threshold:g}: expected a number from 0 to 1")
        console = Console(highlight=False, soft_wrap=True, markup=False)
        if args[0] == "suggest":
            self._suggest(args[1], opts, console)
        else:
            self._check(args[1], opts, console)

    def _suggest(self, name: str, opts: argparse.Namespace, console: Console) -> None:
        topic = load_topic(name)
        file = writable_file(name) if opts.apply else None
        assert self.settings is not None
        with Library.open(topic, opts.crawl, self.settings.get("FOCUS_WEB")) as library:
            evidence = gather(topic, library)
        if not (evidence.relevant and evidence.others):
            if not opts.wordnet:
                raise FocusError(_no_pages(topic, opts.crawl, evidence))
            evidence = Evidence()  # one side alone proves nothing
        found = suggest(
            evidence.relevant,
            evidence.others,
            topic.all_keywords,
            threshold=opts.threshold,
            limit=opts.limit,
            related=_related(topic) if opts.wordnet else None,
        )
        if not found:
            console.print(f"Nothing to suggest: no further term tells {evidence.sides[0]} from {evidence.sides[1]}")
            return
        console.print(_table(found, evidence))
        if evidence.relevant:
            console.print(_outcome(topic, found, evidence, opts.threshold))
        if file is None:
            console.print(f"To write them into the topic file: {program()} topic suggest {shlex.quote(name)} … --apply")
        else:
            add_keywords(file, {one.term: one.weight for one in found})
            console.print(f"Wrote {len(found)} keyword{'' if len(found) == 1 else 's'} into {file}")

    def _check(self, name: str, opts: argparse.Namespace, console: Console) -> None:
        topic = load_topic(name)
        assert self.settings is not None
        with Library.open(topic, opts.crawl, self.settings.get("FOCUS_WEB")) as library:
            evidence = gather(topic, library)
            findings = check(topic, evidence, library, opts.threshold)
            offline = library.store is None and library.web is None
        for finding in findings:
            console.print(Text(printable(str(finding))))
        unread = sum(one.page is None for one in (*evidence.examples, *evidence.counterexamples))
        if offline and (topic.seeds or unread):
            pages = f"{len(topic.seeds)} seeds and {unread} examples" if unread else f"{len(topic.seeds)} seeds"
            console.print(f"Not looked at, because nothing is fetched: {pages}; --from DIR takes them from a crawl")
        looked = f"looked at {evidence.sides[0]} and {evidence.sides[1]}"
        if findings:
            self.exitcode = 1
            console.print(f"{name}: {len(findings)} problem{'' if len(findings) == 1 else 's'}; {looked}")
        else:
            console.print(f"{name}: nothing wrong; {looked}")


def _no_pages(topic: Topic, crawl: str | None, evidence: Evidence) -> str:
    where = f"topic '{topic.name}' ({topic.source})"
    if evidence.relevant:
        return (
            f"{where}: there are {evidence.sides[0]}, but nothing to tell them from; add counterexamples = […] to it,"
            f" or give {'a crawl that found other pages too' if crawl else 'a crawl'} with --from DIR"
        )
    if crawl:
        return f"crawl {crawl} has no relevant page yet; crawl on, or add examples = […] to {where}"
    if topic.examples:
        return (
            f"{where}: its examples are on the web, and nothing is fetched; crawl the topic, then give the crawl with"
            " --from DIR"
        )
    return f"{where} has no examples; add examples = […] to it, give a crawl with --from DIR, or try --wordnet"


def _related(topic: Topic) -> dict[str, str]:
    """WordNet's synonyms and narrower terms of the keywords, and which keyword each belongs to."""
    if not topic.all_keywords:
        raise FocusError(f"--wordnet: {topic.lacks('keywords')}")
    wordnet, context = WordNet.open(), context_of(topic)
    found: dict[str, str] = {}
    for keyword in topic.all_keywords:
        for term, relation in wordnet.related(keyword, context, _LEAST_STRENGTH).items():
            kind = "synonym of" if relation.strength == 1 else "narrower than"
            found.setdefault(term, f"{kind} {keyword}")
    return found


def _table(found: list[Suggestion], evidence: Evidence) -> Table:
    sides = f"{evidence.sides[0]}, against {evidence.sides[1]}" if evidence.relevant else "no pages to compare with"
    table = Table(title=f"Terms by {sides}", title_justify="left")
    table.add_column("term", overflow="fold")
    for name in ("weight", "relevant", "others", "G²", "wins", "loses"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    total = len(evidence.relevant), len(evidence.others)
    for one in found:
        change = one.change
        figures = (
            f"{one.relevant}/{total[0]}",
            f"{one.others}/{total[1]}",
            f"{one.likelihood:.1f}",
            f"{change.won}+{change.won_others}",
            f"{change.lost}+{change.lost_others}",
        )
        row = figures if total[0] else ("–",) * 5
        table.add_row(Text(printable(one.term)), f"{one.weight:g}", *row, Text(printable(one.source)))
    return table


def _outcome(topic: Topic, found: list[Suggestion], evidence: Evidence, threshold: float) -> str:
    """How many pages match now, and with all the suggestions."""
    new = {one.term: one.weight for one in found}
    pages = Pages(evidence.relevant, evidence.others, [*topic.all_keywords, *new])
    before, after = (
        pages.matched(keywords, threshold) for keywords in (topic.all_keywords, {**topic.all_keywords, **new})
    )
    middle = pages.relevant
    return (
        f"wins, loses: relevant+other pages, at threshold {threshold:g}. With all {len(found)} of them,"
        f" {after[:middle].sum()} of {middle} relevant pages match (now {before[:middle].sum()}), and"
        f" {after[middle:].sum()} of {pages.others} others (now {before[middle:].sum()})"
    )
