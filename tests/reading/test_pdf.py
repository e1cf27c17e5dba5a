from __future__ import annotations

import subprocess
import sys
import threading
import zipfile
from itertools import chain

import pytest

from focuscrawl.page import Page
from focuscrawl.reading import pdf
from focuscrawl.reading.documents import read_page
from tests import pdfs
from tests.conftest import ROOT

READABLE, UNREADABLE = dict(pdfs.readable()), dict(pdfs.unreadable())


def read(body: bytes, content_type: str = "application/pdf") -> Page:
    return read_page(Page("http://a.example/dir/paper.pdf"), body, content_type)


def folded(text: str) -> str:
    return " ".join(text.split())


def test_there_are_many():
    assert len(READABLE) + len(UNREADABLE) >= 50


@pytest.mark.parametrize("name", READABLE)
def test_a_pdf_says_what_was_written_into_it(name):
    made = READABLE[name]
    page = read(made.body)
    assert page.problem is None
    assert all(said in folded(page.text) for said in made.says)
    assert page.words
    if made.title:
        assert page.title == made.title
    assert tuple(dict.fromkeys(link.url for link in page.links)) == made.links


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_pdf_that_cannot_be_read_says_why(name):
    made = UNREADABLE[name]
    page = read(made.body)
    assert made.problem in (page.problem or "")
    assert page.problem
    assert not page.links


def test_links_have_anchors_and_the_words_around_them():
    first, second = read(READABLE["links"].body).links
    assert (first.anchor, second.anchor) == ("the heap page", "our notes")
    assert first.before(3) == ("few", "comparisons", "see")
    assert first.after(2) == ("there", "see")
    assert "Sorting by a heap" in first.block


def test_the_outline_makes_headings():
    page = read(READABLE["book"].body)
    assert [(heading.level, heading.text, heading.parent) for heading in page.headings] == [
        (1, "Insertion", -1),
        (2, "How Insertion works", 0),
        (1, "Selection", -1),
        (2, "How Selection works", 2),
    ]


def test_a_pdf_says_who_wrote_it_when_and_in_which_language():
    page = read(READABLE["described"].body)
    assert (page.authors, page.declared_language) == (["Ada Example"], "de-DE")
    assert page.published.startswith("20")


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("D:20240131120000+01'00'", "2024-01-31T12:00:00+01:00"),
        ("D:20240131120000Z", "2024-01-31T12:00:00Z"),
        ("D:2024", "2024-01-01"),
        ("20240131", "2024-01-31"),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates(date, expected):
    assert pdf._iso(date) == expected


@pytest.mark.parametrize("title", ["untitled", "Microsoft Word - paper.doc", "paper.dvi"])
def test_a_title_that_a_program_made_up_is_replaced_by_the_largest_text(title):
    assert read(pdfs.paper(prepare=lambda made: made.set_title(title))).title == "Heap sort"


def test_words_that_were_broken_at_the_end_of_a_line_are_whole():
    assert pdf._clean("sort\ufffe\r\ning is\r\nfun") == "sorting is\nfun"


@pytest.mark.parametrize("broken", ["http://b.example/a-long-way-\nto-go", "http://b.example/a/\nb"])
def test_a_url_that_may_go_on_in_the_next_line_is_no_link(broken):
    page = read(pdfs.paper(text=f"Look at {broken} and http://b.example/whole here."))
    assert [link.url for link in page.links] == ["http://b.example/whole"]


@pytest.mark.parametrize("content_type", ["application/pdf", "text/html", "application/octet-stream", "", "text/plain"])
def test_a_pdf_is_recognised_whatever_it_is_declared_as(content_type):
    assert read(READABLE["helvetica-True"].body, content_type).title == "Heap sort"


def test_what_is_declared_as_a_pdf_and_is_none():
    assert read(b"<p>Please log in", "application/pdf").problem == "unreadable PDF: it does not begin as a PDF does"


def test_a_pdf_is_read_twice_the_same():
    body = READABLE["links"].body
    first, second = read(body), pdf.Worker().ask(body)
    assert first.text == read(body).text
    assert second == pdf.ask(body)


@pytest.fixture
def small_worker():
    worker = pdf.Worker(cpu=1)
    yield worker
    worker.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", pdfs.BOMBS)
def test_a_bomb_costs_its_own_page_only(name, small_worker):
    answer = small_worker.ask(pdfs.BOMBS[name]())
    assert "error" in answer or sum(len(page["text"]) for page in answer["pages"]) <= 1_000_000
    whole = small_worker.ask(READABLE["helvetica-True"].body)
    assert whole["largest"] == "Heap sort"


def test_a_process_that_dies_is_replaced(small_worker):
    body = READABLE["helvetica-True"].body
    before = small_worker.ask(body)
    process = small_worker._process
    process.kill()
    process.wait()
    assert small_worker.ask(body) == before
    assert small_worker._process is not process


def test_a_process_that_takes_too_long_is_ended():
    worker = pdf.Worker(wall=0.0)
    answer = worker.ask(b"%PDF-1.7\n" + b"x" * 1_000_000)
    worker.close()
    assert "error" in answer


def test_a_host_whose_pdfs_cost_too_much_is_not_tried_again(small_worker, monkeypatch):
    """Otherwise its bombs would keep everybody's PDFs waiting, and the requests that fetched them."""
    monkeypatch.setattr(pdf, "WORKER", small_worker)
    bombs = [pdfs.BOMBS["doubling-forms"]() + f"%{number}".encode() for number in range(3)]
    assert [pdf.ask(body, "bombs.example")["error"] for body in bombs[:2]] == [pdf.COSTLY] * 2
    monkeypatch.setattr(small_worker, "ask", lambda body: pytest.fail("it was tried"))
    with pytest.raises(pdf.NotPdfError, match="not tried: 2 others of its host"):
        pdf.ask(bombs[2], "bombs.example")
        pdf.read_pdf(bombs[2])


def test_and_other_hosts_are(small_worker, monkeypatch):
    monkeypatch.setattr(pdf, "WORKER", small_worker)
    assert "pages" in pdf.ask(READABLE["helvetica-True"].body, "good.example")


def test_the_process_ends_with_its_parent(small_worker):
    small_worker.ask(READABLE["helvetica-True"].body)
    process = small_worker._process
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def test_a_missing_library_is_named():
    worker = pdf.Worker()
    worker.module = "focuscrawl.no_such_module"
    assert "is pypdfium2 installed?" in worker.ask(READABLE["helvetica-True"].body)["error"]


def test_the_modules_may_be_in_an_egg(tmp_path):
    """As on Scrapyd, which puts a zipped egg on the path of its process."""
    egg = tmp_path / "focuscrawl.egg"
    with zipfile.ZipFile(egg, "w") as archive:
        for path in (ROOT / "focuscrawl").rglob("*.py"):
            archive.write(path, path.relative_to(ROOT))
    (tmp_path / "x.pdf").write_bytes(READABLE["helvetica-True"].body)
    code = (
        f"import sys; sys.path.insert(0, {str(egg)!r})\n"
        "from pathlib import Path\nfrom focuscrawl.reading import pdf\n"
        "print(pdf.__file__, pdf.read_pdf(Path('x.pdf').read_bytes()).title)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.strip().startswith(str(egg))
    assert done.stdout.strip().endswith("Heap sort")


def test_threads_may_share_the_process(small_worker):
    names = ["helvetica-True", "russian", "japanese", "book"]
    expected = [small_worker.ask(READABLE[name].body) for name in names]
    found: dict[int, object] = {}

    def ask(number: int) -> None:
        found[number] = small_worker.ask(READABLE[names[number % 4]].body)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in range(12)] == list(chain(expected, expected, expected))


def test_the_process_starts_fast_because_it_does_not_import_the_crawler():
    code = "import sys, focuscrawl.reading.pdf_worker; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scrapy", "twisted", "lxml", "numpy", "focuscrawl.page"} & set(loaded)
