"""How well the language of a text is told, against other libraries.

    python benchmarks/identify.py

The texts are Django's translations of its messages into forty languages: pip install django. py3langid, eld and
lingua are measured if they are installed. A cell is the share of texts of a length that are told right, and the
microseconds that one takes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from gettext import GNUTranslations
from pathlib import Path
from random import Random
from time import process_time

from focuscrawl.language.identify import identify
from focuscrawl.language.languages import code_of

LANGUAGES = (
    *("ar", "bg", "bn", "ca", "cs", "da", "de", "el", "es", "et", "eu", "fa", "fi", "fr", "he", "hi", "hr", "hu", "hy"),
    *("id", "it", "ja", "ko", "lt", "lv", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sr", "sv", "th", "tr", "uk"),
    *("ur", "vi"),
)
LENGTHS = (40, 110, 400, 1500)
PER_LANGUAGE = 8

_PLACEHOLDER = re.compile(r"%\\([^)]*\\)[a-z]|%[a-z]|<[^>]*>|\\{[^}]*\\}".replace("\\\\", "\\"))


def messages(folder: Path, language: str) -> list[str]:
    """The translated messages of Django in a language."""
    found = []
    for path in sorted(folder.rglob(f"locale/{language}/LC_MESSAGES/django.mo")):
        with path.open("rb") as file:
            catalog = GNUTranslations(file)._catalog
        for source, text in catalog.items():
            text = _PLACEHOLDER.sub("", text)
            if source and text != source and len(text) > 25:
                found.append(text)
    return found


def rivals() -> dict[str, Callable[[str], str]]:
    found: dict[str, Callable[[str], str]] = {"focuscrawl": lambda text: identify(text).code}
    try:
        from py3langid.langid import MODEL_FILE, LanguageIdentifier

        langid = LanguageIdentifier.from_model_file(MODEL_FILE)
        found["py3langid"] = lambda text: langid.classify(text)[0]
    except ImportError:
        print("py3langid is not installed", file=sys.stderr)
    try:
        from eld import LanguageDetector

        eld = LanguageDetector()
        found["eld"] = lambda text: eld.detect(text).language or ""
    except ImportError:
        print("eld is not installed", file=sys.stderr)
    try:
        from lingua import LanguageDetectorBuilder

        lingua = LanguageDetectorBuilder.from_all_languages().with_low_accuracy_mode().build()

        def detect(text: str) -> str:
            language = lingua.detect_language_of(text)
            return language.iso_code_639_1.name.lower() if language else ""

        found["lingua, low accuracy"] = detect
    except ImportError:
        print("lingua is not installed", file=sys.stderr)
    return found


def main() -> None:
    try:
        import django
    except ImportError:
        sys.exit("Django's translations are the texts: pip install django")
    chance = Random(1)
    texts: dict[int, list[tuple[str, str]]] = {length: [] for length in LENGTHS}
    for language in LANGUAGES:
        known = messages(Path(django.__file__).parent, language)
        for length in LENGTHS:
            for _ in range(PER_LANGUAGE):
                text = ""
                while len(text) < length:
                    text += f" {chance.choice(known)}"
                texts[length].append((code_of(language), text[:length]))
    print("| characters | " + " | ".join(map(str, LENGTHS)) + " |\n| --- |" + " ---: |" * len(LENGTHS))
    for name, detect in rivals().items():
        cells = []
        detect("The model is loaded on first use.")
        for rows in texts.values():
            began = process_time()
            right = sum(code_of(detect(text)) == language for language, text in rows)
            cells.append(f"{right / len(rows):.3f}, {1e6 * (process_time() - began) / len(rows):.0f} µs")
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
