"""FOCUS_WARC: what is sent and received is read back by warcio."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from warcio.archiveiterator import ArchiveIterator

from focuscrawl.errors import FocusError
from focuscrawl.export.warc_file import Exchange, WarcFile
from focuscrawl.export.warc_records import members
from focuscrawl.web.webs import Answer
from tests.conftest import ROOT, at, scrapy, small_web
from tests.hosts import serving

WARC = {"FOCUS_WARC": "yes"}
DATE = "2026-11-18T00:00:00.000Z"


def records(path):
    """The records of a WARC file, whose digests are right: type, URL, HTTP status, body."""
    found = []
    with path.open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            status = record.http_headers.get_statuscode() if record.rec_type == "response" else None
            url = record.rec_headers["WARC-Target-URI"]
            found.append((record.rec_type, url, status, record.raw_stream.read()))
    return found


def test_requests_responses_redirects_and_robots_txt_are_recorded(crawl):
    web = small_web({"seed": ["a", "moved", "gone"], "a": []})
    web.redirect(at("moved"), at("target"))
    web.add(at("target"), "<title>Target</title>")
    web.answers[at("robots.txt")] = Answer(200, "text/plain", b"User-agent: *\nDisallow:")
    crawled = crawl("breadth_first", web, seeds=at("seed"), settings=WARC)
    found = records(crawled.folder / "pages.warc.gz")
    responses = {url: (status, body) for kind, url, status, body in found if kind == "response"}
    assert responses[at("seed")] == ("200", web.get(at("seed")).body)
    assert responses[at("moved")][0] == "301"
    assert responses[at("gone")][0] == "404"
    assert responses[at("seed/robots.txt")][0] == "404"
    kinds = Counter(kind for kind, *_ in found)
    assert kinds["request"] == kinds["response"] + kinds["revisit"]
    about = {url: body for kind, url, _, body in found if kind == "metadata"}
    assert b"hopsFromSeed: 1\r\n" in about[at("a")]
    assert f"via: {at('seed')}\r\n".encode() in about[at("a")]
    assert crawled.stats["focus/warc_records"] == len(found) - 1


def test_bodies_and_headers_are_kept_as_they_were_received(tmp_path):
    packed = gzip.compress(b"<title>Packed</title><p>packed</p>")

    def answer(name, path):
        if path == "/":
            return 200, {"X-Raw": "caf\xe9"}, b'<a href="/packed">x</a>'
        if path == "/packed":
            return 200, {"Content-Encoding": "gzip"}, packed
        return 404, {}, b""

    with serving(answer) as server:
        seed = server.at("127.1.0.1")
        settings = {**WARC, "FOCUS_PRIVATE_HOSTS": True, "DOWNLOAD_DELAY": 0}
        options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        place = ("-s", f"FOCUS_DIR={tmp_path / 'crawl'}")
        result = scrapy("crawl", "breadth_first", "-a", f"seeds={seed}", *options, *place)
        assert result.returncode == 0, result.stderr
    path = tmp_path / "crawl" / "pages.warc.gz"
    found, raw = records(path), gzip.decompress(path.read_bytes())
    responses = {url: body for kind, url, _, body in found if kind == "response"}
    assert responses[server.at("127.1.0.1", "/packed")] == packed
    assert b"X-Raw: caf\xe9\r\n" in raw
    assert b"WARC-IP-Address: 127.1.0.1\r\n" in raw


def test_what_got_no_response_is_recorded_with_the_reason(crawl):
    class Broken(type(small_web({}))):
        def get(self, url):
            if "broken" in url:
                raise OSError("connection lost")
            return super().get(url)

    web = Broken()
    web.answers = small_web({"seed": ["broken"]}).answers
    crawled = crawl("breadth_first", web, seeds=at("seed"), settings=WARC | {"RETRY_ENABLED": False})
    found = [(url, body) for kind, url, _, body in records(crawled.folder / "pages.warc.gz") if kind == "metadata"]
    assert [url for url, body in found if b"connection lost" in body]


def test_the_same_bytes_again_are_a_revisit(crawl):
    text = {"a": "the same words " * 50, "b": "other words"}
    web = small_web({"seed": ["a", "b"], "a": [], "b": []}, text)
    web.answers[at("b")] = web.answers[at("a")]
    crawled = crawl("breadth_first", web, seeds=at("seed"), settings=WARC)
    with (crawled.folder / "pages.warc.gz").open("rb") as file:
        again = [
            (record.rec_headers["WARC-Target-URI"], record.rec_headers["WARC-Refers-To-Target-URI"])
            for record in ArchiveIterator(file)
            if record.rec_type == "revisit"
        ]
    assert again == [(at("b"), at("a"))]


def test_a_crawl_that_resumes_goes_on_in_the_same_file(crawl):
    web = small_web({"seed": ["a", "b"], "a": [], "b": []})
    crawled = crawl("breadth_first", web, seeds=at("seed"), settings=WARC, max_pages=1)
    path = crawled.folder / "pages.warc.gz"
    path.write_bytes(path.read_bytes() + b"\x1f\x8b\x08\x04 half a record")
    crawl("breadth_first", web, crawled.folder, seeds=at("seed"), settings=WARC)
    found = records(path)
    assert [kind for kind, *_ in found].count("warcinfo") == 2
    assert {url for kind, url, *_ in found if kind == "response"} >= {at("seed"), at("a"), at("b")}


def test_secrets_of_requests_are_not_recorded(tmp_path):
    file = WarcFile(tmp_path / "w", DATE, "topic", "spider")
    headers = [(b"Authorization", b"Basic secret"), (b"Cookie", b"secret"), (b"Accept", b"*/*")]
    file.add(Exchange("http://a.example/?q", DATE, "GET", headers, b"", 200, "HTTP/1.1", (), b"x"))
    file.close()
    raw = gzip.decompress((tmp_path / "w").read_bytes())
    assert b"GET /?q HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n" in raw
    assert b"secret" not in raw


def test_wherever_a_file_was_cut_off_it_is_mended_and_no_whole_record_is_lost(tmp_path):
    path = tmp_path / "w"
    file = WarcFile(path, DATE, "topic", "spider")
    for number in range(3):
        file.add(Exchange(f"http://a.example/{number}", DATE, "GET", (), b"", 200, "HTTP/1.1", (), b"%d" % number))
    file.close()
    whole = path.read_bytes()
    with path.open("rb") as opened:
        ends = [0, *(place.offset + place.length for place in members(opened, len(whole)))]
    assert ends[-1] == len(whole)
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        WarcFile(path, DATE, "topic", "spider").close()
        kept = sum(end <= size for end in ends) - 1
        assert len(records(path)) == kept + 1
    path.write_bytes(whole[:-200] + bytes(200))  # a power cut
    WarcFile(path, DATE, "topic", "spider").close()
    assert len(records(path)) == len(ends) - 1


def test_a_file_of_someone_else_is_left_alone(tmp_path):
    path = tmp_path / "pages.warc.gz"
    path.write_bytes(b"my thesis")
    with pytest.raises(FocusError, match="move it away"):
        WarcFile(path, DATE, "topic", "spider")
    assert path.read_bytes() == b"my thesis"


def test_a_full_disk_leaves_no_half_record(tmp_path, monkeypatch):
    file = WarcFile(tmp_path / "w", DATE, "topic", "spider")
    before = (tmp_path / "w").read_bytes()
    real = file._file

    class Full:
        def write(self, data):
            if len(data) < 300:
                raise OSError(28, "No space left on device")
            return real.write(data[:-200])

        truncate = real.truncate

    file._file = Full()
    with pytest.raises(OSError, match="No space"):
        file.add(Exchange("http://a.example/", DATE, "GET", (), b"", 200, "HTTP/1.1", (), os.urandom(1000)))
    assert (tmp_path / "w").read_bytes() == before


KILLED = """
import os, signal, sys
from pathlib import Path
from focuscrawl import testing
from focuscrawl.export.warc_file import WarcFile
from focuscrawl.web.demo import demo_web

add, count = WarcFile.add, 0

def adding(self, exchange):
    global count
    count += 1
    if count == 20:
        self._file.write(b"\\x1f\\x8b\\x08")  # in the middle of a record
        os.kill(os.getpid(), signal.SIGKILL)
    add(self, exchange)

WarcFile.add = adding
testing.crawl("breadth_first", demo_web(), Path(sys.argv[1]), {"FOCUS_WARC": "yes"}, topic="sorting", max_pages=30)
"""


def test_killed_and_resumed_the_file_has_every_stored_page(tmp_path, crawl):
    from focuscrawl.web.demo import demo_web

    folder = tmp_path / "crawl"
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    crawled = crawl("breadth_first", demo_web(), folder, WARC, topic="sorting", max_pages=30)
    kept = {url for kind, url, *_ in records(folder / "pages.warc.gz") if kind in ("response", "revisit")}
    assert {url for (url,) in crawled.sql("SELECT url FROM page")} <= kept


def test_another_value_is_refused(crawl):
    with pytest.raises(FocusError, match="FOCUS_WARC=perhaps: expected yes or no"):
        crawl("breadth_first", small_web({"a": []}), seeds=at("a"), settings={"FOCUS_WARC": "perhaps"})
