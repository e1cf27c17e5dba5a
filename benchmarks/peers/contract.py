"""What every crawler here is told, and all it is told: the same seeds, words and number of pages."""

from __future__ import annotations

import argparse


def told() -> argparse.Namespace:
    """The command line of a `with_TOOL.py`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--variant", default="", help="one of the tool's ways to crawl")
    parser.add_argument("--seed", dest="seeds", action="append", required=True)
    parser.add_argument("--start", required=True, help="a page that links to the seeds, for tools that begin at one")
    parser.add_argument("--keyword", dest="keywords", action="append", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--proxy", required=True, help="the HTTP proxy behind which the web is")
    parser.add_argument("--robots", action="store_true", help="switch on what the tool has for robots.txt")
    return parser.parse_args()
