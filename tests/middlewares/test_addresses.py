from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from focuscrawl.middlewares.addresses import is_literal, is_public
from tests.conftest import Crawled, scrapy


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.0.3", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1",
        "::ffff:10.0.0.1", "2002:7f00:1::", "192.0.2.1",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_that_are(address):
    assert is_public(address)


def test_names_are_no_addresses():
    assert is_literal("127.0.0.1")
    assert is_literal("::1")
    assert not is_literal("localhost")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        port = self.server.server_address[1]
        self.send_response(301 if self.path == "/redirect" else 200)
        if self.path == "/redirect":
            self.send_header("Location", f"http://127.0.0.3:{port}/by-redirect")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(
            f"<a href='http://localhost:{port}/by-name'>x</a><a href='http://127.0.0.2:{port}/by-address'>y</a>"
            "<a href='/fine'>z</a><a href='/redirect'>w</a>".encode()
        )

    def log_message(self, *_):
        pass


def test_a_page_cannot_aim_the_crawl_at_other_hosts_of_this_machine(tmp_path):
    """The seed is on 127.0.0.1; its links and redirects lead to other names and addresses of the same server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        result = scrapy(
            *("crawl", "breadth_first", "-a", f"seeds=http://127.0.0.1:{server.server_address[1]}/"),
            *("-s", f"FOCUS_DIR={tmp_path}", "-s", "ROBOTSTXT_OBEY=False", "-s", "RETRY_ENABLED=False"),
        )
        server.shutdown()
    assert result.returncode == 0, result.stderr
    crawled = Crawled(tmp_path)
    assert {url.rpartition("/")[2] for url in crawled.urls} == {"", "fine"}
    reasons = [reason for (reason,) in crawled.sql("SELECT reason FROM failure")]
    assert len(reasons) == 3
    assert all(reason.startswith("private address") for reason in reasons)
