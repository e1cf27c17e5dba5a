"""What a person at a terminal sees."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
import threading
from time import monotonic, sleep

from tests.conftest import ROOT, Crawled


class Terminal:
    """A command on a terminal of its own."""

    def __init__(self, *arguments: str) -> None:
        ours, theirs = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "110", "LINES": "30"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=ROOT,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self.output = b""
        self.reader = threading.Thread(target=self._read, args=(ours,), daemon=True)
        self.reader.start()

    def _read(self, terminal: int) -> None:
        try:
            while data := os.read(terminal, 4096):
                self.output += data
        except OSError:  # the end of a terminal is an error
            pass
        os.close(terminal)

    def wait_for(self, pattern: bytes) -> None:
        until = monotonic() + 30
        while not re.search(pattern, self.output):
            assert monotonic() < until, self.output.decode()
            sleep(0.01)

    def finish(self) -> str:
        self.process.wait(30)
        self.reader.join(10)
        return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", self.output.decode())


def crawl(folder, *more: str) -> Terminal:
    return Terminal(
        "crawl", "best_first", "-a", "topic=sorting", "-s", "FOCUS_WEB=demo", "-s", f"FOCUS_DIR={folder}", *more
    )


def test_a_live_view_and_where_the_files_are(tmp_path):
    terminal = crawl(tmp_path, "-a", "max_pages=300")
    text = terminal.finish()
    assert terminal.process.returncode == 0
    assert "best_first, Sorting algorithms" in text
    assert re.search(r"harvest  [▁▂▃▄▅▆▇█]{10,40}  8 pages a bar", text)
    assert re.search(r"hosts    \d+ busy, \d+ resting", text)
    assert re.search(r"matched  0\.\d\d  .+\.example/", text)
    assert re.search(r"300/300 pages, [\d.]+/s, harvest \d+% \(last 200: \d+%\), \d+ queued, next 500: \d+–\d+", text)
    assert text.count(f"matched URLs are in {tmp_path}/URLs.txt") == 1
    assert text.count(f"The whole crawl is in {tmp_path}/crawl.sqlite") == 1
    assert "INFO" not in text


def test_ctrl_c_once_says_so_and_twice_gives_the_terminal_back(tmp_path):
    for times in (1, 2):
        folder = tmp_path / str(times)
        terminal = crawl(folder, "-s", "DOWNLOAD_DELAY=0.5", "-s", "CONCURRENT_REQUESTS=4")
        terminal.wait_for(rb"[1-9]\d* pages")
        for _ in range(times):
            terminal.process.send_signal(signal.SIGINT)
            sleep(0.05)
        text = terminal.finish()
        assert "Traceback" not in text
        assert terminal.output.rindex(b"\x1b[?25h") > terminal.output.rindex(b"\x1b[?25l")  # the cursor is back
        assert text.rstrip().endswith("report.html")
        assert Crawled(folder).sql("PRAGMA integrity_check") == [("ok",)]
