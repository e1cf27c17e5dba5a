"""Sitemaps: a host's own list of its pages, read as a page of links.

The words of a URL stand for the anchor text, so a strategy scores these links as it does those of an index page.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

from lxml import etree
from scrapy.utils.sitemap import Sitemap

from focuscrawl import urls
from focuscrawl.html import MAX_LINKS
from focuscrawl.page import Block, Link, Page

#: Most sitemaps asked for on behalf of one host.
MAX_FILES = 20

_SITEMAP = re.compile(rb"<(?:urlset|sitemapindex)\b")


def is_sitemap(body: bytes) -> bool:
    """Whether these bytes, as they were stored, are a sitemap."""
    return _SITEMAP.search(body, 0, 1000) is not None


def read_sitemap(page: Page, body: bytes, max_bytes: int) -> list[str]:
    """Fill *page* with the links of a sitemap; for an index, return the sitemaps it lists instead.

    The latest come first where there are more than may be read.
    """
    page.listing = True
    page.body = body
    page.title = f"Sitemap of {urls.host(page.url)}"
    entries: list[dict[str, Any]] = []
    try:
        sitemap = Sitemap(_inflate(body, max_bytes))
        entries = list(sitemap)
    except (etree.LxmlError, StopIteration, ValueError, zlib.error) as error:
        page.problem = f"unreadable sitemap: {error or type(error).__name__}"
        return []
    if sitemap.type not in ("urlset", "sitemapindex"):
        page.problem = f"no sitemap, but <{sitemap.type}>"
        return []
    entries.sort(key=lambda entry: str(entry.get("lastmod", "")), reverse=True)
    found = {url: entry for entry in entries if (url := urls.join(page.url, entry["loc"])) is not None}
    if sitemap.type == "sitemapindex":
        return list(found)
    lines = []
    for url, entry in found.items():
        if urls.is_binary(url):
            continue
        if len(page.links) >= MAX_LINKS:
            page.links_left_out += 1
            continue
        changed = str(entry.get("lastmod", ""))[:40]
        anchor = " ".join(urls.words(url))
        link = Link(url, anchor, page.title, f"last changed {changed}" if changed else "", len(page.links))
        page.links.append(link)
        lines.append(anchor)
    page.raw_text = "\n".join(lines)
    page.blocks.append(Block("p", 0, len(page.raw_text)))
    return []


def _inflate(body: bytes, max_bytes: int) -> bytes:
    """The bytes of a sitemap that may be compressed."""
    if not body.startswith(b"\x1f\x8b"):
        return body
    inflater = zlib.decompressobj(wbits=31)
    data = inflater.decompress(body, max_bytes)
    if inflater.unconsumed_tail:
        raise ValueError(f"more than {max_bytes:,} bytes when unpacked")
    return data
