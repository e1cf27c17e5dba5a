"""The input of every crawler here: the same seeds, keywords and number of pages, and nothing else."""

from __future__ import annotations

import argparse


def parse_options() -> argparse.Namespace:
    """The command line of a `with_TOOL.py`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--variant", default="", help="one of the tool's crawl modes")
    parser.add_argument("--seed", dest="seeds", action="append", required=True)
    parser.add_argument(
        "--start", required=True, help="a page that links to the seeds, for tools that start from one page"
    )
    parser.add_argument("--keyword", dest="keywords", action="append", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--proxy", required=True, help="the HTTP proxy that serves the web")
    parser.add_argument("--robots", action="store_true", help="enable the tool's robots.txt support")
    return parser.parse_args()
