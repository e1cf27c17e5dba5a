"""Bytes of crawl.sqlite: per page, per link and per queued URL, and relative to the bytes fetched.

    python benchmarks/space.py [--web FILE] [--topic FILE] [--pages 250] [--spider best_first]

Without a web, the embedded one is crawled for one of its topics.
"""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from focuscrawl.store.store import Store
from focuscrawl.testing import crawl
from focuscrawl.web.webs import MemoryWeb

#: The tables of each row of the output.
TABLES = {
    "page": ("page", "rights", "metadata"),
    "link": ("link", "reason"),
    "queued URL": ("frontier",),
    "URL": ("url",),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", default="demo")
    parser.add_argument("--topic", default="sorting")
    parser.add_argument("--pages", type=int, default=250)
    parser.add_argument("--spider", default="best_first")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = {"FOCUS_WEB": options.web, "LOG_LEVEL": "WARNING"}
        crawl(options.spider, MemoryWeb(), Path(folder), settings, topic=options.topic, max_pages=options.pages)
        path = Path(folder) / "crawl.sqlite"
        with closing(Store(path, create=False)) as store:
            fetched = sum(len(store.pages.content(page.number).body) for page in store.pages.each())
        with closing(sqlite3.connect(path)) as connection:
            sizes = dict(connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
            whole = path.stat().st_size
            print(f"{options.spider}: {whole:,} bytes for {fetched:,} bytes fetched: {whole / fetched:.0%}")
            for name, tables in TABLES.items():
                (rows,) = connection.execute(f"SELECT count(*) FROM {tables[0]}").fetchone()
                size = sum(sizes.get(table, 0) for table in tables)
                share = f"{size / fetched:.1%} of the bytes fetched"
                print(f"{rows:8,} × {size / max(1, rows):8,.0f} bytes per {name}, {share}")


if __name__ == "__main__":
    main()
