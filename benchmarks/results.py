"""Compare all strategies on the labelled webs (`lab`), and rerun the papers' experiments there (`papers`, `claims`).

    python benchmarks/results.py lab|papers|claims [--polite] [--pages N] [--webs wikipedia,webkb,demo] [--folder DIR]
                                            [--into DIR]

`papers` prints the experiments, `claims` a table of the papers' claims. With --polite, the webs are spread over sixty
hosts, and the crawls are polite, in virtual time. Prints Markdown; `lab --polite` also draws docs/images/curves.svg.
The --folder holds web files NAME.sqlite, topics/NAME/*.toml, and spread.py, which spreads a web. Crawls are kept in
--into, and a second run resumes where the first stopped.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import fmean

from focuscrawl.lab.charts import curves, styles

sys.path.insert(0, str(Path(__file__).parent))  # tests import this module from elsewhere
from labelled import ROOT, WEBS, spread

PICTURE = ROOT / "docs" / "images" / "curves.svg"
#: Spiders shown in the picture, if they crawled.
SHOWN = (
    "omniscient",
    "link_classifier",
    "treasure",
    "shark_search",
    "best_first",
    "keyword",
    "breadth_first",
    "random",
)
#: The strategies that the papers propose, and those they build on.
SPIDERS = "breadth_first,keyword,best_first,shark_search,apprentice,link_classifier,niche_genetic,treasure"
#: Pages of each crawl.
PAGES = {"lab": 500, "papers": 300, "claims": 300}
#: The webs.
DEMO = "demo"
WEB_NAMES = {"lab": "wikipedia,webkb", "papers": f"wikipedia,webkb,{DEMO}", "claims": f"wikipedia,webkb,{DEMO}"}
#: The output of `scrapy lab` that is printed here.
MADE = {"lab": "summary.csv", "papers": "papers.md", "claims": "claims.csv"}
WAYS = {"topic": "the topics' own seeds", "generic": "a generic start"}


#: Politeness of the crawls with --polite: seconds per host.
PACE = "1"


def table(folder: Path, name: str, pages: int) -> str:
    """The summary of a comparison."""
    parts = []
    with (folder / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for way, words in WAYS.items():
        found = [row for row in rows if row["seeds"] == way]
        topics = found[0]["topics"]
        polite = ("minutes", "relevant per hour") if found[0]["seconds"] else ()
        head = ("spider", "score", "95 %", "harvest", "target recall", *polite, "against best_first", "p")
        lines = [head, ("---", *["---:"] * (len(head) - 1))]
        lines += [
            (
                row["title"],
                f"{float(row['score']):.3f}",
                f"{float(row['score_low']):.2f} – {float(row['score_high']):.2f}" if row["score_low"] else "–",
                percent(row["harvest"]),
                percent(row["target_recall"]),
                *((f"{float(row['seconds']) / 60:.1f}", f"{float(row['relevant_per_hour']):,.0f}") if polite else ()),
                f"{float(row['against_baseline']):+.3f}" if row["against_baseline"] else "–",
                f"{float(row['p']):.2g}" if row["p"] else "–",
            )
            for row in found
        ]
        text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
        where = f"{name} on sixty hosts" if polite else name
        parts.append(f"**{where}**, {pages} pages from {words}, {topics} topics:\n\n{text}")
    return "\n\n".join(parts)


def draw(folder: Path) -> None:
    """The curves of some spiders from a generic start, means over the topics."""
    found: dict[str, dict[str, list[float]]] = {}
    with (folder / "curves.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["seeds"] == "generic" and row["spider"] in SHOWN and row["repeat"] == "1":
                found.setdefault(row["spider"], {}).setdefault(row["topic"], []).append(float(row["relevant"]))
    pages = max(len(curve) for topics in found.values() for curve in topics.values())
    means = {}
    for name in SHOWN:
        padded = [curve + curve[-1:] * (pages - len(curve)) for curve in found.get(name, {}).values()]
        if padded:
            means[name] = [fmean(points) for points in zip(*padded, strict=True)]
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(curves(means, styles(list(means)), alone=True) + "\n", "utf-8")


def claims(folders: list[Path]) -> str:
    """What became of each claim of each paper: a row per claim, a column per web."""
    found: dict[tuple[str, str], dict[str, str]] = {}
    webs: list[str] = []
    for folder in folders:
        with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["web"] not in webs:
                    webs.append(row["web"])
                cell = f"**{row['verdict'].lower()}**: {row['why']}"
                found.setdefault((row["paper"], row["claim"]), {})[row["web"]] = cell
    lines = [("paper", "claim", *webs), ("---",) * (len(webs) + 2)]
    lines += [
        (number, claim, *(cells.get(web, "–") for web in webs)) for (number, claim), cells in sorted(found.items())
    ]
    text = "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
    return (
        "In each cell: how many of the comparisons behind a claim hold, at different steps and from different starts,"
        f" and the figures, as multiples of those of the other crawler where there is one.\n\n{text}"
    )


def make(file: Path, command: list[str]) -> None:
    """Run a command that writes a file, after deleting the file of an earlier run."""
    file.unlink(missing_ok=True)
    status = subprocess.run(command, cwd=ROOT, check=False, stdout=sys.stderr).returncode
    # 1: some crawls failed, and the command has said which
    if status not in (0, 1) or not file.exists():
        sys.exit(f"{shlex.join(command)}: exit status {status}{'' if file.exists() else f', and no {file.name}'}")


def percent(text: str) -> str:
    return f"{float(text):.1%}".replace("%", " %") if text else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=list(PAGES))
    parser.add_argument("--polite", action="store_true")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--webs", help="separated by commas; demo is the embedded web")
    parser.add_argument("--folder", type=Path, default=WEBS)
    parser.add_argument("--into", type=Path, default=ROOT / "crawls" / "results")
    options = parser.parse_args()
    pages = options.pages or PAGES[options.what]
    webs, into = options.folder.resolve(), options.into.resolve()  # the lab runs in another directory
    parts, folders = [], []
    for number, name in enumerate((options.webs or WEB_NAMES[options.what]).split(",")):
        web, topics, folder = webs / f"{name}.sqlite", webs / "topics" / name, into / name
        if name == DEMO:
            web, topics = Path(DEMO), Path("shipped")
        elif not web.exists():
            sys.exit(f"{web} does not exist; give the folder of the webs and their topics with --folder")
        if options.polite:
            folder = into / f"polite-{name}"
            if name != DEMO:  # it has many hosts
                web, topics = spread(webs, name, folder)
        command = [sys.executable, "-m", "scrapy", "lab"]
        if options.what != "lab":  # the first experiment always uses the embedded web
            command += ["papers", *([] if number == 0 else ["2", "3", "4", "5"])]
        else:
            command += ["--spiders", SPIDERS, "--seeds", "topic", "generic"]
        command += ["--web", str(web), "--topics", str(topics), "--out", str(folder)]
        command += ["--pace", PACE] if options.polite else []
        made = folder / MADE[options.what]
        make(made, [*command, "--pages", str(pages)])
        if options.what == "papers":
            text = made.read_text("utf-8").strip().replace("### ", "#### ")
            parts.append(f"### On {name}, {pages} pages per crawl\n\n{text}")
        elif options.what == "claims":
            folders.append(folder)
        else:
            parts.append(table(folder, name, pages))
            if number == 0 and options.polite:
                draw(folder)
    print(claims(folders) if folders else "\n\n".join(parts))


if __name__ == "__main__":
    main()
