"""How fast the dashboard is on a large crawl: first views, later views, searches, memory.

    python benchmarks/dashboard.py [PAGES]

Builds a synthetic crawl (a million pages by default: some 3 GB in a temporary directory, removed afterwards), starts
the dashboard in a process of its own, asks for each view once and then again, and searches.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

from focuscrawl import urls
from focuscrawl.store.store import Store

HOSTS, LINKS, WAITING = 3_000, 3, 1
VIEWS = (
    "",
    "pages",
    "pages?order=best",
    "pages?state=matched&language=de&order=best",
    "pages?host=host7.example",
    "pages?q=basalt",
    "page/{middle}",
    "review",
    "review?of=random",
    "search",
    "frontier",
    "map",
    "topic",
)
ALPHABET = ("ba", "ke", "lo", "mi", "nu", "pra", "sti", "tor", "vel", "zan", "qui", "dor", "fe", "gha")


def build(folder: Path, pages: int) -> None:
    """A crawl of small pages on 3,000 hosts, with links, a queue and a search index."""
    chance = random.Random(1)
    vocabulary = ["".join(chance.choices(ALPHABET, k=3)) for _ in range(20_000)]
    weights = [1 / (rank + 5) for rank in range(len(vocabulary))]
    store = Store(folder / "crawl.sqlite")
    store.execute("PRAGMA synchronous = OFF")
    hosts = [f"host{number}.example" for number in range(HOSTS)]
    often = [1 / (number + 1) ** 0.8 for number in range(HOSTS)]
    with store.transaction():
        for key, value in {
            "spider": "best_first", "topic": "A large crawl", "keywords": {"basalt": 2.0, "lava": 1.0},
            "any_scheme": True, "runs": [{"began": "2026-11-01T00:00:00.000+00:00", "options": {"threshold": 0.3}}],
        }.items():  # fmt: skip
            store.set_meta(key, value)
        for number, name in enumerate(hosts, 1):
            store.hosts.add(number, name)
        store.search.make()
    link = 0
    began = time.time() - pages
    for start in range(0, pages, 20_000):
        rows, links, known, waiting, texts, indexed = [], [], [], [], [], []
        picks = chance.choices(range(HOSTS), often, k=20_000)
        words = chance.choices(vocabulary, weights, k=20_000 * 60)
        for place in range(min(20_000, pages - start)):
            number, host = start + place + 1, picks[place]
            url = f"http://{hosts[host]}/pages/{number}"
            mine = words[place * 60 : place * 60 + 60]
            relevance = round(chance.random() ** 2, 6)
            relevant = relevance >= 0.3
            title = " ".join(mine[:5]) + (" basalt" if relevant and place % 50 == 0 else "")
            body = f"<title>{title}</title><h1>{mine[5]}</h1><p>{' '.join(mine)}</p>"
            when = time.strftime("%Y-%m-%dT%H:%M:%S.000+00:00", time.gmtime(began + number))
            parent = f"http://{hosts[picks[place - 1]]}/pages/{max(1, number - 1)}"
            why = json.dumps({"basalt": relevance / 2, "lava": relevance / 2})
            language = "de" if place % 7 == 0 else "en"
            rows.append((number, number, url, 200 if place % 40 else 404, 3, parent, link or None, relevance, relevance,
                         relevant, relevant, title, "[]", when, why, "", language, "text/html", 0,
                         chance.randbytes(256), zlib.compress(body.encode(), 1)))  # fmt: skip
            known.append((number, urls.key(url), url, host + 1, 1))
            for at in range(LINKS):
                link += 1
                links.append((link, number, chance.randrange(1, pages + 1), at, mine[at], "", "", 0, relevance, why))
            waits = pages + number
            known.append((waits, urls.key(f"{url}/w"), f"{url}/w", host + 1, 0))
            waiting.append((waits, f"{url}/w", host + 1, relevance, relevance, 4, link, place % 5 > 0, None))
            texts.append((number, title, mine[5], " ".join(mine)))
            indexed.append((number, number, hosts[host], when, relevant, relevant, None))
        with store.transaction():
            store.executemany(
                "INSERT INTO page (id, url_id, url, status, depth, parent, via, score, relevance, relevant, matched,"
                " title, topics, fetched_at, why, robots, language, content_type, listing, signature, body)"
                f" VALUES ({', '.join('?' * 21)})",
                rows,
            )
            store.executemany("INSERT INTO url VALUES (?, ?, ?, ?, ?)", known)
            store.executemany(
                "INSERT INTO link (id, page, url_id, position, anchor, before, after, nofollow, score, why)"
                f" VALUES ({', '.join('?' * 10)})",
                links,
            )
            store.queue.add(waiting)
            store.executemany("INSERT INTO search (rowid, title, headings, text) VALUES (?, ?, ?, ?)", texts)
            store.executemany("INSERT INTO indexed VALUES (?, ?, ?, ?, ?, ?, ?)", indexed)
        print(f"\r{start + len(rows):,} pages", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    store.close()


def ask(address: str) -> tuple[float, bytes]:
    """Milliseconds that an answer takes, and the answer."""
    began = time.perf_counter()
    with urlopen(address, timeout=60) as response:
        content = response.read()
    return 1000 * (time.perf_counter() - began), content


def memory(process: int) -> float:
    """The largest memory that a process has used, in MB."""
    found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) * 1024 / 1e6 if found else 0.0


def measure(folder: Path, pages: int) -> None:
    """Start the dashboard for each first view, then ask for all of them in one."""
    first: dict[str, float] = {}
    for view in VIEWS:
        with Serving(folder) as (address, _):
            first[view], _ = ask(f"{address}c/{quote(folder.name)}/{view.format(middle=pages // 2)}")
    with Serving(folder) as (address, process):
        base = f"{address}c/{quote(folder.name)}/"
        began = time.perf_counter()
        while b"Reading the crawl" in ask(base)[1]:
            time.sleep(0.2)
        filled = time.perf_counter() - began
        print(
            f"{pages:,} pages, {(folder / 'crawl.sqlite').stat().st_size / 1e9:.2f} GB; all read after {filled:.0f} s\n"
        )
        print("| view | first, ms | later, ms |\n|---|---|---|")
        for view in VIEWS:
            path = view.format(middle=pages // 2)
            times = [ask(base + path)[0] for _ in range(5)]
            print(f"| {view or 'now'} | {first[view]:.0f} | {statistics.median(times):.0f} |")
        chance = random.Random(2)
        chance_words = ["".join(chance.choices(ALPHABET, k=3)) for _ in range(60)]
        queries = [f"{one} {other}" for one, other in zip(chance_words[::2], chance_words[1::2], strict=True)]
        queries += [*chance_words[:20], "basalt"]
        times = sorted(ask(f"{base}search?q={quote(query)}")[0] for query in queries)
        print(f"\nsearch: median {statistics.median(times):.0f} ms, slowest {times[-1]:.0f} ms of {len(times)}")
        print(f"memory at most {memory(process):.0f} MB")


class Serving:
    """The dashboard in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> tuple[str, int]:
        command = [sys.executable, "-m", "scrapy", "dashboard", str(self.folder), "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.process.stdout.readline()
        address = self.process.stdout.readline().strip()
        while True:
            try:
                ask(f"{address}static/app.js")
                return address, self.process.pid
            except OSError:
                time.sleep(0.05)

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    folder = Path(tempfile.mkdtemp(prefix="dashboard-"))
    try:
        build(folder, pages)
        measure(folder, pages)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
