"""Files: written whole or not at all, and never through a link."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from shutil import copymode

from focuscrawl.errors import FocusError
from focuscrawl.store.sqlite_file import is_special


def write_whole(path: Path, content: str | bytes, *, mode_of: Path | None = None) -> None:
    """Write a file atomically: readers see the old content or the new. It gets the permissions of *mode_of*."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content.encode() if isinstance(content, str) else content)
    if mode_of is not None:
        copymode(mode_of, new)
    new.replace(path)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write a file line by line, atomically as `write_whole`; it may be larger than memory."""
    new = path.with_name(f"{path.name}.new")
    with new.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    new.replace(path)


def check_own_files(folder: Path) -> None:
    """Refuse a directory with links or pipes in it: writes would go elsewhere, or block forever."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            raise FocusError(
                f"{path} is a link to {path.readlink()}, and a crawl would write there; replace it with a copy"
            )
        if not path.is_dir() and is_special(path):
            raise FocusError(f"{path} is not a regular file, and a crawl would block on it; move it away")


def check_strange_files(folder: Path) -> None:
    """Refuse to overwrite files that no crawl in this directory has written."""
    if (folder / "crawl.sqlite").exists():
        return
    for name in ("URLs.txt", "pages.jsonl", "report.html", "pages.warc.gz"):
        if (folder / name).exists():
            raise FocusError(
                f"{folder} contains {name}, but no crawl.sqlite; move it away or choose another directory with"
                " -s FOCUS_DIR=…"
            )
