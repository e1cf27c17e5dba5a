"""`scrapy seeds`: a topic file from ranked lists of search results, or from a node of a web directory."""

from __future__ import annotations

import argparse
import glob
import shlex
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable
from focuscrawl.learning.pages import LEAST
from focuscrawl.search.query import Query
from focuscrawl.seeding import seeding
from focuscrawl.seeding.searxng import SearXNG
from focuscrawl.seeding.taxonomy import node_name, read_node
from focuscrawl.topic import Topic, parse_keywords, slug

#: URLs that the table shows per class.
_SHOWN = 3
#: Seeds from a taxonomy, the most examples from it, and the counterexamples per example, unless options say otherwise.
_SEEDS, _EXAMPLES, _COUNTEREXAMPLES = 10, 100, 2


class Command(FocusCommand):
    """Combine ranked lists of URLs into the seeds and examples of a topic."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "--list SOURCE --list SOURCE … | --taxonomy FILE --node NODE [--output FILE]"

    def short_desc(self) -> str:
        return "Make a topic file: seeds and examples from search results, or from a node of a web directory"

    def long_desc(self) -> str:
        return (
            "Write a topic file whose seeds are the URLs that several ranked lists agree on. A SOURCE is a text file"
            " with one URL per line, searxng:URL?q=… (an instance of SearXNG), or crawl:DIR (an earlier crawl, searched"
            f" for --query). Example: {program()} seeds --query 'sorting algorithms' --searxng http://localhost:8888"
            f" --engines brave,mojeek,wikipedia --output sorting.toml. Or: {program()} seeds --keywords sort,array"
            " --list a.txt --list b.txt --list c.txt --negative off-topic.txt. With --taxonomy, the examples are the"
            f" pages of a node of a web directory, and the counterexamples those of its siblings: {program()} seeds"
            " --taxonomy content.rdf.u8.gz --node Top/Recreation/Food_Service"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Lists").add_argument
        add(
            "--list",
            metavar="SOURCE",
            action="append",
            default=[],
            dest="lists",
            help="a ranked list, best first; give two or more, usually three",
        )
        add("--negative", metavar="SOURCE", action="append", default=[], help="a ranked list of off-topic URLs")
        add("--query", default="", help="the search query for the topic")
        add(
            "--negative-query",
            metavar="QUERY",
            help="the search query for off-topic pages, '' for none (default the words of --query, negated)",
        )
        add("--searxng", metavar="URL", help="search this SearXNG instance for --query, and for off-topic pages")
        add("--engines", metavar="A,B,C", help="with --searxng: one list from each of these engines")
        add(
            "--timeout",
            type=float,
            default=20,
            metavar="SECONDS",
            help="time limit for an answer of SearXNG (default 20)",
        )
        add("--top", type=int, default=50, metavar="K", help="results taken from each list (default 50)")
        add = parser.add_argument_group(title="Web directory").add_argument
        add("--taxonomy", type=Path, metavar="FILE", help="a dump of DMOZ (RDF), a TSV table, or a folder of folders")
        add("--node", metavar="NODE", help="the node with the topic's pages, such as Top/Recreation/Food_Service")
        add = parser.add_argument_group(title="Topic").add_argument
        add("--output", type=Path, metavar="FILE", help="the topic file to write (default the name, with .toml)")
        add("--force", action="store_true", help="overwrite an existing file")
        add("--name", help="name of the topic (default the query, or the node)")
        add("--description", help="what the topic is about (default where its seeds came from, or the node's own)")
        add("--keywords", metavar="A,B:2", help="keywords with their weights (default the words of query or node)")
        add("--single", action="store_true", help="also take URLs that are in only one list")
        add("--seeds", type=int, metavar="N", help="only the best N (default all in two or more lists)")
        add("--examples", type=int, metavar="N", help="the best N as examples (default the seeds)")
        add("--counterexamples", type=int, metavar="N", help="the first N of the negative lists (default all)")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        _check(args, opts)
        if opts.taxonomy is not None:
            self._from_taxonomy(opts)
            return
        keywords = _keywords(opts)
        name = (opts.name or opts.query or " ".join(keywords)).strip()
        output = _output(opts, name)

        lists, negatives = _read(opts, self.say)
        if len(lists) < 2:
            raise FocusError(
                f"at least two lists with URLs are needed, not {len(lists)}; add --list FILE, --list crawl:DIR or"
                " --searxng URL --engines A,B,C"
            )
        found = seeding.combine(lists, opts.top)
        least = seeding.SINGLE if opts.single else seeding.RELEVANT
        taken = [entry for entry in found if entry.level >= least]
        headings = {entry.url: f"Class {entry.level}, {seeding.class_name(entry.level, len(lists))}" for entry in found}
        counterexamples = seeding.without(seeding.combine(negatives, opts.top), lists)

        console = Console(highlight=False, soft_wrap=True)
        console.print(_table(found, len(lists)))
        if not taken:
            raise FocusError(
                f"no seeds: no URL is in two of the {len(lists)} lists; raise --top (now {opts.top}), add a --list, or"
                " take those in one list with --single"
            )
        seeds = [entry.url for entry in taken[: opts.seeds]]
        topic = Topic(
            name,
            opts.description if opts.description is not None else _description(opts.query, len(lists)),
            seeds=seeds,
            keywords=keywords,
            examples=[*seeds] if opts.examples is None else [entry.url for entry in taken[: opts.examples]],
            counterexamples=[*counterexamples[: opts.counterexamples]],
        )
        _write(output, seeding.toml(topic, headings), force=opts.force)
        _tell(console, topic, output, "best_first")

    def _from_taxonomy(self, opts: argparse.Namespace) -> None:
        """Write a topic file from a node of a web directory."""
        about = node_name(opts.node)
        name = (opts.name or opts.query or about).strip()
        output = _output(opts, name)
        node = read_node(opts.taxonomy, opts.node)
        if node.skipped:
            self.say(f"taxonomy {opts.taxonomy}: {node.skipped:,} entries without a usable URL were left out")
        on_web = "://" in node.pages[0]
        half = len(node.pages) // 2 if on_web else len(node.pages)  # the others are targets
        number = min(_EXAMPLES, max(LEAST, half)) if opts.examples is None else opts.examples
        others = _COUNTEREXAMPLES * number if opts.counterexamples is None else opts.counterexamples
        given = opts.keywords is not None or opts.query
        topic = Topic(
            name,
            node.description if opts.description is None else opts.description,
            seeds=node.pages[: _SEEDS if opts.seeds is None else opts.seeds] if on_web else [],
            keywords=_keywords(opts) if given else dict.fromkeys(Query.parse(about).keywords(), 1.0),
            examples=[_example(page, output) for page in node.pages[:number]],
            counterexamples=[_example(page, output) for page in node.others[:others]],
        )
        used = {*topic.seeds, *map(str, topic.examples)}
        topic.targets = [page for page in node.pages if page not in used] if on_web else []
        _write(output, seeding.toml(topic), force=opts.force)
        _tell(Console(highlight=False, soft_wrap=True), topic, output, "baseline")


def _output(opts: argparse.Namespace, name: str) -> Path:
    """The file to write; an existing one is rejected before anything is read."""
    output: Path = opts.output or Path(f"{slug(name)}.toml")
    if output.exists() and not opts.force:
        raise FocusError(f"{output} already exists; choose another --output, or overwrite it with --force")
    return output


def _example(page: str, output: Path) -> str:
    """An example as a topic file names it: files relative to the topic file if they are below its folder."""
    if "://" in page:
        return page
    path, folder = Path(page).resolve(), output.resolve().parent
    return glob.escape(str(path.relative_to(folder) if path.is_relative_to(folder) else path))


def _tell(console: Console, topic: Topic, output: Path, spider: str) -> None:
    """Say what was written, and how to crawl it."""
    numbers = {name: len(getattr(topic, name)) for name in ("seeds", "examples", "counterexamples", "targets")}
    counts = ", ".join(f"{number} {name}" for name, number in numbers.items() if number or name != "targets")
    seeds = "" if topic.seeds else " -a seeds=http://…"
    for line in (
        f"Wrote {output}: {counts}. Crawl it with",
        f"  {program()} crawl {spider} -a topic={shlex.quote(str(output))}{seeds} -a max_pages=200",
    ):
        console.print(Text(line))


def _check(args: list[str], opts: argparse.Namespace) -> None:
    """Reject invalid options before any request is sent."""
    if args:
        raise FocusError(f"seeds: unexpected argument '{args[0]}'; give a list with --list SOURCE")
    for option, least in (("top", 1), ("seeds", 1), ("examples", 0), ("counterexamples", 0)):
        value = getattr(opts, option)
        if value is not None and value < least:
            raise FocusError(f"--{option} {value}: expected a whole number, at least {least}")
    if not 0 < opts.timeout <= 3600:
        raise FocusError(f"--timeout {opts.timeout:g}: expected seconds, above 0 and at most 3600")
    if (opts.taxonomy is None) != (opts.node is None):
        missing = "--node NODE" if opts.node is None else "--taxonomy FILE"
        raise FocusError(f"--taxonomy and --node belong together; add {missing}")
    if opts.taxonomy is not None and (opts.lists or opts.negative or opts.searxng or opts.negative_query):
        raise FocusError("--taxonomy: the pages come from the node or from lists, not both; leave out one of them")
    if opts.engines is not None and not opts.searxng:
        raise FocusError("--engines needs the address of a SearXNG instance; add --searxng URL")
    if opts.searxng and not opts.query.strip():
        raise FocusError("--searxng: no query is given; give --query")
    for source in opts.lists:
        if opts.lists.count(source) > 1:
            raise FocusError(f"list {source} is given twice; give different lists")
    searches = [source for source in opts.negative if source.startswith(("searxng:", "crawl:"))]
    if opts.negative_query and not (opts.searxng or searches):
        raise FocusError("--negative-query: nothing to search; give --searxng URL or --negative crawl:DIR")


def _keywords(opts: argparse.Namespace) -> dict[str, float]:
    if opts.keywords is not None:
        return parse_keywords(opts.keywords)
    keywords = dict.fromkeys(Query.parse(opts.query).keywords(), 1.0)
    if not keywords:
        raise FocusError("the topic has no keywords; give --query 'its words' or --keywords a,b:2")
    return keywords


def _read(opts: argparse.Namespace, warn: seeding.Warn) -> tuple[list[list[str]], list[list[str]]]:
    """The ranked lists and the negative ones, without those that are empty."""
    sources = seeding.Sources(opts.query, top=opts.top, timeout=opts.timeout, warn=warn)
    off_topic = seeding.negated(opts.query) if opts.negative_query is None else opts.negative_query
    lists = {source: sources.read(source) for source in opts.lists}
    negatives = {source: sources.read(source, off_topic) for source in opts.negative}
    if opts.searxng:
        instance = SearXNG(opts.searxng, opts.timeout)
        engines = list(dict.fromkeys(name.strip() for name in (opts.engines or "").split(",") if name.strip()))
        # if the user gives counterexamples, none need to be guessed
        asks = bool(off_topic) and (opts.negative_query is not None or not opts.negative)
        for group, query in ((lists, opts.query), (negatives, off_topic if asks else "")):
            for engine in engines or [""] if query else []:
                results = instance.search(query, opts.top, warn, engine)
                group[f"of {engine or instance.address} for '{query}'"] = results
    for kind, group in (("list", lists), ("negative list", negatives)):
        for source, ranked in group.items():
            if not ranked:
                warn(f"{kind} {source}: no URL in it; left out")
    return [ranked for ranked in lists.values() if ranked], [ranked for ranked in negatives.values() if ranked]


def _description(query: str, lists: int) -> str:
    about = f"pages about {query.strip()}; " if query.strip() else ""
    return f"{about}seeds from {lists} ranked lists"


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FocusError(f"cannot write {path}: {why}; choose another --output") from None


def _table(found: list[seeding.Found], lists: int) -> Table:
    table = Table(title=f"What {lists} lists agree on", show_lines=True)
    table.add_column("class", no_wrap=True)
    table.add_column("URLs", justify="right", no_wrap=True)
    table.add_column("the first of them", overflow="fold")
    for level in (seeding.MOST_RELEVANT, seeding.RELEVANT, seeding.SINGLE):
        if level == seeding.RELEVANT and lists == 2:  # in two lists is in all of them
            continue
        members = [entry.url for entry in found if entry.level == level]
        name = seeding.class_name(level, lists).replace(": ", "\n")
        table.add_row(name, f"{len(members):,}", Text("\n".join(map(printable, members[:_SHOWN]))))
    return table
