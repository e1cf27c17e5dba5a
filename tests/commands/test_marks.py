"""scrapy mark, review, judge and audit, as a user runs them."""

from __future__ import annotations

import argparse
import io
import json
import shutil
import sys
from importlib import import_module

import pytest
from scrapy.settings import Settings

from focuscrawl.crawl.marking import mark_pages
from focuscrawl.testing import crawl
from focuscrawl.web.demo import demo_web
from tests.conftest import Crawled, scrapy

DEMO = ["-a", "topic=sorting", "-s", "FOCUS_WEB=demo"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crawl") / "c"
    crawl("best_first", demo_web(), folder, {"FOCUS_INDEX": True}, topic="sorting", max_pages=80)
    return folder


@pytest.fixture
def crawled(made, tmp_path):
    shutil.copytree(made, tmp_path / "c")
    return Crawled(tmp_path / "c")


def keys(monkeypatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


def run(name: str, *arguments: object) -> int:
    """Run a command in this process; what it prints goes where the test looks."""
    command = import_module(f"focuscrawl.commands.{name}").Command()
    command.settings = Settings()
    command.settings.setmodule("focuscrawl.settings", priority="project")
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    opts, args = parser.parse_known_args([str(argument) for argument in arguments])
    command.run(args, opts)
    return int(command.exitcode)


# ---- mark


def test_mark_sets_lists_and_takes_back(crawled, capsys, tmp_path):
    first, second = crawled.matched[:2]
    assert run("mark", crawled.folder, first, second, "--no", "--note", "not these", "--by", "ann") == 0
    assert capsys.readouterr().out == "2 pages marked; 2 verdicts changed\n"
    assert first not in crawled.matched
    run("mark", crawled.folder)
    listed = capsys.readouterr().out
    assert f"{first}\tno\tnot these (ann, " in listed
    file = tmp_path / "marks.txt"
    file.write_text(listed.replace("\tno\t", "\tnone\t"))
    run("mark", crawled.folder, "--from", file)
    assert {first, second} <= set(crawled.matched)
    run("mark", crawled.folder)
    assert capsys.readouterr().out.endswith("no marks yet\n")
    run("mark", crawled.folder, "http://nowhere.example/", "--yes")
    assert "not in the crawl yet, so the mark counts when the page arrives: http://nowhere" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http://a.example/"], "say what the pages are"),
        (["--yes"], "--yes of which pages?"),
        (["no url", "--yes"], "no url"),
        (["--from", "nowhere.txt"], "cannot read nowhere.txt"),
    ],
)
def test_mark_says_what_is_missing(crawled, capsys, arguments, message):
    assert run("mark", crawled.folder, *arguments) == 2
    assert message in capsys.readouterr().err


# ---- review


def test_review_asks_about_doubtful_pages_first_and_never_twice(crawled, capsys, monkeypatch):
    keys(monkeypatch, "ynu q")
    assert run("review", crawled.folder, "--borderline", 3) == 0
    out = capsys.readouterr().out
    assert out.count("(borderline)") == 3
    assert out.count("(drawn at random)") == 1
    marks = crawled.sql("SELECT page.relevance, verdict FROM mark JOIN page USING (url)")
    assert [verdict for _, verdict in marks] == ["yes", "no", "unsure"]
    asked = {url for (url,) in crawled.sql("SELECT url FROM mark")}
    keys(monkeypatch, "yyyyyyyyyyyyyyq")
    run("review", crawled.folder, "--borderline", 3)
    shown = capsys.readouterr().out
    assert not any(f"{url} (" in shown for url in asked)
    assert "precision" in shown
    assert "to 100%) by" in shown


def test_review_goes_back_and_skips(crawled, capsys, monkeypatch):
    keys(monkeypatch, "ysbbn")
    run("review", crawled.folder)
    out = capsys.readouterr().out
    ((first,),) = crawled.sql("SELECT DISTINCT url FROM mark")
    assert crawled.sql("SELECT verdict FROM mark") == [("yes",), ("no",)]
    assert out.count(f"{first} (") == 2
    assert first not in crawled.matched


# ---- judge


def test_judge_shows_what_changes_and_then_changes_it(crawled, capsys):
    before = crawled.sql("SELECT * FROM page ORDER BY id"), crawled.matched
    taken = crawled.matched[3]
    mark_pages(crawled.folder, [(taken, "yes", "")])
    before = crawled.sql("SELECT * FROM page ORDER BY id"), crawled.matched
    assert run("judge", crawled.folder, "-a", "threshold=0.6", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "won: 0 relevant now" in shown
    assert "borderline:" in shown
    assert "1 page has a mark" in shown
    assert "nothing was changed" in shown
    assert (crawled.sql("SELECT * FROM page ORDER BY id"), crawled.matched) == before
    assert run("judge", crawled.folder, "-a", "threshold=0.6") == 0
    again = capsys.readouterr().out
    assert again.splitlines()[:-1] == shown.splitlines()[:-1]
    assert taken in crawled.matched
    assert 0 < len(crawled.matched) < len(before[1])
    assert f"URLs.txt has {len(crawled.matched)} URLs now" in again
    others = crawled.sql("SELECT count(*) FROM page WHERE relevant AND relevance < 0.6")
    assert others == [(0,)]
    found = crawled.sql("SELECT url FROM page JOIN indexed ON page.id = page WHERE indexed.matched")
    assert {url for (url,) in found} == set(crawled.matched)


def test_judge_by_other_keywords_can_be_gone_on_with_and_gone_back_from(crawled, capsys):
    folder, before = crawled.folder, set(crawled.matched)
    refused = scrapy("crawl", "best_first", *DEMO, "-a", "keywords=heap,merge:2", "-s", f"FOCUS_DIR={folder}")
    assert refused.returncode == 2
    offered = f"scrapy judge {folder} -a topic=sorting -a keywords=heap,merge:2"
    assert offered in refused.stderr
    assert "-pivot" in refused.stderr or "+heap" in refused.stderr
    assert run("judge", folder, "-a", "topic=sorting", "-a", "keywords=heap,merge:2") == 0
    assert set(crawled.matched) != before
    more = ["-a", "max_pages=90", "-s", f"FOCUS_DIR={folder}"]
    done = scrapy("crawl", "best_first", *DEMO, "-a", "keywords=heap,merge:2", *more)
    assert done.returncode == 0, done.stderr
    assert run("judge", folder, "-a", "topic=sorting") == 0
    assert before <= set(crawled.matched)
    assert scrapy("crawl", "best_first", *DEMO, *more).returncode == 0


def test_a_crawl_is_not_resumed_by_another_threshold_without_a_word(crawled):
    place = ["-a", "max_pages=90", "-s", f"FOCUS_DIR={crawled.folder}"]
    refused = scrapy("crawl", "best_first", *DEMO, *place, "-a", "threshold=0.6")
    assert refused.returncode == 2
    assert "was judged by threshold=0.3, not 0.6: about " in refused.stderr
    assert f"`scrapy judge {crawled.folder} -a topic=sorting -a threshold=0.6`" in refused.stderr
    assert len(crawled.urls) == 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-a", "max_pages=3"], "judging fetches nothing"),
        (["-a", "thresh=0.3"], "did you mean threshold?"),
        (["-a", "topic=nothing.toml"], "nothing.toml"),
    ],
)
def test_judge_refuses_what_it_cannot_do(crawled, capsys, arguments, message):
    before = crawled.sql("SELECT * FROM meta")
    assert run("judge", crawled.folder, *arguments) == 2
    assert message in capsys.readouterr().err
    assert crawled.sql("SELECT * FROM meta") == before


# ---- audit


def test_an_audit_is_interrupted_and_goes_on(crawled, capsys, monkeypatch):
    keys(monkeypatch, "y" * 10)
    assert run("audit", crawled.folder, "--sample", 30, "--seed", 3) == 0
    out = capsys.readouterr().out
    assert "30 of 30 drawn pages have no mark" in out
    assert "10 of 30 drawn pages marked" in out
    run("audit", crawled.folder, "--json")
    figures = json.loads(capsys.readouterr().out)
    assert (figures["drawn"], figures["marked"], len(figures["left"])) == (30, 10, 20)
    keys(monkeypatch, "y" * 20)
    run("audit", crawled.folder)
    out = capsys.readouterr().out
    assert "precision  100% (" in out
    assert "recall" in out
    report = (crawled.folder / "report.html").read_text()
    assert "by an audit of 30 pages drawn at random" in report
    assert "harvest rate, says the judge" in report


def test_an_audit_takes_marks_from_a_file_and_measures_what_was_matched_before(crawled, capsys, tmp_path):
    run("audit", crawled.folder, "--sample", 1000, "--json")
    figures = json.loads(capsys.readouterr().out)
    assert figures["precision"] is None
    matched = set(crawled.matched)
    bad = sorted(matched & set(figures["left"]))[:4]
    lines = [f"{url} {'yes' if url in matched and url not in bad else 'no'}" for url in figures["left"]]
    (tmp_path / "marks").write_text("\n".join(lines))
    run("audit", crawled.folder, "--marks", tmp_path / "marks")
    capsys.readouterr()
    assert not set(bad) & set(crawled.matched)
    run("audit", crawled.folder, "--json")
    figures = json.loads(capsys.readouterr().out)
    assert figures["precision"]["estimate"] == pytest.approx(1 - len(bad) / figures["matched"], abs=1e-4)
    assert figures["precision"]["low"] == figures["precision"]["high"]
    assert figures["recall"]["estimate"] == 1


def test_another_judgement_needs_another_sample(crawled, capsys, monkeypatch):
    keys(monkeypatch, "q")
    run("audit", crawled.folder, "--sample", 20)
    run("judge", crawled.folder, "-a", "threshold=0.5")
    capsys.readouterr()
    run("audit", crawled.folder, "--sample", 20)
    assert "judged again since the last sample was drawn" in capsys.readouterr().err


def test_the_commands_work_from_the_command_line(crawled):
    result = scrapy("mark", crawled.folder, crawled.matched[0], "--no")
    assert (result.returncode, result.stdout) == (0, "1 page marked; 1 verdict changed\n"), result.stderr
    result = scrapy("judge", crawled.folder, "-a", "threshold=0.5", "--dry-run")
    assert result.returncode == 0, result.stderr
    result = scrapy("audit", crawled.folder, "--sample", "20", "--json")
    assert json.loads(result.stdout)["drawn"] == 20
    result = scrapy("explain", crawled.folder, crawled.sql("SELECT url FROM mark")[0][0])
    assert "marked no by " in result.stdout
    assert "the judge says 0." in result.stdout
