"""PDF: read in a process of its own (`pdf_worker`), and made into paragraphs, headings and links here."""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from contextlib import suppress
from hashlib import blake2b
from html import escape
from typing import Any

from focuscrawl.manners.recent import Recent
from focuscrawl.reading.draft import Draft, link, linked

#: What the process may use: bytes of memory, processor time for one PDF, and time on the clock for one PDF.
MEMORY = 1 << 29
CPU_SECONDS = 10
WALL_SECONDS = 60.0
#: The process is replaced after this many PDFs: what a library has not freed is freed then.
PDFS_PER_PROCESS = 200
#: Most bytes of what PDFs say that are kept for the next time that someone asks.
KEPT = 16 << 20
#: The error of a PDF that goes beyond these limits. After so many of one host, its other PDFs are not tried: they
#: would keep the PDFs of all hosts waiting, and with them the requests that fetched them.
COSTLY = "it takes too much time or memory"
MOST_COSTLY = 2
#: Largest answer of the process, in bytes: more than a million characters and their links take.
_MAX_ANSWER = 64 << 20

_DATE = re.compile(r"D?:?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:([+-])(\d\d)'?(\d\d)?)?")
#: Titles that programs write and no one reads.
_NO_TITLE = re.compile(
    r"(?i)\A(?:untitled\b.*|microsoft word - .*|.*\.(?:docx?|dvi|indd|odt|pdf|pptx?|ps|qxd|rtf|tex))\Z"
)
_BROKEN_URL = re.compile(r"(\bhttps?://[^\s\ufffe\x02\u00ad]{1,500})[\ufffe\x02\u00ad](?:\r?\n)?")
_SENTENCE_END = tuple(".!?:;。！？")
#: A line this much shorter than most is the last of a paragraph, if it also ends a sentence.
_SHORT = 0.8


class NotPdfError(Exception):
    """A PDF cannot be read; the message says why."""


class Worker:
    """The process that reads PDFs, started when it is needed. One PDF at a time; any thread may call."""

    module = "focuscrawl.reading.pdf_worker"

    def __init__(self, *, memory: int = MEMORY, cpu: int = CPU_SECONDS, wall: float = WALL_SECONDS) -> None:
        self.memory, self.cpu, self.wall = memory, cpu, wall
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._done = 0

    def ask(self, body: bytes) -> dict[str, Any]:
        """What a PDF says; with `error` if it cannot be read."""
        with self._lock:
            try:
                process = self._started()
            except OSError as error:  # no memory or open file left for a process
                return {"error": f"no process could be started to read it: {error.strerror}"}
            late = threading.Timer(self.wall, process.kill)
            late.daemon = True
            late.start()
            try:
                return self._exchange(process, body)
            except (OSError, EOFError, ValueError):
                with suppress(subprocess.TimeoutExpired):  # it has closed its pipe, so it is about to end
                    process.wait(timeout=5.0)
                status = self._end()
                if status == 1:  # Python could not run it; PDFium has other ways to end without memory
                    return {"error": "the process that reads PDFs ended with status 1; is pypdfium2 installed?"}
                return {"error": COSTLY}
            finally:
                late.cancel()
                self._done += 1
                if self._done >= PDFS_PER_PROCESS:
                    self._end()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-P", "-m", self.module, str(self.memory), str(self.cpu)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # the same modules as here, even if they are in an egg that was added by hand
                env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
                start_new_session=True,  # Ctrl-C is for the crawl, which ends this process by closing its input
            )
        return self._process

    @staticmethod
    def _exchange(process: subprocess.Popen[bytes], body: bytes) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(len(body).to_bytes(8, "big") + body)
        process.stdin.flush()
        head = process.stdout.read(8)
        size = int.from_bytes(head, "big")
        if len(head) < 8 or size > _MAX_ANSWER:
            raise EOFError
        answer = process.stdout.read(size)
        if len(answer) < size:
            raise EOFError
        found: dict[str, Any] = json.loads(answer)
        return found

    def _end(self) -> int | None:
        """End the process; returns its exit status if it had one, negative for a signal."""
        process, self._process, self._done = self._process, None, 0
        if process is None:
            return None
        process.kill()
        status = process.wait()
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was left to write cannot be written any more
                pipe.close()
        return status

    def close(self) -> None:
        """End the process; the next PDF starts a new one."""
        with self._lock:
            self._end()


WORKER = Worker()
atexit.register(WORKER.close)

_kept: Recent[bytes, dict[str, Any]] = Recent(KEPT)
_keeping = threading.Lock()
_costly: Counter[str] = Counter()


def is_pdf(body: bytes) -> bool:
    """Whether a body is a PDF, whatever it is declared as."""
    return body.startswith(b"%PDF-")


def ask(body: bytes, host: str = "") -> dict[str, Any]:
    """What a PDF says, from memory if it was read a short while ago. Blocks while it is read.

    *host* is where it is from, if that is to be remembered should it cost too much.
    """
    key = blake2b(body, digest_size=16).digest()
    with _keeping:
        found = _kept.get(key)
    if found is None:
        if _costly[host] >= MOST_COSTLY:
            found = {"error": f"not tried: {_costly[host]} others of its host take too much time or memory"}
        else:
            found = WORKER.ask(body)
        if host and found.get("error") == COSTLY:
            _costly[host] += 1
        with _keeping:
            _kept.put(key, found, 2 * sum(len(page["text"]) for page in found.get("pages", ())) + 10_000)
    return found


def read_pdf(body: bytes) -> Draft:
    """The draft of a PDF. Raises NotPdfError. Blocks while the PDF is read, unless `ask` has just read it."""
    found = ask(body)
    if "error" in found:
        raise NotPdfError(found["error"])
    draft = Draft()
    title = found.get("title", "")
    draft.title = found["largest"] or title if not title or _NO_TITLE.match(title) else title
    draft.author, draft.language = found.get("author", "")[:300], found["language"][:35]
    draft.description = found.get("subject", "")
    draft.published, draft.modified = _iso(found.get("creationdate", "")), _iso(found.get("moddate", ""))
    headings: dict[int, dict[str, int]] = {}
    for level, text, page in found["outline"]:
        headings.setdefault(page, {}).setdefault(_key(text), level + 1)
    for number, page in enumerate(found["pages"]):
        if draft.full:
            break
        _add_page(draft, page["text"], page["links"], headings.get(number, {}))
    return draft


def _add_page(draft: Draft, text: str, links: list[tuple[int, int, str, str]], headings: dict[str, int]) -> None:
    """Add the paragraphs of a page. Links whose place in the text is unknown come at the end."""
    placed = sorted((start, end, url) for start, end, url, _ in links if 0 <= start < end <= len(text))
    for start, end, is_heading in _paragraphs(text, headings):
        level = headings[_key(text[start:end])] if is_heading else 0
        inside = [found for found in placed if start <= found[0] < end]
        draft.add(f"h{min(level, 6)}" if level else "p", _markup(text, start, end, inside))
    for start, end, url, anchor in links:
        if not 0 <= start < end <= len(text):
            draft.add("p", link(url, escape(_clean(anchor) or url)))


def _markup(text: str, start: int, end: int, links: list[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    for first, last, url in links:
        if first >= start:  # links may overlap
            last = min(last, end)
            parts += [linked(_clean(text[start:first]), wrapped=True), link(url, escape(_clean(text[first:last])))]
            start = last
    return "".join([*parts, linked(_clean(text[start:end]), wrapped=True)])


def _paragraphs(text: str, headings: dict[str, int]) -> list[tuple[int, int, bool]]:
    """Start and end of each paragraph, and whether it is a heading of the outline.

    A PDF has lines only. A paragraph ends with a line that is shorter than most and ends a sentence.
    """
    lines: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        lines.append((start, start + len(line.rstrip())))
        start += len(line)
    lengths = sorted(end - start for start, end in lines if end > start)
    usual = lengths[len(lengths) * 3 // 4] if lengths else 0
    found: list[tuple[int, int, bool]] = []
    begin = -1
    last = 0
    for start, end in lines:
        is_heading = bool(headings) and _key(text[start:end]) in headings
        if begin >= 0 and (is_heading or end == start):
            found.append((begin, last, False))
            begin = -1
        if is_heading:
            found.append((start, end, True))
        elif end > start:
            begin, last = start if begin < 0 else begin, end
            if end - start < _SHORT * usual and text[:end].endswith(_SENTENCE_END, start):
                found.append((begin, end, False))
                begin = -1
    if begin >= 0:
        found.append((begin, last, False))
    return found


def _key(text: str) -> str:
    """A heading as it is compared: its letters."""
    return "".join(char for char in text.lower() if char.isalpha())


def _clean(text: str) -> str:
    """A text in which words that were hyphenated at the end of a line are whole again.

    In a URL, the hyphen may be part of it, so the line stays broken, and the URL is no link.
    """
    text = _BROKEN_URL.sub("\\1-\n", text)
    for hyphen in ("\ufffe\r\n", "\ufffe\n", "\x02\r\n", "\x02\n", "\u00ad\r\n", "\u00ad\n"):
        text = text.replace(hyphen, "")
    return text.replace("\r\n", "\n").replace("\ufffe", "").replace("\x02", "").replace("\x00", "")


def _iso(date: str) -> str:
    """A date of a PDF as in ISO 8601; empty if it is invalid."""
    found = _DATE.match(date)
    if found is None:
        return ""
    year, month, day, hour, minute, second, sign, hours, minutes = found.groups()
    time = f"T{hour}:{minute}:{second or '00'}" if hour and minute else ""
    zone = (
        f"{sign}{hours}:{minutes or '00'}" if sign and time else "Z" if time and date.rstrip("'").endswith("Z") else ""
    )
    return f"{year}-{month or '01'}-{day or '01'}{time}{zone}"
