"""Serves the dashboard with uvicorn."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import uvicorn

from focuscrawl.dashboard.app import Dashboard
from focuscrawl.dashboard.crawls import Crawls
from focuscrawl.dashboard.safety import Guard
from focuscrawl.store.places import shown


class Server:
    """The dashboard on an address. Raises FocusError if there is no crawl, OSError if the address is taken."""

    def __init__(self, place: str, host: str = "127.0.0.1", port: int = 0, token: str = "") -> None:
        self.crawls = Crawls(place)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind((host, port))
            self._socket.listen(128)  # from now on, requests wait until they are answered
        except (OSError, OverflowError):
            self._socket.close()
            raise
        self.port: int = self._socket.getsockname()[1]
        self.host = f"[{host}]" if ":" in host else host
        self.token = token
        self.dashboard = Dashboard(self.crawls, Guard(self.port, token))
        config = uvicorn.Config(
            self.dashboard.app,
            log_level="warning",
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=64 * 1024,
        )
        self._server = uvicorn.Server(config)

    @property
    def address(self) -> str:
        """Where to look."""
        token = f"?token={quote(self.token)}" if self.token else ""
        return f"http://{self.host}:{self.port}/{token}"

    def describe(self) -> str:
        """What is shown, in a few words."""
        count = len(self.crawls.all())
        return f"Showing {shown(self.crawls.place)}" + ("" if self.crawls.single else f" ({count:,} crawls)")

    def serve(self) -> None:
        """Answer requests until Ctrl-C."""
        self.dashboard.warm_up()
        asyncio.run(self._server.serve([self._socket]))

    def stop(self) -> None:
        """End `serve`, from another thread."""
        self._server.should_exit = True

    def close(self) -> None:
        """Close the files."""
        self._socket.close()
        for crawl in self.crawls.all():
            crawl.close()


@contextmanager
def serving(place: str, token: str = "") -> Iterator[Server]:
    """Serve a dashboard from a thread while the block runs."""
    server = Server(place, token=token)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
        server.close()
