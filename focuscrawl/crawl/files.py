"""Files that are written: whole or not at all, and where they seem to be."""

from __future__ import annotations

from pathlib import Path

from focuscrawl.errors import FocusError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file beside its place, then put it there: whoever reads it sees the old one or the new one."""
    new = path.with_name(f"{path.name}.new")
    new.write_bytes(content.encode() if isinstance(content, str) else content)
    new.replace(path)


def check_own_files(folder: Path) -> None:
    """Refuse a directory with links or pipes in it: what is written there would go elsewhere, or wait for ever."""
    for path in sorted(folder.iterdir()):
        if path.is_symlink():
            raise FocusError(
                f"{path} is a link to {path.readlink()}, and a crawl would write there; put the thing itself there"
            )
        if not path.is_file() and not path.is_dir():
            raise FocusError(f"{path} is no file, and a crawl would wait for it; move it away")
