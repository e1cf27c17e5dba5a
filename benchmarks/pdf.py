"""Which library reads PDFs: pypdfium2 against pypdf, on PDFs made here and on those that are named.

    python benchmarks/pdf.py [FILE.pdf …]

For each library: CPU milliseconds per page of text, the words found, and what it makes of hostile PDFs, in a process of
its own that is ended after ten seconds of processor time. `pip install pypdf` first; without it, only pypdfium2 is
measured.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

#: Processor time in seconds for a hostile PDF.
LIMIT = 10


def with_pypdfium2(body: bytes) -> list[str]:
    import pypdfium2

    return [page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(body)]


def with_pypdf(body: bytes) -> list[str]:
    from pypdf import PdfReader

    return [page.extract_text() for page in PdfReader(io.BytesIO(body)).pages]


LIBRARIES = {"pypdfium2": with_pypdfium2, "pypdf": with_pypdf}


def measured(name: str, body: bytes) -> tuple[float, int, int]:
    """CPU seconds, pages and words; the best of three runs."""
    best = float("inf")
    texts: list[str] = []
    for _ in range(3):
        began = process_time()
        texts = LIBRARIES[name](body)
        best = min(best, process_time() - began)
    return best, len(texts), sum(len(text.split()) for text in texts)


def outcome(name: str, body: bytes) -> str:
    """What becomes of a process that reads a hostile PDF."""
    done = subprocess.run([sys.executable, __file__, "--one", name], input=body, capture_output=True, check=False)
    if done.returncode:
        return f"no end in {LIMIT} s"
    said = json.loads(done.stdout)
    return f"{said.get('error', 'read')}, {said['cpu']:.1f} s"


def one(name: str) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))  # processor time: a busy machine does not matter
    said = {}
    try:
        LIBRARIES[name](sys.stdin.buffer.read())
    except BaseException as error:
        said["error"] = type(error).__name__
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({**said, "cpu": used.ru_utime + used.ru_stime}))


def main(files: list[str]) -> None:
    from tests import pdfs

    names = [name for name in LIBRARIES if find_spec(name)]
    text = "Sorting by a heap takes few comparisons, and a heap is a tree in an array. " * 40
    bodies = {"made here": pdfs.paper(text=text, pages=50), "Unicode": pdfs.paper(text=text, font="unicode", pages=50)}
    bodies |= {Path(file).name: Path(file).read_bytes() for file in files}
    total = dict.fromkeys(names, 0.0)
    for title, body in bodies.items():
        for name in names:
            seconds, pages, words = measured(name, body)
            total[name] += seconds
            print(f"{title:24} {name:10} {1000 * seconds / max(1, pages):7.2f} ms a page {words:9,} words")
    if len(names) > 1:
        print(f"pypdf takes {total['pypdf'] / total['pypdfium2']:.1f} times as long")
    for title, make in pdfs.BOMBS.items():
        body = make()
        for name in names:
            print(f"bomb {title:19} {name:10} {outcome(name, body)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one(sys.argv[2])
    else:
        main(sys.argv[1:])
