"""`scrapy lab`: real comparisons on small webs."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

from focuscrawl.crawl.lock import take_lock
from focuscrawl.web.webs import MemoryWeb
from tests.conftest import Crawled, at, scrapy

HEAD = ["web", "topic", "seeds", "spider", "repeat", "pages", "relevant", "harvest", "target_recall", "score"]
TEXT = "Sorting an array by comparison: bubble sort and merge sort. "


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A web of a start, ten pages about sorting in a row, and forty about nothing; and two topics on it."""
    folder = tmp_path_factory.mktemp("world")
    web = MemoryWeb()

    def add(name: str, text: str, links: list[str], labels: list[str]) -> None:
        anchors = "".join(f'<p><a href="{at(link)}">{link}</a></p>' for link in links)
        web.add(at(name), f"<title>{name}</title><p>{text} This is {name}.</p>{anchors}", labels)

    add("start", "Here and there.", ["other/0", "sort/0", "other/1"], [])
    for number in range(10):
        add(f"sort/{number}", TEXT, [f"sort/{number + 1}", f"other/{4 * number}"], ["sorting"])
        for other in range(4 * number, 4 * number + 4):
            add(f"other/{other}", "Weather and cake.", [f"other/{(other + 1) % 40}", f"other/{(other * 7) % 40}"], [])
    web.save(folder / "web.sqlite")
    (folder / "topics").mkdir()
    topic = f'name = "Sorting"\nlabel = "sorting"\nkeywords = {{ sort = 3, array = 2 }}\nseeds = ["{at("sort/0")}"]\n'
    (folder / "topics" / "sorting.toml").write_text(topic)
    (folder / "topics" / "again.toml").write_text(topic.replace("array = 2", "bubble = 2").replace("sort/0", "start"))
    return folder


def lab(
    world: Path, out: Path, *more: object, spiders: str = "best_first,info_spiders", pages: int = 12, jobs: int = 1
):
    where = ("--web", world / "web.sqlite", "--topics", world / "topics", "--out", out)
    return scrapy("lab", *where, "--spiders", spiders, "--pages", pages, "--jobs", jobs, *more)


@pytest.fixture(scope="module")
def compared(world, tmp_path_factory):
    out = tmp_path_factory.mktemp("lab") / "out"
    result = lab(world, out, "--seeds", "topic,generic", "--repeat", 2, jobs=2)
    assert result.returncode == 0, result.stderr
    return out, result


def test_the_right_figures_of_a_web_that_is_known(compared):
    out, _ = compared
    rows = table(out / "results.csv")
    assert list(rows[0])[:10] == HEAD
    found = {(row["topic"], row["seeds"], row["spider"]): row for row in rows if row["repeat"] == "1"}
    limit = found["sorting", "topic", "omniscient"]
    assert (limit["pages"], limit["relevant"], limit["score"]) == ("10", "10", "1.000000")
    best = found["sorting", "topic", "best_first"]
    # links of a page are worth the same, and of equals the one first found comes first: sort/0, sort/1, other/0, sort/2,
    # other/4, sort/3, other/8, sort/4, other/12; then other/16, which other/8 had led to, before sort/5 and sort/6. That
    # is 1 2 2 3 3 4 4 5 5 5 6 7 relevant pages, where 1 2 … 9 10 10 10 are to be had
    assert (best["pages"], best["relevant"], best["harvest"]) == ("12", "7", "0.583333")
    assert float(best["score"]) == pytest.approx(47 / 75, abs=1e-6)
    assert best["target_recall"] == "0.666667"  # 6 of 9: the seed is no target
    assert (best["judged_relevant"], best["judged_precision"], best["judged_recall"]) == ("7", "1.000000", "1.000000")
    assert found["sorting", "topic", "breadth_first"]["score"] < best["score"]
    assert found["sorting", "topic", "random"]["judged_relevant"] == ""
    assert best["relevant_hosts"] == "1"


def test_every_crawl_has_a_row_and_a_curve(compared):
    out, _ = compared
    rows = table(out / "results.csv")
    spiders = {"breadth_first", "best_first", "info_spiders", "random"}
    assert {row["spider"] for row in rows} == {*spiders, "omniscient"}
    assert len(rows) == 2 * 2 * (2 * len(spiders) + 1)
    curves = table(out / "curves.csv")
    for row in rows:
        key = {name: row[name] for name in HEAD[:5]}
        points = [point for point in curves if {name: point[name] for name in HEAD[:5]} == key]
        assert len(points) == int(row["pages"])
        measured = [name for name in points[-1] if name not in (*HEAD[:5], "page")]
        assert len(measured) == 9
        assert {name: points[-1][name] for name in measured} == {name: row[name] for name in measured}
    assert {row["spider"] for row in table(out / "costs.csv")} == {"breadth_first", "best_first", "info_spiders"}
    assert not {"cpu", "cpu_seconds"} & rows[0].keys()
    assert {(row["seconds"], row["relevant_per_hour"]) for row in rows} == {("", "")}  # they are not on the clock


def test_the_report_tells_all_in_one_file(compared):
    out, result = compared
    text = (out / "report.html").read_text("utf-8")
    assert "<code>scrapy lab --web " in text  # the command that makes it again
    for part in ("<svg", "best_first", "omniscient", "How to read this", "From a generic start", at("start")):
        assert part in text
    assert "src=" not in text
    assert f"The generic start is {at('start')}" in result.stdout
    assert "does best: it scores" in result.stdout
    assert (out / "curves-generic.svg").read_text().startswith("<svg")


@pytest.mark.usefixtures("unmeasured")
def test_the_same_command_gives_the_same_results(compared, world, tmp_path):
    out, _ = compared
    again = lab(world, tmp_path / "again", "--seeds", "topic", "generic", "--repeat", 2)
    assert again.returncode == 0, again.stderr
    for name in ("results.csv", "curves.csv", "summary.csv", "superposition.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes(), name


@pytest.mark.usefixtures("unmeasured")
def test_polite_crawls_are_timed_and_repeat_themselves(world, tmp_path):
    """On the clock: two seconds per host, and both orders of reference wait like the crawls."""
    outs = tmp_path / "one", tmp_path / "other"
    for out, jobs in zip(outs, (1, 2), strict=True):
        result = lab(world, out, "--pace", 2, "--latency", 0.1, "--concurrency", 4, jobs=jobs)
        assert result.returncode == 0, result.stderr
    for name in ("results.csv", "curves.csv", "summary.csv", "superposition.csv"):
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes(), name
    rows = {(row["topic"], row["spider"]): row for row in table(outs[0] / "results.csv")}
    curves: dict[tuple[str, str], list[float]] = {}
    for point in table(outs[0] / "curves.csv"):
        curves.setdefault((point["topic"], point["spider"]), []).append(float(point["seconds"]))
    for place, row in rows.items():
        seconds = float(row["seconds"])
        assert float(row["relevant_per_hour"]) == pytest.approx(3600 * int(row["relevant"]) / seconds, rel=1e-5)
        assert curves[place] == sorted(curves[place])
        assert curves[place][-1] == seconds
    # all relevant pages are on one host, whose robots.txt comes first: the tenth of them leaves after 20 seconds
    limit = rows["sorting", "omniscient"]
    assert (limit["relevant"], limit["score"]) == ("10", "1.000000")
    assert 20 < float(limit["seconds"]) < 20.2
    summary = {row["spider"]: row for row in table(outs[0] / "summary.csv")}
    mean = sum(float(rows[topic, "omniscient"]["seconds"]) for topic in ("again", "sorting")) / 2
    assert float(summary["omniscient"]["seconds"]) == pytest.approx(mean, abs=1e-6)
    assert (outs[0] / "hours-topic.svg").read_text().startswith("<svg")
    text = (outs[0] / "report.html").read_text("utf-8")
    for part in ("relevant per hour", "duration", "over the crawl's clock", "<b>On the clock</b>"):
        assert part in text
    assert "2 s per host, 4 requests at a time, 0.1 s per request on average, on the crawl&#x27;s clock" in text
    assert "per hour" in result.stdout
    assert "best_first" in result.stdout


def test_a_comparison_without_a_clock_does_not_speak_of_it(compared):
    out, result = compared
    text = (out / "report.html").read_text("utf-8")
    for part in ("per hour", "clock", "duration"):
        assert part not in text
        assert part not in result.stdout
    assert not list(out.glob("hours-*"))


@pytest.mark.usefixtures("unmeasured")
def test_a_crawl_of_the_lab_is_the_crawl_of_a_process_of_its_own(compared, world, tmp_path):
    """Crawls share a process there: nothing may be left over from the one before."""
    out, _ = compared
    for spider in ("best_first", "info_spiders", "breadth_first"):
        options = ("-a", f"topic={world / 'topics' / 'sorting.toml'}", "-a", "max_pages=12", "-L", "ERROR")
        settings = ("-s", f"FOCUS_WEB={world / 'web.sqlite'}", "-s", "CONCURRENT_REQUESTS=1")
        alone = tmp_path / spider
        # chance follows from the hash of words in this one alone
        environment = {"PYTHONHASHSEED": "0"} if spider == "info_spiders" else {}
        result = scrapy("crawl", spider, *options, *settings, "-s", f"FOCUS_DIR={alone}", **environment)
        assert result.returncode == 0, result.stderr
        (kept,) = (out / "crawls").glob(f"sorting.topic.{spider.replace('_', '-')}.1.*.json")
        assert json.loads(kept.read_text())["urls"] == Crawled(alone).urls


@pytest.mark.usefixtures("unmeasured")
def test_only_what_is_missing_or_cannot_be_read_is_crawled_again(compared, world, tmp_path):
    """As after a comparison that was killed, and one at a time in a folder."""
    out = tmp_path / "out"
    shutil.copytree(compared[0], out)
    arguments = "--seeds", "topic,generic", "--repeat", 2
    with take_lock(out / "crawls"):
        refused = lab(world, out, *arguments)
    assert refused.returncode == 2
    assert f"{out} is in use by another comparison; wait for it, or choose another --out" in refused.stderr
    first = (out / "results.csv").read_bytes()
    kept = sorted((out / "crawls").glob("*.*.*.json"))
    assert len(kept) == 2 * 2 * 2 * 3
    kept[0].unlink()
    kept[1].write_text(kept[1].read_text()[:50])
    for path in kept[1:]:
        os.utime(path, (1, 1))
    assert lab(world, out, *arguments).returncode == 0
    assert [path.stat().st_mtime == 1 for path in kept] == [False, False, *[True] * 22]
    assert (out / "results.csv").read_bytes() == first
    assert not [path for path in (out / "crawls").iterdir() if path.is_dir()]


def test_what_cannot_be_compared_is_told_and_the_rest_runs(world, tmp_path):
    topics = tmp_path / "topics"
    topics.mkdir()
    good = (world / "topics" / "sorting.toml").read_text()
    for name, text in {
        "good": good,
        "unlabelled": good.replace('label = "sorting"\n', "").replace('"Sorting"', '"Order"'),
        "mislabelled": good.replace('label = "sorting"', 'label = "cakes"').replace('"Sorting"', '"Order"'),
        "stray": good.replace("sort.example/0", "nowhere.example/"),
        "lost": good.replace("sort.example/0", "other.example/1"),
        "broken": "name = ",
    }.items():
        (topics / f"{name}.toml").write_text(text)
    where = ("--web", world / "web.sqlite", "--topics", topics, "--out", tmp_path / "out", "--pages", 5)
    result = scrapy("lab", *where, "--spiders", "keyword,best_frist,baseline", "--jobs", 1)
    assert result.returncode == 1, result.stderr
    for line in (
        "broken.toml': not valid TOML",
        'unlabelled.toml\' has no label; add label = "…" with one of the labels of web: ',
        "no page of web is labelled 'cakes'; labels: sorting",
        "topic 'stray' from topic seeds: none of 1 seeds is a page of web",
        "topic 'lost' from topic seeds: none of 10 pages labelled 'sorting' can be reached",
        "unknown spider 'best_frist'; did you mean best_first?",
        "baseline is left out of 'good': topic 'Sorting'",
    ):
        assert line in result.stderr
    assert {(row["topic"], row["spider"]) for row in table(tmp_path / "out" / "results.csv")} == {
        ("good", name) for name in ("omniscient", "breadth_first", "keyword", "best_first", "random")
    }
    assert "did you mean best_first?" in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_crawl_that_fails_fails_alone(world, tmp_path):
    """An apprentice that finds too little to learn from says so; the others have their rows."""
    topics = tmp_path / "topics"
    topics.mkdir()
    lists = {"examples": [at(f"sort/{n}") for n in range(6)], "counterexamples": [at("nowhere")]}
    extra = "".join(f"{name} = {json.dumps(urls)}\n" for name, urls in lists.items())
    (topics / "sorting.toml").write_text((world / "topics" / "sorting.toml").read_text() + extra)
    where = ("--web", world / "web.sqlite", "--topics", topics, "--out", tmp_path / "out", "--pages", 5)
    result = scrapy("lab", *where, "--spiders", "baseline", "--jobs", 1)
    assert result.returncode == 1
    assert "baseline on 'sorting' from topic seeds failed: " in result.stderr
    assert "0 of its 1 counterexamples could be read" in result.stderr
    assert "Traceback" not in result.stderr
    assert "best_first" in {row["spider"] for row in table(tmp_path / "out" / "results.csv")}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--web", "nowhere.sqlite"], "web 'nowhere.sqlite': no such file"),
        (["--web", "README.md"], "cannot be read"),
        (["--topics", "nowhere"], "not a folder, a topic file"),
        (["--pages", "0"], "--pages 0: expected a whole number, at least 1"),
        (["--repeat", "-1"], "--repeat -1: expected"),
        (["--seed", "-1"], "--seed -1: expected"),
        (["--seeds", "nowhere"], "'nowhere' is not a URL"),
        (["--generic", "topic"], "--generic topic: expected one URL"),
        (["--out", "README.md/x"], "cannot write to"),
        (["--baseline", "nosuch"], "--baseline nosuch: unknown spider 'nosuch'"),
        (["-a", "colour=red"], "-a colour=…: none of the spiders has this option"),
        (["-a", "colour"], "-a: expected NAME=VALUE"),
        (["-s", "FOCUS_FOO=1"], "unknown setting FOCUS_FOO; see docs/settings.md"),
        (["-s", "FOCUS_ALLOW=a.example"], "setting FOCUS_ALLOW: changes which pages can be reached"),
        (["--pace", "-1"], "--pace -1: expected a number of seconds, at least 0"),
        (["--pace", "nan"], "--pace nan: expected a number of seconds, at least 0"),
        (["--pace", "1", "--latency", "-0.5"], "--latency -0.5: expected a number of seconds, at least 0"),
        (["--pace", "1", "--latency", "inf"], "--latency inf: expected a number of seconds, at least 0"),
        (["--pace", "1", "--concurrency", "0"], "--concurrency 0: expected a whole number, at least 1"),
        (["--latency", "1"], "--latency: needs --pace, without which crawls are not timed"),
        (["--concurrency", "4"], "--concurrency: needs --pace, without which crawls are not timed"),
        (["--pace", "1", "-s", "DOWNLOAD_DELAY=2"], "setting DOWNLOAD_DELAY: with --pace, that option sets the delay"),
        (
            ["--pace", "1", "-s", "CONCURRENT_REQUESTS=2"],
            "setting CONCURRENT_REQUESTS: with --pace, give --concurrency",
        ),
        (["--pace", "1", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=2"], "with --pace, a host gets one request at a time"),
        (["--pace", "1", "-s", "FOCUS_WEB_LATENCY=2"], "setting FOCUS_WEB_LATENCY: with --pace, give --latency"),
    ],
)
def test_bad_arguments_cost_one_line(arguments, says, tmp_path):
    result = scrapy("lab", "--out", tmp_path, *arguments)
    assert result.returncode == 2
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_nothing_of_somebody_else_is_written_over(tmp_path):
    (tmp_path / "results.csv").write_text("mine")
    result = scrapy("lab", "--out", tmp_path)
    assert result.returncode == 2
    assert "contains results.csv, but no crawls" in result.stderr
    assert (tmp_path / "results.csv").read_text() == "mine"


def test_nothing_left_to_compare_is_an_error(world, tmp_path):
    result = lab(world, tmp_path / "out", "--seeds", "http://nowhere.example/")
    assert result.returncode == 2
    assert result.stderr.strip().splitlines()[-1] == "focuscrawl: nothing left to compare"


SPIDERS = """
import os

from focuscrawl.spider import FocusedSpider

class Faulty(FocusedSpider):
    name = "faulty"
    def score(self, page):
        return [1 / ("other" not in page.url)] * len(page.links)

class Deadly(FocusedSpider):
    name = "deadly"
    def score(self, page):
        os._exit(9)
"""


@pytest.fixture
def project(tmp_path) -> Path:
    """A project of somebody else's, with the add-on, our commands, and strategies of its own."""
    package = tmp_path / "shop"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "spiders.py").write_text(SPIDERS)
    (package / "settings.py").write_text(
        'SPIDER_MODULES = ["shop.spiders"]\nCOMMANDS_MODULE = "focuscrawl.commands"\n'
        'ADDONS = {"focuscrawl.addon.FocusAddon": 500}\nFOCUS_TOPIC = {"keywords": {"sort": 1}}\n'
    )
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = shop.settings\n")
    return tmp_path


def compare(world: Path, project: Path, spiders: str, *more: object, pages: int = 12):
    where = ("--web", world / "web.sqlite", "--topics", world / "topics" / "sorting.toml", "--out", project / "out")
    return scrapy("lab", *where, "--pages", pages, "--spiders", spiders, *more, cwd=project)


def test_a_strategy_that_fails_on_some_pages_is_not_compared_as_if_it_had_not(world, project):
    result = compare(world, project, "faulty", "--jobs", 1)
    assert result.returncode == 1
    assert "faulty on 'sorting' from topic seeds failed: spider error: score: ZeroDivisionError" in result.stderr
    assert re.search(r" at http://other\.example/\d+, and at \d+ more pages", result.stderr)
    assert {row["spider"] for row in table(project / "out" / "results.csv")} == {
        *("omniscient", "breadth_first", "best_first", "random")
    }


@pytest.mark.usefixtures("unmeasured")
def test_a_strategy_that_ends_its_process_is_named_and_the_others_go_on(world, project):
    result = compare(world, project, "deadly,keyword", "--jobs", 2)
    assert result.returncode == 1
    assert "deadly on 'sorting' from topic seeds failed: its process was killed" in result.stderr
    assert "Traceback" not in result.stderr
    spiders = {row["spider"] for row in table(project / "out" / "results.csv")}
    assert spiders == {"omniscient", "breadth_first", "best_first", "keyword", "random"}


@pytest.mark.usefixtures("unmeasured")
def test_the_demo_works_in_a_project_of_somebody_elses(project):
    result = scrapy("demo", "--pages", 3, cwd=project)
    assert result.returncode == 0, result.stderr
    assert "best_first" in result.stdout


def test_a_seed_that_redirects_is_one_for_the_limit_and_for_chance_too(world, tmp_path):
    topics = tmp_path / "topics"
    topics.mkdir()
    (topics / "sorting.toml").write_text(
        (world / "topics" / "sorting.toml").read_text().replace(at("sort/0"), at("moved"))
    )
    (tmp_path / "web.sqlite").write_bytes((world / "web.sqlite").read_bytes())
    connection = sqlite3.connect(tmp_path / "web.sqlite")
    connection.execute("CREATE TABLE IF NOT EXISTS redirect (src TEXT PRIMARY KEY, dst TEXT)")
    connection.execute("INSERT INTO redirect VALUES (?, ?)", (at("moved"), at("sort/0")))
    connection.commit()
    connection.close()
    assert lab(tmp_path, tmp_path / "out").returncode == 0
    score = {row["spider"]: float(row["score"]) for row in table(tmp_path / "out" / "results.csv")}
    assert score["omniscient"] == 1 > score["best_first"] > score["random"] > 0


def test_a_web_where_every_page_is_of_the_topic_has_no_generic_start_but_others(tmp_path):
    web = MemoryWeb()
    for name, link in (("a", "b"), ("b", "a")):
        web.add(at(name), f"<p>sort</p><a href='{at(link)}'>{link}</a>", ["sorting"])
    web.save(tmp_path / "web.sqlite")
    (tmp_path / "topics").mkdir()
    (tmp_path / "topics" / "sorting.toml").write_text(
        f'name = "Sorting"\nkeywords = {{ sort = 1 }}\nseeds = ["{at("a")}"]\n'
    )
    result = lab(tmp_path, tmp_path / "out", "--seeds", "topic", "generic", pages=2)
    assert result.returncode == 0, result.stderr
    assert "--seeds generic: every page of web has a topic's label; give --generic URL; left out" in result.stderr
    assert {row["seeds"] for row in table(tmp_path / "out" / "results.csv")} == {"topic"}


def test_a_finished_crawl_is_a_web_to_compare_on(world, tmp_path):
    crawl = tmp_path / "before"
    topic = world / "topics" / "sorting.toml"
    where = ("-s", f"FOCUS_WEB={world / 'web.sqlite'}", "-s", f"FOCUS_DIR={crawl}", "-L", "ERROR")
    assert scrapy("crawl", "breadth_first", "-a", f"topic={topic}", *where).returncode == 0
    judged = sqlite3.connect(crawl / "crawl.sqlite").execute("SELECT total(relevant) FROM page").fetchone()[0]
    out = tmp_path / "out"
    options = ("--topics", topic, "--spiders", "best_first", "--pages", 60, "--out", out, "--keep", "--jobs", 1)
    result = scrapy("lab", "--web", crawl, *options)  # the crawl.sqlite in it will do as well
    assert result.returncode == 0, result.stderr
    rows = {row["spider"]: row for row in table(out / "results.csv")}
    assert rows["best_first"]["web"] == "before"
    assert int(rows["best_first"]["relevant"]) == int(rows["omniscient"]["relevant"]) == judged == 10
    (kept,) = (path for path in (out / "crawls").iterdir() if path.is_dir() and "best-first" in path.name)
    assert Crawled(kept).urls[0] == at("sort/0")


@pytest.mark.usefixtures("unmeasured")
def test_the_embedded_web_is_labelled(tmp_path):
    result = scrapy(
        "lab",
        "--web",
        "demo",
        "--spiders",
        "keyword",
        "--pages",
        60,
        "--repeat",
        1,
        "--out",
        tmp_path,
        "-s",
        "FOCUS_TRAPS=0",
    )
    assert result.returncode == 0, result.stderr
    score = {row["spider"]: float(row["score"]) for row in table(tmp_path / "results.csv")}
    assert score["omniscient"] == 1 >= score["keyword"] > score["breadth_first"] > score["random"]


def test_a_papers_experiment_stands_beside_its_figures(tmp_path):
    result = scrapy("lab", "papers", "4", "--pages", 40, "--out", tmp_path / "out", "--jobs", 1)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out" / "papers.md").read_text("utf-8")
    assert "### 4. The niche genetic algorithm against best-first and HITS" in text
    assert "| niche_genetic and hits | 59 % |" in text
    assert "eproduced" in text.splitlines()[-1]
    assert "Superposition ratio" in result.stdout


@pytest.mark.usefixtures("unmeasured")
def test_a_papers_experiment_can_be_polite(tmp_path):
    options = ("--pages", 40, "--pace", 1, "--out", tmp_path / "out", "--jobs", 2)
    result = scrapy("lab", "papers", "4", *options)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "out" / "papers.md").read_text("utf-8")
    assert "| niche_genetic and hits | 59 % |" in text
    kept = [json.loads(path.read_text()) for path in (tmp_path / "out" / "crawls").glob("*.*.*.json")]
    assert kept
    assert all(len(outcome["times"]) == len(outcome["urls"]) for outcome in kept)


def test_experiments_that_a_topic_does_not_allow_are_told_and_others_run(world, tmp_path):
    """Those topics have no examples, which P2 needs."""
    topics = "--topics", world / "topics" / "sorting.toml"
    result = scrapy(
        "lab",
        "papers",
        2,
        4,
        "--web",
        world / "web.sqlite",
        *topics,
        "--pages",
        12,
        "--out",
        tmp_path / "o",
        "--jobs",
        1,
    )
    assert result.returncode == 1
    assert "paper 2 cannot be run on web: " in result.stderr
    assert "### 4." in (tmp_path / "o" / "papers.md").read_text("utf-8")


def test_a_paper_that_is_none_of_the_five_is_refused(tmp_path):
    result = scrapy("lab", "papers", "6", "--out", tmp_path / "out")
    assert result.returncode == 2
    assert "unknown paper '6'; known papers: 1, 2, 3, 4, 5" in result.stderr + result.stdout
