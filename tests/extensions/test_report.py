"""The report of a crawl is there while the crawl runs, and says how it stands."""

from __future__ import annotations

from focuscrawl.extensions.report import Report
from focuscrawl.reports.status import FAILED, status_of
from focuscrawl.store.places import read_crawl
from tests.conftest import at, small_web

CHAIN = {f"p{number}": [f"p{number + 1}"] for number in range(400)} | {"p400": []}


def test_it_is_written_while_the_crawl_runs_and_at_its_end(crawl, tmp_path, monkeypatch):
    web, seen = small_web(CHAIN, dict.fromkeys(CHAIN, "sort")), []
    answer, begin, path = web.get, Report.begin, tmp_path / "crawl" / "report.html"

    def beginning(self):
        begin(self)
        self._thread.join()  # here, the crawl waits for it

    def get(url: str):
        if path.exists() and (not seen or seen[-1] != path.read_text()):
            seen.append(path.read_text())
        return answer(url)

    monkeypatch.setattr(Report, "begin", beginning)
    monkeypatch.setattr("focuscrawl.extensions.report._APART", 0.0)
    web.get = get
    crawled = crawl("best_first", web, seeds=at("p0"), keywords="sort", settings={"FOCUS_REPORT_MINUTES": 0.0005})
    assert len(seen) > 1
    assert all("still running when this was written" in text and text.endswith("</html>\n") for text in seen)
    end = path.read_text()
    assert "still running" not in end
    assert "UTC: nothing was left to fetch" in end
    assert [file.name for file in crawled.folder.glob("report*")] == ["report.html"]


def test_a_run_without_a_readable_page_has_failed(crawl, tmp_path):
    metrics, web = tmp_path / "crawl.prom", small_web({"a": []})
    crawled = crawl(
        "best_first", web, seeds=at("nowhere"), keywords="sort", settings={"FOCUS_METRICS_FILE": str(metrics)}
    )
    with read_crawl(crawled.folder) as store:
        assert store.runs()[-1]["failed"].startswith("no page could be read")
    status = status_of(crawled.folder)
    assert (status.state, status.reason) == (FAILED, "finished")
    assert "no page could be read" in status.why
    assert 'topic="sort"} 1' in next(
        line for line in metrics.read_text().splitlines() if line.startswith("focuscrawl_failed{")
    )
