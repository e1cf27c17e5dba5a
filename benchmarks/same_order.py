"""Do two checkouts fetch the same pages in the same order? Every spider, one request at a time.

    python benchmarks/same_order.py OTHER_CHECKOUT [--pages 300] [--web FILE --topic FILE] [--spider NAME ...]

OTHER_CHECKOUT is a directory with its own `.venv` (`make .venv/ready` makes it). Without --web the embedded web is
crawled. Prints one line for each spider: how many pages agree before the first difference. Exits 1 if any differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
#: Options that let a spider learn by itself instead of requiring an earlier crawl.
OPTIONS = {"context_graph": {"crawl": "auto", "crawl_pages": "150"}, "apprentice": {"lessons": "auto"}}
SETTINGS = {
    "CONCURRENT_REQUESTS": 1,
    "DOWNLOAD_DELAY": 0,
    "FOCUS_CRAWL_DELAY_MAX": 0,
    "FOCUS_BACKOFF_MAX": 0,
    "RETRY_ENABLED": False,
    "FOCUS_PROGRESS": False,
    "LOG_LEVEL": "ERROR",
}


def crawl(checkout: Path, spider: str, web: str, topic: str, pages: int) -> list[str]:
    """The URLs that a spider of a checkout fetches, in order."""
    with tempfile.TemporaryDirectory() as folder:
        settings = SETTINGS | {"FOCUS_WEB": web, "FOCUS_DIR": f"{folder}/crawl"}
        arguments = {"topic": topic, "max_pages": pages, **OPTIONS.get(spider, {})}
        command = [str(checkout / ".venv" / "bin" / "python"), "-m", "scrapy", "crawl", spider]
        command += [word for name, value in arguments.items() for word in ("-a", f"{name}={value}")]
        command += [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        environment = os.environ | {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment.pop("SCRAPY_SETTINGS_MODULE", None)
        done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{checkout}: {spider}: {done.stderr}")
        lines = (Path(folder) / "crawl" / "pages.jsonl").read_text("utf-8").splitlines()
        return [json.loads(line)["url"] for line in lines]


def spiders(checkout: Path) -> list[str]:
    """The names of a checkout's spiders."""
    command = [str(checkout / ".venv" / "bin" / "python"), "-m", "scrapy", "list"]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--web", default="demo")
    parser.add_argument("--topic", default="sorting")
    parser.add_argument("--spider", action="append")
    options = parser.parse_args()
    web, topic = (str(Path(name).resolve()) if Path(name).is_file() else name for name in (options.web, options.topic))
    differ = False
    with ThreadPoolExecutor(2) as pool:
        for spider in options.spider or spiders(HERE):
            one = partial(crawl, spider=spider, web=web, topic=topic, pages=options.pages)
            before, after = pool.map(one, (options.other.resolve(), HERE))
            same = next(
                (place for place, pair in enumerate(zip(before, after, strict=False)) if len(set(pair)) > 1), None
            )
            if before == after:
                print(f"{spider:24} {len(after):4} pages, same order")
                continue
            differ = True
            place = min(len(before), len(after)) if same is None else same
            print(f"{spider:24} {len(before):4} and {len(after)} pages, the first {place} agree")
    sys.exit(differ)


if __name__ == "__main__":
    main()
