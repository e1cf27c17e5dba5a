"""What patience costs and brings: relevant pages, and relevant pages per hour, in polite crawls.

    python benchmarks/patience.py [--folder DIR] [--pages N] [--jobs J]

Polite crawls in virtual time (one second per host, 16 requests at a time) with different values of FOCUS_PATIENCE, on
the embedded web with its twelve topics, and on the labelled webs in --folder, spread over sixty hosts by spread.py
there. The first row has crawls without delays, one request at a time. Then the same with limits of pages and hours.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import fmean

from labelled import ROOT, WEBS, spread

SPIDERS = ("best_first", "shark_search")
VALUES = (0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.7, 0.9, 1)
#: On the other webs, to save time.
FEWER = (0, 0.35, 0.9)
#: Hours, in seconds, of crawls with both limits.
BOTH = (20, 30, 45, 60, 90, 120)
EARLY = 100


def crawl(web: str, topics: str, pages: int, out: Path, *options: str) -> list[dict[str, str]]:
    """The rows of `scrapy lab`, one per crawl, with the relevant pages among the first ones."""
    command = [sys.executable, "-m", "scrapy", "lab", "--web", web, "--topics", topics, "--pages", str(pages)]
    command += ["--spiders", ",".join(SPIDERS), "--out", str(out), *options]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["spider"] in SPIDERS]
    with (out / "curves.csv").open(encoding="utf-8", newline="") as file:
        early = {
            (row["topic"], row["spider"]): row["relevant"] for row in csv.DictReader(file) if row["page"] == str(EARLY)
        }
    return [row | {"early": early.get((row["topic"], row["spider"]), row["relevant"])} for row in rows]


def mean(rows: list[dict[str, str]], name: str) -> float:
    return fmean(float(row[name]) for row in rows)


def line(name: str, rows: list[dict[str, str]]) -> str:
    """A row of a table."""
    cells = [name, f"{mean(rows, 'relevant'):.1f}", f"{mean(rows, 'early'):.1f}"]
    if rows[0]["seconds"]:
        hours = mean(rows, "seconds") / 3600
        cells += [f"{3600 * hours:.0f}", f"{mean(rows, 'relevant') / hours:,.0f}"]
    else:
        cells += ["", ""]
    return "| " + " | ".join(cells) + " |"


def table(web: str, topics: str, title: str, pages: int, values: tuple[float, ...], folder: Path, jobs: str) -> str:
    lines = [
        f"**{title}**, {pages} pages:\n",
        f"| `FOCUS_PATIENCE` | relevant | in the first {EARLY} | seconds | relevant per hour |",
        "|---|---:|---:|---:|---:|",
        line("no delays, one at a time", crawl(web, topics, pages, folder / "free", "--jobs", jobs)),
    ]
    for value in values:
        options = "--pace", "1", "--jobs", jobs, "-s", f"FOCUS_PATIENCE={value}"
        lines.append(line(f"{value:g}", crawl(web, topics, pages, folder / f"{value:g}", *options)))
    return "\n".join(lines)


def budgets(pages: int, folder: Path, jobs: str) -> str:
    """Crawls of the embedded web that are limited by time."""
    pace = "--pace", "1", "--jobs", jobs, "-a"
    lines = [
        f"**The embedded web with both limits**, `max_pages={pages}`:\n",
        "| `max_hours`, in seconds | pages | seconds | relevant | relevant per hour |",
        "|---:|---:|---:|---:|---:|",
    ]
    for seconds in BOTH:
        rows = crawl("demo", "shipped", pages, folder / f"{seconds}", *pace, f"max_hours={seconds / 3600}")
        hours = mean(rows, "seconds") / 3600
        lines.append(
            f"| {seconds} | {mean(rows, 'pages'):.1f} | {3600 * hours:.1f} | {mean(rows, 'relevant'):.1f}"
            f" | {mean(rows, 'relevant') / hours:,.0f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=WEBS)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--jobs", default="2")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        parts = [table("demo", "shipped", "The embedded web", options.pages, VALUES, folder / "demo", options.jobs)]
        parts.append(budgets(options.pages, folder, options.jobs))
        webs = options.folder.resolve()
        for name, title in (("wikipedia", "An encyclopedia"), ("webkb", "Department sites")):
            if not ((webs / f"{name}.sqlite").exists() and (webs / "spread.py").exists()):
                parts.append(f"{title}: left out, there is no {name}.sqlite or spread.py in {options.folder}.")
                continue
            web, topics = spread(webs, name, folder / name)
            where = f"{title}, spread over sixty hosts"
            parts.append(table(str(web), str(topics), where, options.pages, FEWER, folder / name, options.jobs))
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
