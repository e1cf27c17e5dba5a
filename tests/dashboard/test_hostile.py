"""Crawl files from strangers: the dashboard says what is wrong with them, quickly, and does nothing else."""

from __future__ import annotations

from time import process_time

import pytest

from focuscrawl.errors import FocusError
from tests.dashboard.asking import Asking
from tests.hostile import CELLS, INSIDE, KINDS, copy_crawl, make_crawl

VIEWS = (
    "/",
    "",
    "pages",
    "pages?order=best&q=a",
    "page/1",
    "page/2",
    "review",
    "search?q=sort",
    "frontier",
    "map",
    "topic",
)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_crawl(tmp_path_factory.mktemp("made"))


@pytest.mark.parametrize("kind", [*KINDS, *CELLS, *INSIDE])
def test_every_view_answers_or_says_what_is_wrong(made, tmp_path, kind):
    folder = copy_crawl(made, tmp_path / "crawl")
    (KINDS | CELLS | INSIDE)[kind](folder)
    began = process_time()
    try:
        asking = Asking(folder)
    except FocusError:  # it is not a crawl at all
        return
    for view in VIEWS:
        answer = asking.get(view)
        assert answer.status_code in (200, 303, 404, 500), view
        assert "Traceback" not in answer.text
    assert process_time() - began < 5
