"""The file of a new topic, with comments that say what each part is for."""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.console.program import program
from focuscrawl.errors import printable
from focuscrawl.language.languages import NAMES
from focuscrawl.seeding.look import Seen
from focuscrawl.seeding.seeding import number_text, quoted
from focuscrawl.topic import Topic


def topic_text(topic: Topic, seeds: Sequence[Seen], left_out: Sequence[Seen], more: Sequence[str], file: str) -> str:
    """A topic as a commented file that `load_topic` reads.

    *seeds* are those of the topic with what was found there, *left_out* those that cannot be used, *more* words that
    the seeds have in common.
    """
    return "\n".join(
        (
            f"# A topic for {program()}: edit it as you like.",
            f"# What is weak in it: {program()} topic check {file}",
            "",
            f"name = {quoted(topic.name)}",
            "# The idea itself; it is read where there are no keywords.",
            f"description = {quoted(topic.description)}",
            *_languages(topic.languages),
            "",
            "# Where the crawl begins.",
            *(("seeds = [", *map(_seed, seeds), "]") if seeds else ("seeds = []",)),
            *(f"# left out: {_comment(seen.url)} ({_comment(seen.problem)})" for seen in left_out),
            "",
            "# Pages on the topic and off it, as files or URLs, make every judgement better:",
            '# examples = ["pages/*.html"]',
            '# counterexamples = ["others/*.html"]',
            "",
            "# Words and phrases of pages on the topic, with their weights: the rarer a word is, the more it says.",
            f"# After a crawl, better ones: {program()} topic suggest {file} --from DIR --apply",
            "[keywords]",
            *(f"{quoted(word)} = {number_text(weight)}" for word, weight in topic.keywords.items()),
            *(["# Also on most of the seeds; remove the # where one belongs to the topic:"] if more else []),
            *(f"# {quoted(word)} = 1" for word in more),
            "",
        )
    )


def _languages(codes: Sequence[str]) -> Sequence[str]:
    if not codes:
        return ()
    names = ", ".join(NAMES.get(code, code) for code in codes)
    return f"# The pages are expected in {names}.", f"languages = [{', '.join(map(quoted, codes))}]"


def _seed(seen: Seen) -> str:
    found = f"  # {_comment(seen.verdict)}" if seen.page is not None else ""
    return f"    {quoted(seen.url)},{found}"


def _comment(text: str) -> str:
    """A text of others as part of a comment, which a line break would end."""
    return " ".join(printable(text).split())[:300]
