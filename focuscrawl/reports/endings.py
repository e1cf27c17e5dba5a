"""How a run of a crawl ended, in words."""

from __future__ import annotations

#: Scrapy's reasons and ours. Others are shown as they are.
_WORDS = {
    "finished": "nothing was left to fetch",
    "max_pages": "max_pages was reached",
    "max_hours": "max_hours was reached",
    "imported": "it was imported, not crawled",
    "shutdown": "it was stopped by Ctrl-C or a signal",
    "store_failed": "its file could not be written",
    "closespider_timeout": "CLOSESPIDER_TIMEOUT was reached",
    "closespider_pagecount": "CLOSESPIDER_PAGECOUNT was reached",
}

#: Said when a run was stopped before its end.
RESUMES = "run the same command again to resume"


def ending(reason: str, detail: str = "") -> str:
    """Why a run ended."""
    if reason == "stop_below":
        return f"the next pages were expected to hold too few relevant ones (stop_below={detail})"
    words = _WORDS.get(reason, reason.replace("_", " "))
    return f"{words}: {detail}" if detail else words
