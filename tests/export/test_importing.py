"""Archives of other tools become crawls; hostile ones do no harm."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc
import zipfile
import zlib

import brotli
import pytest
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from focuscrawl.errors import FocusError
from focuscrawl.export import archives
from focuscrawl.export.archives import Skipped, read_archive
from focuscrawl.export.bodies import MAX_BODY, decoded, without_chunks
from focuscrawl.export.export import Export
from focuscrawl.export.importing import import_archive
from focuscrawl.reports.status import status_of
from focuscrawl.testing import Crawled, at, crawl
from focuscrawl.topic import make_topic
from focuscrawl.web.webs import open_web
from tests.conftest import small_web
from tests.export.crawls import TEXT, hostile_crawl

TOPIC = make_topic(None, None, "sorting,list")


def imported(source, folder, topic=TOPIC, **options):
    """Import an archive; returns what became of it, and the crawl."""
    return import_archive(source, folder, topic, **options), Crawled(folder)


def write_warc(path, *responses, compressed=True):
    """Write responses with warcio: URL, status, headers, body."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=compressed)
        writer.write_record(writer.create_warcinfo_record("x.warc", {"software": "warcio"}))
        for url, status, headers, body in responses:
            head = StatusAndHeaders(status, list(headers.items()), protocol="HTTP/1.1")
            writer.write_record(writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=head))


HTML = {"Content-Type": "text/html"}


@pytest.mark.parametrize("to", ["warc", "wacz"])
def test_an_exported_crawl_is_imported_as_it_was(tmp_path, to):
    before = hostile_crawl(tmp_path / "before")
    Export(to).run(before.folder, tmp_path / "archive", lambda items, _: items)
    done, after = imported(tmp_path / "archive", tmp_path / "after")
    columns = "url, status, title, relevance, relevant, matched, fetched_at, redirects, language"
    query = (
        f"SELECT {columns} FROM page WHERE ifnull(withheld, '') IN ('', 'copy') AND duplicate_of IS NULL ORDER BY url"
    )
    assert [row for row in before.sql(query) if "licenses/by" not in row[0]] == [
        row for row in after.sql(query) if "licenses/by" not in row[0]
    ]
    assert done.pages == len(before.sql("SELECT 1 FROM page WHERE withheld IS NOT 'noindex'"))
    links = (
        "SELECT DISTINCT page.url, url.url FROM link JOIN page ON page.id = link.page JOIN url ON url.id = link.url_id"
    )
    assert set(after.sql(links)) <= set(before.sql(links))
    assert sorted(after.matched) == sorted(before.matched)
    assert {page["url"] for page in after.pages} == {url for (url,) in after.sql("SELECT url FROM page")}


def test_an_import_is_a_web_that_can_be_crawled_and_a_crawl_that_can_be_exported(tmp_path):
    write_warc(
        tmp_path / "x.warc.gz",
        (at("seed"), "200 OK", HTML, f'<title>seed</title><a href="{at("a")}">a</a> {TEXT}'.encode()),
        (at("moved"), "302 Found", {"Location": at("a")}, b""),
        (at("a"), "200 OK", HTML, f"<title>a</title>{TEXT}".encode()),
    )
    imported(tmp_path / "x.warc.gz", tmp_path / "imported")
    web = open_web(str(tmp_path / "imported"))
    assert web.get(at("moved")).location == at("a")
    crawled = crawl("breadth_first", web, tmp_path / "again", seeds=at("seed"))
    assert crawled.urls == [at("seed"), at("a")]
    assert Export("jsonl").run(tmp_path / "imported", tmp_path / "o", lambda items, _: items) == 2


def test_what_a_crawl_fetched_is_imported_with_its_encodings(tmp_path):
    page = f"<title>packed</title>{TEXT}".encode()
    packed = {
        "gzip": gzip.compress(page),
        "deflate": zlib.compress(page),
        "br": brotli.compress(page),
        "identity": page,
    }
    answers = [(at(name), "200 OK", {**HTML, "Content-Encoding": name}, body) for name, body in packed.items()]
    chunks = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (10, page[:10], len(page) - 10, page[10:])
    answers.append((at("chunked"), "200 OK", {**HTML, "Transfer-Encoding": "chunked"}, chunks))
    answers.append((at("unchunked"), "200 OK", {**HTML, "Transfer-Encoding": "chunked"}, page))
    write_warc(tmp_path / "x.warc.gz", *answers)
    done, crawled = imported(tmp_path / "x.warc.gz", tmp_path / "imported")
    assert done.pages == 6
    assert crawled.sql("SELECT count(*) FROM page WHERE title = 'packed'") == [(6,)]


def test_uncompressed_files_are_read_and_what_is_no_page_is_left_out(tmp_path):
    write_warc(
        tmp_path / "x.warc",
        (at("a"), "200 OK", HTML, b"<title>a</title>" + TEXT.encode()),
        (at("a"), "200 OK", HTML, b"<title>later</title>"),
        (at("a/robots.txt"), "200 OK", {"Content-Type": "text/plain"}, b"User-agent: *"),
        (at("a/x.png"), "200 OK", {"Content-Type": "image/png"}, b"\x89PNG"),
        (at("a/down"), "503 Service Unavailable", HTML, b"later"),
        ("ftp://a.example/", "200 OK", HTML, b"x"),
        compressed=False,
    )
    done, crawled = imported(tmp_path / "x.warc", tmp_path / "imported")
    assert [page["title"] for page in crawled.pages] == ["a"]
    assert sum(done.skipped.values()) == 5


def test_a_folder_of_pages_is_imported_with_its_links(tmp_path):
    pages = tmp_path / "pages"
    (pages / "sub").mkdir(parents=True)
    (pages / "index.html").write_text(f'<title>index</title><a href="sub/a%20b.html">x</a> {TEXT}')
    (pages / "sub" / "a b.html").write_text(f"<title>a b</title>{TEXT}")
    (pages / "notes.md").write_text("# Notes\n\nSome notes.")
    (pages / "picture.png").write_bytes(b"\x89PNG")
    (tmp_path / "secret.html").write_text("<title>secret</title>")
    (pages / "out.html").symlink_to(tmp_path / "secret.html")
    (pages / "up").symlink_to(tmp_path)
    os.mkfifo(pages / "pipe.html")
    done, crawled = imported(pages, tmp_path / "imported", base="http://collection.example/x/")
    assert status_of(tmp_path / "imported").why == "it was imported, not crawled"
    base = "http://collection.example/x"
    assert {page["url"]: page["title"] for page in crawled.pages} == {
        f"{base}/index.html": "index",
        f"{base}/notes.md": "Notes",
        f"{base}/sub/a%20b.html": "a b",
    }
    assert crawled.sql("SELECT url.url FROM link JOIN url ON url.id = url_id") == [(f"{base}/sub/a%20b.html",)]
    assert done.skipped == {"not a page": 1}


def test_without_a_topic_nothing_is_judged(tmp_path):
    write_warc(tmp_path / "x.warc.gz", (at("a"), "200 OK", HTML, b"<title>a</title>" + TEXT.encode()))
    _, crawled = imported(tmp_path / "x.warc.gz", tmp_path / "imported", make_topic())
    assert crawled.sql("SELECT relevance, relevant, matched FROM page") == [(None, None, 0)]


# ---- hostile archives


def record(block=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>x</title>", **headers):
    """A record; headers may lie."""
    head = {"WARC-Type": "response", "WARC-Target-URI": at("a"), "Content-Length": str(len(block))}
    head |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
    return f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def test_what_comes_before_damage_is_kept_and_the_damage_is_told(tmp_path):
    whole = gzip.compress(record()) + gzip.compress(record(WARC_Target_URI=at("b")))
    for number, data in enumerate((whole[:-20], whole + b"\x1f\x8bgarbage", whole + gzip.compress(b"garbage\r\n"))):
        (tmp_path / "x").write_bytes(data)
        done, _ = imported(tmp_path / "x", tmp_path / str(number))
        assert done.pages == (1 if not number else 2)
        assert any("damaged after record" in reason for reason in done.skipped)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"my thesis",
        b"WARC",
        b"PK\x03\x04 garbage",
        b"\x1f\x8b",
        gzip.compress(b"WARC/1.1\r\n" + b"x" * 10_000_000),
        gzip.compress(b"WARC/1.1\r\n" + b"X: y\r\n" * 1_000_000),
        gzip.compress(b"\r\n" * 1_000_000),
        gzip.compress(record(Content_Length="-5")),
        gzip.compress(record(Content_Length="9" * 400)),
        gzip.compress(record(Content_Length="99999999999999")),
        gzip.compress(record(Content_Length="٣")),
    ],
    ids=range(12),
)
def test_what_is_no_archive_is_refused_in_one_line_and_leaves_nothing(tmp_path, data):
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(FocusError):
        imported(tmp_path / "x", tmp_path / "crawl")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_bomb_is_refused_within_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(archives, "_MAX_INFLATED", 50_000_000)
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = packer.compress(record(b"", Content_Length=str(10**12))[:-4])
    zeros = bytes(1_000_000)
    block += b"".join(packer.compress(zeros) for _ in range(300)) + packer.flush()
    (tmp_path / "x").write_bytes(gzip.compress(record()) + block)
    tracemalloc.start()
    try:
        with pytest.raises(FocusError, match="inflates to more than"):
            list(read_archive(tmp_path / "x", Skipped()))
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
def test_a_body_that_is_a_bomb_is_left_out(name):
    bomb = {"gzip": gzip.compress, "deflate": zlib.compress, "br": brotli.compress}[name](bytes(MAX_BODY + 10))
    assert decoded(bomb, [("content-encoding", name)]) is None
    assert decoded(b"x", [("content-encoding", ",".join(["gzip"] * 50))]) is None
    assert not decoded(b"\xff\xff\xff", [("content-encoding", "br")])


def test_chunks_that_lie_are_taken_as_they_are():
    for body in (b"5\r\nab", b"zz\r\nab", b"ffffffff\r\nab", b""):
        assert without_chunks(body) == body


def test_names_in_a_wacz_lead_nowhere(tmp_path):
    place = tmp_path / "x.wacz"
    with zipfile.ZipFile(place, "w") as zipped:
        zipped.writestr("archive/../../../evil.warc.gz", gzip.compress(record()))
        zipped.writestr("/etc/passwd", "x")
        zipped.writestr("archive/notes.txt", "x")
    done, _ = imported(place, tmp_path / "crawl")
    assert done.pages == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "x.wacz"]
    with zipfile.ZipFile(place, "w") as zipped:
        zipped.writestr("pages/pages.jsonl", "x")
    with pytest.raises(FocusError, match="is it a WACZ file"):
        imported(place, tmp_path / "other")


def test_an_existing_crawl_is_not_touched(tmp_path):
    crawled = crawl("breadth_first", small_web({"a": []}), tmp_path / "crawl", seeds=at("a"))
    write_warc(tmp_path / "x.warc.gz", (at("b"), "200 OK", HTML, b"<title>b</title>"))
    with pytest.raises(FocusError, match="already exists"):
        imported(tmp_path / "x.warc.gz", crawled.folder)
    assert crawled.urls == [at("a")]
