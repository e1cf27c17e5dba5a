"""Crawls for tests of exports: one whose pages are as hostile as any, and large ones."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path
from random import Random

from focuscrawl.store.store import Store
from focuscrawl.testing import Crawled, at, crawl
from focuscrawl.web.webs import Answer, MemoryWeb

FORMULA = "=cmd|' /C calc'!A0"
HOSTILE_TITLES = {
    "formula": FORMULA,
    "quote": "'quoted",
    "lines": "one &#10;two\u2028three\u0085four",
    "markup": "</script>&lt;b&gt; ]]&gt; &amp;amp; | `x` [y](z)",
    "bidi": "\u202egpj.exe",
    "wide": "日本語 🦀 \U0001f468\u200d\U0001f469",
}
TEXT = "Sorting algorithms put the items of a list in order, and there are many of them."
#: A body with NUL and bytes that are no UTF-8.
DIRTY = b"<title>dirty \x00 \xff\xfe</title><p>" + TEXT.encode() + b"\x00\xc3\x28 \xf0\x9f end</p>"


def hostile_web(*, large: bool = False) -> MemoryWeb:
    """A web of pages that are linked from http://root.example/."""
    web = MemoryWeb()
    names = [
        *HOSTILE_TITLES,
        "dirty",
        "query?a=1,2&b=%27x%27&c=%22",
        "copy",
        "licensed",
        "noindex",
        "usage",
        "moved",
        "missing",
    ]
    names += ["large"] if large else []
    links = "".join(f'<p><a href="http://other.example/{name}">{name} &amp; more</a></p>' for name in names)
    web.add(at("root"), f"<title>root</title><p>{TEXT}</p>{links}")
    for number, (name, title) in enumerate(HOSTILE_TITLES.items()):
        back = f'<a href="{at("root")}">back</a> <a href="{at("root")}">again</a> <a href="/dirty">dirty</a>'
        text = " ".join(f"word{number}x{place}" for place in range(60))
        web.add(at(f"other/{name}"), f"<title>{title}</title><p>{TEXT} {text}</p><p>{back}</p>")
    web.answers[at("other/dirty")] = Answer(200, "text/html; charset=utf-8", DIRTY)
    web.add(at("other/query?a=1,2&b=%27x%27&c=%22"), f"<title>query</title><p>{TEXT} comma, and semicolon;</p>")
    same = "".join(f"<p>The same paragraph {number}, word for word, on both.</p>" for number in range(40))
    web.add(at("root/same"), f"<title>same</title>{same}")
    web.add(at("other/copy"), f"<title>same</title>{same}")
    web.add(
        at("other/licensed"),
        f'<html lang="de"><title>frei</title><p>Das ist ein deutscher Text über Algorithmen, die Listen sortieren.</p>'
        f'<a rel="license" href="https://creativecommons.org/licenses/by/4.0/">CC BY</a><p><a href="{at("root/same")}">x</a>',
    )
    web.add(at("other/noindex"), f'<meta name="robots" content="noindex"><title>hidden</title><p>{TEXT}</p>')
    usage = f"<title>usage</title><p>{TEXT} Not to be learned from.</p>".encode()
    web.answers[at("other/usage")] = Answer(200, "text/html", usage, headers=(("Content-Usage", "train-ai=n"),))
    web.add(at("other/target"), f"<title>target</title><p>{TEXT} It has moved here.</p>")
    web.redirect(at("other/moved"), at("other/target"))
    if large:
        text = "<p>" + "A long paragraph about sorting. " * 1000 + "</p>\n"
        web.add(at("other/large"), f"<title>large</title>{text * 320}")
    return web


def hostile_crawl(folder: Path, **settings: object) -> Crawled:
    """Crawl that web."""
    return crawl("best_first", hostile_web(), folder, settings, seeds=at("root"), keywords="sorting,list")


HOSTS = 1_000
_ROW = (
    "INSERT INTO page (id, url_id, url, status, depth, parent, score, relevance, relevant, matched, title, topics,"
    " fetched_at, robots, language, content_type, listing, body) VALUES"
    " (?, ?, ?, 200, ?, ?, ?, ?, ?, ?, ?, '[]', ?, '', 'en', 'text/html; charset=utf-8', 0, ?)"
)


def write_large(folder: Path, pages: int) -> None:
    """Write the file of a crawl of many small pages, without crawling."""
    store = Store(folder / "crawl.sqlite")
    with store.transaction():
        for key, value in (("spider", "best_first"), ("topic", "synthetic"), ("keywords", {}), ("any_scheme", True)):
            store.set_meta(key, value)
        store.set_meta("runs", [])
    store.close()
    chance = Random(1)
    words = ["".join(chance.choices("aeioubcdfghlmnprst", k=chance.randint(3, 9))) for _ in range(5_000)]
    file = sqlite3.connect(folder / "crawl.sqlite")
    file.execute("PRAGMA synchronous = OFF")
    file.executemany("INSERT INTO host VALUES (?, ?, ?)", [(n + 1, f"host{n}.example", 0) for n in range(HOSTS)])
    for start in range(0, pages, 10_000):
        rows, urls = [], []
        for number in range(start + 1, min(start + 10_000, pages) + 1):
            url = f"http://host{number % HOSTS}.example/page/{number}"
            text = " ".join(chance.choices(words, k=120))
            body = f"<html><head><title>Page {number}</title></head><body><p>{text}</p></body></html>"
            relevance = chance.random()
            urls.append((number, number, url, number % HOSTS + 1, 1))
            when = f"2026-11-{1 + number % 28:02}T08:00:00.000+00:00"
            rows.append(
                (
                    *(number, number, url, number % 9, None, relevance, relevance, relevance > 0.5, relevance > 0.5),
                    *(f"Page {number}", when, zlib.compress(body.encode(), 1)),
                )
            )
        with file:
            file.executemany("INSERT INTO url VALUES (?, ?, ?, ?, ?)", urls)
            file.executemany(_ROW, rows)
    file.close()
