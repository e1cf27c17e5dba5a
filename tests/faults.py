"""A server on loopback whose pages misbehave, each of FAULTS in one way, and what a crawl makes of each.

It serves a part of the embedded web in its direct form, http://127.0.0.1:PORT/HOST/path. About one page in ten
misbehaves, always the same ones; never the seed. If the fault is one that is tried again, every second of these pages
answers well from the second try on.

`python -m tests.faults` prints what becomes of each, as a table in Markdown.
"""

from __future__ import annotations

import gzip
import os
import socket
import ssl
import struct
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, cached_property
from hashlib import blake2b
from pathlib import Path
from posixpath import normpath
from time import sleep
from urllib.parse import unquote

from protego import Protego

from focuscrawl import urls
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.web.demo import demo_web
from focuscrawl.web.server import WebServer, _Handler
from focuscrawl.web.webs import MemoryWeb

HOSTS = (
    "sorting-handbook.example",
    "algorithm-club.example",
    "crossroads.example",
    "town-office.example",
    "www.town-office.example",
    "stargazers.example",
)
SEED = "http://sorting-handbook.example/"
#: A folder that robots.txt forbids, as the server names it.
FORBIDDEN = "/sorting-handbook.example/private/"
#: How the server names its robots.txt, which holds the rules of all hosts.
ROBOTS = "http://robots.txt"
#: The crawl's DOWNLOAD_MAXSIZE.
MAX_SIZE = 300_000


# ---- the web


@cache
def part_of_the_web() -> MemoryWeb:
    """The hosts around the seed; links to other hosts are dead."""
    web = MemoryWeb()
    for url, answer in demo_web().answers.items():
        if urls.host(url) in HOSTS:
            web.answers[url] = answer
    return web


@cache
def reachable(without: frozenset[str] = frozenset()) -> frozenset[str]:
    """The URLs of the pages that links lead to from the seed, if those in *without* cannot be read."""
    web = part_of_the_web()
    rules = {
        host: Protego.parse(web.get(f"http://{host}/robots.txt").body.decode())
        for host in HOSTS
        if web.get(f"http://{host}/robots.txt").status == 200
    }
    found, pages, waiting = {SEED}, set(), [SEED]
    while waiting:
        url = waiting.pop()
        answer = web.get(url)
        host = urls.host(url)
        if url in without or (host in rules and not rules[host].can_fetch(url, "focuscrawl")):
            continue
        if answer.location:
            links = [answer.location]
        else:
            if answer.status == 200:
                pages.add(url)
            links = [link.url for link in read_html(Page(url), answer.body, answer.content_type).links]
        for link in links:
            if link not in found and not urls.is_binary(link):
                found.add(link)
                waiting.append(link)
    return frozenset(pages)


@cache
def misbehaving() -> tuple[str, ...]:
    """About one page in ten, by a hash of its URL."""
    web = part_of_the_web()
    targets = {answer.location for answer in web.answers.values()}
    return tuple(
        url
        for url in sorted(reachable())
        if blake2b(url.encode()).digest()[0] % 10 == 0
        and url != SEED
        and url not in targets
        and web.get(url).content_type.startswith("text/html")
        and len(web.get(url).body) > 200
    )


def is_forbidden(path: str, folder: str = FORBIDDEN) -> bool:
    """Whether a path, as a server would read it, leads into a folder."""
    plain = unquote(path.partition("?")[0])
    return f"{normpath(plain)}/".startswith(folder)


def recovering() -> frozenset[str]:
    """Those that answer well in the end, if they are asked again."""
    return frozenset(misbehaving()[::2])


# ---- the server


class FaultyHandler(_Handler):
    """Answers one connection; faults are made of its methods."""

    server: FaultServer
    #: How many requests came over this connection.
    requests = 0

    def do_GET(self) -> None:  # noqa: N802
        server = self.server
        self.requests += 1
        self.plain_path, _, hop = self.path.partition("?hop=")
        self.hop = int(hop or 0)
        self.url = f"http:/{self.plain_path}"
        with server.lock:
            server.asked[self.url] += 1
            again = server.asked[self.url] > 1
        fault = server.fault
        well_now = fault is not None and fault.retried and again and self.url in recovering()
        if fault is None or well_now or self.url not in server.bad:
            super().do_GET()
            return
        self.close_connection = True
        self.body = self._direct_body()
        fault.act(self)

    do_HEAD = do_GET  # noqa: N815

    def _direct_body(self) -> bytes:
        self.path, path = self.plain_path, self.path
        with self.server.lock:
            body = self._direct().body
        self.path = path
        return body

    # ---- where it is asked

    @property
    def address(self) -> str:
        """Where this page's host listens."""
        return self.server.address

    @property
    def elsewhere(self) -> str:
        """Where another host has the same page."""
        return self.address.replace("127.0.0.1", "localhost")

    @property
    def over_tls(self) -> str:
        """Where the same page is found over TLS, with a bad certificate."""
        return self.server.over_tls

    #: The folder in which a folder `private` is that robots.txt forbids.
    site = FORBIDDEN.removesuffix("/private/")

    # ---- what faults are made of

    def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        self.connection.sendall(data)

    def answer(
        self, *headers: str, body: bytes | None = None, status: str = "200 OK", length: int | None = None
    ) -> None:
        """Send an answer: the page, as it should be but for what is given."""
        body = self.body if body is None else body
        if not any(header.startswith(("Content-Type", "content-type")) for header in headers):
            headers = ("Content-Type: text/html", *headers)
        size = len(body) if length is None else length
        self.send(head(f"HTTP/1.1 {status}", *headers, f"Content-Length: {size}", "Connection: close") + body)

    def redirect(self, location: str, *headers: str) -> None:
        """Send a redirect."""
        self.answer(f"Location: {location}", *headers, status="302 Found", body=b"")

    def wait(self) -> None:
        """Wait until the client has hung up."""
        self.connection.settimeout(60)
        while self.connection.recv(1 << 16):
            pass

    def reset(self) -> None:
        """Break the connection off: the client sees a reset, not an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())


def head(*lines: str) -> bytes:
    """Lines with an empty one behind them."""
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class FaultServer(WebServer):
    """Serves the part of the web, with a fault of some URLs or with none."""

    def __init__(self, fault: Fault | None, bad: Collection[str]) -> None:
        super().__init__(part_of_the_web())
        self.RequestHandlerClass = FaultyHandler
        self.fault = fault
        self.bad = bad
        #: How often each URL was asked for.
        self.asked: Counter[str] = Counter()

    def at(self, url: str) -> str:
        """Where a page of the web is found here."""
        return f"{self.address}/{url.removeprefix('http://')}"

    def handle_error(self, *_: object) -> None:
        """Clients that hang up are what is expected."""

    @cached_property
    def over_tls(self) -> str:
        """The address of the same pages over TLS, with a bad certificate; their links lead back here."""
        base = f'<base href="{self.address}/">'.encode()
        twin = FaultServer(Fault(lambda page: page.answer(body=base + page.body), Stored()), self.bad)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate())
        twin.socket = context.wrap_socket(twin.socket, server_side=True)
        threading.Thread(target=twin.serve_forever, daemon=True).start()
        self.twin = twin
        return twin.address.replace("http://", "https://")

    twin: FaultServer | None = None


@contextmanager
def serving_with(fault: Fault | None, bad: Collection[str] = ()) -> Iterator[FaultServer]:
    """Serve the part of the web from a thread while the block runs; by default the sample misbehaves."""
    server = FaultServer(fault, bad or misbehaving())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        for one in (server, server.twin):
            if one is not None:
                one.shutdown()
                one.server_close()
        thread.join()


@cache
def certificate() -> Path:
    """A file with a key and a certificate signed with it."""
    from tempfile import mkdtemp

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "nobody.example")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now - timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = Path(mkdtemp()) / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path


# ---- faults: the first line of each says what the server does


def silence(page: FaultyHandler) -> None:
    """The connection is accepted, then nothing"""
    page.wait()


def headers_then_silence(page: FaultyHandler) -> None:
    """Headers, then nothing"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", "Content-Length: 5000"))
    page.wait()


def half_a_body_then_silence(page: FaultyHandler) -> None:
    """Half of the body, then nothing"""
    size = len(page.body)
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {size}") + page.body[: size // 2])
    page.wait()


def slow_drip(page: FaultyHandler) -> None:
    """The body byte by byte, too slow for the timeout"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {len(page.body)}"))
    for byte in page.body:
        page.send(bytes([byte]))
        sleep(0.1)


def closed_at_once(page: FaultyHandler) -> None:
    """The connection is closed without an answer"""


def reset_at_once(page: FaultyHandler) -> None:
    """The connection is reset without an answer"""
    page.reset()


def reset_amid_the_body(page: FaultyHandler) -> None:
    """The connection is reset halfway through the body"""
    size = len(page.body)
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {size}") + page.body[: size // 2])
    sleep(0.05)
    page.reset()


def length_too_long(page: FaultyHandler) -> None:
    """The connection is closed early: Content-Length announced more"""
    page.answer(length=len(page.body) + 100)


def length_too_short(page: FaultyHandler) -> None:
    """Content-Length is half of the body, and the rest runs into the next response"""
    size = len(page.body) // 2
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", f"Content-Length: {size}") + page.body[:size])
    sleep(0.05)
    page.send(page.body[size:])
    page.close_connection = False


def garbage_on_a_used_connection(page: FaultyHandler) -> None:
    """Garbage, unless it is the first response on a connection"""
    if page.requests > 1:
        page.send(b"left over\r\n\r\n")
    else:
        page.answer()


def length_not_a_number(page: FaultyHandler) -> None:
    """Content-Length: many"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", "Content-Length: many") + page.body)


def body_declared_too_large(page: FaultyHandler) -> None:
    """Content-Length is larger than DOWNLOAD_MAXSIZE"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", "Content-Length: 1000000000000") + page.body)
    page.wait()


def endless_body(page: FaultyHandler) -> None:
    """An endless body"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html"))
    while True:
        page.send(page.body * 10)


def endless_headers(page: FaultyHandler) -> None:
    """Endless headers"""
    page.send(b"HTTP/1.1 200 OK\r\n")
    number = 0
    while True:
        page.send(b"".join(b"X-Header-%d: %b\r\n" % (number + n, b"x" * 60) for n in range(1000)))
        number += 1000


def endless_early_hints(page: FaultyHandler) -> None:
    """Endless interim responses"""
    while True:
        page.send(head("HTTP/1.1 103 Early Hints", "Link: </style.css>; rel=preload") * 100)


def large_header(page: FaultyHandler) -> None:
    """A header of 100 KB"""
    page.answer(f"Content-Security-Policy: {'x' * 100_000}")


def gigantic_header(page: FaultyHandler) -> None:
    """A header of 1 MB"""
    page.answer(f"X-Header: {'x' * 1_000_000}")
    page.wait()


def bad_chunk_size(page: FaultyHandler) -> None:
    """Transfer-Encoding: chunked with a chunk size that is not a number"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: chunked"))
    page.send(b"100\r\n" + page.body[:256].ljust(256) + b"\r\nnumber\r\n" + page.body)
    page.wait()


def chunks_cut_off(page: FaultyHandler) -> None:
    """Transfer-Encoding: chunked without the last chunk"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: chunked"))
    page.send(b"%x\r\n%b\r\n" % (len(page.body), page.body))


def unknown_transfer_encoding(page: FaultyHandler) -> None:
    """Transfer-Encoding: rot13"""
    page.send(head("HTTP/1.1 200 OK", "Content-Type: text/html", "Transfer-Encoding: rot13") + page.body)


def bad_gzip(page: FaultyHandler) -> None:
    """Content-Encoding: gzip, and the body is plain text"""
    page.answer("Content-Encoding: gzip")


def damaged_gzip(page: FaultyHandler) -> None:
    """Content-Encoding: gzip, and the body is damaged from its first byte"""
    page.answer("Content-Encoding: gzip", body=gzip.compress(page.body)[:10] + b"\xff" * 200)


def truncated_gzip(page: FaultyHandler) -> None:
    """Content-Encoding: gzip, and the body is truncated"""
    packed = gzip.compress(page.body)
    page.answer("Content-Encoding: gzip", body=packed[: len(packed) // 2])


@cache
def _bomb() -> bytes:
    bomb = gzip.compress(bytes(10_000_000)) * 25
    assert len(bomb) < MAX_SIZE
    return bomb


def gzip_bomb(page: FaultyHandler) -> None:
    """A small body that decompresses to 250 MB"""
    page.answer("Content-Encoding: gzip", body=_bomb())


def bad_deflate(page: FaultyHandler) -> None:
    """Content-Encoding: deflate, and the body is plain text"""
    page.answer("Content-Encoding: deflate")


def bad_brotli(page: FaultyHandler) -> None:
    """Content-Encoding: br, and the body is plain text"""
    page.answer("Content-Encoding: br")


def bad_zstd(page: FaultyHandler) -> None:
    """Content-Encoding: zstd, and the body is plain text"""
    page.answer("Content-Encoding: zstd")


def unknown_content_encoding(page: FaultyHandler) -> None:
    """Content-Encoding: rot13, and the body is plain text"""
    page.answer("Content-Encoding: rot13")


def tls_on_a_plain_port(page: FaultyHandler) -> None:
    """A redirect to https on a port that does not speak TLS"""
    page.redirect(f"https{page.address.removeprefix('http')}{page.plain_path}")


def bad_certificate(page: FaultyHandler) -> None:
    """A redirect to https with a certificate that is self-signed, expired and for another host"""
    page.redirect(page.over_tls + page.plain_path)


def interim_answers(page: FaultyHandler) -> None:
    """100 Continue and 103 Early Hints before the response"""
    page.send(head("HTTP/1.1 100 Continue") + head("HTTP/1.1 103 Early Hints", "Link: </style.css>; rel=preload"))
    page.answer()


def no_content(page: FaultyHandler) -> None:
    """204 No Content"""
    page.send(head("HTTP/1.1 204 No Content", "Connection: close"))


def not_modified(page: FaultyHandler) -> None:
    """304 Not Modified to an unconditional request"""
    page.send(head("HTTP/1.1 304 Not Modified", "Connection: close"))


def server_error(page: FaultyHandler) -> None:
    """500 Internal Server Error"""
    page.answer(status="500 Internal Server Error", body=b"<title>Oops</title>")


def unavailable(page: FaultyHandler) -> None:
    """503 Service Unavailable, Retry-After: 0"""
    page.answer("Retry-After: 0", status="503 Service Unavailable", body=b"<title>Later</title>")


def too_many_requests(page: FaultyHandler) -> None:
    """429 Too Many Requests with a Retry-After that is neither number nor date"""
    page.answer("Retry-After: \xb2", status="429 Too Many Requests", body=b"<title>Slower</title>")


def back_in_an_absurd_year(page: FaultyHandler) -> None:
    """503 Service Unavailable, Retry-After: Fri, 31 Dec 99999999999 23:59:59 GMT"""
    later = "Retry-After: Fri, 31 Dec 99999999999 23:59:59 GMT"
    page.answer(later, status="503 Service Unavailable", body=b"<title>Later</title>")


def redirect_loop(page: FaultyHandler) -> None:
    """Two URLs that redirect to each other"""
    page.redirect(page.plain_path if page.hop else f"{page.plain_path}?hop=1")


def redirect_without_end(page: FaultyHandler) -> None:
    """More redirects than REDIRECT_MAX_TIMES, each to a new URL"""
    page.redirect(f"{page.plain_path}?hop={page.hop + 1}")


def redirects_across_hosts(page: FaultyHandler) -> None:
    """Four redirects across hosts, ending at the page"""
    if page.hop == 4:
        page.answer()
        return
    address = page.address if page.hop % 2 else page.elsewhere
    page.redirect(f"{address}{page.plain_path}?hop={page.hop + 1}")


def redirect_to_a_bad_host(page: FaultyHandler) -> None:
    """Location: http://[/"""
    page.redirect("http://[/")


def redirect_to_a_bad_port(page: FaultyHandler) -> None:
    """Location: http://127.0.0.1:99999/"""
    page.redirect("http://127.0.0.1:99999/")


def redirect_to_a_script(page: FaultyHandler) -> None:
    """Location: javascript:history.back()"""
    page.redirect("javascript:history.back()")


def redirect_to_ftp(page: FaultyHandler) -> None:
    """Location: ftp://127.0.0.1/"""
    page.redirect("ftp://127.0.0.1/")


def redirect_into_a_forbidden_folder(page: FaultyHandler) -> None:
    """A redirect with dot segments, plain and escaped, into a folder that robots.txt disallows"""
    page.redirect(f"{page.address}{page.site}/public/../public/%2e%2e/private{page.plain_path}")


def redirect_to_a_long_path(page: FaultyHandler) -> None:
    """A redirect to a path of 60 KB"""
    page.redirect(page.plain_path + "/longer" * 8_600)


def redirect_with_user_info(page: FaultyHandler) -> None:
    """A redirect with a user name and password, ending at the page"""
    if page.hop:
        page.answer()
    else:
        page.redirect(f"{page.address.replace('://', '://user:secret@')}{page.plain_path}?hop=1")


def redirect_to_nothing(page: FaultyHandler) -> None:
    """Location is empty"""
    page.redirect("")


def redirect_with_odd_bytes(page: FaultyHandler) -> None:
    """Location with a NUL, a tab and bytes that are not UTF-8, ending at the page"""
    if page.hop:
        page.answer()
    else:
        page.redirect(f"{page.plain_path}?hop=1#\x00\xff\t")


def cookie_wall(page: FaultyHandler) -> None:
    """A redirect to the same URL until a cookie is sent back"""
    if "seen" in page.headers.get("Cookie", ""):
        page.answer()
    else:
        page.redirect(page.plain_path, "Set-Cookie: seen=1")


def wrong_charset(page: FaultyHandler) -> None:
    """charset=utf-16 for a page in Latin-1"""
    page.answer("Content-Type: text/html; charset=utf-16")


def unknown_charset(page: FaultyHandler) -> None:
    """charset=klingon"""
    page.answer("Content-Type: text/html; charset=klingon")


def odd_content_type(page: FaultyHandler) -> None:
    """A meaningless Content-Type"""
    page.answer("Content-Type: \xff\xfe;;=\x01charset")


def no_content_type(page: FaultyHandler) -> None:
    """No Content-Type"""
    page.send(head("HTTP/1.1 200 OK", f"Content-Length: {len(page.body)}", "Connection: close") + page.body)


def no_status_line(page: FaultyHandler) -> None:
    """HTTP/0.9: only a body"""
    page.send(page.body)


def bad_status_line(page: FaultyHandler) -> None:
    """HTTP/1.1 abc"""
    page.send(head("HTTP/1.1 abc", "Content-Type: text/html") + page.body)


def absurd_status(page: FaultyHandler) -> None:
    """HTTP/1.1 99999999999999999999"""
    page.answer(status="99999999999999999999")


def header_without_colon(page: FaultyHandler) -> None:
    """A header line without a colon"""
    page.answer("this is no header")


def binary_called_html(page: FaultyHandler) -> None:
    """An image declared as text/html"""
    page.answer(body=b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8)


# ---- what is expected


@dataclass(frozen=True)
class Stored:
    """The page is stored: with its status, and a problem if it could not be read. Whole: all its links are followed."""

    status: int = 200
    problem: str | None = None
    whole: bool = False

    def __str__(self) -> str:
        text = f"a page, status {self.status}"
        if self.problem:
            return f"{text}, problem `{self.problem}`"
        return text if self.whole else f"{text}, with the readable part"


@dataclass(frozen=True)
class Failed:
    """The URL is recorded in table `failure`, with a reason that starts like this."""

    reason: str
    #: It may pass: the URL also stays in table `frontier`, for when the crawl is resumed.
    passing: bool = False

    def __str__(self) -> str:
        return f"a failure, `{self.reason} …`"


@dataclass(frozen=True)
class Fault:
    """A kind of misbehaviour, and how a crawl handles it."""

    act: Callable[[FaultyHandler], None]
    outcome: Stored | Failed
    #: Whether it is retried in the same run.
    retried: bool = False
    #: The warning in the log.
    warning: str = ""
    #: Settings of its crawl.
    settings: dict[str, object] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.act.__name__

    def row(self) -> str:
        """The fault as a row of a Markdown table."""
        again = []
        if self.retried:
            again.append("twice in the same run")
        if isinstance(self.outcome, Failed) and self.outcome.passing:
            again.append("when the crawl is resumed")
        warning = f"a warning: `{self.warning} …`" if self.warning else "nothing"
        return f"| {self.act.__doc__} | {self.outcome} | {', and '.join(again) or 'no'} | {warning} |"


_IMPATIENT: dict[str, object] = {"DOWNLOAD_TIMEOUT": 1}

FAULTS = [
    # no answer, or half of one
    Fault(silence, Failed("DownloadTimeoutError:", passing=True), retried=True, settings=_IMPATIENT),
    Fault(headers_then_silence, Failed("DownloadTimeoutError:", passing=True), retried=True, settings=_IMPATIENT),
    Fault(half_a_body_then_silence, Failed("DownloadTimeoutError:", passing=True), retried=True, settings=_IMPATIENT),
    Fault(slow_drip, Failed("DownloadTimeoutError:", passing=True), retried=True, settings=_IMPATIENT),
    Fault(closed_at_once, Failed("ConnectionDone:", passing=True), retried=True),
    Fault(reset_at_once, Failed("ConnectionLost:", passing=True), retried=True),
    Fault(reset_amid_the_body, Failed("ResponseDataLossError", passing=True), retried=True, warning="Got data loss"),
    Fault(length_too_long, Failed("ResponseDataLossError", passing=True), retried=True, warning="Got data loss"),
    Fault(chunks_cut_off, Failed("ResponseDataLossError", passing=True), retried=True, warning="Got data loss"),
    Fault(bad_chunk_size, Failed("ResponseDataLossError", passing=True), retried=True, warning="Got data loss"),
    # too much of one
    Fault(endless_body, Failed("too large:"), warning="Received"),
    Fault(body_declared_too_large, Failed("too large:"), warning="Expected to receive"),
    Fault(gzip_bomb, Failed("too large:"), warning="Ignored response"),
    Fault(endless_headers, Failed("too large:")),
    Fault(endless_early_hints, Failed("too large:")),
    Fault(gigantic_header, Failed("too large:")),
    Fault(large_header, Stored(whole=True)),
    # no HTTP
    Fault(no_status_line, Failed("ParseError:", passing=True), retried=True),
    Fault(bad_status_line, Failed("ParseError:", passing=True), retried=True),
    Fault(absurd_status, Failed("ParseError:", passing=True), retried=True),
    Fault(length_not_a_number, Failed("ValueError:", passing=True), retried=True),
    Fault(unknown_transfer_encoding, Failed("KeyError:", passing=True), retried=True),
    Fault(header_without_colon, Stored(whole=True)),
    Fault(length_too_short, Stored()),
    Fault(garbage_on_a_used_connection, Stored(whole=True)),
    Fault(interim_answers, Stored(whole=True)),
    # lies about the body
    Fault(bad_gzip, Failed("BadGzipFile:")),
    Fault(damaged_gzip, Failed("zlib.error:")),
    Fault(truncated_gzip, Stored()),
    Fault(bad_deflate, Failed("zlib.error:")),
    Fault(bad_brotli, Failed("brotli.error:")),
    Fault(bad_zstd, Failed("ZstdError:")),
    Fault(unknown_content_encoding, Stored(whole=True), warning="HttpCompressionMiddleware cannot decode"),
    Fault(wrong_charset, Stored(whole=True)),
    Fault(unknown_charset, Stored(whole=True)),
    Fault(odd_content_type, Stored(problem="not HTML: \xff\xfe")),
    Fault(no_content_type, Stored(whole=True)),
    Fault(binary_called_html, Stored(problem="binary content declared as text/html")),
    # statuses
    Fault(no_content, Stored(204, "empty body")),
    Fault(not_modified, Stored(304, "HTTP 304")),
    Fault(server_error, Stored(500, "HTTP 500"), retried=True),
    Fault(unavailable, Stored(503, "HTTP 503"), retried=True),
    Fault(back_in_an_absurd_year, Stored(503, "HTTP 503"), retried=True),
    Fault(too_many_requests, Stored(429, "HTTP 429"), retried=True),
    # redirects
    Fault(redirect_loop, Failed("max redirections reached")),
    Fault(redirect_without_end, Failed("max redirections reached")),
    Fault(cookie_wall, Failed("max redirections reached")),
    Fault(redirect_to_nothing, Failed("max redirections reached")),
    Fault(redirect_to_a_bad_host, Failed("bad redirect: http://[/")),
    Fault(redirect_to_a_bad_port, Failed("bad redirect: http://127.0.0.1:99999/")),
    Fault(redirect_to_a_script, Failed("bad redirect: javascript:")),
    Fault(redirect_to_ftp, Failed("bad redirect: ftp://127.0.0.1/")),
    Fault(redirect_to_a_long_path, Failed("bad redirect:")),
    Fault(redirect_into_a_forbidden_folder, Failed("robots.txt disallows it")),
    Fault(redirect_with_user_info, Stored(whole=True)),
    Fault(redirect_with_odd_bytes, Stored(whole=True)),
    Fault(redirects_across_hosts, Stored(whole=True)),
    # TLS
    Fault(tls_on_a_plain_port, Failed("robots.txt could not be read: OpenSSL.SSL.Error:", passing=True)),
    Fault(bad_certificate, Stored(whole=True), warning="Remote certificate is not valid"),
]


def table() -> str:
    """How each fault is handled, in Markdown."""
    head = "| server behaviour | stored | retried | log |\n|---|---|---|---|\n"
    return head + "".join(f"{fault.row()}\n" for fault in FAULTS)


if __name__ == "__main__":
    print(table(), end="")
