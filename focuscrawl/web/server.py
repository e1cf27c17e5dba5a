"""Serves a web file over real HTTP, on loopback.

One port serves both as a proxy, which keeps the original host names (`http_proxy=http://127.0.0.1:PORT`), and directly:
there, the first part of the path names the host (`http://127.0.0.1:PORT/HOST/path`) and links are rewritten to match.
"""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.web.webs import Answer, Web, conditional

_LINKS = re.compile(rb"""((?:href|src)\s*=\s*["']?)(http://([^/"'\s>]+)|/(?!/))""", re.IGNORECASE)
_RULES = re.compile(r"^([ \t]*(?:dis)?allow[ \t]*:[ \t]*)/", re.IGNORECASE | re.MULTILINE)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # one write per response, without Nagle's delay
    wbufsize = -1
    disable_nagle_algorithm = True
    server: WebServer

    def do_GET(self) -> None:
        server = self.server
        with server.lock:
            server.requests += 1
            try:
                answer = self._answer()
            except FocusError as error:
                answer = Answer(500, "text/plain; charset=utf-8", f"{error}\n".encode())
            said = [self.headers.get(name, "") for name in ("If-None-Match", "If-Modified-Since")]
            answer = conditional(answer, *said)
            server.not_modified += answer.status == 304
        self.send_response(answer.status)
        if answer.location:
            self.send_header("Location", answer.location)
        self.send_header("Content-Type", answer.content_type)
        for name, value in answer.headers:
            self.send_header(name, value)
        if answer.status != 304:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_HEAD = do_GET  # noqa: N815

    def _answer(self) -> Answer:
        if self.path.startswith("http://"):
            return self.server.web.get(urls.join(self.path, "") or self.path)
        return self._direct()

    def _direct(self) -> Answer:
        web = self.server.web
        if self.path == "/":
            rows = "".join(f'<li><a href="/{html.escape(host)}/">{html.escape(host)}</a></li>' for host in web.hosts())
            return Answer(200, "text/html; charset=utf-8", f"<title>Hosts</title><ul>{rows}</ul>".encode())
        if self.path == "/robots.txt":
            return Answer(200, "text/plain", self.server.robots.encode()) if self.server.robots else Answer(404)
        host, _, path = self.path[1:].partition("/")
        answer = web.get(f"http://{host}/{path}")
        if answer.location.startswith("http://"):
            return answer._replace(location="/" + answer.location.removeprefix("http://"))
        if not answer.content_type.startswith("text/html"):
            return answer
        prefix = host.encode()
        body = _LINKS.sub(
            lambda match: match[1] + b"/" + (match[3] or prefix + b"/"),
            answer.body,
        )
        return answer._replace(body=body)

    def log_message(self, *_: object) -> None:
        pass


class WebServer(ThreadingHTTPServer):
    """Serves a web on 127.0.0.1."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, web: Web, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.web = web
        self.lock = threading.Lock()
        #: Number of requests so far, and of 304 answers among them.
        self.requests = self.not_modified = 0
        self.robots = _all_robots(web)

    @property
    def address(self) -> str:
        """Where the server listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


def _all_robots(web: Web) -> str:
    """The rules of all hosts combined in one robots.txt, for direct access."""
    rules = []
    for host in web.hosts():
        answer = web.get(f"http://{host}/robots.txt")
        if answer.status == 200:
            rules.append(_prefixed(answer.body.decode("utf-8", "replace"), host))
    return "\n".join(rules)


def _prefixed(robots: str, host: str) -> str:
    return _RULES.sub(lambda rule: f"{rule[1]}/{host}/", robots)


@contextmanager
def serving(web: Web, port: int = 0) -> Iterator[WebServer]:
    """Serve a web from a thread while the block runs."""
    server = WebServer(web, port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
