"""Marks: what people say of the pages of a crawl, and how the verdicts follow.

Marks are written by any process, whether a crawl runs or not, in a short transaction. The verdicts on pages follow in
one place, `apply_marks`, which the process with the lock of the directory calls: a running crawl, or whoever marks
pages while no crawl runs. `meta` has the number of the last mark that was applied, in the same transaction, so a
process that is killed leaves no mark half applied.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.crawl.files import check_own_files, write_lines
from focuscrawl.crawl.lock import LockedError, locked_store, wait_for_turn
from focuscrawl.crawl.verdict import NO, YES, overrule
from focuscrawl.errors import FocusError
from focuscrawl.store.errors import UnavailableError
from focuscrawl.store.marks import APPLIED, VERDICTS, Mark
from focuscrawl.store.places import is_address, open_store, read_crawl
from focuscrawl.store.schema import VERSION
from focuscrawl.store.store import Store

#: The longest note, name and URL that are kept, in characters.
MAX_NOTE = 2000
MAX_NAME = 100

#: The file that processes which mark pages take turns by.
_TURN = ".marking"


class NewMark(NamedTuple):
    """A mark to be set."""

    url: str
    verdict: str
    note: str = ""


class Marked(NamedTuple):
    """What became of marks that were set."""

    #: How many were set, and the URLs among them that the crawl has no page of yet.
    marks: int
    unknown: list[str]
    #: Whether the verdicts follow already; otherwise the process that has the crawl open sees to it.
    applied: bool
    #: How many pages have another verdict now, by all marks that were applied.
    changed: int = 0
    #: The URLs marked `yes` that stay out of URLs.txt, with the reason.
    withheld: Sequence[tuple[str, str]] = ()


def mark_pages(folder: Path, marks: Iterable[tuple[str, str, str]], by: str = "") -> Marked:
    """Set marks (URL, verdict, note) on pages of the crawl in *folder*; *by*: who says so.

    The one way to set a mark. It returns when the marks are safe in the file. If no other process has the crawl open,
    the verdicts and URLs.txt follow at once. A running crawl is not disturbed and takes up the marks by itself.
    """
    wanted = [_checked(NewMark(*mark)) for mark in marks]
    if not wanted:
        return Marked(0, [], True)
    with writing(folder) as store:
        any_scheme = bool(store.meta("any_scheme"))
        keys, unknown, withheld = _keys(store, wanted, any_scheme)
        try:
            with store.transaction():
                now = clock.now()
                for mark, key in zip(wanted, keys, strict=True):
                    note = mark.note[:MAX_NOTE]
                    store.marks.add(key, mark.url, mark.verdict, note=note, by=by[:MAX_NAME], at=now)
        except UnavailableError as error:
            raise FocusError(f"{folder}: nothing was marked: {error}; try again, or check the disk") from None
    changed = bring_up_to_date(folder)
    return Marked(len(wanted), unknown, changed is not None, changed or 0, withheld)


def bring_up_to_date(folder: Path) -> int | None:
    """Let verdicts and URLs.txt follow the marks; returns how many verdicts changed.

    None if another process has the crawl open: a crawl applies marks by itself.
    """
    if is_address(folder):
        with writing(folder) as store:
            return None if store.is_crawled() else len(apply_marks(store))
    check_own_files(folder)
    try:
        with wait_for_turn(folder / _TURN), locked_store(folder) as store:
            changed = apply_marks(store)
            if changed:
                write_matched(folder, store)
            return len(changed)
    except LockedError:
        return None
    except OSError as error:
        raise FocusError(f"the marks are safe, but {folder} cannot be written: {error.strerror}") from None


def write_matched(folder: Path, store: Store) -> None:
    """Write URLs.txt anew from the crawl's file, atomically."""
    write_lines(folder / "URLs.txt", (page.url for page in store.pages.matched()))


@contextmanager
def writing(folder: Path) -> Iterator[Store]:
    """The crawl's file, to write marks into and what belongs to them; a crawl may have it open."""
    with read_crawl(folder, check=False) as store:
        outdated = store.version < VERSION
    if outdated:
        try:
            with locked_store(folder):
                pass  # this upgrades the file
        except LockedError:
            raise FocusError(
                f"{folder} has an older format and is in use; mark its pages when its crawl is over"
            ) from None
    try:
        store = open_store(folder, check=False)
    except OSError as error:
        raise FocusError(f"cannot write to {folder}: {error.strerror}") from None
    try:
        with store.reading():
            yield store
    finally:
        store.close()


def _checked(mark: NewMark) -> NewMark:
    if mark.verdict not in VERDICTS:
        raise FocusError(f"verdict '{mark.verdict}' of {mark.url}: expected {', '.join(VERDICTS)}")
    try:
        return mark._replace(url=urls.check(mark.url))
    except ValueError as error:
        raise FocusError(str(error)) from None


def _keys(
    store: Store, wanted: Sequence[NewMark], any_scheme: bool
) -> tuple[list[int], list[str], list[tuple[str, str]]]:
    """The keys to mark URLs by, which are those that their pages were requested by; also the URLs without a page."""
    keys = [urls.key(mark.url, any_scheme=any_scheme) for mark in wanted]
    pages = store.marks.pages_of(set(keys))
    unknown: list[str] = []
    withheld: list[tuple[str, str]] = []
    for place, (mark, key) in enumerate(zip(wanted, keys, strict=True)):
        number = pages.get(key) or store.marks.page_through(mark.url)
        judged = store.verdicts.get(number) if number is not None else None
        if judged is None:
            unknown.append(mark.url)
            continue
        keys[place] = store.urls.key(judged.url_id)
        if mark.verdict == YES and not judged.findable:
            withheld.append((mark.url, judged.problem or judged.withheld or ""))
    return keys, unknown, withheld


# ---- applying


def marks_of_pages(store: Store) -> dict[int, Mark]:
    """The mark that counts for each stored page that has one, by the page's number.

    A page may have been marked under several URLs: by the one that was requested, and before it was fetched by the one
    that a redirect led to.
    """
    latest = store.marks.latest()
    pages = store.marks.pages_of([mark.key for mark in latest])
    found = {pages[mark.key]: mark for mark in latest if mark.key in pages}  # in their order: the last one stays
    return {number: mark for number, mark in sorted(found.items()) if mark.verdict != "none"}


def apply_marks(store: Store) -> list[int]:
    """Let the verdicts follow the marks since the last time; returns the numbers of the pages whose verdict changed.

    The caller must hold the lock of the crawl's directory.
    """
    since = store.number(APPLIED)
    new = store.marks.after(since)
    if not new:
        return []
    affected = set(store.marks.pages_of({mark.key for mark in new}).values())
    with store.batch():
        changed = set_verdicts(store, affected)
        store.set_meta(APPLIED, new[-1].id)
    return changed


def set_verdicts(store: Store, pages: Collection[int]) -> list[int]:
    """Set the verdicts on some pages by the judge's own and their marks; returns those whose verdict changed.

    Call inside a transaction.
    """
    marks = marks_of_pages(store)
    changed: list[int] = []
    for number in sorted(pages):
        judged = store.verdicts.get(number)
        if judged is None:
            continue
        mark = marks[number].verdict if number in marks else None
        readable = judged.problem is None
        verdict = overrule(judged.own, mark, readable=readable, counts=judged.counts, findable=judged.findable)
        store.verdicts.set(judged, verdict, judged.own if readable and mark in (YES, NO) else None)
        if verdict != judged.now:
            changed.append(number)
    return changed
