"""A small instance of SearXNG on loopback: its JSON interface, and the ways in which it fails."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

#: Results a page.
PER_PAGE = 10


class Searx(ThreadingHTTPServer):
    """Answers by engine and query; `mode` makes it fail, `asked` holds the parameters of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.results: dict[tuple[str, str], list[str]] = {}
        self.unresponsive: list[list[str]] = []
        self.mode = ""
        self.asked: list[dict[str, str]] = []
        self.released = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, parameters: dict[str, str]) -> dict[str, object]:
        engine, query, page = parameters.get("engines", ""), parameters["q"], int(parameters.get("pageno", 1))
        known = {name for name, _ in self.results}
        if engine not in known:  # as SearXNG does: an engine it does not know is passed over, others are asked
            engine = next(iter(known), "")
        urls = self.results.get((engine, query), [])
        if self.mode != "no pages":
            urls = urls[(page - 1) * PER_PAGE : page * PER_PAGE]
        results = [{"url": url, "title": "x", "engine": engine, "engines": [engine] if engine else []} for url in urls]
        return {"query": query, "results": results, "unresponsive_engines": self.unresponsive}


class _Handler(BaseHTTPRequestHandler):
    server: Searx

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.server.asked.append(parameters)
        mode = self.server.mode
        status, kind, body = 200, "application/json", b""
        if mode.startswith("to "):
            self.send_response(302)
            self.send_header("Location", mode[3:])
            self.send_header("Content-Length", "0")
            self.end_headers()
            self.server.mode = ""
            return
        if parts.path != "/search":
            status = 404
        elif mode.isdigit() or (mode == "429 later" and parameters.get("pageno") != "1"):
            status = int(mode.split()[0])
        elif mode == "silent":
            self.server.released.wait(30)
        elif mode == "slow":
            self.send_response(200)
            self.end_headers()
            while not self.server.released.wait(0.1):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return
            return
        elif mode == "torn":
            self.send_response(200)
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"results"')
            return
        elif mode == "no HTTP":
            self.wfile.write(b"220 mail.example ESMTP\r\n")
            return
        elif mode.startswith("says "):
            body = mode.removeprefix("says ").encode()
        else:
            body = json.dumps(self.server.answer(parameters)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serving() -> Iterator[Searx]:
    """An instance that answers until the block ends."""
    server = Searx()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()
        thread.join()


def closed_port() -> int:
    """A port that nobody listens on."""
    server = Searx()
    port = server.server_port
    server.server_close()
    return port
