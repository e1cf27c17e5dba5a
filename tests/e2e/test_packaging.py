"""What is installed is whole: packages, data, types and entry point reach a wheel and an sdist."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT, Crawled
from tests.e2e.conftest import outside

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def run(*command: object, cwd: Path, **environment: str) -> str:
    """Run a command as somebody without a checkout does; what it prints."""
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=outside(**environment),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


def wheel_of(source: Path, folder: Path) -> Path:
    """The wheel that pip builds from a checkout or an sdist."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", folder, source),
        cwd=folder,
    )
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def sdist(checkout, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(folder)!r})"
    run(sys.executable, "-c", build, cwd=checkout)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(sdist, tmp_path_factory):
    """The wheel as it is published: built from the sdist."""
    return wheel_of(sdist, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, clean_python):
    """A Python in which the wheel is installed, and no checkout in reach."""
    run(sys.executable, "-m", "pip", "--python", clean_python, "install", "--no-deps", wheel, cwd=wheel.parent)
    return clean_python


def test_a_wheel_and_an_sdist_hold_all_code_and_data(checkout, sdist, wheel, tmp_path):
    shipped = {path.relative_to(ROOT).as_posix() for path in (ROOT / "focuscrawl").rglob("*.py")}
    shipped |= {f"focuscrawl/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "data").rglob("*.t*")}
    for folder, files in (("templates", "*.html"), ("static", "*")):
        found = (ROOT / "focuscrawl" / "dashboard" / folder).glob(files)
        shipped |= {path.relative_to(ROOT).as_posix() for path in found}
    shipped |= {"focuscrawl/py.typed", "focuscrawl/data/__init__.py"}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert shipped == {name for name in names if ".dist-info/" not in name}
    assert names == set(zipfile.ZipFile(wheel_of(checkout, tmp_path)).namelist())
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "scrapy.cfg", "setup.py"} <= names


def test_the_wheel_says_what_it_is_and_what_it_needs(wheel):
    def read(name: str) -> str:
        archive = zipfile.ZipFile(wheel)
        return archive.read(next(path for path in archive.namelist() if path.endswith(f".dist-info/{name}"))).decode()

    assert "settings = focuscrawl.settings" in read("entry_points.txt")
    metadata = read("METADATA")
    assert "\nRequires-Python: >=3.11\n" in metadata
    assert "\nLicense-Expression: BSD-3-Clause\n" in metadata
    for minor in (11, 12, 13):
        assert f"\nClassifier: Programming Language :: Python :: 3.{minor}\n" in metadata
    needed = set(re.findall(r"^Requires-Dist: ([\w-]+)(?!.*extra ==)", metadata, re.MULTILINE))
    assert needed == {re.match(r"[\w-]+", line)[0] for line in PROJECT["project"]["dependencies"]}


def test_the_demo_runs_where_the_wheel_is_installed(installed, tmp_path):
    settings = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
    where = run(installed, "-c", "import focuscrawl; print(focuscrawl.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent.parent)
    assert "Pages on the topic among the first 60" in run(
        installed, "-m", "scrapy", "demo", "--pages", 60, cwd=tmp_path, **settings
    )
    assert len(Crawled(tmp_path / "crawls" / "demo" / "best_first").urls) == 60
    assert "005" in run(installed, "-m", "scrapy", "dewey", "sorting algorithms", cwd=tmp_path, **settings)


def test_a_new_strategy_is_not_written_into_what_is_installed(installed, tmp_path):
    command = installed, "-m", "scrapy", "genspider", "-t", "focused", "near_words", "a.example"
    run(*command, cwd=tmp_path, SCRAPY_SETTINGS_MODULE="focuscrawl.settings")
    assert (tmp_path / "near_words.py").exists()
    assert not list(installed.parent.parent.rglob("near_words.py"))


SPIDER = """
from collections.abc import Sequence

from focuscrawl.page import Page
from focuscrawl.spider import FocusedSpider


class ShortUrls(FocusedSpider):
    name = "short_urls"
    needs = ()

    def score(self, page: Page) -> Sequence[float]:
        return [1 / len(link.url) for link in page.links]
"""


def test_a_spider_of_ones_own_is_checked_against_the_types(installed, tmp_path):
    (tmp_path / "good.py").write_text(SPIDER)
    (tmp_path / "bad.py").write_text(SPIDER.replace("link.url", "link.address"))
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed, "good.py", "bad.py"],
        cwd=tmp_path,
        env=outside(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stdout.splitlines()[0] == 'bad.py:13: error: "Link" has no attribute "address"  [attr-defined]'
    assert "Found 1 error in 1 file" in result.stdout


def test_data_is_read_from_inside_a_zip(wheel, tmp_path):
    """A wheel is a zip, too."""
    code = (
        "import focuscrawl; from focuscrawl.topic import load_topic; from focuscrawl.web.webs import open_web;"
        "from focuscrawl.strategies.dewey import lexicon; lexicon();"
        "print(load_topic('sorting').name, len(open_web('demo').hosts()), focuscrawl.__file__)"
    )
    printed = run(sys.executable, "-c", code, cwd=tmp_path, PYTHONPATH=str(wheel)).strip()
    assert printed == f"Sorting algorithms 47 {wheel}/focuscrawl/__init__.py"
