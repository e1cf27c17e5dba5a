"""Which addresses a crawl connects to, whatever names lead there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from focuscrawl.web.addresses import Networks, is_literal, network
from tests.conftest import Crawled, scrapy


@pytest.mark.parametrize(
    ("address", "where"),
    [
        ("8.8.8.8", "public"), ("93.184.216.34", "public"), ("2606:4700::1111", "public"), ("::ffff:8.8.8.8", "public"),
        ("127.0.0.1", "loopback"), ("127.255.0.3", "loopback"), ("::1", "loopback"), ("::ffff:127.0.0.1", "loopback"),
        ("2002:7f00:1::", "loopback"), ("64:ff9b::7f00:1", "loopback"), ("64:ff9b::808:808", "public"),
        ("10.1.2.3", "10.0.0.0/8"), ("172.16.0.1", "172.16.0.0/12"), ("192.168.1.1", "192.168.0.0/16"),
        ("100.64.0.1", "100.64.0.0/10"), ("fc00::1", "fc00::/7"), ("::ffff:10.0.0.1", "10.0.0.0/8"),
        ("169.254.169.254", "link-local"), ("fe80::1", "link-local"), ("fe80::1%eth0", "link-local"),
        ("0.0.0.0", "special"), ("224.0.0.1", "special"), ("255.255.255.255", "special"), ("192.0.2.1", "special"),
        ("::", "special"), ("ff02::1", "special"), ("2001:db8::1", "special"),
    ],
)  # fmt: skip
def test_where_addresses_are(address, where):
    assert network(address) == where


def test_names_are_no_addresses():
    assert is_literal("127.0.0.1")
    assert is_literal("::1")
    assert not is_literal("localhost")


LOCAL, HOUSE, OFFICE, METADATA = "127.0.0.2", "192.168.7.7", "10.0.0.9", "169.254.169.254"


@pytest.mark.parametrize(
    ("seed", "opened"),
    [
        ("http://8.8.8.8/", set()),
        ("http://example.com/", set()),
        ("http://127.0.0.1:8000/", {LOCAL}),
        ("http://localhost:8000/", {LOCAL}),
        ("http://[::1]/", {LOCAL}),
        ("http://10.0.0.1/", {OFFICE}),
        ("http://192.168.0.1/", {HOUSE}),
        ("http://169.254.1.1/", {METADATA}),
    ],
)
def test_a_seed_opens_the_network_it_names_and_no_other(seed, opened):
    networks = Networks([seed])
    assert networks.allow("8.8.8.8")
    assert {address for address in (LOCAL, HOUSE, OFFICE, METADATA) if networks.allow(address)} == opened


def test_everything_is_open_if_asked_for():
    assert Networks(everything=True).allow(METADATA)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.server.asked.append((self.headers["Host"].partition(":")[0], self.path))
        location = self.server.redirects.get(self.path)
        body = b"" if location else self.server.page
        self.send_response(302 if location else 404 if self.path.endswith(("robots.txt", ".json")) else 200)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def local_server(page: bytes = b"<title>Secret</title>", redirects: dict[str, str] | None = None) -> Iterator:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.asked, server.page, server.redirects = [], page, redirects or {}
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


#: Names of the test's own: what they resolve to is written below, look-up by look-up; the last stands for all others.
SITE = """
import socket
_look_up = socket.getaddrinfo
_names = {names!r}

def getaddrinfo(host, *args, **kwargs):
    answers = _names.get(host)
    if answers is None:
        return _look_up(host, *args, **kwargs)
    answer = answers.pop(0) if len(answers) > 1 else answers[0]
    if answer is None:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return _look_up(answer, *args, **kwargs)

def gethostbyname(host):
    return getaddrinfo(host, None)[0][4][0]

socket.getaddrinfo, socket.gethostbyname = getaddrinfo, gethostbyname
"""


def crawl_names(
    tmp_path, names: dict[str, list[str | None]], *arguments: object, name: str = "crawl"
) -> tuple[str, Crawled]:
    """Crawl as a user does, with host names that lead where the test says."""
    (tmp_path / "sitecustomize.py").write_text(SITE.format(names=names))
    folder = tmp_path / name
    command = ["crawl", "breadth_first", *arguments, "-s", f"FOCUS_DIR={folder}", "-s", "DOWNLOAD_TIMEOUT=5"]
    settings = ["-s", "FOCUS_BACKOFF_MAX=0.1", "-s", "DOWNLOAD_DELAY=0", "-s", "RETRY_TIMES=2"]
    result = scrapy(*command, *settings, PYTHONPATH=str(tmp_path))
    assert "Traceback" not in result.stderr
    return result.stderr, Crawled(folder)


def test_a_name_is_checked_at_the_address_that_is_connected_to(tmp_path):
    """Neither a look-up that failed first nor an answer that changed later opens this machine."""
    with local_server() as server:
        port = server.server_port
        names = {
            "fails-first.example": [None, "127.0.0.1"],
            "changes.example": ["203.0.113.9", "127.0.0.1"],
            "private.example": ["127.0.0.1"],
        }
        seeds = ",".join(f"http://{name}:{port}/{path}" for name in names for path in ("a", "b", "c"))
        log, crawled = crawl_names(tmp_path, names, "-a", f"seeds={seeds}")
        assert server.asked == []
    assert crawled.sql("SELECT count(*) FROM page") == [(0,)]
    assert "private.example is at 127.0.0.1, which is not on the public internet" in log
    assert "FOCUS_PRIVATE_HOSTS=True" in log


def test_a_seed_by_name_that_leads_here_opens_nothing(tmp_path):
    """But one that is meant to be here does, and only this machine; redirects and links are held to the same."""
    with local_server() as server:
        port = server.server_port
        server.page = (
            f"<a href='http://inside.example:{port}/secret'>x</a><a href='http://127.0.0.1:{port}/b'>y</a>".encode()
        )
        server.redirects["/moved"] = "http://10.255.255.1/"
        names = {"inside.example": ["127.0.0.1"]}
        crawl_names(tmp_path, names, "-a", f"seeds=http://inside.example:{port}/")
        assert server.asked == []
        seeds = f"seeds=http://localhost:{port}/,http://localhost:{port}/moved"
        _, crawled = crawl_names(tmp_path, names, "-a", seeds, name="second")
    assert f"http://localhost:{port}/" in crawled.urls
    assert f"http://inside.example:{port}/secret" in crawled.urls  # this machine is open
    (reason,) = crawled.sql("SELECT reason FROM failure WHERE url LIKE '%moved'")[0]
    assert reason.startswith("private address: 10.255.255.1 is not on the public internet")


def test_private_networks_are_open_if_asked_for(tmp_path):
    with local_server() as server:
        names = {"inside.example": ["127.0.0.1"]}
        seeds = f"seeds=http://inside.example:{server.server_port}/"
        _, crawled = crawl_names(tmp_path, names, "-a", seeds, "-s", "FOCUS_PRIVATE_HOSTS=True")
        assert crawled.sql("SELECT count(*) FROM page") == [(1,)]
