"""Files of marks, as people write them and as tools export them."""

from __future__ import annotations

import pytest

from focuscrawl.crawl.mark_file import read_marks
from focuscrawl.crawl.marking import NewMark
from focuscrawl.errors import FocusError

WANTED = [NewMark("http://a.example/", "yes", "the best, by far"), NewMark("http://b.example/x?a=1,2", "no", "")]


@pytest.mark.parametrize(
    "text",
    [
        "http://a.example/ yes the best, by far\n\n# not these\nhttp://b.example/x?a=1,2\tNO\n",
        'url,verdict,note\nhttp://a.example/,yes,"the best, by far"\n"http://b.example/x?a=1,2",no,\n',
        '\ufeffnote,URL,Verdict\r\n"the best, by far",http://a.example/,yes\r\n,"http://b.example/x?a=1,2",no\r\n',
        (
            '{"url": "http://a.example/", "verdict": "yes", "note": "the best, by far", "more": 1}\n'
            '{"verdict": "no", "url": "http://b.example/x?a=1,2"}\n'
        ),
    ],
)
def test_lines_csv_and_json_lines_say_the_same(tmp_path, text):
    path = tmp_path / "marks"
    path.write_text(text, "utf-8")
    assert read_marks(path) == WANTED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("http://a.example/ yes\nhttp://b.example/ good\n", "line 2: 'good' is no verdict; expected yes, no"),
        ("http://a.example/\n", "line 1: '' is no verdict"),
        ("url,verdict\nhttp://a.example/,1\n", "line 2: '1' is no verdict"),
        ('{"url": "http://a.example/", "verdict": "yes"}\n["x"]\n', "line 2: not a JSON object"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, text, message):
    path = tmp_path / "marks"
    path.write_text(text, "utf-8")
    with pytest.raises(FocusError, match=message):
        read_marks(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FocusError, match=r"cannot read .*nowhere"):
        read_marks(tmp_path / "nowhere")
