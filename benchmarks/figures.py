"""Run the benchmarks and write their output into the documentation, between its markers.

python benchmarks/figures.py [NAME …]        all, or some: demo explain topic throughput order frontier long harvest
                                             judges fuzz learned apprentice apprentice_axes link_classifier rivals
                                             ranks dewey tgraph search stemmers suggest calls space lab_polite
                                             lab papers claims patience outlook languages identify main_text peers
                                             peers_early doors chaos workbench dashboard beside strategies growth
                                             cluster scale shards adaptive adaptive_webs adaptive_cases
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = (
    *("demo", "explain", "topic", "throughput", "order", "frontier", "long", "harvest", "judges", "fuzz", "workbench"),
    *(
        "learned",
        "apprentice",
        "apprentice_axes",
        "link_classifier",
        "rivals",
        "ranks",
        "dewey",
        "tgraph",
        "search",
        "stemmers",
        "suggest",
        "calls",
        "space",
    ),
    *("lab_polite", "lab", "papers", "claims", "patience", "outlook", "languages", "identify", "main_text"),
    *("peers", "peers_early", "chaos", "dashboard", "beside", "strategies", "growth", "cluster", "scale", "shards"),
    *("adaptive", "adaptive_webs", "adaptive_cases"),
)
#: Benchmarks that are not named NAME.py, or take options.
EARLY = (
    "crawlee:keywords,crawl4ai:best_first,"
    "focuscrawl:keyword,focuscrawl:best_first,focuscrawl:shark_search,focuscrawl:adaptive"
)
COMMANDS = {
    "lab": ("results.py", "lab"),
    "papers": ("results.py", "papers"),
    "claims": ("results.py", "claims"),
    "lab_polite": ("results.py", "lab", "--polite"),
    "growth": (
        *("long.py", "--spiders=best_first", "--pages=4000", "--hosts=5000", "--queued=5000000", "--seen=20000000"),
    ),
    "cluster": ("cluster.py", "--millions=0,1,10", "--pages=500"),
    "peers": ("peers/run.py",),
    "peers_early": ("peers/run.py", "--pages=38", f"--peers={EARLY}"),
}
#: Benchmarks that are also tests.
MODULES = {"chaos": "tests.chaos"}
#: Benchmarks that print Markdown, not text.
MARKDOWN = (
    *("lab_polite", "lab", "papers", "claims", "patience", "outlook", "apprentice_axes"),
    *("languages", "identify", "main_text", "workbench", "dashboard", "adaptive_webs", "adaptive_cases"),
)
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def output(name: str) -> str:
    """The output of a benchmark."""
    if name == "explain":
        with tempfile.TemporaryDirectory() as folder:
            options = [
                "-a",
                "topic=sorting",
                "-a",
                "max_pages=100",
                "-s",
                "FOCUS_WEB=demo",
                "-s",
                f"FOCUS_DIR={folder}/c",
            ]
            crawl = [sys.executable, "-m", "scrapy", "crawl", "best_first", *options, "-s", "CONCURRENT_REQUESTS=1"]
            subprocess.run([*crawl, "-L", "ERROR"], cwd=ROOT, check=True)
            url = "http://algorithm-club.example/notes/intro-sort"
            command = [sys.executable, "-m", "scrapy", "explain", f"{folder}/c", url]
            return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()
    if name == "topic":
        command = [sys.executable, "-m", "scrapy", "topic", "suggest", "sorting", "-s", "FOCUS_WEB=demo"]
        text = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        return text[: text.index("To write them")].rstrip()
    if name == "demo":
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "scrapy", "demo", "--dir", folder]
            text = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
        return text[text.index("Pages on the topic") : text.index("relevant:")].rstrip()
    script, *options = COMMANDS.get(name, (f"{name}.py",))
    command = [sys.executable, str(ROOT / "benchmarks" / script), *options]
    if name in MODULES:
        command = [sys.executable, "-m", MODULES[name]]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.rstrip()


def insert(name: str, printed: str) -> None:
    """Write what a benchmark printed into the documents that show it."""
    inside = f"\n{printed}\n" if name in MARKDOWN else f"```\n{printed}\n```"
    block = f"<!-- {name} -->\n{inside}\n<!-- end -->"
    for path in DOCUMENTS:
        text = path.read_text("utf-8")
        new = re.sub(rf"<!-- {name} -->\n.*?<!-- end -->", lambda _: block, text, flags=re.S)
        if new != text:
            path.write_text(new, "utf-8")


def main() -> None:
    not_complete = []
    for name in sys.argv[1:] or NAMES:
        if name not in NAMES:
            sys.exit(f"unknown benchmark '{name}'; choose from {', '.join(NAMES)}")
        print(f"{name} …", flush=True)
        try:
            printed = output(name)
            complete = "left out" not in printed
        except subprocess.CalledProcessError as error:  # the benchmark has printed why
            printed, complete = f"exit status {error.returncode}", False
        if not complete:
            print(f"{name} is incomplete, so the documentation is unchanged:\n{printed}")
            not_complete.append(name)
            continue
        insert(name, printed)
    if not_complete:
        sys.exit(f"incomplete, not updated in the documentation: {', '.join(not_complete)}")


if __name__ == "__main__":
    main()
