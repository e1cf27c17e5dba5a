"""Bodies in WARC files: whenever a crawl is killed, every page that is stored can be read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import monotonic, sleep

import pytest

from focuscrawl.export.warc_records import members
from focuscrawl.store.places import read_crawl
from tests.conftest import ROOT

WEB = "synthetic:400?hosts=20&links=10&bytes=30000"
SEED = "http://host-0.synthetic.example/0.html"


def start(folder: Path, bodies: Path, place: str) -> subprocess.Popen[bytes]:
    settings = {"FOCUS_DIR": folder, "FOCUS_BODIES": f"warc:{bodies}", "FOCUS_WEB": WEB, "FOCUS_LEASE": 2}
    settings |= {"FOCUS_STORE": place} if place else {}
    options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
    command = [sys.executable, "-m", "scrapy", "crawl", "breadth_first", "-a", f"seeds={SEED}", *options]
    return subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)


def pages(place: Path | str) -> int:
    """Stored pages; each of them can be read, with its text."""
    with read_crawl(place) as store:
        found = list(store.pages.each())
        for page in found:
            assert page.duplicate_of is not None or b"</html>" in store.pages.response(page.number).body
            assert page.problem is not None or store.pages.text(page.number)
        return len(found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["file", "server"])
def test_killed_at_any_moment_every_stored_page_can_be_read(request, tmp_path, kind):
    place = request.getfixturevalue("database") if kind == "server" else ""
    folder, bodies, chance = tmp_path / "c", tmp_path / "b", Random(os.urandom(8))
    before = 0
    for _ in range(4):
        process = start(folder, bodies, place)
        end = monotonic() + 60
        known = {path.name for path in bodies.glob("*.gz")} if bodies.exists() else set()
        while process.poll() is None and not (bodies.exists() and {path.name for path in bodies.glob("*.gz")} - known):
            assert monotonic() < end
            sleep(0.01)
        sleep(chance.uniform(0.1, 0.8))
        process.send_signal(signal.SIGKILL)
        process.wait()
        stored = pages(place or folder)
        assert stored >= before
        before = stored
    assert before > 20
    # what a power cut may leave: half a record at the end of a file that nobody writes to any more
    files = sorted(bodies.glob("*.warc.gz"))
    with files[0].open("ab") as file:
        file.write(files[0].read_bytes()[:300])
    process = start(folder, bodies, place)
    assert process.wait(120) == 0
    assert pages(place or folder) == 400
    for path in files:
        with path.open("rb") as file:
            assert len(list(members(file, path.stat().st_size))) > 1
