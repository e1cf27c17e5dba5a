"""`scrapy export` and `scrapy import` as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

from focuscrawl.testing import at
from tests.conftest import ROOT, scrapy
from tests.export.crawls import hostile_crawl


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    return hostile_crawl(tmp_path_factory.mktemp("hostile") / "crawl")


def test_an_export_says_where_it_is(crawled, tmp_path):
    result = scrapy("export", crawled.folder, "--to", "jsonl", "--where", "matched", tmp_path / "o.jsonl")
    assert result.returncode == 0, result.stderr
    pages = len(crawled.matched)
    assert result.stdout == f"{pages} pages exported to {tmp_path / 'o.jsonl'}\n"
    assert len((tmp_path / "o.jsonl").read_text("utf-8").splitlines()) == pages


def test_standard_output_has_the_records_and_nothing_else(crawled):
    result = scrapy("export", crawled.folder, "--to", "jsonl", "--where", "depth=0", "-")
    assert [json.loads(line)["url"] for line in result.stdout.splitlines()] == [at("root")]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--to", "parket"], "--to parket: unknown format; did you mean parquet?"),
        (["--to", "jsonl", "--where", "mached"], "unknown field 'mached'; did you mean matched?"),
        (["--to", "jsonl", "--text", "bets"], "--text bets: unknown; did you mean best?"),
        (["--to", "graphml", "--by", "site"], "--by site: expected page or host"),
        (["--to", "chunks", "--chunk", "1"], "--chunk 1: expected a number from 100"),
        (["--to", "chunks", "--text", "none"], "--to chunks is nothing without texts"),
        (["--to", "parquet", "--rows", "0"], "--rows 0: expected a whole number"),
        (["--to", "csv", "--fetched"], "--fetched is for --to warc and wacz"),
        (["--to", "warc", "--fetched"], "crawl with -s FOCUS_WARC=yes"),
        (["--to", "parquet", "-"], "cannot be written to standard output"),
        (["--to", "jsonl", "--frobnicate"], "unknown option --frobnicate"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(crawled, tmp_path, arguments, told):
    result = scrapy("export", crawled.folder, *arguments, *([] if "-" in arguments else [tmp_path / "o"]))
    assert result.returncode == 2
    assert told in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_crawl_is_told(tmp_path):
    result = scrapy("export", tmp_path, "--to", "jsonl")
    assert result.returncode == 2
    assert "no such file" in result.stderr


def test_an_import_says_what_became_of_everything(crawled, tmp_path):
    assert scrapy("export", crawled.folder, "--to", "wacz", tmp_path / "o.wacz").returncode == 0
    result = scrapy("import", tmp_path / "o.wacz", tmp_path / "again", "--keywords", "sorting,list")
    assert result.returncode == 0, result.stderr
    assert f"imported to {tmp_path / 'again'}, " in result.stdout
    assert scrapy("search", tmp_path / "again", "sorting").returncode == 0
    result = scrapy("import", tmp_path / "o.wacz", tmp_path / "again")
    assert result.returncode == 2
    assert "already exists" in result.stderr


@pytest.mark.slow
def test_stopped_by_ctrl_c_it_leaves_nothing_behind(tmp_path):
    crawled = hostile_crawl(tmp_path / "crawl")
    slow = (
        "import signal, sys, time\nfrom focuscrawl.export import texts\nread = texts.read\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may have its jobs ignore Ctrl-C
        "def slowly(page, kind):\n    print('reading', flush=True, file=sys.stderr)\n    time.sleep(0.5)\n"
        "    return read(page, kind)\n"
        "texts.read = slowly\nfrom scrapy.cmdline import execute\nexecute(sys.argv)\n"
    )
    words = ["scrapy", "export", str(crawled.folder), "--to", "parquet", str(tmp_path / "out" / "o")]
    process = subprocess.Popen(
        [sys.executable, "-c", slow, *words[1:]], cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stderr is not None
    assert "reading" in process.stderr.readline()
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "stopped; nothing was written" in said
    assert list((tmp_path / "out").iterdir()) == []
