"""Exports at scale: the rate and the memory of an export of a million pages to Parquet.

    python benchmarks/export.py [--pages 1000000] [--text fast] [--to parquet] [--where CONDITIONS] [--file DIR]

Pages of some 120 words are written into a crawl's file. The export runs in a process of its own. Memory is the largest
resident set of that process, and of the largest of those that read texts for it; CPU time is that of all of them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.export.crawls import write_large

#: Runs the command, then prints the largest resident sets, its own and the largest of its processes, and CPU time.
_PROGRAM = """
import resource, sys
from scrapy.cmdline import execute
if __name__ == "__main__":
    try:
        execute(sys.argv)
    except SystemExit as ended:
        status = ended.code
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(one.ru_utime + one.ru_stime for one in used)
    print(*(one.ru_maxrss for one in used), cpu, file=sys.stderr)
    sys.exit(status)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--text", default="fast")
    parser.add_argument("--to", default="parquet")
    parser.add_argument("--where", default="depth>=0", help="only some of the pages")
    parser.add_argument("--file", type=Path, help="a crawl that an earlier run has made, or where to keep this one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = options.file or Path(name) / "crawl"
        if not (folder / "crawl.sqlite").exists():
            folder.mkdir(parents=True, exist_ok=True)
            write_large(folder, options.pages)
        program, out = Path(name) / "measured.py", Path(name) / "out"
        program.write_text(_PROGRAM)
        words = ["export", str(folder), "--to", options.to, "--text", options.text, "--where", options.where, str(out)]
        root = Path(__file__).resolve().parent.parent
        began = perf_counter()
        done = subprocess.run(
            [sys.executable, program, *words],
            cwd=root,
            env=os.environ | {"PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = perf_counter() - began
        if done.returncode:
            sys.exit(done.stderr)
        own, others, cpu = map(float, done.stderr.split()[-3:])
        size = sum(path.stat().st_size for path in [out, *out.rglob("*")] if path.is_file())
    pages = int(done.stdout.split()[0].replace(",", ""))
    print(
        f"{pages:,} pages to {options.to} with --text {options.text}: {seconds:.0f} s, {pages / seconds:,.0f} a second"
    )
    print(f"CPU: {cpu:.0f} s, {1e3 * cpu / pages:.2f} ms a page; output: {size / 2**20:.0f} MB")
    print(f"memory: {own / 1024:.0f} MB; processes that read texts: {others / 1024:.0f} MB each")


if __name__ == "__main__":
    main()
