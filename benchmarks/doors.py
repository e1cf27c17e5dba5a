"""Random input for every parser of the crawler: how many examples were tried, and how many failed.

python benchmarks/doors.py [--minutes 10]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from time import monotonic

ROOT = Path(__file__).resolve().parent.parent
_TEST = re.compile(r"^tests/doors/test_(\w+)\.py::(\w+):$")
_EXAMPLES = re.compile(r"- (\d+) passing(?: examples?)?, (\d+) failing")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    minutes = parser.parse_args().minutes
    command = [sys.executable, "-m", "pytest", "tests/doors", "-q", "-n", "0", "--hypothesis-show-statistics"]
    tried: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    began = monotonic()
    while monotonic() < began + 60 * minutes:
        environment = {**os.environ, "HYPOTHESIS_PROFILE": "nightly"}
        printed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True).stdout
        door = ""
        for line in printed.splitlines():
            if found := _TEST.match(line.strip()):
                door = found[1].replace("_", " ")
            elif found := _EXAMPLES.search(line):
                tried[door] += int(found[1]) + int(found[2])
                failed[door] += int(found[2])
    print(f"{'door':<14}{'examples':>10}{'harmful':>9}")
    for door in sorted(tried):
        print(f"{door:<14}{tried[door]:>10,}{failed[door]:>9,}")
    print(f"{'total':<14}{tried.total():>10,}{failed.total():>9,}   in {(monotonic() - began) / 60:.0f} minutes")


if __name__ == "__main__":
    main()
