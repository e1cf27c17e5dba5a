"""Many hosts on loopback: 127.1.0.1, 127.1.0.2 and so on, all on one port, each a page or silence."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic


def host(number: int, network: int = 1) -> str:
    """The address of a host."""
    return f"127.{network}.{number // 250}.{number % 250 + 1}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: ManyHosts

    def do_GET(self) -> None:
        server = self.server
        name = self.headers["Host"].partition(":")[0]
        with server.lock:
            server.asked.append((monotonic(), name, self.path))
        answer = server.answer(name, self.path)
        if answer is None:  # silence, until the test is over
            server.over.wait()
            self.close_connection = True
            return
        status, headers, body = answer
        self.send_response(status)
        for field, value in {"Content-Type": "text/html", **headers, "Content-Length": str(len(body))}.items():
            self.send_header(field, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


Answer = tuple[int, dict[str, str], bytes]


class ManyHosts(ThreadingHTTPServer):
    """Answers for all of 127.0.0.0/8 on one port; *answer* says what, None for silence."""

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, answer: Callable[[str, str], Answer | None]) -> None:
        super().__init__(("0.0.0.0", 0), _Handler)
        self.answer = answer
        self.lock = threading.Lock()
        self.over = threading.Event()
        #: Time, host and path of every request.
        self.asked: list[tuple[float, str, str]] = []

    def at(self, name: str, path: str = "/") -> str:
        """The URL of a page."""
        return f"http://{name}:{self.server_port}{path}"


@contextmanager
def serving(answer: Callable[[str, str], Answer | None]) -> Iterator[ManyHosts]:
    """Serve while the block runs."""
    server = ManyHosts(answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def page(*links: str, text: str = "") -> Answer:
    """A page with links."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return 200, {}, f"<title>A page</title><p>{text}</p>{anchors}".encode()


MISSING: Answer = (404, {}, b"")
