"""What is installed is whole: packages, data and entry point reach a wheel."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile

from tests.conftest import ROOT


def test_every_package_is_listed():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "focuscrawl").rglob("__init__.py")}
    assert set(listed) == found | {"focuscrawl.data"}


def test_a_wheel_holds_code_and_data(tmp_path):
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"focuscrawl/py.typed", "focuscrawl/data/topics/sorting.toml", "focuscrawl/data/web/sorting.txt"} <= names
    subprocess.run([sys.executable, "-m", "zipfile", "-e", str(wheel), str(tmp_path / "site")], check=True)
    code = "from focuscrawl import resources; from focuscrawl.web.webs import open_web; print(resources.data('web', 'sorting.txt').is_file(), len(open_web('demo').hosts()))"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["True", "47"]
    entry = next(name for name in names if name.endswith("entry_points.txt"))
    assert "settings = focuscrawl.settings" in zipfile.ZipFile(wheel).read(entry).decode()


def test_data_is_read_from_inside_a_zip(tmp_path):
    """As Scrapyd does with an egg."""
    archive = tmp_path / "focuscrawl.egg"
    with zipfile.ZipFile(archive, "w") as egg:
        for path in (ROOT / "focuscrawl").rglob("*.py"):
            egg.write(path, path.relative_to(ROOT))
        for path in (ROOT / "data").rglob("*"):
            if path.is_file() and path.suffix in (".py", ".toml", ".txt"):
                egg.write(path, "focuscrawl" / path.relative_to(ROOT))
    code = (
        f"import sys; sys.path.insert(0, {str(archive)!r}); import focuscrawl; assert '.egg' in focuscrawl.__file__;"
        "from focuscrawl.topic import load_topic; from focuscrawl.web.webs import open_web;"
        "print(load_topic('sorting').name, len(open_web('demo').hosts()))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "Sorting algorithms 47"
