"""How well ten keywords find the relevant pages of small webs in many languages.

    python benchmarks/languages.py [LANGUAGE …]

Crawls each web of tests/webs/ with best_first to the last page and prints a Markdown table: precision and recall of the
matched pages with the default threshold, and the average precision of the relevance that the keyword judge gave them.
Then crawls the German, French and English webs as one, with one topic that has the keywords of all three.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # where the webs are
from tests.language_webs import LARGE, MIXED, MIXED_LANGUAGES, SMALL, Measured, measure

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
HEAD = ("web", "pages", "relevant", "precision", "recall", "average precision")


def row(name: str, found: Measured) -> tuple[str, ...]:
    figures = (found.precision, found.recall, found.average_precision)
    return name, str(len(found.pages)), str(found.relevant), *(f"{figure:.2f}" for figure in figures)


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
    found: dict[str, Measured] = {}
    with tempfile.TemporaryDirectory() as folder:
        for language in languages:
            found[language] = measure(language, Path(folder, language))
        rows = [row(NAMES[language], one) for language, one in found.items()]
        if found.keys() >= set(MIXED_LANGUAGES):
            three = [found[language] for language in MIXED_LANGUAGES]
            names = ", ".join(NAMES[language] for language in MIXED_LANGUAGES)
            found[MIXED] = measure(MIXED, Path(folder, MIXED))
            rows.append(row(f"{names}: a topic each", Measured.together(three)))
            rows.append(row(f"{names}: one topic", found[MIXED]))
    print(table(rows))
    if options.urls:
        for language, one in found.items():
            print(f"\n{language}: missed {' '.join(one.missed) or 'none'}; wrong {' '.join(one.wrong) or 'none'}")


if __name__ == "__main__":
    main()
