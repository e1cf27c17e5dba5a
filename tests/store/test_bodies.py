"""Bodies and the text around links: stored together, read apart."""

import os
import zlib
from contextlib import closing

import pytest

from focuscrawl.store.bodies import DAMAGED, MAX_BODY, body_of, pack, text_of
from focuscrawl.store.examples import Example
from focuscrawl.store.store import Store
from focuscrawl.testing import at, crawl
from focuscrawl.web.webs import MemoryWeb


@pytest.mark.parametrize("body", [b"", b"<p>tea", os.urandom(70_000)])
@pytest.mark.parametrize("text", ["", "tea", "茶 \ud800 ü" * 9_000])
def test_what_is_packed_comes_out_again(body, text):
    packed = pack(body, text)
    assert body_of(packed) == body
    assert text_of(packed) == text


def test_the_text_of_a_page_adds_little_to_its_body():
    lines = [os.urandom(40).hex() for _ in range(500)]
    body = "".join(f"<li>{line}</li>" for line in lines).encode()
    assert len(pack(body, "\n".join(lines))) < 1.2 * len(pack(body))


def test_bodies_of_older_formats_are_read():
    assert body_of(zlib.compress(b"<p>tea")) == b"<p>tea"
    assert text_of(zlib.compress(b"<p>tea")) == ""


@pytest.mark.parametrize(
    "stored",
    [
        pack(b"x" * 100)[:-1],
        pack(os.urandom(9_000))[:-2_000],
        pack(b"")[:4],
        b"\x28\xb5\x2f\xfd" + b"\xff" * 50,
        b"xx",
        zlib.compress(bytes(2 * MAX_BODY + (1 << 25)), 1),
        pack(bytes(2 * MAX_BODY)),
    ],
    ids=["cut", "cut in the middle", "a beginning", "nonsense", "neither", "a bomb", "a bomb of today"],
)
def test_damaged_bodies_and_bombs_are_refused(stored):
    for read in (body_of, text_of) if stored[:1] == b"\x28" else (body_of,):
        with pytest.raises(DAMAGED):
            read(stored)


def test_a_text_that_claims_to_be_longer_than_it_can_be_is_refused():
    from focuscrawl.store.bodies import zstd

    with pytest.raises(DAMAGED):
        body_of(zstd.compress(b"<p>tea" + (99).to_bytes(4, "little")))


def test_the_words_around_a_link_stay_when_its_page_changes(tmp_path):
    """A visit stores the text anew; where a link stood in the old one is of no use then."""
    web = MemoryWeb()
    web.add(at("a"), f"<title>a</title><p>Green tea from <a href='{at('b')}'>Uji</a> near Kyoto is old.")
    web.add(at("b"), "<p>tea")
    crawled = crawl("best_first", web, tmp_path, seeds=at("a"), keywords="tea")
    store = Store(crawled.folder / "crawl.sqlite")
    link = store.links.get(1)
    assert link is not None
    assert (link.before(), link.after()) == (("green", "tea", "from"), ("near", "kyoto", "is", "old"))
    assert crawled.sql("SELECT before, after FROM link") == [(None, None)]
    with store.transaction():
        store.links.keep_contexts(1)
        store.execute("UPDATE page SET body = ? WHERE id = 1", (pack(b"<p>something else", "something else"),))
    link = store.links.get(1)
    assert link is not None
    assert (link.before(), link.after()) == (("green", "tea", "from"), ("near", "kyoto", "is", "old"))
    store.close()


def test_example_pages_are_compressed_and_those_of_older_formats_are_read(tmp_path):
    with closing(Store(tmp_path / "crawl.sqlite")) as store:
        example = Example("text/html", b"<p>tea " * 1_000)
        with store.transaction():
            store.examples.add(at("a"), example, "2026-01-01")
            store.execute("INSERT INTO example VALUES (?, 'text/html', ?, '')", (at("b"), example.body))
        assert store.examples.get(at("a")) == store.examples.get(at("b")) == example
        assert store.execute("SELECT length(body) FROM example").fetchone()[0] < 100
