"""The results that the documentation shows are those of the run that they are said to be of."""

from __future__ import annotations

import subprocess

import pytest

from benchmarks import figures, results


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """Have the results made by a lab that ends as it is told, in a folder with those of an earlier run."""
    (tmp_path / "webs").mkdir()
    (tmp_path / "webs" / "birds.sqlite").touch()
    (tmp_path / "into" / "birds").mkdir(parents=True)
    for name in ("papers.md", "claims.csv", "summary.csv", "curves.csv"):
        (tmp_path / "into" / "birds" / name).write_text("### An earlier run\n")

    def make(what: str, status: int, papers: str | None = None) -> None:
        def run(command, **_):
            assert command[3:4] == ["lab"]
            if papers:
                (tmp_path / "into" / "birds" / "claims.csv").write_text(
                    'paper,web,pages,claim,verdict,why\n4,birds,7,it ends above both,Reproduced,"2 of 2, 1.10 to 1.30 times"\n'
                )
                (tmp_path / "into" / "birds" / "papers.md").write_text(papers)
            return subprocess.CompletedProcess(command, status)

        monkeypatch.setattr(results.subprocess, "run", run)
        where = f"--folder={tmp_path / 'webs'}", f"--into={tmp_path / 'into'}"
        monkeypatch.setattr("sys.argv", ["results.py", what, "--pages=7", "--webs=birds", *where])
        results.main()

    return make


@pytest.mark.parametrize("status", [0, 1, 2])
@pytest.mark.parametrize("what", ["lab", "papers", "claims"])
def test_the_tables_of_an_earlier_run_are_not_taken_for_those_of_one_that_failed(lab, capsys, what, status):
    with pytest.raises(SystemExit) as stopped:
        lab(what, status)
    file = {"lab": "summary.csv", "papers": "papers.md", "claims": "claims.csv"}[what]
    assert f"exit status {status}, and no {file}" in stopped.value.code
    assert "\n" not in stopped.value.code
    assert capsys.readouterr().out == ""


def test_some_crawls_may_fail(lab, capsys):
    lab("papers", 1, "### This run\n")
    assert capsys.readouterr().out == "### On birds, 7 pages per crawl\n\n#### This run\n"


def test_each_claim_of_a_paper_has_a_row(lab, capsys):
    lab("claims", 0, "### This run\n")
    printed = capsys.readouterr().out
    assert "| paper | claim | birds |" in printed
    assert "| 4 | it ends above both | **reproduced**: 2 of 2, 1.10 to 1.30 times |" in printed


def test_a_lab_that_was_stopped_has_no_results(lab):
    with pytest.raises(SystemExit, match="exit status 130"):
        lab("papers", 130, "### Half of this run\n")


def test_a_benchmark_that_fails_leaves_the_documentation_as_it_is(tmp_path, monkeypatch, capsys):
    page = tmp_path / "page.md"
    shown = "<!-- {} -->\n```\n{}\n```\n<!-- end -->\n"
    page.write_text(shown.format("peers", "old") + shown.format("harvest", "old") + shown.format("order", "old"))
    monkeypatch.setattr(figures, "DOCUMENTS", [page])
    monkeypatch.setattr("sys.argv", ["figures.py", "peers", "harvest", "order"])

    def output(name: str) -> str:
        if name == "peers":
            raise subprocess.CalledProcessError(1, "benchmarks/peers/run.py")
        return {"harvest": "crawlee failed on Birds and is left out: exit code 1", "order": "new"}[name]

    monkeypatch.setattr(figures, "output", output)
    with pytest.raises(SystemExit, match="incomplete, not updated in the documentation: peers, harvest"):
        figures.main()
    assert page.read_text() == (
        shown.format("peers", "old") + shown.format("harvest", "old") + shown.format("order", "new")
    )
    assert "crawlee failed on Birds" in capsys.readouterr().out
