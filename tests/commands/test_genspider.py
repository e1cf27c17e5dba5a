"""`scrapy genspider -t focused`: a strategy of one's own that works at once, and its test."""

from __future__ import annotations

import os
import subprocess
import sys

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
        "ANN,D1,I,S101",
        *files,
    ]
    assert subprocess.run(command, check=False).returncode == 0
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", files[0]]
    paths = {"MYPYPATH": str(ROOT)}  # a type checker does not see what is installed as editable
    checked = subprocess.run(command, cwd=project, capture_output=True, text=True, env={**os.environ, **paths})
    assert checked.returncode == 0, checked.stdout


def test_scrapys_own_templates_are_there_and_nothing_is_written_over(project):
    assert "  basic" in (listed := scrapy("genspider", "-l", cwd=project).stdout)
    assert "  focused" in listed
    assert "Created spider 'shop'" in scrapy("genspider", "shop", "shop.example", cwd=project).stdout
    assert scrapy("genspider", "-t", "focused", "near_words", "a.example", cwd=project).returncode == 0
    again = scrapy("genspider", "-t", "focused", "near_words", "b.example", cwd=project)
    assert "already exists" in again.stdout
    test = project / "tests" / "test_near_words.py"
    test.write_text("# mine\n")
    scrapy("genspider", "--force", "-t", "focused", "near_words", "b.example", cwd=project)
    assert test.read_text() == "# mine\n"
