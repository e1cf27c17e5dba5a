"""Fuzzing: reads mutated pages and looks for exceptions, slow inputs and memory growth.

    python benchmarks/fuzz.py [--inputs 100000] [--seed 1] [--web FILE …] [--out DIR]

Each input is a real page, of the labelled webs or else of the embedded one, mutated a few times: truncated, spliced
with another page, bytes flipped, nasty tokens inserted, tags repeated, declared in another charset. It is parsed, and
then used as a crawl uses a page. Seed and number determine an input, independently of the others.

An input fails if it raises an exception, if its CPU time is more than 20 times the median, or if the page violates an
invariant (storable text, http links, at most the limit of links). Pages have 6 to 20 KB and inputs at most 32 KB, so
linear time stays within the limit and quadratic time does not. Slow inputs are measured again, best of three, because
machines are noisy. Memory is the growth of a process after it has read all pages unmodified. Failing inputs are kept in
the folder --out, and the exit status is then 1.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reading.links import MAX_LINKS
from focuscrawl.topic import load_topic
from focuscrawl.web.demo import demo_web
from focuscrawl.web.webs import WebFile

WEBS = Path(__file__).resolve().parents[2] / "shared" / "webs"

#: Sizes of the pages that are mutated, and the largest input.
SMALLEST, LARGEST, MAX_BYTES = 6_000, 20_000, 32_000
#: Longest run of a repeated token.
REPEATS = 8_000
#: Pages taken from each web.
PER_WEB = 1_000
#: Time limit of an input, as a multiple of the median.
MAX_RATIO = 20
#: MB that a process may grow by.
MAX_GROWTH = 200
#: Seconds after which an input is abandoned.
PATIENCE = 300
_CHUNK = 500


class Source(NamedTuple):
    """An unmodified page."""

    url: str
    content_type: str
    body: bytes


class Input(NamedTuple):
    """A mutated page, and how it was made."""

    url: str
    content_type: str
    body: bytes
    recipe: str


class Measured(NamedTuple):
    """The result of an input: CPU seconds, and the exception."""

    number: int
    seconds: float
    failure: str


# ---- mutations: each takes a random generator, a body and all pages, and returns a body

#: Tokens that trip up parsers, one per line; escapes are Python's.
NASTY = tuple(
    line.encode("latin-1").decode("unicode_escape").encode("latin-1")
    for line in r"""
<!--
-->
<!-->
<!--->
<![CDATA[
]]>
<?xml
<?php echo '<a href=x>'
<!DOCTYPE
<!DOCTYPE html [<!ENTITY a '&b;&b;'><!ENTITY b '&a;&a;'>]>&a;
<script>
</script>
<script>/*<![CDATA[*/ document.write('<a href=x>') //]]>
<style>
<textarea>
<title>
</title>
<plaintext>
<xmp>
<noscript>
<template>
<select><option>
<svg>
<svg/>
<svg><script>
</svg>
<math><mi>
</math>
<frameset>
<noframes>
<iframe srcdoc='<a href=x>'>
<html>
</html>
<body>
</body>
<head>
</head>
<table><tr><td>
</table>
</p>
<h1>
</h1>
<h6>
</h3>
<h7>
<ul><li>
</ul>
</dl>
<hr/>
<a href>
<a href=>
<a href=x
<a href='
<a href="
<a/href=x>
<a href=x><a href=y>
<A HREF=X>
<a\x00href=x>
<a href='x\ny'>
<a href=' http://a.example/ '>
<a href='?'>
<area href=x alt=y>
<frame src=x name=y>
<iframe src=x>
<img alt='
<img alt=x>
<a:b c:d=e>
<base>
<base href=''>
<base href='http://base.example/'>
<base href='http://[::1]:99999/'>
<base href='//['>
<base href='javascript:x'>
<base href='mailto:a@b'>
<base href='../../..'>
<a href='javascript:alert(1)'>
<a href='http://[::1'>
<a href='http://[::1]/'>
<a href='%zz'>
<a href='http://%zz/'>
<a href='//'>
<a href='http://'>
<a href='http:///x'>
<a href='http:x'>
<a href='\\\\x\\y'>
<a href='http://a:b@c:d@e.example:80:90/'>
<a href='http://1.2.3/'>
<a href='http://0x7f.1/'>
<a href='http://xn--a.example/'>
<a href='http://\xf0\x9f\x98\x80.example/'>
<a href='http://\xc2\xad/'>
<a href='http://\xe2\x84\x80.example/'>
<a href='data:text/html,<a href=x>'>
<a href='&#0;&#xD800;'>
<a href='http://a.example/?%%34%31&utm%5Fsource=x'>
<a href='x.pdf%00'>
&
&#0;
&#x80;
&#x110000;
&#xD800;&#xDC00;
&#1;&#11;&#31;&#127;
&nosuch;
&nbsp
&notin;&not
&lt;a href=x&gt;
\x00
\x1a
\x0c
\x1b[2J
\r
\xc2\x85
\xe2\x80\xa8
\xff\xfe
\xfe\xff
\xef\xbb\xbf
\xed\xa0\x80
\xed\xa0\x80\xed\xb0\x80
\xf4\x90\x80\x80
\xc0\x80
\xef\xbf\xbf
\xd9\xa3
\xef\xac\x80
+ADw-a href+AD0-x+AD4-
+2AA-
\x1b$B$3\x1b(B
~{<:Ky2;S{#,NpJ)l6HK!#~}
\xa1\xa1\x81
\x0e\x0f
<meta charset
<meta charset=''>
<meta charset=nosuch>
<meta charset=utf-16>
<meta charset=utf-7>
<meta charset=utf-8-sig>
<meta charset=idna>
<meta charset=base64>
<meta charset=unicode_escape>
<meta charset=undefined>
<meta charset=hz>
<meta charset=iso-2022-jp>
<meta charset=punycode>
<meta http-equiv=content-type content='text/html; charset=utf-32'>
<?xml version='1.0' encoding='ebcdic'?>
<meta content>
<meta http-equiv=refresh>
<meta http-equiv=refresh content='0;url=x'>
<meta http-equiv=refresh content=';;;,'>
<meta http-equiv=refresh content='url=url=\"'>
<meta http-equiv=refresh content="0;url='x">
<meta http-equiv=content-language content='\xff'>
<meta name=robots content='none,,ALL'>
<meta name=description content='\xed\xa0\x80'>
<link rel>
<link rel=canonical>
<link rel=canonical href=''>
<link rel=canonical href='http://[bad'>
""".strip().split("\n")
)

#: Tokens that become nasty when repeated, by prefix and suffix.
_PIECES = {
    (b"", b""): (
        b"<b>", b"</b>", b"<font>", b"<table>", b"<div>", b"<p>", b"</p>", b"<br>", b"<",
        b"<ul>", b"<li>x", b"<dl><dt><dd>", b"<h2>", b"<h1>x</h1>", b"<title>x", b"<form>",
        b"<!--", b"<![CDATA[", b"<script>", b"<svg>", b"<select>", b"<i><p>", b"<b></p>",
        b"<a href=x>", b"<a href=#>", b"<a href=x><ul>", b"<a href=x><p>", b"</a><li>",
        b"<table><a href=x>", b"<a href=x>y</a>", b"<option>", b"<td>", b"<frameset>",
        b"&", b"&amp", b"&amp;", b"\x00", b"\x80", b" ", b"\n", b"x", b"sort ", b"--", b"]]",
        b"\xcc\x81", b"\xe4\xb8\xad", b"\xc4\xb0", b"\xe2\x94\x80", b"bubble sort ", b"+AA",
    ),
    (b"<a href='", b"'>"): (b"x", b"../", b"?", b"%41", b"&a=%41", b" ", b"\xc3\xa4", b"//", b"@"),
    (b"<a href='http://", b".example/'>"): (b"a.", b"\xc3\xa4", b"1", b"%41", b"xn--", b"["),
    (b"<meta http-equiv=refresh content='", b"'>"): (b" ", b"9", b";", b"url=", b'"'),
    (b"<meta name=robots content='", b"'>"): (b"x,", b" "),
    (b"<p ", b">"): (b"a", b"a=1 ", b"a='", b"/", b"="),
    (b"<html lang='", b"'>"): (b"x",),
    (b"<base href='", b"'>"): (b"../",),
    (b"&#", b";"): (b"9",),
    (b"<title>", b""): (b"x ",),
}  # fmt: skip
REPEATED = [(before, piece, after) for (before, after), pieces in _PIECES.items() for piece in pieces]

CONTENT_TYPES = (
    "text/html", "text/html; charset=utf-8", "TEXT/HTML;CHARSET=ISO-8859-1", "application/xhtml+xml", "text/plain",
    "text/html; charset=utf-16", "text/html; charset=utf-16le", "text/html; charset=utf-32", "text/html;charset=utf-7",
    "text/html; charset=shift_jis", "text/html; charset=gb18030", "text/html; charset=big5", "text/html; charset=hz",
    "text/html; charset=iso-2022-jp", "text/html; charset=nosuch", "text/html; charset=", "text/html; charset=\x00",
    "text/html; charset=unicode_escape", "text/html; charset=idna", "text/html; charset=punycode", "", ";", "text/xml",
    "text/html; charset=cp037", "text/html; charset=cp1252", "text/plain; charset=utf-7", "text/plain; charset=utf-16",
    "text/html; charset=raw_unicode_escape", "text/html; charset=mbcs", "text/plain;charset=euc-kr", "text/html, x/y",
    "text/html; charset=" + "x" * 1_000, "image/svg+xml", "application/xhtml+xml; charset=ebcdic-cp-us",
)  # fmt: skip

_TAG = re.compile(rb"<[^<>]{1,200}>")


def _slice(chance: Random, body: bytes, longest: int = 4_000) -> slice:
    start = chance.randrange(len(body) + 1)
    return slice(start, start + chance.randrange(longest))


def _insert(chance: Random, body: bytes, piece: bytes) -> bytes:
    place = chance.randrange(len(body) + 1)
    return body[:place] + piece + body[place:]


def cut(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    place = chance.randrange(len(body) + 1)
    return body[:place] if chance.random() < 0.7 else body[place:]


def duplicate(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    return _insert(chance, body, body[_slice(chance, body)])


def delete(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    gone = _slice(chance, body)
    return body[: gone.start] + body[gone.stop :]


def splice(chance: Random, body: bytes, sources: Sequence[Source]) -> bytes:
    """Replace a slice of this page with one of another page."""
    other, gone = chance.choice(sources).body, _slice(chance, body)
    return body[: gone.start] + other[_slice(chance, other)] + body[gone.stop :]


def flip(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    """Flip bits, or change whole bytes, in random places."""
    changed = bytearray(body)
    for _number in range(chance.choice((1, 5, 100)) if body else 0):
        place = chance.randrange(len(changed))
        changed[place] = chance.randrange(256) if chance.random() < 0.5 else changed[place] ^ 1 << chance.randrange(8)
    return bytes(changed)


def insert_random(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    return _insert(chance, body, chance.randbytes(chance.choice((1, 4, 50, 400))))


def insert_nasty(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    return _insert(chance, body, chance.choice(NASTY))


def insert_repeated(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    before, piece, after = chance.choice(REPEATED)
    return _insert(chance, body, before + piece * (chance.randint(1, REPEATS) // len(piece)) + after)


def drop_syntax(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    """Remove some of the delimiters."""
    syntax = chance.choice((b">", b"</", b'"', b"=", b";", b"-->", b"</a>"))
    return body.replace(syntax, b"", chance.choice((1, 10, -1)))


def repeat_tag(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    """Repeat one of the page's own tags many times."""
    found = _TAG.search(body, chance.randrange(len(body) + 1))
    tag = found.group() if found else b"<p>"
    return _insert(chance, body, tag * (chance.randint(1, REPEATS) // len(tag)))


def change_case(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    return chance.choice((bytes.upper, bytes.lower, bytes.swapcase))(body)


def encode_again(chance: Random, body: bytes, _: Sequence[Source]) -> bytes:
    """The text in another charset, or encoded twice."""
    charset = chance.choice(
        ("utf-8", "utf-8", "utf-16", "utf-16le", "utf-32", "utf-7", "shift_jis", "gb18030", "cp037")
    )
    return body.decode("latin-1").encode(charset, "ignore")


Mutation = Callable[[Random, bytes, Sequence[Source]], bytes]
MUTATIONS: tuple[Mutation, ...] = (
    *(cut, duplicate, delete, splice, splice, flip, flip, insert_random, insert_nasty, insert_nasty),
    *(insert_repeated, drop_syntax, repeat_tag, change_case, encode_again),
)


def make_input(sources: Sequence[Source], seed: int, number: int) -> Input:
    """The input with that number: deterministic for the same pages and seed."""
    chance = Random(f"{seed}/{number}")
    url, content_type, body = chance.choice(sources)
    recipe = [url]
    for mutation in chance.choices(MUTATIONS, k=chance.randint(1, 6)):
        body = mutation(chance, body, sources)[:MAX_BYTES]
        recipe.append(f"{mutation.__name__} ({len(body):,} bytes)")
    if chance.random() < 0.3:
        content_type = chance.choice(CONTENT_TYPES)
        recipe.append(f"declared as {content_type[:60]!r}")
    return Input(url, content_type, body, ", ".join(recipe))


# ---- checks


def use(page: Page, judge: KeywordJudge) -> None:
    """Use a page as a crawl does, and check its invariants."""
    texts = [page.text, page.title, page.main_heading, page.description, page.keywords, page.language, *page.robots]
    texts += [page.canonical or "", page.problem or "", *page.words, *page.stems, *page.counts]
    assert len(page.links) <= MAX_LINKS, "too many links"
    for link in page.links:
        assert link.url.startswith(("http://", "https://")), f"{link.url!r} is not an http URL"
        assert -(2**63) <= urls.key(link.url) < 2**63
        texts += [link.url, link.anchor, link.text_before(), link.text_after(), urls.host(link.url)]
        texts += [link.heading, link.subheading, link.main_heading, *link.before(), *link.after(), *link.url_words]
        texts.append(link.block[:1_000])  # links share their blocks, and the page's text is checked anyway
    "\n".join(texts).encode()  # must be storable
    for judgement in (judge.coverage(page, 0.3), judge.share(page, 0.5)):
        assert 0 <= judgement.relevance <= 1, f"relevance {judgement.relevance}"


def measure(made: Input, judge: KeywordJudge) -> tuple[float, str]:
    """The CPU seconds of an input, and the exception it raises, if any."""
    failure = ""
    began = process_time()
    try:
        use(read_html(Page(made.url), made.body, made.content_type), judge)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"[:500]
    return process_time() - began, failure


def new_judge() -> KeywordJudge:
    return KeywordJudge(load_topic("sorting").keywords)


def run(sources: Sequence[Source], seed: int, numbers: Iterable[int], judge: KeywordJudge) -> list[Measured]:
    """Make and read inputs."""
    return [Measured(number, *measure(make_input(sources, seed, number), judge)) for number in numbers]


def settle(results: list[Measured], sources: Sequence[Source], seed: int, judge: KeywordJudge) -> list[Measured]:
    """The results, with slow ones measured again, best of three: on a busy machine any input can be slow."""
    doubtful = MAX_RATIO / 2 * median(result.seconds for result in results)
    for place, result in enumerate(results):
        if result.seconds > doubtful:
            made = make_input(sources, seed, result.number)
            results[place] = result._replace(seconds=min(measure(made, judge)[0] for _ in range(3)))
    return results


# ---- the command


def load_sources(paths: Sequence[Path]) -> list[Source]:
    """Pages from web files, or from the embedded web if none are given."""
    found: list[Source] = []
    for path in paths:
        web = WebFile(path)
        names = [url for (url,) in web.connection.execute("SELECT url FROM page ORDER BY url")]
        Random(1).shuffle(names)
        pages = (Source(url, answer.content_type, answer.body) for url in names for answer in [web.get(url)])
        found += islice((page for page in pages if SMALLEST <= len(page.body) <= LARGEST), PER_WEB)
    return found or embedded_sources()


def embedded_sources() -> list[Source]:
    """Pages of the embedded web; they are small, so five are joined into one."""
    pages = [(url, answer) for url, answer in demo_web().answers.items() if answer.status == 200]
    groups = (pages[first : first + 5] for first in range(0, len(pages), 5))
    return [Source(group[0][0], group[0][1].content_type, b"".join(page.body for _, page in group)) for group in groups]


_sources: Sequence[Source]
_judge: KeywordJudge
_memory: int


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _give_up(*_: object) -> None:
    raise TimeoutError(f"not finished after {PATIENCE} seconds")


def _start(sources: Sequence[Source]) -> None:
    """Set up a process."""
    global _sources, _judge, _memory
    _sources, _judge = sources, new_judge()
    signal.signal(signal.SIGALRM, _give_up)
    for page in sources:
        measure(Input(*page, ""), _judge)
    gc.collect()
    _memory = _megabytes()


def _chunk(seed: int, first: int, last: int) -> tuple[list[Measured], int, int]:
    """Results, the process, and the MB that it has grown by."""
    signal.alarm(PATIENCE)  # a CPU timer would reduce the precision of the CPU clock
    results = run(_sources, seed, range(first, last), _judge)
    signal.alarm(0)
    return results, os.getpid(), _megabytes() - _memory


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--web", type=Path, nargs="*", default=sorted(WEBS.glob("*.sqlite")))
    parser.add_argument("--out", type=Path, default=Path(), help="folder for inputs that fail")
    options = parser.parse_args()
    sources = load_sources(options.web)
    names = " and ".join(path.stem for path in options.web) or "the embedded web"
    sizes = [len(source.body) for source in sources]
    print(f"{len(sources):,} pages of {names}, {min(sizes):,} to {max(sizes):,} bytes; ", end="")
    print(f"inputs of {MAX_BYTES:,} bytes at most, seed {options.seed}")
    began = perf_counter()
    results: list[Measured] = []
    growth: dict[int, int] = {}
    with ProcessPoolExecutor(initializer=_start, initargs=(sources,)) as processes:
        last = options.first + options.inputs
        chunks = {
            first: processes.submit(_chunk, options.seed, first, min(first + _CHUNK, last))
            for first in range(options.first, last, _CHUNK)
        }
        for first, chunk in chunks.items():
            try:
                measured, process, grown = chunk.result()
            except BrokenProcessPool:
                sys.exit(f"a process died at input {first} or later: find it with --first {first} --inputs 1 …")
            results += measured
            growth[process] = max(growth.get(process, 0), grown)
    settle(results, sources, options.seed, new_judge())
    middle = median(result.seconds for result in results)
    failed = [result for result in results if result.failure or result.seconds > MAX_RATIO * middle]
    for number, seconds, failure in failed:
        made = make_input(sources, options.seed, number)
        path = options.out / f"crash-{blake2b(made.body, digest_size=6).hexdigest()}.bin"
        options.out.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.body)
        print(f"{path}: {failure or f'{seconds / middle:.0f} times the median'}\n   input {number}: {made.recipe}")
    ratios = sorted(result.seconds / middle for result in results)
    raised = sum(bool(result.failure) for result in results)
    print(f"{'inputs':>9}{'exceptions':>12}{'median':>10}{'99.9 %':>9}{'worst':>9}{'memory':>10}{'seconds':>9}")
    figures = f"{len(results):9,}{raised:12,}{1000 * middle:7.2f} ms{ratios[int(0.999 * len(ratios))]:8.1f}×"
    print(f"{figures}{ratios[-1]:8.1f}×{max(growth.values()):+7} MB{perf_counter() - began:9.0f}")
    if max(growth.values()) > MAX_GROWTH:
        print(f"a process grew by more than {MAX_GROWTH} MB")
    sys.exit(bool(failed) or max(growth.values()) > MAX_GROWTH)


if __name__ == "__main__":
    main()
