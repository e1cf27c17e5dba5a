"""`scrapy audit`: precision and recall of a crawl, by what a person says of pages drawn at random."""

from __future__ import annotations

import argparse
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.console import Console
from scrapy.exceptions import UsageError

from focuscrawl.command import FocusCommand, user_name
from focuscrawl.commands.review import show_card
from focuscrawl.console.program import program
from focuscrawl.crawl import clock
from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.lock import LockedError, locked_store
from focuscrawl.crawl.mark_file import read_marks
from focuscrawl.crawl.marking import mark_pages, marks_of_pages, writing
from focuscrawl.errors import FocusError
from focuscrawl.reports.audit import (
    Audit,
    Estimate,
    Sample,
    audit_of,
    candidates,
    draw,
    judged_times,
    keep_sample,
    sample_of,
)
from focuscrawl.reports.keys import read_key, single_keys
from focuscrawl.reports.report import crawl_report
from focuscrawl.reports.review import HELP, Card, card, review
from focuscrawl.store.places import crawl_folder, read_crawl

#: Pages that a sample has by default.
SAMPLE = 100


class Command(FocusCommand):
    """Draw pages at random, ask about them, and estimate how good the crawl is."""

    requires_crawler_process = False

    def syntax(self) -> str:
        return "<DIR> [--sample N] [--seed N] [--new] [--marks FILE] [--by NAME] [--json]"

    def short_desc(self) -> str:
        return "Estimate precision and recall of a crawl from pages drawn at random"

    def long_desc(self) -> str:
        return (
            "Draw pages of the crawl in DIR at random, in strata by relevance, ask about each as"
            f" `{program()} review` does, and estimate precision and recall within what was fetched, with 95 %"
            " intervals. The sample is remembered:"
            " the same command goes on where it was stopped. Marks that drawn pages have already are used. Example:"
            f" {program()} audit crawls/best_first-sorting-algorithms --sample 100"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument_group(title="Audit").add_argument
        add("--sample", type=int, metavar="N", help=f"pages to draw (default {SAMPLE}, or the sample drawn before)")
        add("--seed", type=int, metavar="N", help="random seed of the sample (default 1)")
        add("--new", action="store_true", help="draw a new sample: the pages fetched since have a part in it")
        add(
            "--marks",
            type=Path,
            metavar="FILE",
            help=f"take the marks from a file, as `{program()} mark --from`; ask nothing",
        )
        add("--by", metavar="NAME", help="who says so (default: your user name)")
        add("--json", action="store_true", help="ask nothing, and print the figures and the pages left as JSON")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("give the directory of a crawl", print_help=False)
        if opts.sample is not None and opts.sample < 2:
            raise FocusError(f"--sample {opts.sample}: expected a whole number, at least 2")
        if opts.seed is not None and opts.seed < 0:
            raise FocusError(f"--seed {opts.seed}: expected a whole number, at least 0")
        folder = crawl_folder(args[0])
        by = user_name() if opts.by is None else opts.by
        sample = self._sample(folder, opts)
        if opts.marks is not None:
            mark_pages(folder, read_marks(opts.marks), by)
        elif not opts.json:
            try:
                self._ask(folder, sample, by)
            except KeyboardInterrupt:
                self.say("stopped; what was marked is safe, and the same command goes on")
                self.exitcode = 130
        self._tell(folder, sample, as_json=opts.json)
        with suppress(LockedError, OSError), locked_store(folder) as store:  # a running crawl writes its own report
            write_whole(folder / "report.html", crawl_report(store))

    def _sample(self, folder: Path, opts: argparse.Namespace) -> Sample:
        """The sample that was drawn before, or a new one."""
        with read_crawl(folder, check=False) as store:
            before, outdated = sample_of(store), store.meta("audit") is not None
        if before is not None and not opts.new:
            if opts.sample in (None, before.size) and opts.seed in (None, before.seed):
                return before
            self.say(
                f"another sample than the one of {before.drawn_at[:10]}; marks that its pages have already are used"
            )
        elif before is None and outdated:
            self.say("the crawl was judged again since the last sample was drawn; a new one is drawn")
        size, seed = opts.sample or SAMPLE, 1 if opts.seed is None else opts.seed
        with writing(folder) as store:
            pages = candidates(store)
            if not pages:
                raise FocusError(f"{folder} has no readable pages to draw from")
            sample = Sample(size, seed, clock.now(), judged_times(store), draw(pages, size, seed))
            with store.transaction():
                keep_sample(store, sample)
        return sample

    def _ask(self, folder: Path, sample: Sample, by: str) -> None:
        console = Console(highlight=False, soft_wrap=True, markup=False)
        with read_crawl(folder, check=False) as store:
            known = marks_of_pages(store)
            left = [number for number in sample.pages if number not in known]

            def show(number: int, at_random: bool) -> Card | None:
                shown = card(store, number, at_random=at_random)
                if shown is not None:
                    # what the judge says of it would sway the answer
                    show_card(
                        console, shown._replace(why=""), f"{sample.pages.index(number) + 1} of {len(sample.pages)}"
                    )
                return shown

            def mark(shown: Card, verdict: str) -> None:
                mark_pages(folder, [(shown.url, verdict, "")], by)
                audit = audit_of(store)
                console.print(f"→ {verdict}{'' if audit is None else _standing(audit)}\n")

            if left:
                console.print(f"{len(left):,} of {len(sample.pages):,} drawn pages have no mark; {HELP}\n")
            with single_keys():
                review([(number, True) for number in left], show, read_key, mark)

    def _tell(self, folder: Path, sample: Sample, *, as_json: bool) -> None:
        with read_crawl(folder, check=False) as store:
            audit, known = audit_of(store), marks_of_pages(store)
            found = (store.pages.get(number) for number in sample.pages if number not in known)
            left = [page.url for page in found if page is not None]
        if audit is None:
            raise FocusError(f"{folder} was judged again meanwhile; run the same command again")
        if as_json:
            figures: dict[str, Any] = {
                "precision": _record(audit.precision),
                "recall": _record(audit.recall),
                "pages": audit.pages,
                "matched": audit.matched,
                "drawn": audit.drawn,
                "marked": audit.marked,
                "drawn_at": sample.drawn_at,
                "left": left,
            }
            print(json.dumps(figures, indent=1))
            return
        print(f"{audit.marked:,} of {audit.drawn:,} drawn pages marked yes or no, of {audit.pages:,} readable pages,")
        drawn_at = sample.drawn_at[:16].replace("T", " ")
        print(f"{audit.matched:,} of them in URLs.txt when the sample was drawn, {drawn_at} UTC")
        for name, value in (("precision", audit.precision), ("recall", audit.recall)):
            print(f"{name:9}  {value if value is not None else 'unknown: too few marks'}")
        if audit.marked and left:
            print(f"{len(left):,} drawn pages are left; the same command goes on")


def _standing(audit: Audit) -> str:
    parts = (("precision", audit.precision), ("recall", audit.recall))
    told = ", ".join(f"{name} {value}" for name, value in parts if value is not None)
    return f"; {told}" if told else ""


def _record(estimate: Estimate | None) -> dict[str, float] | None:
    if estimate is None:
        return None
    return {"estimate": round(estimate.value, 4), "low": round(estimate.low, 4), "high": round(estimate.high, 4)}
