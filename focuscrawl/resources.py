"""The data that ships with the project: topics, the demo web."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def data(*names: str) -> Traversable:
    """A file or folder under `data/`, whether in a checkout, an installed package or a zipped egg."""
    try:
        root = files("focuscrawl.data")
    except ModuleNotFoundError:  # a checkout that was not installed
        root = Path(__file__).resolve().parent.parent / "data"
    return root.joinpath(*names)
