"""`make docs` builds the documentation as pages to browse with no network, and fails on what leads nowhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def build(source: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` runs."""
    rule = (ROOT / "Makefile").read_text().partition("\ndocs:")[2].splitlines()[1]
    options = re.fullmatch(r"\t\$\(BIN\)/python (-m sphinx .+) \. build/docs", rule)[1].split()
    command = [sys.executable, *options, ".", str(target)]
    return subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)


def test_the_documentation_is_built_and_needs_no_network(tmp_path):
    result = build(ROOT, tmp_path)
    assert result.returncode == 0, result.stderr
    pages = {path.relative_to(tmp_path).as_posix(): path.read_text("utf-8") for path in tmp_path.rglob("*.html")}
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        assert path.relative_to(ROOT).with_suffix(".html").as_posix() in pages
    assert 'url=docs/index.html"' in pages["index.html"]
    for name, page in pages.items():
        assets = re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"([^\"]+)", page)
        assert not [asset for asset in assets if re.match(r"(?:https?:)?//", asset)], name
    styles = "".join(path.read_text("utf-8") for path in tmp_path.rglob("*.css"))
    assert not re.search(r"(?:@import|url\()\s*[\"']?(?:https?:)?//", styles)


def test_every_page_is_in_the_table_of_contents(tmp_path):
    """Sphinx warns of a page that no table of contents has, and warnings fail."""
    result = build(small_documentation(tmp_path, "# Index\n", lost="# Lost\n"), tmp_path / "built")
    assert result.returncode != 0
    assert "lost.md: WARNING: document isn't included in any toctree" in result.stderr


def test_what_leads_nowhere_fails_the_build(tmp_path):
    wrong = ("nowhere.md", "page.md#nowhere", "#nowhere", "../README.md#nowhere", "../nowhere.toml")
    right = ("page.md", "page.md#a-heading", "#index", "../README.md#a-topic", "../pyproject.toml")
    links = "".join(f"- [to {target}]({target})\n" for target in (*wrong, *right))
    result = build(
        small_documentation(tmp_path, f"# Index\n\n{links}", page="# Page\n\n## A heading\n"), tmp_path / "built"
    )
    assert result.returncode != 0
    assert len(re.findall(r"index\.md:\d+: WARNING", result.stderr)) == len(wrong), result.stderr
    for line, target in enumerate(wrong, 3):
        assert f"index.md:{line}: WARNING" in result.stderr, target


def small_documentation(folder: Path, index: str, **pages: str) -> Path:
    """A documentation as this one is built; of its *pages* the table of contents has `page` alone."""
    (folder / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "conf.py", folder / "docs")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "README.md").write_text("# The readme\n\n## A topic\n")
    contents = "\n```{toctree}\n:glob:\n:hidden:\n\n../README\npage*\n```\n"
    (folder / "docs" / "index.md").write_text(index + contents)
    for name, text in pages.items():
        (folder / "docs" / f"{name}.md").write_text(text)
    return folder
