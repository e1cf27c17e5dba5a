"""Metrics: figures of a running crawl for Prometheus, over HTTP on loopback or as a file."""

from __future__ import annotations

import logging
import os
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import signals
from scrapy.exceptions import NotConfigured
from scrapy.utils.asyncio import create_looping_call

from focuscrawl.crawl import clock
from focuscrawl.crawl.checks import number
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.holder import Holder
from focuscrawl.crawl.outlook import RECENT
from focuscrawl.errors import FocusError
from focuscrawl.frontier.activity import BLOCKED, BUSY, RESTING, activity_of
from focuscrawl.reports.metrics import Metric, exposition

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Seconds between two looks at the crawl.
INTERVAL = 5.0
_STATUS = "downloader/response_status_count/"
_FAILED = "focus/failed/"


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer

    def do_GET(self) -> None:
        found = self.path.partition("?")[0] == "/metrics"
        body = self.server.text.encode() if found else b"The metrics are at /metrics.\n"
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class MetricsServer(ThreadingHTTPServer):
    """Serves the latest metrics on 127.0.0.1, from a thread."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.text = ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Close the port."""
        self.shutdown()
        self.server_close()


class Metrics:
    """Serves metrics on FOCUS_METRICS_PORT, and writes them to FOCUS_METRICS_FILE."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        self.port = int(number(crawler.settings, "FOCUS_METRICS_PORT"))
        file = crawler.settings.get("FOCUS_METRICS_FILE")
        self.file = Path(str(file)) if file else None
        if (not self.port and self.file is None) or self.crawl.throw_away is not None:
            raise NotConfigured
        if self.port > 65_535:
            raise FocusError(f"setting FOCUS_METRICS_PORT={self.port}: expected a port from 1 to 65535; 0: off")
        self.server: MetricsServer | None = None
        self.loop: Any = None
        self.name = ""
        crawler.signals.connect(self.opened, signals.spider_opened)
        crawler.signals.connect(self.closed, signals.spider_closed)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def opened(self, spider: Any) -> None:
        self.name = spider.name
        if self.port:
            try:
                self.server = MetricsServer(self.port)
            except OSError as error:
                logger.error("no metrics on port %d: %s; choose another FOCUS_METRICS_PORT", self.port, error.strerror)
        self.loop = create_looping_call(self.look)
        self.loop.start(INTERVAL, now=True)

    def closed(self) -> None:
        if self.loop is None:  # the crawl failed before it was opened
            return
        if self.loop.running:
            self.loop.stop()
        self.look(running=False)
        if self.server is not None:
            self.server.stop()

    def look(self, *, running: bool = True) -> None:
        """Bring the metrics up to date."""
        labels = {"spider": self.name, "topic": self.crawl.topic.name}
        text = exposition(self.metrics(running=running), labels)
        if self.server is not None:
            self.server.text = text
        if self.file is not None:
            try:
                write_whole(self.file, text)
            except OSError as error:
                logger.error("cannot write FOCUS_METRICS_FILE=%s: %s", self.file, error.strerror)
                self.file = None

    def metrics(self, *, running: bool) -> list[Metric]:
        """The figures of the crawl."""
        crawl = self.crawl
        stats: dict[str, Any] = self.crawler.stats.get_stats() if self.crawler.stats else {}
        pages, relevant = crawl.pages, crawl.relevant

        def gauge(name: str, told: str, value: float | None) -> Metric:
            return Metric(f"focuscrawl_{name}", "gauge", told, {} if value is None else {"": value})

        def counter(name: str, told: str, value: float) -> Metric:
            return Metric(f"focuscrawl_{name}_total", "counter", told, {"": value})

        def by(prefix: str) -> dict[str, float]:
            return {name.removeprefix(prefix): count for name, count in stats.items() if name.startswith(prefix)}

        failed = crawl.fatal or (None if running or crawl.was_stopped else crawl.find_problem())
        recent = crawl.outlook.recent_harvest
        now = activity_of(crawl) if running else None
        hosts = {} if now is None else {BUSY: now.busy, RESTING: now.resting, BLOCKED: now.blocked}
        return [
            gauge("running", "Whether the crawl runs.", float(running)),
            gauge("failed", "Whether the crawl had to stop because of an error.", float(failed is not None)),
            counter("pages", "Stored pages, over all runs.", pages),
            counter("relevant_pages", "Relevant pages, over all runs.", relevant),
            counter("matched_pages", "Pages in URLs.txt, over all runs.", crawl.matched),
            gauge("harvest_ratio", "Share of relevant pages.", relevant / pages if pages else None),
            gauge("recent_harvest_ratio", f"Share of relevant pages of the last {RECENT}.", recent if pages else None),
            gauge("queued_urls", "Waiting URLs.", len(crawl.frontier)),
            Metric("focuscrawl_hosts", "gauge", "Hosts by what they do now.", hosts, "state"),
            counter("seconds", "Seconds of crawling, over all runs.", crawl.seconds()),
            Metric("focuscrawl_responses_total", "counter", "Responses of this run.", by(_STATUS), "status"),
            Metric("focuscrawl_failures_total", "counter", "URLs of this run without a page.", by(_FAILED), "reason"),
            gauge("store_bytes", "Size of crawl.sqlite.", crawl.store.size()),
            gauge("disk_free_bytes", "Free disk space.", _free(crawl.folder)),
            gauge("memory_bytes", "Memory that the process uses.", Holder(os.getpid()).memory()),
            gauge("updated_timestamp_seconds", "When these metrics were written.", clock.utc().timestamp()),
        ]


def _free(folder: Path) -> float | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None
