"""How well ten keywords find the relevant pages of small webs in many languages.

    python benchmarks/languages.py [LANGUAGE …]

Crawls each web of tests/webs/ to the last page with best_first and with adaptive, without word vectors, and prints a
Markdown table: precision and recall of the matched pages with the default threshold, and the average precision of their
relevance; for adaptive also if it is given three relevant pages and nothing else. Then crawls the German, French and
English webs as one, with one topic that has the keywords of all three.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where the webs are
from focuscrawl.spiders import adaptive
from tests.language_webs import LARGE, MIXED, MIXED_LANGUAGES, SMALL, Measured, measure, three_relevant

NAMES = {
    "ar": "Arabic",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "hi": "Hindi",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "ru": "Russian",
    "th": "Thai",
    "tr": "Turkish",
    "zh": "Chinese",
}
SPIDERS = ("best_first", "adaptive")
HEAD = ("web", "pages", "relevant", *(f"{spider}: precision, recall, AP" for spider in SPIDERS), "three pages: AP")


def row(name: str, found: Sequence[Measured], three: Measured | None) -> tuple[str, ...]:
    figures = ((one.precision, one.recall, one.average_precision) for one in found)
    cells = (", ".join(f"{figure:.2f}" for figure in some) for some in figures)
    alone = f"{three.average_precision:.2f}" if three is not None else ""
    return name, str(len(found[0].pages)), str(found[0].relevant), *cells, alone


def table(rows: list[tuple[str, ...]]) -> str:
    lines = [HEAD, ("---", *["---:"] * (len(HEAD) - 1)), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", help=f"{', '.join(NAMES)}; all by default")
    parser.add_argument("--urls", action="store_true", help="list the pages that are missed or wrongly matched")
    options = parser.parse_args()
    unknown = set(options.languages) - NAMES.keys()
    if unknown:
        sys.exit(f"there is no web in '{min(unknown)}'; choose from {', '.join(NAMES)}")
    logging.disable(logging.WARNING)
    languages = options.languages or [*LARGE, *SMALL]
    adaptive.load_vectors = lambda: None  # type: ignore[assignment]
    found: dict[str, list[Measured]] = {}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for language in languages:
            found[language] = [measure(language, Path(folder, spider, language), spider) for spider in SPIDERS]
            three = measure(language, Path(folder, "three", language), "adaptive", three_relevant(language))
            rows.append(row(NAMES[language], found[language], three))
        if found.keys() >= set(MIXED_LANGUAGES):
            several = zip(*(found[language] for language in MIXED_LANGUAGES), strict=True)
            names = ", ".join(NAMES[language] for language in MIXED_LANGUAGES)
            found[MIXED] = [measure(MIXED, Path(folder, spider, MIXED), spider) for spider in SPIDERS]
            rows.append(row(f"{names}: a topic each", list(map(Measured.together, several)), None))
            rows.append(row(f"{names}: one topic", found[MIXED], None))
    print(table(rows))
    if options.urls:
        for language, both in found.items():
            for spider, one in zip(SPIDERS, both, strict=True):
                missed, wrong = " ".join(one.missed) or "none", " ".join(one.wrong) or "none"
                print(f"\n{language}, {spider}: missed {missed}; wrong {wrong}")


if __name__ == "__main__":
    main()
