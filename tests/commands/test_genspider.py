"""`scrapy genspider -t focused`: a strategy of one's own that works at once, and its test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, scrapy


@pytest.fixture
def project(tmp_path):
    """Somebody's project, which takes our settings and has its spiders beside ours."""
    made = scrapy("startproject", "mine", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    root = tmp_path / "mine"
    (root / "mine" / "settings.py").write_text(
        "from focuscrawl.settings import *\n"
        'BOT_NAME = "mine"\nSPIDER_MODULES = ["mine.spiders", "focuscrawl.spiders"]\nNEWSPIDER_MODULE = "mine.spiders"\n'
    )
    return root


def written(result) -> list[Path]:
    """The files that the command says it has written."""
    assert result.returncode == 0, result.stderr
    return [Path(line.removeprefix("Written: ")) for line in result.stdout.splitlines() if "Written: " in line]


def test_a_new_strategy_crawls_and_its_test_passes(project):
    result = scrapy("genspider", "-t", "focused", "near_words", "http://sorting-handbook.example/", cwd=project)
    assert result.returncode == 0, result.stderr
    assert "mine.spiders.near_words" in result.stdout
    assert "test_near_words.py" in result.stdout
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert tests.returncode == 0, tests.stdout
    assert "2 passed" in tests.stdout
    crawl = scrapy(
        "crawl", "near_words", "-a", "keywords=sort,merge", "-a", "max_pages=20", "-s", "FOCUS_WEB=demo", cwd=project
    )
    assert crawl.returncode == 0, crawl.stderr
    assert len((project / "crawls" / "near_words-sort-merge" / "pages.jsonl").read_text().splitlines()) == 20


def test_what_it_writes_has_our_style(project):
    assert scrapy("genspider", "-t", "focused", "near_words", "a.example", cwd=project).returncode == 0
    files = [project / "mine" / "spiders" / "near_words.py", project / "tests" / "test_near_words.py"]
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--config",
        ROOT / "pyproject.toml",
        "--ignore",
        "ANN,D1,S101",
        *files,
    ]
    assert subprocess.run(command, cwd=project, check=False).returncode == 0
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", files[0]]
    paths = {"MYPYPATH": str(ROOT)}  # a type checker does not see what is installed as editable
    checked = subprocess.run(command, cwd=project, capture_output=True, text=True, env={**os.environ, **paths})
    assert checked.returncode == 0, checked.stdout


def test_what_it_writes_beside_our_own_spiders_passes_make_lint(tmp_path):
    for name in ("focuscrawl", "data"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "scrapy.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "tests" / "spiders").mkdir(parents=True)
    made = scrapy("genspider", "-t", "focused", "near_words", "a.example", cwd=tmp_path)
    files = [
        tmp_path / "focuscrawl" / "spiders" / "near_words.py",
        tmp_path / "tests" / "spiders" / "test_near_words.py",
    ]
    assert written(made) == files
    for command in ("check", "format --check"):
        checked = subprocess.run([sys.executable, "-m", "ruff", *command.split(), *files], cwd=tmp_path, check=False)
        assert checked.returncode == 0


def test_scrapys_own_templates_are_there_and_nothing_is_written_over(project):
    assert "  basic" in (listed := scrapy("genspider", "-l", cwd=project).stdout)
    assert "  focused" in listed
    assert "Created spider 'shop'" in scrapy("genspider", "shop", "shop.example", cwd=project).stdout
    assert scrapy("genspider", "-t", "focused", "near_words", "a.example", cwd=project).returncode == 0
    again = scrapy("genspider", "-t", "focused", "near_words", "b.example", cwd=project)
    assert "already exists" in again.stderr
    test = project / "tests" / "test_near_words.py"
    test.write_text("# mine\n")
    scrapy("genspider", "--force", "-t", "focused", "near_words", "b.example", cwd=project)
    assert test.read_text() == "# mine\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ("-t", "focussed", "foo"),
            "unknown template 'focussed'; known templates: basic, crawl, csvfeed, focused, xml",
        ),
        (("-d", "focussed"), "unknown template 'focussed'; known templates: basic, "),
        (("-t", "focused", "best_first"), "spider 'best_first' already exists in focuscrawl.spiders.best_first; "),
        (("best_first",), "spider 'best_first' already exists in focuscrawl.spiders.best_first; "),
        (("-t", "focused", "mine"), "'mine' is the name of the project; "),
        (("-t", "focused", "old-words"), "spiders/old_words.py already exists; "),
        (
            ("-s", "NEWSPIDER_MODULE=mine.none", "foo"),
            "setting NEWSPIDER_MODULE=mine.none: No module named 'mine.none'",
        ),
    ],
)
def test_what_cannot_be_written_is_one_line_and_exit_status_2(project, arguments, problem):
    (project / "mine" / "spiders" / "old_words.py").write_text("# mine\n")
    before = sorted(project.rglob("*.py"))
    domain = () if arguments[0] == "-d" else ("a.example",)
    result = scrapy("genspider", *arguments, *domain, cwd=project)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("focuscrawl: ")
    assert problem in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert sorted(project.rglob("*.py")) == before


def test_it_says_what_it_has_written(project):
    result = scrapy("genspider", "-t", "focused", "near_words", "a.example", cwd=project / "mine")
    files = [project / "mine" / "spiders" / "near_words.py", project / "tests" / "test_near_words.py"]
    assert written(result) == files
    assert all(file.exists() for file in files)
    again = scrapy("genspider", "--force", "-t", "focused", "near_words", "a.example", cwd=project)
    assert written(again) == files[:1]
    assert f"{files[1]} already exists and was not changed" in again.stdout


OURS = {"SCRAPY_SETTINGS_MODULE": "focuscrawl.settings"}
IN_OURS = ROOT / "focuscrawl" / "spiders" / "near_words.py"


def test_outside_a_project_it_writes_to_the_current_directory_and_never_into_our_package(tmp_path):
    made = scrapy("genspider", "-t", "focused", "near_words", "http://sorting-handbook.example/", cwd=tmp_path, **OURS)
    assert written(made) == [tmp_path / "near_words.py", tmp_path / "tests" / "test_near_words.py"]
    assert "scrapy runspider near_words.py" in made.stdout
    assert not IN_OURS.exists()
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"], cwd=tmp_path, capture_output=True
    )
    assert tests.returncode == 0, tests.stdout
    options = "-a", "keywords=sort", "-a", "max_pages=5", "-s", "FOCUS_WEB=demo"
    crawl = scrapy("runspider", "near_words.py", *options, cwd=tmp_path, **OURS)
    assert crawl.returncode == 0, crawl.stderr
    assert len((tmp_path / "crawls" / "near_words-sort" / "pages.jsonl").read_text().splitlines()) == 5
    for name in ("near_words", "best_first"):
        again = scrapy("genspider", "-t", "focused", name, "a.example", cwd=tmp_path, **OURS)
        assert again.returncode == 2
        assert "already exists" in again.stderr


def test_a_package_of_ones_own_needs_no_project(tmp_path):
    (tmp_path / "mine" / "spiders").mkdir(parents=True)
    for folder in ("mine", "mine/spiders"):
        (tmp_path / folder / "__init__.py").touch()
    result = scrapy(
        *("genspider", "-s", "NEWSPIDER_MODULE=mine.spiders", "-t", "focused", "near_words", "a.example"),
        cwd=tmp_path,
        **OURS,
    )
    assert written(result)[0] == tmp_path / "mine" / "spiders" / "near_words.py"


def test_a_project_whose_new_spiders_would_go_to_ours_is_told_how(project):
    settings = project / "mine" / "settings.py"
    settings.write_text("from focuscrawl.settings import *\n")
    for environment in ({}, OURS):
        result = scrapy("genspider", "-t", "focused", "near_words", "a.example", cwd=project, **environment)
        assert result.returncode == 2
        assert result.stdout == ""
        assert len(result.stderr.splitlines()) == 1
        assert "setting NEWSPIDER_MODULE=focuscrawl.spiders is not a package of this project" in result.stderr
        assert "unset SCRAPY_SETTINGS_MODULE" in result.stderr
    assert not IN_OURS.exists()


def test_what_is_installed_inside_the_project_is_not_written_to(project):
    site = project / ".venv" / "lib" / "python3" / "site-packages" / "theirs" / "spiders"
    site.mkdir(parents=True)
    for folder in (site, site.parent):
        (folder / "__init__.py").touch()
    result = scrapy(
        *("genspider", "-s", "NEWSPIDER_MODULE=theirs.spiders", "-t", "focused", "near_words", "a.example"),
        cwd=project,
        PYTHONPATH=str(site.parents[1]),
    )
    assert result.returncode == 2
    assert "is not a package of this project" in result.stderr
    assert [path.name for path in site.iterdir() if path.suffix == ".py"] == ["__init__.py"]
