"""A release is used, cited, checked and repeated by others."""

from __future__ import annotations

import json
import shlex
import shutil
import sqlite3
import subprocess
import tomllib

import pyarrow.parquet
import pytest
import yaml
from warcio.archiveiterator import ArchiveIterator

from focuscrawl.errors import FocusError
from focuscrawl.export.datasheet import command
from focuscrawl.export.release import Release, check_release
from focuscrawl.store.places import read_crawl
from focuscrawl.testing import at
from tests.conftest import Crawled, scrapy
from tests.export.crawls import FORMULA, hostile_crawl


def release(folder, place, **options):
    return Release(**options).run(folder, place, lambda items, _: items)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    return hostile_crawl(tmp_path_factory.mktemp("hostile") / "crawl", FOCUS_WARC="yes")


@pytest.fixture(scope="module")
def released(crawled, tmp_path_factory):
    place = tmp_path_factory.mktemp("release") / "r"
    release(crawled.folder, place, question="What is | there?", authors=['A. "B" Author'])
    return place


def test_everything_is_there_and_agrees(crawled, released):
    sheet = json.loads((released / "datasheet.json").read_bytes())
    rows = pyarrow.parquet.read_table(released / "data").to_pylist()
    urls = (released / "urls.txt").read_text("utf-8").splitlines()
    assert [row["url"] for row in rows] == urls
    assert sheet["pages"] == len(urls)
    assert sheet["seeds"] == [at("root")]
    assert sum(entry["pages"] for entry in sheet["hosts"]) == len(urls)
    assert {entry["reason"] for entry in sheet["gaps"]["withheld"]} == {"noindex", "copy"}
    assert sheet["audit"] is None
    assert sheet["versions"]["released_with"]["focuscrawl"]
    assert "What is \\| there?" in (released / "DATASHEET.md").read_text("utf-8")


def test_the_archive_is_there_without_what_is_withheld(released):
    with (released / "archive" / "pages.warc.gz").open("rb") as file:
        urls = {record.rec_headers["WARC-Target-URI"] for record in ArchiveIterator(file, check_digests="raise")}
    assert at("root") in urls
    assert at("other/moved") in urls
    assert at("other/noindex") not in urls


def test_checksums_are_those_of_sha256sum(released):
    if shutil.which("sha256sum") is None:
        pytest.skip("there is no sha256sum here")
    assert subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=released, check=False).returncode == 0


def test_the_citation_and_the_topic_are_read_by_others(released):
    citation = yaml.safe_load((released / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["authors"] == [{"name": 'A. "B" Author'}]
    assert citation["type"] == "dataset"
    topic = tomllib.loads((released / "topic.toml").read_text("utf-8"))
    assert topic["keywords"] == {"sorting": 1.0, "list": 1.0}
    assert topic["seeds"] == [at("root")]


def test_urls_only_quotes_no_page(crawled, tmp_path):
    release(crawled.folder, tmp_path / "r", urls_only=True)
    names = pyarrow.parquet.read_table(tmp_path / "r" / "data").column_names
    assert {"url", "content_digest", "relevance", "rights"} <= set(names)
    assert not {"text", "title", "description", "authors"} & set(names)
    everything = b"".join(path.read_bytes() for path in (tmp_path / "r").rglob("*") if path.is_file())
    assert FORMULA.encode() not in everything
    assert not (tmp_path / "r" / "archive").exists()
    assert check_release(tmp_path / "r") == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda place: (place / "urls.txt").write_text("x"), "urls.txt has changed"),
        (lambda place: (place / "urls.txt").unlink(), "urls.txt is missing"),
        (lambda place: (place / "data" / "more.parquet").write_text("x"), "data/more.parquet is not listed"),
        (lambda place: next((place / "data").iterdir()).write_bytes(b"PAR1"), "parquet has changed"),
    ],
)
def test_every_change_is_found(released, tmp_path, change, told):
    shutil.copytree(released, tmp_path / "r")
    assert check_release(tmp_path / "r") == []
    change(tmp_path / "r")
    assert any(told in problem for problem in check_release(tmp_path / "r"))


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "x/../../y"])
def test_checksums_lead_nowhere_else(tmp_path, path):
    (tmp_path / "SHA256SUMS").write_text(f"{'0' * 64}  {path}\n")
    with pytest.raises(FocusError, match="is not a checksum and a path in the folder"):
        check_release(tmp_path)


def test_the_command_cannot_be_made_to_run_another(tmp_path):
    crawled = hostile_crawl(tmp_path / "crawl")
    hostile = {"$(touch x)": "y" * 500, "max_pages": "1; touch x", "x; touch x": "`touch x`", "topic": "$(touch x)"}
    runs = json.dumps([{"began": "", "arguments": hostile, "settings": {"FOCUS_DENY": "'; touch x '\n touch x"}}])
    with sqlite3.connect(crawled.folder / "crawl.sqlite") as file:
        file.execute("UPDATE meta SET value = ? WHERE key = 'runs'", (runs,))
        file.execute("UPDATE meta SET value = ? WHERE key = 'spider'", (json.dumps("x; touch x"),))
    file.close()
    with read_crawl(crawled.folder) as store:
        line = command(store)
    assert "\n" not in line
    words = shlex.split(line)
    assert words[:3] == ["scrapy", "crawl", "x; touch x"]
    assert "max_pages=1; touch x" in words
    assert [word for word in words if word.startswith("-")] == [word for word in words if word in ("-a", "-s")]


def test_the_command_repeats_the_crawl(tmp_path):
    first = tmp_path / "crawls" / "first"
    arguments = ("-a", "topic=sorting", "-a", "max_pages=20", "-s", "FOCUS_WEB=demo", "-s", "CONCURRENT_REQUESTS=1")
    assert scrapy("crawl", "best_first", *arguments, "-s", f"FOCUS_DIR={first}").returncode == 0
    assert scrapy("release", first, tmp_path / "r", "--author", "A").returncode == 0
    line = (tmp_path / "r" / "repeat.sh").read_text("utf-8").splitlines()[-1]
    again = line.replace("crawls/repeated", str(tmp_path / "crawls" / "again"))
    assert scrapy(*shlex.split(again)[1:]).returncode == 0
    assert Crawled(tmp_path / "crawls" / "again").urls == Crawled(first).urls


def test_the_command_checks_a_release(released, tmp_path):
    assert "is as it was released" in scrapy("release", "--check", released).stdout
    shutil.copytree(released, tmp_path / "r")
    (tmp_path / "r" / "urls.txt").write_text("x")
    result = scrapy("release", "--check", tmp_path / "r")
    assert result.returncode == 1
    assert "urls.txt has changed" in result.stderr
    result = scrapy("release", "--check", tmp_path)
    assert result.returncode == 2
    assert "has no SHA256SUMS; is it a release?" in result.stderr
