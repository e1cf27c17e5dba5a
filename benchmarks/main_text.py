"""How well the main text of a page is told from what is around it, against other libraries.

    python benchmarks/main_text.py

Pages with a known main text (tests/main_text/): precision and recall of its words, in order, and the time a page takes.
resiliparse and trafilatura are measured if they are installed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from time import process_time

from focuscrawl import words
from focuscrawl.page import Page
from focuscrawl.reading.content import text_of
from focuscrawl.reading.html import read_html

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.main_text_pages import known_pages

Extract = Callable[[str], str]


def ours(html: str) -> str:
    return read_html(Page("http://a.example/"), html.encode(), "text/html; charset=utf-8").main_text


def everything(html: str) -> str:
    return read_html(Page("http://a.example/"), html.encode(), "text/html; charset=utf-8").text


def extractors() -> dict[str, Extract]:
    found: dict[str, Extract] = {"visible text": everything, "main text": ours}
    try:
        from resiliparse.extract.html2text import extract_plain_text

        found["resiliparse"] = lambda html: extract_plain_text(html, main_content=True)
    except ImportError:
        print("resiliparse is not installed", file=sys.stderr)
    try:
        import trafilatura

        found["trafilatura"] = lambda html: trafilatura.extract(html) or ""
    except ImportError:
        print("trafilatura is not installed", file=sys.stderr)
    return found


def common(one: list[str], other: list[str]) -> int:
    """The number of words that two texts have in common, in order."""
    return sum(block.size for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks())


def main() -> None:
    pages = [(page.name, text_of(page.body, "text/html")[0], page.text) for page in known_pages()]
    print("| | precision | recall | F1 | ms a page |\n| --- | ---: | ---: | ---: | ---: |")
    for name, extract in extractors().items():
        right = found = wanted = 0
        took = 0.0
        for _, html, text in pages:
            extract(html)  # the first time loads models
            began = process_time()
            got = extract(html)
            took += process_time() - began
            tokens, truth = words.tokenize(got), words.tokenize(text)
            right += common(tokens, truth)
            found += len(tokens)
            wanted += len(truth)
        precision, recall = right / max(1, found), right / max(1, wanted)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        print(f"| {name} | {precision:.2f} | {recall:.2f} | {f1:.2f} | {1000 * took / len(pages):.2f} |")


if __name__ == "__main__":
    main()
