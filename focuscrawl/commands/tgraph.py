"""`scrapy tgraph`: build a T-Graph, or show one."""

from __future__ import annotations

import argparse
from pathlib import Path

from rich.console import Console
from scrapy.exceptions import UsageError

from focuscrawl import urls
from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.errors import FocusError, printable
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.store.places import earlier_crawl
from focuscrawl.strategies.tgraph import LEVELS, SIZE, TGraph, bottom_up, top_down
from focuscrawl.strategies.tgraph_picture import as_svg, as_text
from focuscrawl.topic import Topic, load_topic


class Command(FocusCommand):
    """Build T-Graphs from example pages or from an earlier crawl, and show them as text or as a picture."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "build --topic TOPIC [--crawl DIR] -o FILE | show FILE [--svg FILE]"

    def short_desc(self) -> str:
        return "Build a T-Graph for the spider 'treasure', or show one"

    def long_desc(self) -> str:
        return (
            "build: make a T-Graph top-down from the topic's example files, or, with --crawl, bottom-up from the pages"
            " that an earlier crawl found relevant, back along its links. show: its levels as text, and with --svg as a"
            f" picture. Example: {program()} tgraph build --topic sorting --crawl crawls/demo/best_first -o"
            f" sorting.tgraph; {program()} tgraph show sorting.tgraph --svg sorting.svg"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="T-Graph").add_argument
        add("--topic", help="a topic file, or the name of a topic that ships with focuscrawl")
        add("--crawl", metavar="DIR", help="build from this crawl, which was about the same topic")
        add(
            "--targets", metavar="FILE", help="with --crawl: URLs, one per line, instead of the pages it found relevant"
        )
        add("--levels", type=int, default=LEVELS, help=f"maximum number of downloads from a target (default {LEVELS})")
        add("--nodes", type=int, default=SIZE, help=f"maximum number of nodes (default {SIZE})")
        add("-o", "--output", metavar="FILE", help="the T-Graph file to write")
        add("--svg", metavar="FILE", help="draw a picture")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        try:
            graph = self._build(opts) if args == ["build"] else self._load(args)
            if opts.svg:
                Path(opts.svg).write_text(as_svg(graph), "utf-8")
            console = Console(highlight=False, soft_wrap=True, markup=False)
            for line in as_text(graph):
                console.print(printable(line))
        except OSError as error:
            raise FocusError(f"{error.filename} cannot be written: {error.strerror}") from None

    def _load(self, args: list[str]) -> TGraph:
        if len(args) != 2 or args[0] != "show":
            raise UsageError("give `build --topic TOPIC -o FILE` or `show FILE`", print_help=False)
        return TGraph.load(Path(args[1]))

    def _build(self, opts: argparse.Namespace) -> TGraph:
        if not opts.topic or not opts.output:
            raise UsageError("to build a T-Graph give --topic and -o FILE", print_help=False)
        if opts.levels < 1 or opts.nodes < 1:
            raise UsageError("--levels and --nodes must be at least 1", print_help=False)
        topic = load_topic(opts.topic)
        if opts.crawl:
            targets = Path(opts.targets).read_text("utf-8").split() if opts.targets else []
            with earlier_crawl(opts.crawl, topic.name) as store:
                graph = bottom_up(topic.name, store, targets, levels=opts.levels, size=opts.nodes)
        else:
            graph = self._from_examples(topic)
        if not graph.nodes:
            raise FocusError(
                f"the T-Graph is empty: nothing {'in ' + opts.crawl if opts.crawl else 'among the examples'} leads to a"
                " target; give --crawl with a crawl that found relevant pages"
            )
        graph.save(Path(opts.output))
        return graph

    def _from_examples(self, topic: Topic) -> TGraph:
        sources = [source for source in (*topic.examples, *topic.counterexamples) if isinstance(source, Path)]
        if not sources:
            raise FocusError(
                f"topic '{topic.name}' ({topic.source}) has no example files; give --crawl DIR, or let the spider"
                " 'treasure' fetch its examples and build the T-Graph itself"
            )
        pages = {source: read_page(Page(urls.of_file(source)), source.read_bytes()) for source in sources}
        return top_down(topic.name, list(pages.values()), [pages[path].url for path in topic.examples if path in pages])
