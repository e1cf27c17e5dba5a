from __future__ import annotations

import pytest

from focuscrawl.crawl.linefile import LineFile

LINES = ["one", "two", "drei ä", "four"]


@pytest.mark.parametrize(
    "found",
    [
        None,
        "",
        "one\n",
        "one\ntwo\ndrei ä\nfour\n",
        "one\ntwo\ndr",  # torn by a crash
        "one\ntwo\ndrei ä\nfour",  # only the end of the line is missing
        "one\ntwo\ndrei ä\nfour\nfive\nsix\n",  # ahead of the store
        "one\nzwei\ndrei ä\n",  # something else
        "garbage",
    ],
)
def test_whatever_a_crash_left_the_file_says_what_the_store_says(tmp_path, found):
    path = tmp_path / "lines"
    if found is not None:
        path.write_text(found, "utf-8")
    file = LineFile(path, iter(LINES))
    file.write("next")
    assert path.read_text("utf-8").splitlines() == [*LINES, "next"]
    file.close()


def test_lines_are_there_at_once(tmp_path):
    file = LineFile(tmp_path / "lines", iter(()))
    file.write("a")
    assert (tmp_path / "lines").read_text() == "a\n"
    file.close()
