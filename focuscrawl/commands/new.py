"""`focuscrawl new`: from an idea in a sentence to a topic file and the command that crawls it."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from focuscrawl.command import FocusCommand
from focuscrawl.console.program import program
from focuscrawl.crawl.checks import check_settings
from focuscrawl.errors import FocusError, printable
from focuscrawl.language.languages import NAMES, code_of
from focuscrawl.seeding.idea import common_words, understand
from focuscrawl.seeding.look import Seen, look
from focuscrawl.seeding.new_topic import topic_text
from focuscrawl.seeding.seed_sources import Wish, wishes
from focuscrawl.topic import Topic, parse_keywords, read_topic, slug

#: Seeds taken from a list, and seconds for looking at all of them.
_MOST, _SECONDS = 20, 60.0


class Command(FocusCommand):
    """Make a topic from an idea."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "['IDEA'] [--seeds SOURCE ...] [--output FILE]"

    def short_desc(self) -> str:
        return "Make a topic from an idea in a sentence: keywords, seeds, and the command to run"

    def long_desc(self) -> str:
        return (
            "Make a topic file from an idea in a sentence, and look at its seeds: can they be reached, does robots.txt"
            " allow them, are they about the topic? On a terminal, it asks for what the options do not say. A SOURCE is"
            " a URL (of a page, a feed or a sitemap), links:URL (a page of links), a FILE (URLs one per line, or a"
            " browser's bookmarks as HTML), searxng:URL (a search instance) or crawl:DIR (an earlier crawl). Example:"
            f" {program()} new 'sorting algorithms, their running time and their history' --seeds"
            " https://en.wikipedia.org/wiki/Sorting_algorithm --seeds bookmarks.html. Without a network:"
            f" {program()} new 'sorting algorithms' --seeds http://sorting-handbook.example/ -s FOCUS_WEB=demo"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Topic").add_argument
        add("--name", help="name of the topic (default from the idea)")
        add("--keywords", metavar="A,B:2", help="keywords with their weights (default from the idea)")
        add("--languages", metavar="A,B", help="codes of the languages of its pages (default that of the idea)")
        add("--output", type=Path, metavar="FILE", help="the topic file to write (default the name, with .toml)")
        add("--force", action="store_true", help="overwrite an existing file")
        add = parser.add_argument_group(title="Seeds").add_argument
        add("--seeds", metavar="SOURCE", action="append", default=[], help="where to begin; may be repeated")
        add("--most", type=int, default=_MOST, metavar="N", help=f"seeds taken from a list (default {_MOST})")
        add("--no-look", action="store_true", help="take the seeds as they are; nothing is fetched")
        add("--seconds", type=float, default=_SECONDS, metavar="S", help=f"time for looking (default {_SECONDS:g})")
        add("--yes", action="store_true", help="ask nothing, also on a terminal")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        check_settings(self.settings)
        if opts.most < 1:
            raise FocusError(f"--most {opts.most}: expected a whole number, at least 1")
        if not 0 < opts.seconds <= 3600:
            raise FocusError(f"--seconds {opts.seconds:g}: expected seconds, above 0 and at most 3600")
        self.console = Console(highlight=False, soft_wrap=True, markup=False)
        self.asks = sys.stdin is not None and sys.stdin.isatty() and not opts.yes
        try:
            self._make(" ".join(args), opts)
        except (KeyboardInterrupt, EOFError):
            self.say("stopped; nothing was written")
            self.exitcode = 130

    def _make(self, sentence: str, opts: argparse.Namespace) -> None:
        topic = self._topic(sentence, opts)
        output = self._output(topic, opts)
        if not self.asks:
            self._show(topic)
        wished = self._wishes(topic, opts)
        seeds = self._look(wished, topic, opts)
        left_out = [seen for seen in seeds if seen.problem]
        kept = [seen for seen in seeds if not seen.problem]
        topic.seeds = [seen.url for seen in kept]
        near = [seen.page for seen in kept if seen.page is not None and seen.verdict == "about the topic"]
        more = common_words(near, topic.keywords) if {*topic.languages} <= {"en"} else []
        text = topic_text(topic, kept, left_out, more, shlex.quote(str(output)))
        read_topic(text.encode(), str(output), output.parent)  # what is written can be read
        _write(output, text, force=opts.force)
        self._tell(topic, output, more, opts)
        if wished and not kept:
            self.say(f"none of the seeds can be used; add others to {output}")
            self.exitcode = 1

    # ---- the topic

    def _topic(self, sentence: str, opts: argparse.Namespace) -> Topic:
        if not sentence.strip():
            if not self.asks:
                raise FocusError(f"what are the pages about? Say it in a sentence: {program()} new 'pages about …'")
            sentence = self._ask("What are the pages about? A sentence is enough")
        given = parse_keywords(opts.keywords) if opts.keywords is not None else None
        languages = _languages(opts.languages) if opts.languages is not None else None
        idea = understand(sentence)
        languages = [*filter(None, [idea.language])] if languages is None else languages
        topic = Topic(opts.name or idea.name, idea.sentence, keywords=given or idea.keywords, languages=languages)
        if not self.asks:
            return topic
        self._show(topic)
        if given is None:
            answer = self._ask('Keywords: Enter keeps them; or give others, as in time,sort:2,"bubble sort":3', " ")
            topic.keywords = parse_keywords(answer) if answer.strip() else topic.keywords
        if opts.name is None:
            topic.name = self._ask("Name", topic.name)
        return topic

    def _show(self, topic: Topic) -> None:
        table = Table(title=Text(printable(topic.name)), title_justify="left")
        table.add_column("word or phrase", overflow="fold")
        table.add_column("weight", justify="right", no_wrap=True)
        for word, weight in topic.keywords.items():
            table.add_row(Text(printable(word)), f"{weight:g}")
        self.console.print(table)
        names = ", ".join(NAMES.get(code, code) for code in topic.languages)
        self.console.print(f"Language: {names or 'any; --languages says which'}")

    # ---- the seeds

    def _wishes(self, topic: Topic, opts: argparse.Namespace) -> list[Wish]:
        sources: list[str] = list(opts.seeds)
        found = [wish for source in sources for wish in self._read(source, topic, opts)]
        if self.asks and not sources:
            self.console.print(
                "Seeds: where the crawl begins. URLs of pages, feeds or sitemaps, links:URL for a page of links, a file"
                " of URLs or of bookmarks, searxng:URL, crawl:DIR. One a line; an empty line ends."
            )
            while source := self._ask("Seed", " ").strip():
                try:
                    found += self._read(source, topic, opts)
                except FocusError as error:
                    self.say(str(error))
        return [*dict.fromkeys(found)]

    def _read(self, source: str, topic: Topic, opts: argparse.Namespace) -> list[Wish]:
        return wishes(source, " OR ".join(f'"{word}"' for word in topic.keywords), topic.keywords, opts.most, self.say)

    def _look(self, wished: Sequence[Wish], topic: Topic, opts: argparse.Namespace) -> list[Seen]:
        if opts.no_look or not wished:
            return [Seen(wish.url, "", listed=wish.listed) for wish in wished]
        assert self.settings is not None
        if not (opts.loglevel or opts.logfile):
            self.settings.set("LOG_ENABLED", False, priority="cmdline")
        self.console.print(f"Looking at {_number(len(wished), 'page')} …")
        seeds = look(self.settings, wished, topic.keywords, most=opts.most, seconds=opts.seconds)
        table = Table(title="Seeds", title_justify="left")
        table.add_column("URL", overflow="fold")
        table.add_column("found", overflow="fold")
        table.add_column("relevance", justify="right", no_wrap=True)
        for seen in seeds:
            relevance = "–" if seen.page is None else f"{seen.relevance:.2f}"
            table.add_row(Text(printable(seen.url)), Text(printable(seen.verdict)), relevance)
        self.console.print(table)
        return seeds

    # ---- the file

    def _output(self, topic: Topic, opts: argparse.Namespace) -> Path:
        output: Path = opts.output or Path(f"{slug(topic.name)}.toml")
        while output.exists() and not opts.force:
            problem = f"{output} already exists; choose another --output, or overwrite it with --force"
            if not self.asks:
                raise FocusError(problem)
            self.say(problem)
            output = Path(self._ask("File"))
        return output

    def _tell(self, topic: Topic, output: Path, more: Sequence[str], opts: argparse.Namespace) -> None:
        assert self.settings is not None
        seeds = "" if topic.seeds else " -a seeds=https://…"
        web = self.settings.get("FOCUS_WEB")
        where = f" -s FOCUS_WEB={shlex.quote(str(web))}" if web else ""
        lines = [f"Wrote {output}: {_number(len(topic.keywords), 'keyword')}, {_number(len(topic.seeds), 'seed')}."]
        if more:
            lines.append(f"The seeds have these words in common; the file shows how to add them: {', '.join(more)}")
        lines += [
            "Crawl it with",
            f"  {program()} crawl -a topic={shlex.quote(str(output))}{seeds} -a max_pages=200{where}",
        ]
        for line in lines:
            self.console.print(Text(printable(line)))

    def _ask(self, question: str, default: str = "") -> str:
        """The answer to a question; an empty one is the default, and asked again if there is none."""
        shown = f" [{printable(default)}]" if default.strip() else ""
        while not (answer := input(f"{question}{shown}: ").strip() or default):
            pass
        return answer


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _languages(text: str) -> list[str]:
    found = []
    for tag in filter(None, map(str.strip, text.split(","))):
        if not (code := code_of(tag)):
            raise FocusError(f"--languages: unknown language '{tag}'; languages have codes such as 'de' for German")
        found.append(code)
    return found


def _write(path: Path, text: str, *, force: bool) -> None:
    try:
        with path.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise FocusError(f"cannot write {path}: {why}; choose another --output") from None
