"""Chaos: a web of hosts on loopback of which three in ten misbehave, and a crawl of it that is given no peace.

Each host has an address of its own, 127.1.0.1 and up. Some misbehave as a whole, in one of MANNERS, others by some of
their pages, in the ways of tests/faults.py. The crawl runs out of disk space, is killed with SIGKILL, and finds its clock
a day ahead and a day behind; robots.txt files change meanwhile. It is run again by the same command, as its user would.

Time is scaled: the politeness delay is 0.1 s instead of 1 s, so a minute here is ten minutes of a polite crawl. What
happens, and when, is drawn from a seed: moments are numbers of stored pages, not seconds.

`python -m tests.chaos` crawls 200 hosts and prints what came of it; `--small` 60 of them.
"""

from __future__ import annotations

import argparse
import gzip
import os
import resource
import selectors
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from time import monotonic, sleep, time
from typing import IO, Any

from focuscrawl.testing import Crawled
from tests.conftest import ROOT
from tests.faults import FAULTS, Fault, FaultyHandler, certificate, head, is_forbidden

#: Seconds between two requests to a host: a tenth of the default.
DELAY = 0.1
#: What a host that wants more distance asks for in its robots.txt.
CRAWL_DELAY = 0.3
#: Longest rest of a host that answers 429 or 503, and the time that a request may take.
BACKOFF_MAX, TIMEOUT = 0.3, 1
#: What the network stack and a machine that is busy with other tests may take away from a distance: requests are timed by
#: the kernel as they arrive, and may leave some milliseconds after they were due.
TOLERANCE = 0.01
#: Megabytes by which the last third of a run may need more memory than the first: SQLite's cache fills meanwhile.
GROWTH = 32
#: Bytes that a file may have while the disk is full.
ROOM = 1_500_000
#: How often a user runs the crawl again that ended by itself too early.
AGAIN = 5
#: Seconds without a request, a page or a word after which a run counts as hung, and that it may take at all.
STALLED, PATIENCE = 20, 90
CONCURRENCY = 16
KEYWORDS = "sorting,merge,pivot"
#: What no log may hold.
CRIES = ("Traceback", "Unhandled", "never retrieved", "CRITICAL")

_TIMESTAMP = 35  # SO_TIMESTAMPNS, which the socket module does not name
_ESTABLISHED = 1  # a state of tcp(7)


@dataclass(frozen=True)
class Size:
    """How much chaos."""

    hosts: int
    kills: int


FULL = Size(hosts=200, kills=3)
SMALL = Size(hosts=60, kills=1)


# ---- the web


@dataclass(eq=False)
class HostPage:
    """A page of a host."""

    path: str
    title: str
    #: A crawl has to store it.
    good: bool
    fault: Fault | None = None
    #: It misbehaves at the first request only.
    recovers: bool = False
    on_topic: bool = True
    links: list[str] = field(default_factory=list)
    body: bytes = b""


@dataclass(eq=False)
class Host:
    """A host, what it is asked for and what it does."""

    address: str
    manner: Manner | None = None
    #: Tells hosts of the same manner apart.
    number: int = 0
    robots: bytes | None = None
    pages: dict[str, HostPage] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    #: Requests that are being answered.
    answering: set[_ChaosHandler] = field(default_factory=set)
    #: Times at which a robots.txt was served that forbids more than before, and that asks for more distance.
    closed_at: float | None = None
    slowed_at: dict[int, float] = field(default_factory=dict)
    listener: socket.socket | None = None
    died: bool = False


@dataclass
class Asked:
    """A request, as it arrived."""

    at: float
    run: int
    path: str
    #: The request that was still being answered then.
    amid: str | None = None
    #: The time until which the answer told the client to stay away.
    rest_until: float = 0.0


@dataclass(frozen=True)
class Manner:
    """A way in which a whole host misbehaves."""

    #: Answers a request, or returns False to have it answered as usual.
    act: Callable[[_ChaosHandler], bool]
    full: int
    small: int
    #: Its pages can be had all the same.
    good: bool = True
    #: Nothing but its robots.txt may be asked for.
    left_alone: bool = False

    @property
    def name(self) -> str:
        return self.act.__name__


def dead(page: _ChaosHandler) -> bool:
    """Nobody listens"""
    raise AssertionError("nobody listens")


def silent(page: _ChaosHandler) -> bool:
    """Connections are accepted, then nothing"""
    page.wait()
    return True


def broken_robots(page: _ChaosHandler) -> bool:
    """robots.txt gives an error, nothing, a reset, a body without end or a loop"""
    if page.plain_path != "/robots.txt":
        return False
    ways = ("server_error", "silence", "reset_at_once", "endless_body", "redirect_loop")
    _fault(ways[page.host.number % len(ways)]).act(page)
    return True


def large_robots(page: _ChaosHandler) -> bool:
    """robots.txt has 500 KB, and the rule that counts is near the end of them"""
    if page.plain_path != "/robots.txt":
        return False
    rules = b"User-agent: *\n" + b"".join(b"Disallow: /nowhere/%06d/\n" % number for number in range(18_000))
    page.answer("Content-Type: text/plain", body=rules + b"Disallow: /private/\n" + b"# filler\n" * 2_000)
    return True


def changing_robots(page: _ChaosHandler) -> bool:
    """robots.txt allows everything, and after the first kill no more"""
    if page.plain_path != "/robots.txt":
        return False
    closed = page.server.rules_changed
    page.answer("Content-Type: text/plain", body=b"User-agent: *\n" + b"Disallow: /private/\n" * closed)
    if closed and page.host.closed_at is None:
        page.host.closed_at = time()
    return True


def wants_distance(page: _ChaosHandler) -> bool:
    """robots.txt asks for more distance than the crawl has by itself"""
    if page.plain_path != "/robots.txt":
        return False
    page.answer("Content-Type: text/plain", body=_ROBOTS + b"Crawl-delay: %.1f\n" % CRAWL_DELAY)
    page.host.slowed_at.setdefault(page.server.run, page.arrival.at)
    return True


def busy_for_ever(page: _ChaosHandler) -> bool:
    """429 for every page, with a Retry-After of more seconds than a number holds"""
    if page.plain_path not in page.host.pages:
        return False
    page.busy("429 Too Many Requests", "9" * 400)
    return True


def busy_at_first(page: _ChaosHandler) -> bool:
    """503 for two requests, back in the year 99999999999, in -5 seconds or in an hour, then all is well"""
    if page.plain_path not in page.host.pages:
        return False
    if sum(asked.path in page.host.pages for asked in page.host.asked) > 2:
        return False
    waits = ("Fri, 31 Dec 99999999999 23:59:59 GMT", "-5", "3600")
    page.busy("503 Service Unavailable", waits[page.host.number % len(waits)])
    return True


def dies_and_returns(page: _ChaosHandler) -> bool:
    """After four requests nobody listens for two seconds, then all is well"""
    host = page.host
    if host.died or len(host.asked) <= 4:
        return False
    host.died = True
    page.server.let_die(host, 2.0)
    return True


def slow(page: _ChaosHandler) -> bool:
    """Every answer takes longer than the distance between two requests"""
    page.server.count("slow")
    sleep(2.5 * DELAY)
    return False


def odd_tdmrep(page: _ChaosHandler) -> bool:
    """tdmrep.json is nested ten thousand times, cut off, or no text"""
    if page.plain_path != "/.well-known/tdmrep.json":
        return False
    bodies = (b'[{"location": ' * 10_000, b'[{"location": "/*", "tdm-reservation": ', bytes(range(256)) * 40)
    page.answer("Content-Type: application/json", body=bodies[page.host.number % len(bodies)])
    return True


def odd_sitemap(page: _ChaosHandler) -> bool:
    """sitemap.xml is damaged gzip, a bomb of entities, cut off, or an index of itself"""
    if page.plain_path != "/sitemap.xml":
        return False
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bodies = (
        gzip.compress(b"<urlset>")[:10] + b"\xff" * 100,
        f'<!DOCTYPE x [<!ENTITY e0 "x">{entities}]><urlset><url><loc>&e11;</loc></url></urlset>'.encode(),
        b"<urlset><url><loc>http://",
        f"<sitemapindex><sitemap><loc>{page.address}/sitemap.xml</loc></sitemap></sitemapindex>".encode(),
    )
    page.answer("Content-Type: text/xml", body=bodies[page.host.number % len(bodies)])
    return True


MANNERS = [
    Manner(dead, 4, 2, good=False),
    Manner(silent, 3, 1, good=False, left_alone=True),
    Manner(broken_robots, 5, 2, good=False, left_alone=True),
    Manner(large_robots, 2, 1),
    Manner(changing_robots, 3, 1),
    Manner(wants_distance, 2, 1),
    Manner(busy_for_ever, 2, 1, good=False),
    Manner(busy_at_first, 3, 1),
    Manner(dies_and_returns, 4, 1),
    Manner(slow, 2, 1),
    Manner(odd_tdmrep, 3, 1),
    Manner(odd_sitemap, 4, 1),
]

#: Links to each dead host: more than FOCUS_OUTAGE to two of them.
DEAD_LINKS = 60
FORBIDDEN = "/private/"
_ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def _fault(name: str) -> Fault:
    return next(fault for fault in FAULTS if fault.name == name)


class ChaosWeb:
    """The hosts and their pages, from a seed.

    Every page that a crawl has to store is reached over pages of hosts without any fault.
    """

    def __init__(self, size: Size, seed: int, port: int) -> None:
        self.port = port
        self.chance = chance = Random(seed)
        self.hosts = [Host(f"127.1.0.{number}") for number in range(1, size.hosts + 1)]
        bad = chance.sample(self.hosts[1:], size.hosts * 3 // 10)
        manners = [
            (manner, number) for manner in MANNERS for number in range(manner.full if size is FULL else manner.small)
        ]
        for host, (manner, number) in zip(bad, manners, strict=False):
            host.manner, host.number = manner, number
        #: Hosts of which some pages misbehave.
        self.faulty = bad[len(manners) :]
        self.sound = [host for host in self.hosts if host not in bad]
        self.words = ["".join(chance.choices("bcdfglmnprstv", k=1) + chance.choices("aeiou", k=1)) for _ in range(99)]
        for host in self.hosts:
            self._add_pages(host)
        for number, fault in enumerate(FAULTS):
            across = fault.name == "redirects_across_hosts"  # each of them has the next hop
            for host in self.faulty if across else [self.faulty[number % len(self.faulty)]]:
                self._add_faults(host, fault)
        self._link()
        for host in self.hosts:
            for page in host.pages.values():
                page.body = self._html(page)
        self.good = {
            self.url(host, page): page.title for host in self.hosts for page in host.pages.values() if page.good
        }

    @property
    def seed(self) -> str:
        return self.url(self.hosts[0], self.hosts[0].pages["/"])

    def url(self, host: Host, page: HostPage) -> str:
        return f"http://{host.address}:{self.port}{page.path}"

    def _add_pages(self, host: Host) -> None:
        manner, chance = host.manner, self.chance
        good = manner is None or manner.good
        names = ["/", *(f"/{self._word()}-{number}.html" for number in range(1, chance.randint(8, 15)))]
        if manner is not None and manner.act is dead:
            names = [f"/dead-{number}.html" for number in range(DEAD_LINKS)]
        for path in names:
            self._add(host, HostPage(path, "", good, on_topic=chance.random() < 0.7))
        host.pages["/" if "/" in host.pages else names[0]].on_topic = True
        if host in self.faulty or chance.random() < 0.5 or manner is not None:
            host.robots = _ROBOTS
        if host.robots and good:
            for number in range(3):
                self._add(host, HostPage(f"{FORBIDDEN}{number}.html", "", good=False))

    def _add_faults(self, host: Host, fault: Fault) -> None:
        self._add(host, HostPage(f"/{fault.name}.html", "", good=False, fault=fault))
        if fault.retried:
            self._add(host, HostPage(f"/{fault.name}-at-first.html", "", good=True, fault=fault, recovers=True))

    def _add(self, host: Host, page: HostPage) -> None:
        name = page.path.strip("/").replace("/", " ") or "start"
        page.title = f"{self._word()} {name} of {host.address}"
        host.pages[page.path] = page

    def _link(self) -> None:
        """A tree over the sound hosts; everything else hangs on it; then some links more."""
        chance = self.chance
        every = [(host, page) for host in self.hosts for page in host.pages.values()]
        sound = [(host, page) for host, page in every if host in self.sound and page.good]
        tree: list[HostPage] = []
        for host, page in sound:
            if tree:
                chance.choice(tree[-200:]).links.append(self.url(host, page))
            tree.append(page)
        placed = set(tree)
        dull = [page for page in tree if not page.on_topic]
        for host, page in every:
            if page in placed:
                continue
            # what is to be forbidden later must still wait then: links of dull pages are followed last
            later = host.manner is not None and host.manner.act is changing_robots and page.path.startswith(FORBIDDEN)
            chance.choice(dull if later else tree).links.append(self.url(host, page))
        for page in tree:
            page.links += [self.url(*chance.choice(sound)) for _ in range(chance.randint(1, 4))]

    def _word(self) -> str:
        return "".join(self.chance.choices(self.words, k=3))

    def _html(self, page: HostPage) -> bytes:
        text = [self._word() for _ in range(80)]
        if page.on_topic:
            for place in range(0, 80, 8):
                text[place] = self.chance.choice(KEYWORDS.split(","))
        links = "".join(f'<li><a href="{url}">{self._word()}</a></li>' for url in page.links)
        paragraphs = f"<h1>{page.title}</h1><p>{' '.join(text)}.</p>"
        return f"<!doctype html><title>{page.title}</title>{paragraphs}<ul>{links}</ul>".encode()


# ---- the server


class _ChaosHandler(FaultyHandler):
    server: ChaosServer  # type: ignore[assignment]
    arrival: Asked
    site = ""
    close_connection = True

    def setup(self) -> None:
        address, port = self.request.getsockname()[:2]
        self.host = self.server.by_address[address]
        self.tls = port == self.server.tls_port
        #: A view of the connection below TLS, at which the kernel says when something arrived.
        self.wire = self.request.dup()
        if self.tls:
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()
        with self.server.lock:
            self.server.connections.add(self)

    def finish(self) -> None:
        with self.server.lock:
            self.server.connections.discard(self)
        self.wire.close()
        with suppress(OSError):
            super().finish()

    # ---- a request arrives

    def handle_one_request(self) -> None:
        try:
            first, said, *_ = self.wire.recvmsg(1, 256, socket.MSG_PEEK)
        except OSError:
            first = b""
        if not first:
            self.close_connection = True
            return
        stamps = [struct.unpack("qq", data) for level, kind, data in said if kind == _TIMESTAMP]
        self.came: float = stamps[0][0] + stamps[0][1] / 1e9 if stamps else time()
        if first == b"\x16" and not self.tls:  # somebody who speaks TLS
            self._note("a TLS handshake")
            self.close_connection = True
            self.send(head("HTTP/1.1 400 Bad Request", "Connection: close"))
            return
        super().handle_one_request()

    def parse_request(self) -> bool:
        """Whether it is one; from here on it counts."""
        understood = super().parse_request()
        self._note(self.path if understood else "no HTTP")
        return understood

    def _note(self, path: str) -> None:
        host = self.host
        with self.server.lock:
            amid = next((other.arrival.path for other in host.answering if other._is_heard()), None)
            self.arrival = Asked(self.came, self.server.run, path, amid)
            host.asked.append(self.arrival)
            self.server.requests += 1

    def _is_heard(self) -> bool:
        """Whether the client has not hung up."""
        try:
            return self.wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] == _ESTABLISHED
        except OSError:
            return False

    # ---- and is answered

    def do_GET(self) -> None:  # noqa: N802
        self.plain_path, _, hop = self.path.partition("?hop=")
        self.hop = int(hop) if hop.isdigit() else 0
        page = self.host.pages.get(self.plain_path)
        self.body = page.body if page else b""
        with self.server.lock:
            self.host.answering.add(self)
        try:
            self._respond(page)
        finally:
            with self.server.lock:
                self.host.answering.discard(self)

    do_HEAD = do_GET  # noqa: N815

    def _respond(self, page: HostPage | None) -> None:
        manner = self.host.manner
        if manner is not None:
            answered = True  # also if the client hangs up meanwhile
            try:
                answered = manner.act(self)
            finally:
                if answered:
                    self.server.count(manner.name)
            if answered:
                return
        if self.plain_path == "/robots.txt" and self.host.robots:
            self.serve(self.host.robots, "text/plain")
        elif page is None:
            self.serve(b"<title>Nothing here</title>", status=404)
        elif page.fault is None or self.tls or (page.recovers and self._is_known()):
            self.serve(page.body)
        else:
            self.server.count(page.fault.name)
            self.close_connection = True
            page.fault.act(self)

    def _is_known(self) -> bool:
        return sum(asked.path == self.path for asked in self.host.asked) > 1

    def serve(self, body: bytes, content_type: str = "text/html", status: int = 200) -> None:
        """Answer as a server should."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def busy(self, status: str, wait: str) -> None:
        """Say that it is too much; a wait that is longer than the crawl's longest rest asks for that one."""
        if wait != "-5":
            self.arrival.rest_until = time() + BACKOFF_MAX
        self.answer(f"Retry-After: {wait}", status=status, body=b"<title>Later</title>")
        self.close_connection = True

    # ---- what faults ask for

    @property
    def address(self) -> str:
        return f"http://{self.host.address}:{self.server.web.port}"

    @property
    def elsewhere(self) -> str:
        faulty = self.server.web.faulty
        neighbour = faulty[(faulty.index(self.host) + 1) % len(faulty)]
        return f"http://{neighbour.address}:{self.server.web.port}"

    @property
    def over_tls(self) -> str:
        return f"https://{self.host.address}:{self.server.tls_port}"


class ChaosServer(socketserver.ThreadingMixIn, socketserver.BaseServer):
    """Serves a web, each host at its own address, and notes what is asked of whom and when."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, size: Size, seed: int) -> None:
        super().__init__(("127.1.0.1", 0), _ChaosHandler)
        self.lock = threading.RLock()
        self.run = 0
        self.requests = 0
        #: Whether robots.txt files that change have done so.
        self.rules_changed = False
        #: How often each way to misbehave was met.
        self.met: Counter[str] = Counter()
        self.connections: set[_ChaosHandler] = set()
        #: What went wrong here, and not in the crawl.
        self.errors: list[str] = []
        self._selector = selectors.DefaultSelector()
        self._open = True
        self._held: list[socket.socket] = []
        port = self._free_port(size)
        self.web = ChaosWeb(size, seed, port)
        self.by_address = {host.address: host for host in self.web.hosts}
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate())
        for host in self.web.hosts:
            if host.manner is not None and host.manner.act is dead:
                self._held.append(_bound(host.address, port))  # nobody else may listen there
            else:
                self.listen(host)
        self.tls_port = self._free_port(size)
        for host in self.web.faulty:
            self._register(_bound(host.address, self.tls_port))
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    @staticmethod
    def _free_port(size: Size) -> int:
        for _ in range(20):
            with _bound("127.1.0.1", 0) as probe:
                port: int = probe.getsockname()[1]
                taken: list[socket.socket] = []
                try:
                    taken += [_bound(f"127.1.0.{number}", port) for number in range(2, size.hosts + 1)]
                except OSError:
                    continue
                finally:
                    for one in taken:
                        one.close()
                return port
        raise OSError("no port is free on all of 127.1.0.0/24")

    def _register(self, listener: socket.socket) -> None:
        listener.setsockopt(socket.SOL_SOCKET, _TIMESTAMP, 1)  # what is accepted here inherits it
        listener.listen(128)
        self._selector.register(listener, selectors.EVENT_READ)

    def listen(self, host: Host) -> None:
        """Let a host be reached."""
        host.listener = _bound(host.address, self.web.port)
        self._register(host.listener)

    def let_die(self, host: Host, seconds: float) -> None:
        """Nobody reaches a host for a while, and who is connected is cut off."""
        listener = host.listener
        assert listener is not None
        self._selector.unregister(listener)
        listener.close()
        with self.lock:
            connected = [handler for handler in self.connections if handler.host is host]
        for handler in connected:
            handler.close_connection = True
            with suppress(OSError):
                handler.connection.shutdown(socket.SHUT_RDWR)
        timer = threading.Timer(seconds, self._return, [host])
        timer.daemon = True
        timer.start()

    def _return(self, host: Host) -> None:
        if self._open:
            self.listen(host)

    def count(self, name: str) -> None:
        with self.lock:
            self.met[name] += 1

    def _accept(self) -> None:
        while self._open:
            for key, _ in self._selector.select(0.2):
                with suppress(OSError):  # it was closed meanwhile
                    self.process_request(*key.fileobj.accept())  # type: ignore[union-attr]

    def handle_error(self, *_: object) -> None:
        """Clients hang up; everything else is a fault of ours."""
        error = sys.exception()
        if not isinstance(error, OSError) and "closed file" not in str(error):
            self.errors.append(repr(error))

    def shutdown_request(self, request: Any) -> None:
        with suppress(OSError):
            request.shutdown(socket.SHUT_WR)
        request.close()

    def stop(self) -> None:
        """Close everything."""
        self._open = False
        self._thread.join()
        for key in list(self._selector.get_map().values()):
            key.fileobj.close()  # type: ignore[union-attr]
        for one in self._held:
            one.close()
        self._selector.close()


def _bound(address: str, port: int) -> socket.socket:
    bound = socket.socket()
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((address, port))
    except OSError:
        bound.close()
        raise
    return bound


# ---- the crawl


@dataclass
class Run:
    """One run of the crawl, as a process."""

    number: int
    #: What was done to it: disk full, kill, clock, again.
    what: str
    status: int = 0
    log: str = ""
    seconds: float = 0.0
    #: Pages in the file when it ended.
    pages: int = 0
    #: Its memory since it stored its first page, in megabytes, twenty times a second.
    memory: list[float] = field(default_factory=list)
    hung: bool = False
    killed: bool = False

    @property
    def last_line(self) -> str:
        return (self.log.strip().splitlines() or [""])[-1]

    @property
    def thirds(self) -> tuple[float, float]:
        """The most memory of the first third and of the last."""
        third = len(self.memory) // 3
        return max(self.memory[:third], default=0.0), max(self.memory[-third:], default=0.0)

    def __str__(self) -> str:
        end = "killed" if self.killed else "hung" if self.hung else f"exit status {self.status}"
        return f"{self.number}. {self.what}: {end}, {self.pages:,} pages after {self.seconds:.1f} s"


class Ordeal:
    """A crawl through chaos: its runs, and what came of them."""

    def __init__(self, size: Size, folder: Path, seed: int = 1) -> None:
        self.size = size
        self.folder = folder
        self.chance = Random(seed)
        self.server = ChaosServer(size, seed)
        self.web = self.server.web
        self.runs: list[Run] = []
        self.patience = AGAIN

    def go(self) -> None:
        """Run it until nothing is left to do, or a user would give up."""
        began = monotonic()
        total = len(self.web.good)
        # the last stretch belongs to the clock, and is long enough for the memory to be judged
        kills = sorted(
            int(total * (0.15 + (number + self.chance.random()) * 0.45 / self.size.kills))
            for number in range(self.size.kills)
        )
        jumps = {int(total * 0.7): signal.SIGUSR1, int(total * 0.85): signal.SIGUSR2}
        try:
            self._run("disk full", room=ROOM)
            for pages in kills:
                while not self._run(f"kill -9 at {pages:,} pages", kill_at=pages).killed and self._runs_again():
                    pass
                self.server.rules_changed = True
            self._run("the clock jumps", jumps=jumps)
            while not self.is_done() and self._runs_again():
                self._run("resumed")
        finally:
            self.server.stop()
            self.seconds = monotonic() - began
            self.write_requests()

    def _runs_again(self) -> bool:
        """Whether a user would run it again that ended by itself too early: not for ever, nor if it gets nowhere."""
        self.patience -= 1
        return self.patience >= 0 and len({run.pages for run in self.runs[-3:]}) > 1

    def is_done(self) -> bool:
        """Whether the last run ended well and every good page is there."""
        return self.runs[-1].status == 0 and not self.missing()

    def _command(self, *, jumping: bool) -> list[str]:
        settings = {
            "FOCUS_DIR": self.folder / "crawl",
            "FOCUS_SITEMAPS": "all",
            "FOCUS_BACKOFF_MAX": BACKOFF_MAX,
            "DOWNLOAD_DELAY": DELAY,
            "DOWNLOAD_TIMEOUT": TIMEOUT,
            "DOWNLOAD_MAXSIZE": 1_000_000,
            "CONCURRENT_REQUESTS": CONCURRENCY,
        }
        command = [sys.executable, "-m", "tests.clock" if jumping else "scrapy", "crawl", "best_first"]
        command += ["-a", f"seeds={self.web.seed}", "-a", f"keywords={KEYWORDS}"]
        for name, value in settings.items():
            command += ["-s", f"{name}={value}"]
        return command

    def _run(
        self, what: str, *, kill_at: int = 0, room: int = 0, jumps: dict[int, signal.Signals] | None = None
    ) -> Run:
        self.server.run += 1
        run = Run(self.server.run, what)
        self.runs.append(run)
        began = monotonic()
        process = subprocess.Popen(
            self._command(jumping=bool(jumps)),
            cwd=ROOT,
            env={
                name: value
                for name, value in os.environ.items()
                if name != "SCRAPY_SETTINGS_MODULE" and not name.startswith("COVERAGE_")  # it would slow the crawl
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,  # no file, which could not be written while the disk is full
            preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))) if room else None,
        )
        assert process.stderr is not None
        log = bytearray()
        reader = threading.Thread(target=_read, args=(process.stderr, log))
        reader.start()
        waiting = dict(jumps or {})
        before = self.pages()
        signs, alive_at = (0, 0, 0), began
        try:
            while process.poll() is None:
                pages = self.pages()
                if pages > before:
                    run.memory.append(_memory(process.pid))
                for moment in [moment for moment in waiting if pages >= moment]:
                    process.send_signal(waiting.pop(moment))
                if signs != (pages, self.server.requests, len(log)):
                    signs, alive_at = (pages, self.server.requests, len(log)), monotonic()
                if kill_at and pages >= kill_at:
                    run.killed = True
                    process.kill()
                elif monotonic() > min(alive_at + STALLED, began + PATIENCE):
                    run.hung = True
                    process.kill()
                sleep(0.05)
        finally:  # whoever stops the test stops the crawl
            process.kill()
            process.wait()
            reader.join()
            process.stderr.close()
        run.status, run.log = process.returncode, log.decode("utf-8", "replace")
        run.killed = run.killed and run.status == -signal.SIGKILL  # it may have been quicker
        run.seconds, run.pages = monotonic() - began, self.pages()
        (self.folder / f"run-{run.number}.log").write_text(run.log, "utf-8")
        return run

    def pages(self) -> int:
        """How many pages are stored, by the file that grows with each."""
        path = self.folder / "crawl" / "pages.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def write_requests(self) -> None:
        """Write what was asked of whom, and when, beside the logs."""
        rows = sorted(
            (asked.at, asked.run, host.address, host.manner.name if host.manner else "", asked.path[:200])
            for host in self.web.hosts
            for asked in host.asked
        )
        lines = "".join("\t".join(map(str, row)) + "\n" for row in rows)
        (self.folder / "requests.tsv").write_text(lines, "utf-8")

    # ---- what must hold

    @property
    def crawled(self) -> Crawled:
        return Crawled(self.folder / "crawl")

    def missing(self) -> list[tuple[str, str]]:
        """Good pages that are not stored: URLs and titles."""
        if not self.pages():  # there may be no file to ask
            return sorted(self.web.good.items())
        rows = self.crawled.sql("SELECT url, title FROM page WHERE status = 200 AND problem IS NULL")
        return sorted(set(self.web.good.items()).difference(rows))

    def broken_promises(self) -> list[str]:
        """What did not hold, a line each, with evidence."""
        found = [f"the test's own server: {error}" for error in self.server.errors]
        if not self.pages():
            return [*found, f"no page was stored: run {self.runs[0]}, last line {self.runs[0].last_line!r}"]
        checks: list[Callable[[], Iterator[str]]] = [
            self._runs_ended_as_they_should,
            self._logs_are_calm,
            self._pages_are_stored_once,
            self._misbehaviour_is_recorded,
            self._nothing_is_asked_twice,
            self._distances_are_kept,
            self._one_request_at_a_time,
            self._rests_are_kept,
            self._robots_txt_is_obeyed,
            self._memory_is_flat,
            self._the_clock_jumped,
            self._the_file_is_sound,
        ]
        for check in checks:
            broken = list(check())
            name = check.__name__.strip("_").replace("_", " ")
            found += [f"{name}: {line}" for line in broken[:5]]
            found += [f"{name}: … and {len(broken) - 5} more"] if len(broken) > 5 else []
        return found

    def _runs_ended_as_they_should(self) -> Iterator[str]:
        if sum(run.killed for run in self.runs) != self.size.kills:
            yield f"{sum(run.killed for run in self.runs)} of {self.size.kills} kills were possible"
        for run in self.runs:
            if run.killed:
                continue
            if run.hung:
                yield f"run {run}; its last words were {run.last_line!r}"
            elif run.what == "disk full":
                if run.status != 1 or not run.last_line.startswith("focuscrawl: cannot write to "):
                    yield f"run {run}, last line {run.last_line!r}"
            elif run.status != 0 and "the network seems to be down" not in run.last_line:
                yield f"run {run}, last line {run.last_line!r}"
        last = self.runs[-1]
        if last.status != 0:
            yield f"it has not ended well: run {last}, last line {last.last_line!r}"

    def _logs_are_calm(self) -> Iterator[str]:
        for run in self.runs:
            for number, line in enumerate(lines := run.log.splitlines()):
                if any(cry in line for cry in CRIES):
                    error = next((after for after in lines[number + 1 :] if after[:1].strip()), "")
                    yield f"run {run.number}: {line[:200]} {error[:200]}"

    def _pages_are_stored_once(self) -> Iterator[str]:
        for url, _ in self.missing():
            host, path = self._place(url)
            manner = host.manner.name if host.manner else "faulty pages" if host in self.web.faulty else "a sound host"
            asked = sum(asked.path == path for asked in host.asked)
            rows = self.crawled.sql("SELECT status, problem FROM page WHERE url = ?", url)
            failures = self.crawled.sql("SELECT reason FROM failure WHERE url = ?", url)
            yield f"{url} ({manner}) is not there; asked for {asked} times; stored {rows}, failed {failures[-3:]}"
        for url, count in self.crawled.sql("SELECT url, count(*) FROM page GROUP BY url HAVING count(*) > 1"):
            yield f"{url} is stored {count} times"
        lines = Counter(self.crawled.urls)
        yield from (f"{url} is in pages.jsonl {count} times" for url, count in lines.items() if count > 1)
        matched = Counter(self.crawled.matched)
        yield from (f"{url} is in URLs.txt {count} times" for url, count in matched.items() if count > 1)
        stored = {url for (url,) in self.crawled.sql("SELECT url FROM page")}
        yield from (f"{url} is in pages.jsonl only" for url in lines.keys() - stored)
        yield from (f"{url} is in the file, but not in pages.jsonl" for url in stored - lines.keys())

    def _place(self, url: str) -> tuple[Host, str]:
        address, _, path = url.removeprefix("http://").partition("/")
        return self.server.by_address[address.partition(":")[0]], f"/{path}"

    def _misbehaviour_is_recorded(self) -> Iterator[str]:
        """What was asked for left a page or a failure, whatever the host did."""
        rows = self.crawled.sql("SELECT url.url FROM url JOIN page ON url_id = url.id UNION SELECT url FROM failure")
        known = {url for (url,) in rows}
        for host in self.web.hosts:
            asked = {asked.path for asked in host.asked}
            for page in host.pages.values():
                if page.fault and page.path in asked and self.web.url(host, page) not in known:
                    yield f"{self.web.url(host, page)} left no trace"
        for name in {fault.name for fault in FAULTS} | {manner.name for manner in MANNERS} - {"dead"}:
            if not self.server.met[name]:
                yield f"{name} was never met"

    def _nothing_is_asked_twice(self) -> Iterator[str]:
        """But for what was under way when a run broke off."""
        again = 0
        for host in self.web.sound:
            times = Counter(asked.path for asked in host.asked)
            again += sum(times[path] - 1 for path in host.pages if times[path] > 1)
        broken_off = sum(run.status != 0 for run in self.runs)
        if again > broken_off * CONCURRENCY:
            yield f"{again} pages of sound hosts were asked for again, {broken_off} runs broke off"

    def gaps(self) -> Iterator[tuple[float, float, Host, Asked, Asked]]:
        """Two requests to one host: the seconds between them, and how many there should be."""
        for host in self.web.hosts:
            for earlier, later in pairwise(sorted(host.asked, key=lambda asked: asked.at)):
                slowed = host.slowed_at.get(later.run, later.at + 1) <= earlier.at and earlier.run == later.run
                yield later.at - earlier.at, CRAWL_DELAY if slowed else DELAY, host, earlier, later

    def _distances_are_kept(self) -> Iterator[str]:
        broken = [gap for gap in self.gaps() if gap[0] < gap[1] - TOLERANCE]
        kinds = Counter(f"{_kind(earlier.path)} → {_kind(later.path)}" for *_, earlier, later in broken)
        if broken:
            yield f"{len(broken)} of {sum(1 for _ in self.gaps())} are too short: {dict(kinds.most_common())}"
        for seconds, due, host, earlier, later in sorted(broken, key=lambda gap: gap[0] / gap[1]):
            where = host.manner.name if host.manner else "faulty pages" if host in self.web.faulty else "sound"
            yield (
                f"{host.address} ({where}), run {later.run}: {earlier.path[:60]}, then {later.path[:60]}"
                f" {1000 * seconds:.1f} ms later instead of {1000 * due:.0f}"
            )

    def _one_request_at_a_time(self) -> Iterator[str]:
        for host in self.web.hosts:
            for asked in host.asked:
                if asked.amid is not None:
                    yield f"{host.address}, run {asked.run}: {asked.path[:80]} came amid {asked.amid[:80]}"

    def _rests_are_kept(self) -> Iterator[str]:
        for host in self.web.hosts:
            for earlier, later in pairwise(sorted(host.asked, key=lambda asked: asked.at)):
                early = earlier.rest_until - later.at
                if early > TOLERANCE and earlier.run == later.run:  # what a host asked of a dead process is forgotten
                    manner = host.manner.name if host.manner else ""
                    yield f"{host.address} ({manner}): {later.path} came {1000 * early:.0f} ms before the rest was over"

    def _robots_txt_is_obeyed(self) -> Iterator[str]:
        for host in self.web.hosts:
            manner = host.manner
            for asked in host.asked:
                if manner is not None and manner.left_alone and asked.path.partition("?")[0] != "/robots.txt":
                    yield f"{host.address} ({manner.name}): {asked.path} was asked for"
                if not is_forbidden(asked.path, FORBIDDEN):
                    continue
                if manner is not None and manner.act is changing_robots:
                    if host.closed_at is not None and asked.at > host.closed_at:
                        yield f"{host.address}: {asked.path} was asked for after the changed robots.txt was served"
                elif host.robots or (manner is not None and manner.act is large_robots):
                    yield f"{host.address}: {asked.path[:80]} was asked for, which is forbidden"
            if manner is not None and manner.act is changing_robots:
                refused = self.crawled.sql(
                    "SELECT count(*) FROM failure WHERE url LIKE ? AND reason LIKE 'robots.txt disallows%'",
                    f"http://{host.address}:%{FORBIDDEN}%",
                )[0][0]
                if not refused:
                    yield f"{host.address}: none of its pages waited when its robots.txt changed (nothing was tested)"

    def _memory_is_flat(self) -> Iterator[str]:
        for run in self.runs:
            first, last = run.thirds
            if len(run.memory) >= 60 and last > first + GROWTH:
                yield f"run {run.number}: {first:.0f} MB in its first third, {last:.0f} MB in its last"

    def _the_clock_jumped(self) -> Iterator[str]:
        """In both directions, while pages were stored."""
        days = {day for (day,) in self.crawled.sql("SELECT DISTINCT substr(fetched_at, 1, 10) FROM page")}
        if len(days) < 3:
            yield f"pages were stored on {sorted(days)} only (nothing was tested)"

    def _the_file_is_sound(self) -> Iterator[str]:
        answer = self.crawled.sql("PRAGMA integrity_check")
        if answer != [("ok",)]:
            yield str(answer)

    # ---- in words

    def summary(self) -> str:
        """What happened, in some lines."""
        good = len(self.web.good)
        ways = len(FAULTS) + len(MANNERS)
        bad = len(self.web.hosts) - len(self.web.sound)
        gaps = [gap for gap in self.gaps() if gap[3].run == gap[4].run]
        closest = min(gaps, key=lambda gap: gap[0] / gap[1], default=(0.0, 1.0))
        first, last = max(self.runs, key=lambda run: len(run.memory)).thirds
        killed = sum(run.killed for run in self.runs)
        minutes = self.seconds / DELAY / 60
        lines = [
            f"{len(self.web.hosts)} hosts, {bad} of them misbehave in {ways} ways",
            f"{good - len(self.missing()):,} of {good:,} good pages stored in {len(self.runs)} runs, {killed} of them killed",
            f"{self.seconds:.0f} s, equivalent to {minutes:.0f} minutes of a crawl with a delay of one second",
            *(f"  {run}" for run in self.runs),
            f"{sum(len(host.asked) for host in self.web.hosts):,} requests",
            f"the closest two requests to one host: {1000 * closest[0]:.1f} ms apart, {1000 * closest[1]:.0f} required",
            f"memory: {first:.0f} MB in the first third of the longest run, {last:.0f} MB in the last",
            *textwrap.wrap(
                f"met: {', '.join(f'{name} {count}' for name, count in self.server.met.most_common())}", 116
            ),
        ]
        return "\n".join(lines)


def _kind(path: str) -> str:
    """What a request is for, as it is counted."""
    path = path.partition("?")[0]
    return path.rpartition("/")[2] if path.endswith((".txt", ".json", ".xml")) else "page"


def _read(stream: IO[bytes], into: bytearray) -> None:
    """Read all there is, as it comes."""
    while data := os.read(stream.fileno(), 1 << 16):
        into += data


def _memory(pid: int) -> float:
    """The resident memory of a process in megabytes."""
    with suppress(OSError, IndexError):
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6
    return 0.0


def main() -> None:
    """Crawl, and print the results."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--small", action="store_true", help="60 hosts and one kill, as in the tests")
    parser.add_argument("--seed", type=int, default=1, help="random seed of the web and of the kills")
    parser.add_argument("--keep", type=Path, help="directory to keep the crawl and the logs of its runs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        crawl = Ordeal(SMALL if options.small else FULL, folder, options.seed)
        crawl.go()
        print(crawl.summary())
        broken = crawl.broken_promises()
        print("\n".join(["", "Violated guarantees:", *broken] if broken else ["", "All guarantees held."]))
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
