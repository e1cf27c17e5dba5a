"""Archives: any bytes are responses or a reason, within bounds."""

from __future__ import annotations

import gzip
import io
import zipfile
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from focuscrawl.errors import FocusError
from focuscrawl.export.archives import Skipped, read_archive
from focuscrawl.export.bodies import MAX_BODY, decoded
from focuscrawl.export.cdxj import surt
from focuscrawl.export.where import parse
from tests.export.test_importing import record

WARC = (
    record() + record(b"x", WARC_Type="metadata") + record(WARC_Type="revisit", WARC_Refers_To_Target_URI="http://b/")
)
NASTY = [
    b"",
    b"\r\n",
    b"\r\n\r\n",
    b"WARC/1.1\r\n",
    b"Content-Length: -1\r\n",
    b"HTTP/1.1 200\r\n",
    b"\x1f\x8b",
    b"PK\x05\x06",
]


def zipped(data: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("archive/x.warc", data)
    return buffer.getvalue()


@st.composite
def archives(draw):
    """An archive with some bytes cut out, put in or changed, before or after it is packed."""
    pack = draw(st.sampled_from([bytes, gzip.compress, zipped]))
    data = bytearray(WARC)
    for step in range(2):
        for _ in range(draw(st.integers(0, 3))):
            place = draw(st.integers(0, len(data)))
            length = draw(st.sampled_from([0, 1, 10, 200]))
            data[place : place + length] = draw(st.one_of(st.sampled_from(NASTY), st.binary(max_size=20)))
        if not step:
            data = bytearray(pack(bytes(data)))
    return bytes(data)


@given(archives())
def test_any_archive_gives_responses_or_one_line(data):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        path.write_bytes(data)
        began = process_time()
        with suppress(FocusError):
            for found in read_archive(path, Skipped()):
                assert len(found.body) <= MAX_BODY
                assert 0 <= found.status <= 999
        assert process_time() - began < 2


@given(
    st.binary(max_size=300), st.lists(st.sampled_from(["gzip", "deflate", "br", "zstd", "x", "chunked"]), max_size=4)
)
def test_any_body_is_decoded_or_not(body, names):
    headers = [("content-encoding", ",".join(names)), ("transfer-encoding", "chunked" if "chunked" in names else "")]
    plain = decoded(body, headers)
    assert plain is None or len(plain) <= MAX_BODY


@given(st.text(max_size=200))
def test_any_text_is_a_list_of_conditions_or_told_in_one_line(text):
    with suppress(FocusError):
        assert parse([text])


@given(st.text(max_size=200))
def test_any_text_has_a_key(url):
    assert isinstance(surt(url), str)
