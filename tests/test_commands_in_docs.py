"""Every command that the README and the tutorial show works: each is run here, in order, with the real program.

What the reader is told to write (a `toml` block that begins with the name of its file) is written, what the reader is
told to run (`sh`, `python`, and `sql` that begins with the name of its file) is run. Where a command would go out into
the network, a web in a file answers, and a stand-in for SearXNG.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from focuscrawl.topic import load_topic
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import ROOT, scrapy
from tests.searx import Searx, serving

#: What makes the environment, and what the continuous integration runs itself.
NOT_HERE = ("make ", ". .venv/bin/activate")
PROGRAMS = ("scrapy", "focuscrawl")
#: What a shell does with a command besides splitting it into words.
SHELL = re.compile(r"[|&;<>()$`*?~{\[]")
ENGINES = ("brave", "mojeek", "wikipedia")
QUERY = "sorting networks"


def blocks(document: str) -> list[tuple[str, str]]:
    """The blocks of a document: language and text."""
    return re.findall(r"^```(\w+)\n(.*?)^```", (ROOT / document).read_text("utf-8"), re.MULTILINE | re.DOTALL)


def commands(text: str) -> list[str]:
    """The commands of a block, those over several lines put together."""
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith(NOT_HERE)]


class Reader:
    """Somebody who does what a document says, in an empty directory."""

    def __init__(self, folder: Path, searx: Searx) -> None:
        self.folder = folder
        self.searx = searx
        programs = folder / "programs"
        programs.mkdir()
        for name, module in (*((name, f"-m {name}") for name in PROGRAMS), ("python", "")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
            (programs / name).chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "120"}
        self.environment.pop("SCRAPY_SETTINGS_MODULE", None)  # other tests load the project's; here scrapy.cfg says it

    def follow(self, document: str) -> int:
        """Do it all; returns how many commands that were."""
        done = 0
        for language, text in blocks(document):
            first = text.partition("\n")[0]
            if language == "toml" and (name := re.fullmatch(r"# (\S+\.toml)", first)):
                (self.folder / name[1]).write_text(text, "utf-8")
            elif language == "sql":
                self.ask(self.folder / first.removeprefix("-- "), text)
            elif (
                language == "python" and document != "README.md"
            ):  # the README's is a class, test_docs.py crawls with it
                self.run(["python", "-c", text])
            elif language == "sh":
                for command in commands(text):
                    self.type(command)
                    done += 1
        return done

    def type(self, command: str) -> None:
        command = command.replace("http://localhost:8888", self.searx.address)
        command = command.replace(
            "best_first,shark_search,keyword --pages 100", "keyword --pages 3"
        )  # on twelve topics
        if command.startswith("scrapy web ") and "--save" not in command:
            self.serve(command.partition("#")[0] + " --port 0")  # the port that is shown may be taken
        elif command.split()[0] in PROGRAMS and not SHELL.search(words := command.partition(" #")[0]):
            program, *arguments = shlex.split(words)
            self.check(scrapy(*arguments, cwd=self.folder, timeout=300, program=program, COLUMNS="120"), command)
        else:
            self.run(["bash", "-c", command])

    def run(self, command: list[str]) -> None:
        result = subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300, check=False
        )
        self.check(result, command[-1])

    def check(self, result: subprocess.CompletedProcess[str], command: str) -> None:
        assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"
        assert "Traceback" not in result.stderr, f"{command}\n{result.stderr}"

    def serve(self, command: str) -> None:
        """Start a server, ask for a page, stop it."""
        process = subprocess.Popen(
            ["bash", "-c", f"exec {command}"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
        )
        try:
            shown = [process.stdout.readline() for _ in range(3)]
            with urlopen(re.search(r"http://127.0.0.1:\d+/", shown[1])[0], timeout=30) as response:
                assert response.status == 200
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0, command

    def ask(self, path: Path, query: str) -> None:
        assert path.exists(), path
        connection = sqlite3.connect(path)
        try:
            assert connection.execute(query).fetchall(), query
        finally:
            connection.close()


@pytest.fixture
def reader(tmp_path):
    with serving() as searx:
        yield Reader(tmp_path, searx)


def stand_in(reader: Reader) -> None:
    """A small world for the README: what its seeds link to, and what the user has."""
    web = MemoryWeb()
    seed = "https://en.wikipedia.org/wiki/Sorting_algorithm"
    found = [
        seed,
        "https://en.wikipedia.org/wiki/Merge_sort",
        *(f"http://example.com/{name}" for name in ("", "a-good-page", "merge", "networks")),
    ]
    for url in found:
        links = "".join(f"<p>The <a href='{other}'>running time of merge sort</a></p>" for other in found)
        text = "Sorting networks sort an array in a running time that an algorithm such as bubble sort has not. "
        web.add(url, f"<title>Sort algorithm {url}</title><p>{text * 3}{links}")
    web.save(reader.folder / "web.sqlite")
    (reader.folder / "reader_settings.py").write_text(
        f"from focuscrawl.settings import *\n\nFOCUS_WEB = {str(reader.folder / 'web.sqlite')!r}\n"
    )
    (reader.folder / "scrapy.cfg").write_text("[settings]\ndefault = reader_settings\n")
    for name in ("one", "two"):
        (reader.folder / f"{name}.txt").write_text("\n".join(found))
    for engine in ENGINES:
        reader.searx.results[engine, QUERY] = found
        reader.searx.results[engine, "-sorting -networks"] = ["http://example.com/merge", "http://other.example/"]


def test_every_command_in_the_readme_works(reader, unmeasured):
    stand_in(reader)
    assert reader.follow("README.md") > 10


def test_the_topic_file_of_the_readme_is_right_without_its_comments_too(tmp_path):
    (text,) = (text for language, text in blocks("README.md") if language == "toml")
    for folder in ("pages", "others"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "one.html").write_text("<title>One</title>")
    (tmp_path / "sorting.toml").write_text(re.sub(r"^# (?=\w+ = )", "", text, flags=re.MULTILINE))
    topic = load_topic(str(tmp_path / "sorting.toml"))
    assert len(topic.examples) == 2
    assert len(topic.counterexamples) == 1
    assert topic.dewey == ["005"]


def test_every_command_in_the_tutorial_works(reader, unmeasured):
    (reader.folder / "scrapy.cfg").write_text((ROOT / "scrapy.cfg").read_text())
    assert reader.follow("docs/tutorial.md") > 10


@pytest.mark.parametrize("document", ["README.md", "docs/tutorial.md"])
def test_no_command_hides_in_a_block_that_is_not_run(document):
    for language, text in re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / document).read_text("utf-8"), re.M | re.S):
        if language != "sh":
            assert not re.search(r"^(?:\$ )?(?:scrapy|focuscrawl|make|python) ", text, re.MULTILINE), text
