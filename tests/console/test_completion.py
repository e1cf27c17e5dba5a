"""Shell completion, in a real bash; the function that finds the candidates also in a plain POSIX shell."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from focuscrawl.console.completion import SHELLS
from focuscrawl.console.main import our_commands
from tests.conftest import focuscrawl

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scripts")
    for shell in SHELLS:
        result = focuscrawl("completion", shell, cwd=folder)
        assert result.returncode == 0, result.stderr
        (folder / shell).write_text(result.stdout)
    return folder


@pytest.fixture
def complete(scripts, tmp_path):
    """What bash offers for a line, in a directory with two crawls and a topic."""
    for name in ("crawls/best_first-x", "crawls/demo/adaptive", "empty"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("crawls/best_first-x/crawl.sqlite", "crawls/demo/adaptive/crawl.sqlite", "mine.toml"):
        (tmp_path / name).touch()

    def offered(line: str) -> list[str]:
        program = f'source {scripts / "bash"}; COMP_LINE=$1; COMP_POINT=${{#1}}; _focuscrawl; printf "%s\\n" "${{COMPREPLY[@]}}"'
        result = subprocess.run(
            [shutil.which("bash"), "--norc", "-c", program, "bash", line],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "/nowhere"},  # no program is started
        )
        assert result.stderr == ""
        return result.stdout.split()

    return offered


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("focuscrawl se", ["search", "seeds", "settings"]),
        ("focuscrawl crawl ad", ["adaptive"]),
        ("focuscrawl crawl --over", ["--overwrite-output"]),
        ("focuscrawl crawl best_first -a n", ["n="]),
        ("focuscrawl crawl -a max_", ["max_pages=", "max_hours="]),
        ("focuscrawl crawl -a topic=so", ["sorting"]),  # for bash, what is after = is a word of its own
        ("focuscrawl crawl -a topic=m", ["mine.toml"]),
        ("focuscrawl crawl -s FOCUS_WEB=", ["demo"]),
        ("focuscrawl crawl -s FOCUS_DIR=crawls/b", ["crawls/best_first-x"]),
        ("focuscrawl topic ", ["suggest", "check"]),
        ("focuscrawl topic check b", ["baking", "birds"]),
        ("focuscrawl search crawls/d", ["crawls/demo/adaptive", "crawls/demo"]),
        ("focuscrawl topic suggest birds --from crawls/b", ["crawls/best_first-x", "crawls/best_first-x"]),
        ("focuscrawl parse --spider ad", ["adaptive"]),
        ("focuscrawl completion ", ["bash", "zsh", "fish"]),
        ("focuscrawl nonsense ", []),
    ],
)
def test_bash_completes_without_starting_a_program(complete, line, expected):
    assert complete(line) == expected


def test_every_command_and_every_crawl_is_offered(complete):
    assert {*our_commands()} <= {*complete("focuscrawl ")}
    assert {"crawls/best_first-x", "crawls/demo/adaptive"} <= {*complete("focuscrawl explain ")}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_scripts_are_valid(shell, scripts):
    if not (program := shutil.which(shell)):
        pytest.skip(f"{shell} is not installed")
    subprocess.run([program, "-n", scripts / shell], check=True)


def test_what_the_shells_share_runs_in_a_plain_one(scripts):
    """fish has it run by `sh`, from a string."""
    script = (scripts / "fish").read_text()
    text = script.partition("set -g __focuscrawl '")[2].partition("'\nfunction ")[0]
    program = text.replace("\\'", "'").replace("\\\\", "\\")
    words = ["crawl", "-a", "topic=so"]
    result = subprocess.run(["sh", "-c", program, "focuscrawl", *words], capture_output=True, text=True, check=True)
    assert result.stdout == "topic=sorting\tships with focuscrawl\n"


def test_a_wrong_shell_is_told():
    result = focuscrawl("completion", "bsh")
    assert result.returncode == 2
    assert "which shell? did you mean bash?" in result.stderr
    assert "give one of bash, zsh, fish" in focuscrawl("completion").stderr
