"""Outputs that are whole or not there: written beside their place, and moved there at the end."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp, mkstemp

from focuscrawl.errors import FocusError


@contextmanager
def whole(path: Path, *, folder: bool = False, force: bool = False) -> Iterator[Path]:
    """A path to write a file or *folder* at; it is moved to *path* if all goes well, and removed if not.

    An existing output is replaced only by *force*; a folder only if an export could have written it.
    """
    check_place(path, folder=folder, force=force)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = _new(path, folder)
    except OSError as error:
        raise _cannot_write(path, error) from None
    try:
        yield new
        if folder and path.exists():
            old = Path(mkdtemp(prefix=f".{path.name}.", suffix=".old", dir=path.parent))
            path.rename(old / "old")
            new.rename(path)
            shutil.rmtree(old)
        else:
            new.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from None
    finally:
        if folder:
            shutil.rmtree(new, ignore_errors=True)
        else:
            new.unlink(missing_ok=True)


def check_place(path: Path, *, folder: bool, force: bool) -> None:
    """Refuse to write over something else."""
    if path.is_symlink():
        raise FocusError(f"{path} is a link to {path.readlink()}; remove it or choose another place")
    if not path.exists():
        return
    if folder and path.is_dir() and not any(path.iterdir()):
        return
    if not force:
        raise FocusError(f"{path} already exists; give --force to replace it, or choose another place")
    if path.is_dir() != folder:
        raise FocusError(f"{path} is {'' if path.is_dir() else 'not '}a folder; choose another place")
    if folder and (path / "crawl.sqlite").exists():
        raise FocusError(f"{path} holds a crawl; choose another place")
    if folder and not (path / "README.md").exists() and not list(path.glob("*.parquet")):
        raise FocusError(f"{path} was not written by an export; move it away or choose another place")


def _new(path: Path, folder: bool) -> Path:
    if folder:
        new = Path(mkdtemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent))
        new.chmod(0o755)
        return new
    descriptor, name = mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.parent)
    open(descriptor, "wb").close()
    Path(name).chmod(0o644)
    return Path(name)


def _cannot_write(path: Path, error: OSError) -> FocusError:
    return FocusError(f"cannot write {path}: {error.strerror or error}; free some space or choose another place")
