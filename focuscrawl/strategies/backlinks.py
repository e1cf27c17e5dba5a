"""Back-links: the pages that link to a page, from a file or from a search engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.seeding.searxng import SearXNG

logger = logging.getLogger(__name__)

#: Most pages that are taken of those linking to a page.
MOST = 10

#: The URLs of pages that link to a URL.
Backlinks = Callable[[str], list[str]]


def backlinks(source: str) -> Backlinks:
    """Where to look up back-links: a file with lines `URL PARENT`, or the address of a SearXNG instance.

    The instance is asked for `link:URL`; a query in its address takes precedence, with `{url}` in place of the URL.
    """
    if source.startswith(("http://", "https://")):
        engine = SearXNG(source)
        query = engine.query or "link:{url}"
        return lambda url: [
            parent for parent in engine.search(query.replace("{url}", url), MOST, logger.warning) if parent != url
        ]
    listed = _read(Path(source))
    return lambda url: listed.get(urls.key(url), [])[:MOST]


def _read(path: Path) -> dict[int, list[str]]:
    """The parents of each URL in a file, by its key."""
    parents: dict[int, list[str]] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for place, line in enumerate(lines, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                parts = line.split()
                try:
                    url, parent = (urls.check(part) for part in parts)
                except ValueError:
                    raise FocusError(
                        f"back-links {path}, line {place}: expected two URLs, that of a page and that of a page which"
                        " links to it"
                    ) from None
                parents.setdefault(urls.key(url), []).append(parent)
    except OSError as error:
        raise FocusError(f"back-links {path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise FocusError(f"back-links {path} cannot be read: it is not UTF-8 text") from None
    if not parents:
        raise FocusError(f"back-links {path}: the file is empty; write a line `URL PARENT` for each link to a target")
    return parents
