"""Where the time of a crawl goes: a flame graph, and a table of shares.

    python benchmarks/flame.py [--spider best_first] [--pages 400] [--out build/profile.svg]

The spider crawls synthetic pages of 20 KB with 60 links without a network, while the stack is looked at every two
milliseconds of CPU time. A bar is as wide as the share of samples with that function on the stack; callers are below.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from html import escape
from pathlib import Path
from types import FrameType

from focuscrawl.testing import crawl
from focuscrawl.web.synthetic import SyntheticWeb
from focuscrawl.web.webs import MemoryWeb

EVERY = 0.002
WIDTH, ROW, LEAST = 1400, 17, 0.002

Stack = tuple[str, ...]


def name_of(frame: FrameType) -> str:
    """A function as the graph shows it: module and name."""
    return f"{frame.f_globals.get('__name__', '?')}.{frame.f_code.co_qualname}"


def sample(spider: str, pages: int) -> Counter[Stack]:
    """Crawl, and count the stacks that were seen."""
    made = SyntheticWeb(2 * pages, hosts=20, links=60, bytes=20_000)
    web = MemoryWeb()
    for number in range(2 * pages):
        web.add(made.url(number), made.get(made.url(number)).body.decode())
    stacks: Counter[Stack] = Counter()

    def look(_: int, frame: FrameType | None) -> None:
        stack: list[str] = []
        while frame is not None:
            stack.append(name_of(frame))
            frame = frame.f_back
        stacks[tuple(reversed(stack))] += 1

    keywords = ",".join(SyntheticWeb(1).topical[0][:12])
    with tempfile.TemporaryDirectory() as folder:
        signal.signal(signal.SIGPROF, look)
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
        try:
            options = {"seeds": made.url(0), "keywords": keywords, "max_pages": pages}
            crawl(spider, web, Path(folder), {"LOG_LEVEL": "ERROR"}, **options)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return stacks


def draw(stacks: Counter[Stack]) -> str:
    """The flame graph as SVG."""
    total = stacks.total()
    rows: list[str] = []
    deepest = 0

    def place(some: list[tuple[Stack, int]], depth: int, left: float) -> None:
        nonlocal deepest
        deepest = max(deepest, depth)
        groups: dict[str, list[tuple[Stack, int]]] = {}
        for stack, number in some:
            if len(stack) > depth:
                groups.setdefault(stack[depth], []).append((stack, number))
        for name, inside in sorted(groups.items()):
            share = sum(number for _, number in inside) / total
            if share >= LEAST:
                colour = "#e8a33d" if name.startswith("focuscrawl") else "#9bb0c4"
                label = escape(name.rpartition("focuscrawl.")[2])
                text = label[: int(share * WIDTH / 6.6)] if share * WIDTH > 30 else ""
                rows.append(
                    f'<g><title>{escape(name)}: {share:.1%}</title><rect x="{left * WIDTH:.1f}" y="{depth * ROW}"'
                    f' width="{share * WIDTH:.1f}" height="{ROW - 1}" fill="{colour}"/>'
                    f'<text x="{left * WIDTH + 3:.1f}" y="{depth * ROW + 12}">{text}</text></g>'
                )
                place(inside, depth + 1, left)
            left += share

    sys.setrecursionlimit(10_000)
    place(list(stacks.items()), 0, 0.0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {(deepest + 1) * ROW}"'
        f' font-family="monospace" font-size="11">{"".join(rows)}</svg>'
    )


def shares(stacks: Counter[Stack], count: int = 30) -> list[str]:
    """The functions in which the time is spent, themselves and with what they call."""
    total = stacks.total()
    own: Counter[str] = Counter()
    within: Counter[str] = Counter()
    for stack, number in stacks.items():
        own[stack[-1]] += number
        for name in set(stack):
            within[name] += number
    ours = [(name, number) for name, number in within.most_common() if name.startswith("focuscrawl")][:count]
    return [f"{number / total:6.1%} {own[name] / total:6.1%}  {name}" for name, number in ours]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spider", default="best_first")
    parser.add_argument("--pages", type=int, default=400)
    parser.add_argument("--out", type=Path, default=Path("build/profile.svg"))
    options = parser.parse_args()
    stacks = sample(options.spider, options.pages)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(draw(stacks), "utf-8")
    print(f"{options.spider}, {options.pages} pages, {stacks.total():,} samples; the flame graph is {options.out}")
    print("  with    own  function")
    print("\n".join(shares(stacks)))


if __name__ == "__main__":
    main()
