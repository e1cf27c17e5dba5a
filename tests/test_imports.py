"""What is slow to import is imported only where it is used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

SLOW = ("nltk",)

IMPORTS_ALL = """
import pkgutil, importlib, focuscrawl
for module in pkgutil.walk_packages(focuscrawl.__path__, "focuscrawl."):
    importlib.import_module(module.name)
"""

CRAWLS = """
from scrapy.cmdline import execute
try:
    execute("scrapy crawl best_first -a topic=sorting -a max_pages=3 -s FOCUS_WEB=demo -L ERROR -s FOCUS_DIR={}".split())
except SystemExit as ended:
    assert not ended.code
"""


@pytest.mark.parametrize("program", [IMPORTS_ALL, CRAWLS], ids=["all modules", "a crawl"])
def test_nltk_is_not_imported(program, tmp_path):
    program = program.replace("{}", str(tmp_path / "crawl"))
    told = f"{program}\nimport sys\nprint([name for name in {SLOW} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", told], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"
