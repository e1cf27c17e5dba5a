"""The texts of exported pages, read from their bodies on all cores.

`best` is trafilatura's main text, `fast` our own (`reading.main_text`), `all` the whole visible text.
"""

from __future__ import annotations

import os
import signal
import threading
from base64 import b32encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from hashlib import sha1
from importlib.util import find_spec
from itertools import chain, islice
from multiprocessing import get_context
from typing import NamedTuple

from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading import types
from focuscrawl.reading.content import NotTextError, text_of
from focuscrawl.reading.documents import read_page, type_of
from focuscrawl.store.exports import ExportedPage

#: Which text of a page is exported.
KINDS = ("best", "fast", "all", "none")

#: Pages and compressed bytes that a process is given at a time, and how many such batches wait for it.
BATCH, BATCH_BYTES = 50, 2_000_000
_AHEAD = 2
#: Fewer pages are read by this process: starting others takes longer.
_FEW = {"best": 100, "fast": 400, "all": 400}
#: Longest time for one page in seconds, and largest HTML in characters, for trafilatura; then our own text is taken.
_MAX_SECONDS = 20.0
_MAX_HTML = 5_000_000


class Reading(NamedTuple):
    """What was read from the body of a page."""

    text: str | None = None
    #: SHA-1 of the body in base 32, as Common Crawl and WARC files have it.
    digest: str | None = None


class _TooLongError(Exception):
    """Reading a page took too long."""


#: What a process is given of a page: URL, Content-Type, compressed body.
Job = tuple[str, str, ExportedPage]


def check_kind(kind: str) -> None:
    """Refuse a kind of text whose library is missing."""
    if kind == "best" and find_spec("trafilatura") is None:
        raise FocusError("--text best needs trafilatura: pip install 'focuscrawl[export]', or give --text fast")


def read_texts(
    pages: Iterable[ExportedPage], kind: str, *, workers: int | None = None
) -> Iterator[tuple[ExportedPage, Reading]]:
    """The pages in order, each with its text; bodies are not needed for the kind `none`."""
    if kind == "none":
        for page in pages:
            yield page, Reading()
        return
    rest = iter(pages)
    first = list(islice(rest, _FEW[kind])) if workers is None else []
    number = workers or min(os.cpu_count() or 1, 32)
    if workers is None and (len(first) < _FEW[kind] or number == 1):
        for page in chain(first, rest):
            yield page, read(page, kind)
        return
    yield from _read_on_all_cores(chain(first, rest), kind, number)


def _read_on_all_cores(
    pages: Iterable[ExportedPage], kind: str, workers: int
) -> Iterator[tuple[ExportedPage, Reading]]:
    waiting: deque[tuple[list[ExportedPage], Future[list[Reading]]]] = deque()
    work: Callable[[list[ExportedPage]], list[Reading]] = partial(_read_all, kind)
    # new processes, not forks: this one has an SQLite file open
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_leave_signals_to_parent)
    try:
        for batch in _batches(pages):
            waiting.append(([page._replace(packed=None) for page in batch], pool.submit(work, batch)))
            if len(waiting) > workers + _AHEAD:
                yield from _next(waiting)
        while waiting:
            yield from _next(waiting)
    except BrokenProcessPool:
        raise FocusError("a process that read pages was killed, possibly out of memory; try --text fast") from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _next(waiting: deque[tuple[list[ExportedPage], Future[list[Reading]]]]) -> Iterator[tuple[ExportedPage, Reading]]:
    batch, future = waiting.popleft()
    return zip(batch, future.result(), strict=True)


def _batches(pages: Iterable[ExportedPage]) -> Iterator[list[ExportedPage]]:
    batch: list[ExportedPage] = []
    size = 0
    for page in pages:
        batch.append(page)
        size += len(page.packed or b"")
        if len(batch) == BATCH or size > BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _leave_signals_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _read_all(kind: str, pages: list[ExportedPage]) -> list[Reading]:
    return [read(page, kind) for page in pages]


def read(page: ExportedPage, kind: str) -> Reading:
    """The text of a page, and the digest of its body."""
    body = page.body()
    if not body:
        return Reading("")
    digest = b32encode(sha1(body, usedforsecurity=False).digest()).decode()
    if page.problem is not None:
        return Reading("", digest)
    text = _best(page, body) if kind == "best" else None
    if text is None:
        filled = read_page(Page(page.url), body, page.content_type)
        text = filled.text if kind == "all" else filled.main_text
    return Reading(text.encode("utf-8", "replace").decode(), digest)


def _best(page: ExportedPage, body: bytes) -> str | None:
    """The main text by trafilatura; None if it finds none, or for what is not HTML."""
    from trafilatura import extract

    if type_of(page.url, body, page.content_type) not in (None, types.TEXT):
        return None
    try:
        html, _ = text_of(body, page.content_type)
        if len(html) > _MAX_HTML:
            return None
        with _at_most(_MAX_SECONDS):
            found: str | None = extract(html, include_comments=False, include_tables=True, favor_precision=False)
    except NotTextError:
        return None
    except _TooLongError:
        return None
    except Exception:  # whatever a page can do to a parser: there is another one
        return None
    return found or None


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _TooLongError after some seconds, where the system can."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
