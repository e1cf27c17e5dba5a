"""On how many topics `adaptive` is the best spider, and what it loses where it is not.

    python benchmarks/adaptive_cases.py [--pages 500] [--spiders a,b] [--polite] [--webs wikipedia,webkb] [--into DIR]

A case is a topic of a labelled web from its own seeds or from a generic start. Runs `scrapy lab`, whose crawls are kept
in --into; a second run resumes where the first stopped. With --polite, the webs are spread over sixty hosts, and the
crawls are polite, in virtual time. Prints Markdown.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean

from adaptive_webs import GENERIC
from labelled import ROOT, WEBS, parser, spread
from results import PACE, make

OURS, BASELINE, SIMPLEST = "adaptive", "best_first", "breadth_first"
SPIDERS = f"{OURS},link_classifier,intelligent,link_semantics,treasure,shark_search,{BASELINE},keyword,{SIMPLEST}"
#: Orders that the lab adds for comparison.
ORDERS = ("omniscient", "random")
STARTS = {"topic": "own seeds", "generic": "generic start"}

#: Scores by case (web, topic, start) and spider.
Scores = Mapping[tuple[str, str, str], Mapping[str, float]]


def read_scores(files: Iterable[Path]) -> Scores:
    """The scores in the results of labs."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for path in files:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["spider"] not in ORDERS and row["score"]:
                    found.setdefault((row["web"], row["topic"], row["seeds"]), {})[row["spider"]] = float(row["score"])
    return found


def table(scores: Scores) -> str:
    """Means by web and start, then the cases that count."""
    spiders = list(dict.fromkeys(name for those in scores.values() for name in those))
    lines = [("web", "start", *spiders, f"{OURS} is best"), ("---", "---", *["---:"] * (len(spiders) + 1))]
    for web in dict.fromkeys(web for web, _, _ in scores):
        for start, words in STARTS.items():
            cases = [those for (name, _, way), those in scores.items() if (name, way) == (web, start)]
            means = [fmean(those[spider] for those in cases if spider in those) for spider in spiders]
            best = sum(max(those, key=those.__getitem__) == OURS for those in cases)
            lines.append((web, words, *(f"{mean:.3f}" for mean in means), f"{best} of {len(cases)}"))
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    best = sum(max(those, key=those.__getitem__) == OURS for those in scores.values())
    told = [f"`{OURS}` is the best spider on {best} of {len(scores)} cases."]
    for other in (BASELINE, SIMPLEST):
        (web, topic, start), least = min(scores.items(), key=lambda item: item[1][OURS] - item[1][other])
        told.append(
            f"Its score minus that of `{other}` is at least {least[OURS] - least[other]:+.3f}"
            f" ({topic}, {web}, {STARTS[start]})."
        )
    return f"{text}\n\n{' '.join(told)}"


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--pages", type=int, default=500)
    options.add_argument("--spiders", default=SPIDERS)
    options.add_argument("--polite", action="store_true")
    options.add_argument("--webs", default="wikipedia,webkb")
    options.add_argument("--folder", type=Path, default=WEBS)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--into", type=Path, default=ROOT / "crawls" / "cases")
    given = options.parse_args()
    folder, into = given.folder.resolve(), given.into.resolve()  # the lab runs in another directory
    made = []
    for name in given.webs.split(","):
        web, topics, out = folder / f"{name}.sqlite", folder / "topics" / name, into / name
        if not web.exists():
            sys.exit(f"{web} does not exist; give the folder of the webs and their topics with --folder")
        extra: list[str] = ["--generic", ",".join(GENERIC[name])] if name in GENERIC else []
        if given.polite:
            out = into / f"polite-{name}"
            web, topics = spread(folder, name, out)
            extra = ["--pace", PACE]
        command = [sys.executable, "-m", "scrapy", "lab", "--web", str(web), "--topics", str(topics)]
        command += ["--spiders", given.spiders, "--seeds", "topic", "generic", "--pages", str(given.pages)]
        made.append(out / "results.csv")
        make(made[-1], [*command, "--jobs", str(given.jobs), "--out", str(out), *extra])
    print(table(read_scores(made)))


if __name__ == "__main__":
    main()
