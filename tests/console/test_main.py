"""`focuscrawl`: the same commands as `scrapy`, from any directory."""

from __future__ import annotations

import ast
import re
import subprocess
import sys

import pytest

from focuscrawl import __version__
from focuscrawl.console.main import other_commands, our_commands, project_settings
from tests.conftest import ROOT, focuscrawl, scrapy

PACKAGE = ROOT / "focuscrawl"


def test_the_version_is_told_without_importing_scrapy(tmp_path):
    program = (
        "import sys; from focuscrawl.console.main import main; main(['--version']); print('scrapy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert re.fullmatch(
        rf"focuscrawl {re.escape(__version__)} \(Scrapy [\d.]+, Python [\d.]+\)\nFalse\n", result.stdout
    )


def test_it_crawls_in_any_directory_and_names_itself(tmp_path):
    result = focuscrawl("crawl", "-a", "topic=sorting", "-a", "max_pages=5", "-s", "FOCUS_WEB=demo", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "crawls" / "adaptive-sorting-algorithms" / "URLs.txt").exists()
    assert focuscrawl("search", "crawls/adaptive-sorting-algorithms", "sort", cwd=tmp_path).returncode == 0
    assert "best_first" in focuscrawl("list", cwd=tmp_path).stdout.split()


def test_alone_it_lists_our_commands_before_scrapys(tmp_path):
    listed = focuscrawl(cwd=tmp_path).stdout
    ours, theirs = listed.split("Of Scrapy:")
    assert re.findall(r"^  (\w+)", ours, re.MULTILINE)[:3] == ["demo", "new", "crawl"]
    assert {"startproject", "settings", "fetch"} <= {*re.findall(r"^  (\w+)", theirs, re.MULTILINE)}
    lines = re.findall(r"^  (\w+) +(.*)", listed, re.MULTILINE)
    assert {name for name, _ in lines} == {*our_commands(), *other_commands(project_settings())}
    assert all(text for _, text in lines)
    assert focuscrawl("--help", cwd=tmp_path).stdout == listed


@pytest.mark.parametrize("command", ["crawl", "list", "new", "search", "seeds", "topic"])
def test_help_and_messages_name_the_program_that_was_called(command, tmp_path):
    told = focuscrawl(command, "--help", cwd=tmp_path).stdout
    assert f"focuscrawl {command}" in told
    assert not re.search(r"\bscrapy (crawl|list|new|search|seeds|topic)\b", told)
    assert f"scrapy {command}" in scrapy(command, "--help").stdout


def test_a_message_names_it_too(tmp_path):
    assert "`focuscrawl search --help` lists" in focuscrawl("search", "--nonsense", cwd=tmp_path).stderr
    assert "`scrapy search --help` lists" in scrapy("search", "--nonsense").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zsearch"], "focuscrawl: unknown command 'zsearch'; did you mean `focuscrawl search`?"),
        (["zzz"], "focuscrawl: unknown command 'zzz'; `focuscrawl` lists them"),
        (["--wrong"], "focuscrawl: unknown option --wrong; `focuscrawl` lists the commands"),
    ],
)
def test_a_wrong_command_costs_one_line(arguments, message, tmp_path):
    result = focuscrawl(*arguments, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (2, f"{message}\n")


# ---- in a project of the user's


@pytest.fixture
def project(tmp_path):
    assert scrapy("startproject", "shop", cwd=tmp_path).returncode == 0
    return tmp_path / "shop"


def test_in_a_project_its_settings_apply_and_our_commands_are_there(project):
    spider = "import scrapy\n\n\nclass Books(scrapy.Spider):\n    name = 'books'\n"
    (project / "shop" / "spiders" / "books.py").write_text(spider)
    (project / "shop" / "commands").mkdir()
    (project / "shop" / "commands" / "__init__.py").touch()
    command = "from scrapy.commands.list import Command as List\n\n\nclass Command(List):\n    pass\n"
    for name in ("shelves", "search"):
        (project / "shop" / "commands" / f"{name}.py").write_text(command)
    settings = project / "shop" / "settings.py"
    settings.write_text(settings.read_text() + 'COMMANDS_MODULE = "shop.commands"\n')
    below = project / "shop" / "spiders"
    assert focuscrawl("list", cwd=below).stdout == "books\n"
    assert focuscrawl("shelves", cwd=below).stdout == "books\n"
    assert "give the directory of a crawl" in focuscrawl("search", cwd=below).stderr  # ours, not the project's
    assert focuscrawl("settings", "--get", "BOT_NAME", cwd=below).stdout == "shop\n"
    assert "shelves" in focuscrawl(cwd=below).stdout.partition("Of Scrapy, and of this project:")[2]


def test_our_spiders_in_a_project_that_does_not_know_them_cost_one_line(project):
    result = focuscrawl("crawl", "-a", "topic=sorting", cwd=project)
    assert result.returncode == 2
    assert "or crawl with `focuscrawl crawl` outside this project" in result.stderr.splitlines()[-1]


def test_the_default_strategy_crawls_in_a_project_with_the_add_on(project):
    settings = project / "shop" / "settings.py"
    settings.write_text(settings.read_text() + 'ADDONS = {"focuscrawl.addon.FocusAddon": 500}\n')
    result = focuscrawl("crawl", "-a", "topic=sorting", "-a", "max_pages=3", "-s", "FOCUS_WEB=demo", cwd=project)
    assert result.returncode == 0, result.stderr
    assert (project / "crawls" / "adaptive-sorting-algorithms").is_dir()


def test_settings_that_cannot_be_imported_are_named(tmp_path):
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = missing.settings\n")
    result = focuscrawl("list", cwd=tmp_path)
    assert result.returncode == 2
    assert f"{tmp_path / 'scrapy.cfg'} names the settings 'missing.settings'" in result.stderr
    result = focuscrawl("list", cwd=tmp_path, SCRAPY_SETTINGS_MODULE="absent")
    assert "the environment variable SCRAPY_SETTINGS_MODULE names the settings 'absent'" in result.stderr


# ---- the name of the program


def test_one_place_decides_the_name_of_the_program():
    """Texts that show a command line ask `program()` for its first word."""
    names = "|".join([*our_commands(), "list", "settings"])
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text("utf-8"))
        described = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
        found += [
            f"{path.relative_to(PACKAGE)}:{node.lineno}"
            for node in texts
            if id(node) not in described and re.search(rf"\bscrapy ({names})\b", node.value)
        ]
    assert found == []
