"""What is shipped, and clean environments to put it into."""

from __future__ import annotations

import os
import shutil
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.conftest import ROOT, measuring_nothing

#: What it takes to build a wheel, an sdist or an egg.
SOURCES = ("focuscrawl", "data", "LICENSE", "MANIFEST.in", "README.md", "pyproject.toml", "scrapy.cfg", "setup.py")


def outside(**more: str) -> dict[str, str]:
    """The environment variables of somebody who has no checkout."""
    ours = ("PYTHONPATH", "SCRAPY", "COVERAGE_", "COV_CORE_", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | more


@pytest.fixture(scope="module", autouse=True)
def unmeasured_processes():
    """Processes that are started here measure no coverage: it would take much of the time, and other tests have it."""
    with measuring_nothing():
        yield


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A checkout of its own: building leaves files behind."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture(scope="module")
def clean_python(tmp_path_factory):
    """A Python that has everything focuscrawl needs, but not focuscrawl: links to what is installed here."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for package in Path(sysconfig.get_path("purelib")).iterdir():
        if "focuscrawl" not in package.name and package.suffix != ".pth" and not (site / package.name).exists():
            (site / package.name).symlink_to(package)
    return folder / "bin" / "python"
