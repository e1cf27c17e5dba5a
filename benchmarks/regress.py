"""CPU per page of this checkout relative to another commit, by turns in one run.

    python benchmarks/regress.py BASE [--spiders best_first,adaptive] [--pages 800] [--rounds 4]

BASE is a commit, or the folder of another checkout. Both use the packages of this environment. The ratio is the median
over the rounds; above 1.05 the exit status is 1.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from throughput import ROOT, Runner, serving

LIMIT = 1.05


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", metavar="BASE")
    parser.add_argument("--spiders", default="best_first,adaptive")
    parser.add_argument("--pages", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(options.base)
        if not base.is_dir():
            base = Path(folder) / "base"
            subprocess.run(["git", "worktree", "add", "--quiet", "--detach", base, options.base], cwd=ROOT, check=True)
        try:
            worst = compare(base.resolve(), options.spiders.split(","), options.pages, options.rounds)
        finally:
            if base.is_relative_to(folder):
                subprocess.run(["git", "worktree", "remove", "--force", base], cwd=ROOT, check=True)
    return int(worst > LIMIT)


def compare(base: Path, spiders: list[str], pages: int, rounds: int) -> float:
    """Print the ratio for each spider; returns the largest."""
    ratios: dict[str, list[float]] = {spider: [] for spider in spiders}
    with serving(pages) as server:
        for _ in range(rounds):
            for spider in spiders:
                before = Runner("base", spider, base).cpu(pages, server.address)
                ratios[spider].append(Runner("here", spider).cpu(pages, server.address) / before)
    for spider, found in ratios.items():
        print(f"{spider:16} {median(found):6.1%} of the CPU per page ({min(found):.1%} to {max(found):.1%})")
    return max(median(found) for found in ratios.values())


if __name__ == "__main__":
    sys.exit(main())
