"""Marks are set by several processes while a crawl runs, and everything is killed in between."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from random import Random
from time import monotonic, sleep

from focuscrawl.crawl.marking import mark_pages
from tests.conftest import ROOT, Crawled, scrapy

PAGES = 200
ARGUMENTS = ["crawl", "best_first", "-a", "topic=sorting", "-a", f"max_pages={PAGES}"]
ARGUMENTS += ["-s", "FOCUS_WEB=demo", "-s", "FOCUS_INDEX=True"]

#: Marks pages that the crawl has stored, in batches of two, and writes down those that were reported as safe. Every
#: mark has a note of its own.
MARKER = """
import sqlite3, sys, time
from pathlib import Path
from random import Random
from focuscrawl.crawl.marking import mark_pages

folder, name, number = Path(sys.argv[1]), sys.argv[2], 0
chance = Random(name)
with open(sys.argv[3], "a") as safe:
    while True:
        connection = sqlite3.connect(folder / "crawl.sqlite", timeout=60)
        urls = [url for (url,) in connection.execute("SELECT url FROM page WHERE problem IS NULL ORDER BY id")]
        connection.close()
        marks = []
        for url in chance.sample(urls, min(2, len(urls))):
            number += 1
            marks.append((url, chance.choice(["yes", "no", "unsure", "none"]), f"{name} {number}"))
        mark_pages(folder, marks, name)
        safe.writelines(f"{note}\\n" for _, _, note in marks)
        safe.flush()
        time.sleep(0.02)
"""


def start_crawl(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "scrapy", *ARGUMENTS, "-s", f"FOCUS_DIR={folder}", "--nolog"]
    return subprocess.Popen(command, cwd=ROOT, env=dict(os.environ))


def pages(folder: Path) -> int:
    try:
        connection = sqlite3.connect(f"file:{folder / 'crawl.sqlite'}?mode=ro", uri=True, timeout=60)
        try:
            return int(connection.execute("SELECT count(*) FROM page").fetchone()[0])
        finally:
            connection.close()
    except sqlite3.OperationalError:
        return 0


def wait_for(folder: Path, number: int, crawl: subprocess.Popen[bytes]) -> None:
    until = monotonic() + 120
    while pages(folder) < number and crawl.poll() is None:
        assert monotonic() < until
        sleep(0.005)


def wait_for_marks(files: list[Path]) -> None:
    """Wait until somebody has marked something; a busy machine may take its time to start them."""
    until = monotonic() + 120
    while not any(path.exists() and path.stat().st_size for path in files):
        assert monotonic() < until
        sleep(0.005)


def test_marks_from_three_processes_survive_kills_of_everyone(tmp_path):
    folder, chance = tmp_path / "crawl", Random(os.urandom(8))
    for turn in range(2):
        crawl = start_crawl(folder)
        wait_for(folder, pages(folder) + 10, crawl)
        names = [f"{person}{turn}" for person in ("ann", "ben", "cho")]
        markers = [
            subprocess.Popen([sys.executable, "-c", MARKER, str(folder), name, str(tmp_path / name)], cwd=ROOT)
            for name in names
        ]
        wait_for(folder, pages(folder) + 30 + chance.randrange(30), crawl)
        wait_for_marks([tmp_path / name for name in names])
        victims = [crawl, *markers]
        chance.shuffle(victims)
        for victim in victims:
            assert victim.poll() in (None, 0), "nobody is disturbed by the others"
            sleep(chance.random() * 0.1)
            victim.kill()
            victim.wait()
        assert Crawled(folder).sql("PRAGMA integrity_check") == [("ok",)]
    assert scrapy(*ARGUMENTS, "-s", f"FOCUS_DIR={folder}").returncode == 0
    crawled = Crawled(folder)
    safe = [line for path in tmp_path.iterdir() if path.is_file() for line in path.read_text().splitlines()]
    notes = [note for (note,) in crawled.sql("SELECT note FROM mark")]
    assert safe
    assert len(notes) == len(set(notes)), "none twice"
    assert set(safe) <= set(notes), "none lost"
    last: dict[str, str] = dict(crawled.sql("SELECT url, verdict FROM mark ORDER BY id"))
    verdicts = {
        url: (relevant, matched) for url, relevant, matched in crawled.sql("SELECT url, relevant, matched FROM page")
    }
    withheld = {url for (url,) in crawled.sql("SELECT url FROM page WHERE withheld NOT NULL OR problem NOT NULL")}
    for url, verdict in last.items():
        if verdict == "no":
            assert verdicts[url] == (0, 0)
        elif verdict == "yes" and url not in withheld:
            assert verdicts[url] == (1, 1)
    assert crawled.sql("SELECT url FROM page WHERE matched ORDER BY listed") == [(url,) for url in crawled.matched]
    assert len(crawled.urls) == len(verdicts) == PAGES
    differ = (
        "SELECT count(*) FROM indexed JOIN page ON page.id = page WHERE entry > 0 AND indexed.matched != page.matched"
    )
    assert crawled.sql(differ) == [(0,)]


def test_a_writer_that_holds_the_file_for_a_moment_stops_no_crawl(tmp_path):
    crawl = start_crawl(tmp_path)
    wait_for(tmp_path, 20, crawl)
    connection = sqlite3.connect(tmp_path / "crawl.sqlite", timeout=60, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    sleep(0.5)
    connection.execute("COMMIT")
    connection.close()
    url = Crawled(tmp_path).sql("SELECT url FROM page WHERE problem IS NULL LIMIT 1")[0][0]
    assert mark_pages(tmp_path, [(url, "no", "")], "ann").marks == 1
    assert crawl.wait(300) == 0
    assert url not in Crawled(tmp_path).matched
