"""`scrapy dashboard`."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from urllib.request import urlopen

from focuscrawl.commands import dashboard
from tests.conftest import ROOT, at, scrapy, small_web


def test_it_serves_a_crawl_until_ctrl_c(crawl):
    crawled = crawl("best_first", small_web({"a": []}, {"a": "sort"}), seeds=at("a"), keywords="sort")
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", "dashboard", str(crawled.folder), "--port", "0"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout.readline() == f"Showing {crawled.folder}, Ctrl-C stops\n"
        address = re.search(r"http://127\.0\.0\.1:\d+/", process.stdout.readline())[0]
        with urlopen(address, timeout=30) as response:
            assert b'<dd id="pages">1' in response.read()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def refused(*arguments: object) -> str:
    result = scrapy("dashboard", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    return result.stderr


def test_what_cannot_be_shown_is_said_in_one_line(tmp_path, crawl):
    assert "no such directory" in refused(tmp_path / "nowhere")
    assert "there is no crawl" in refused(tmp_path)
    crawled = crawl("best_first", small_web({"a": []}), seeds=at("a"), keywords="sort")
    assert "add --token" in refused(crawled.folder, "--host", "0.0.0.0")
    assert "at least 8 characters" in refused(crawled.folder, "--token", "short")
    assert "65535" in refused(crawled.folder, "--port", "70000")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "choose another with --port" in refused(crawled.folder, "--port", taken.getsockname()[1])


def test_without_its_packages_it_names_them(monkeypatch, capsys):
    monkeypatch.setattr(dashboard, "find_spec", lambda name: None)
    command = dashboard.Command()
    command.run(["x"], None)
    assert command.exitcode == 2
    assert "pip install 'focuscrawl[dashboard]'" in capsys.readouterr().err


def test_addresses_of_this_machine_are_known():
    assert all(map(dashboard._is_loopback, ("127.0.0.1", "localhost", "::1", "127.8.8.8")))
    assert not any(map(dashboard._is_loopback, ("0.0.0.0", "192.168.1.1", "example.com", "::")))
