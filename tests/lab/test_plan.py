"""What a comparison is made of."""

from __future__ import annotations

import re

import pytest
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from focuscrawl.errors import FocusError
from focuscrawl.lab import plan
from focuscrawl.lab.plan import Job, Spec, jobs_of, make_trials, read_spiders, read_starts, read_topics
from focuscrawl.lab.survey import Reader, Survey
from focuscrawl.topic import Topic, load_topic
from tests.conftest import at, small_web

LOADER = SpiderLoader.from_settings(get_project_settings())


def test_a_spider_is_written_with_its_options():
    assert Spec.parse("hits") == Spec("hits", "hits")
    spec = Spec.parse("apprentice:lessons=c:/x:distance=3")
    assert (spec.name, spec.options) == ("apprentice", (("lessons", "c:/x"), ("distance", "3")))


def test_breadth_first_and_the_baseline_are_always_compared():
    found, problems = read_spiders("hits", LOADER, "keyword")
    assert [spec.text for spec in found] == ["breadth_first", "hits", "keyword"]
    assert problems == []
    everybody, _ = read_spiders("all", LOADER, "best_first")
    assert {spec.name for spec in everybody} == set(LOADER.list())
    assert len(everybody) == len(LOADER.list())


def test_an_unknown_spider_is_told_and_the_others_stay():
    found, problems = read_spiders("best_frist,keyword,zzz", LOADER, "best_first")
    assert [spec.text for spec in found] == ["breadth_first", "keyword", "best_first"]
    assert problems[0] == "unknown spider 'best_frist'; did you mean best_first?"
    assert "known spiders: adaptive" in problems[1]
    with pytest.raises(FocusError, match="name some of"):
        read_spiders(",", LOADER, "best_first")
    with pytest.raises(FocusError, match="--spiders: unknown spider 'best_frist'; did you mean best_first"):
        read_spiders("best_frist", LOADER, "best_first")


def test_a_comma_that_no_spider_follows_belongs_to_an_option():
    found, problems = read_spiders("keyword:keywords=time,bubble,sort,hits:every=5", LOADER, "best_first")
    assert problems == []
    assert [spec.text for spec in found][1:3] == ["keyword:keywords=time,bubble,sort", "hits:every=5"]


def test_an_option_for_all_goes_to_those_that_have_it():
    found, _ = read_spiders("hits,keyword,hits:every=5", LOADER, "best_first", {"every": "7"})
    assert {spec.text: dict(spec.options) for spec in found} == {
        "breadth_first": {},
        "hits": {"every": "7"},
        "keyword": {},
        "hits:every=5": {"every": "5"},
        "best_first": {},
    }
    with pytest.raises(FocusError, match="-a nothing=…: none of the spiders has this option"):
        read_spiders("hits", LOADER, "best_first", {"nothing": "1"})


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("best_first:nn=3", "best_first:nn=3: spider 'best_first' has no option 'nn'; did you mean n?"),
        ("best_first:n=x", "best_first:n=x: option n=x: expected a whole number"),
        ("best_first:seeds=http://a.example/", "option seeds is set by the comparison; give --seeds"),
        ("best_first:topic=sorting", "option topic is set by the comparison; give --topics"),
        ("best_first:max_pages=3", "option max_pages is set by the comparison; give --pages"),
    ],
)
def test_wrong_options_are_told_before_anything_is_crawled(spec, says):
    _, (problem,) = read_spiders(f"hits,{spec}", LOADER, "keyword")
    assert says in problem
    with pytest.raises(FocusError, match=f"--spiders: .*{re.escape(says)}"):
        read_spiders(spec, LOADER, "keyword")


def test_a_baseline_that_is_not_there_is_refused():
    with pytest.raises(FocusError, match="--baseline nosuch: unknown spider 'nosuch'"):
        read_spiders("hits", LOADER, "nosuch")


def test_ways_to_begin_are_words_and_urls():
    assert read_starts(["topic,generic"]) == (["topic", "generic"], [])
    assert read_starts(["generic", "http://a.example/x,y,http://b.example/,topic"]) == (
        ["generic", "given", "topic"],
        ["http://a.example/x,y", "http://b.example/"],
    )
    with pytest.raises(FocusError, match="'nowhere' is not a URL"):
        read_starts(["nowhere"])


def test_topics_come_from_a_folder_a_file_or_the_project(tmp_path):
    (tmp_path / "good.toml").write_text('name = "Good"')
    (tmp_path / "bad.toml").write_text("name = ")
    topics, problems = read_topics(str(tmp_path))
    assert list(topics) == ["good"]
    assert "bad.toml" in problems[0]
    assert list(read_topics(str(tmp_path / "good.toml"))[0]) == ["good"]
    assert list(read_topics("sorting")[0]) == ["sorting"]
    assert list(read_topics(f"sorting,{tmp_path / 'good.toml'}")[0]) == ["sorting", "good"]
    assert "sorting" in read_topics("shipped")[0]
    with pytest.raises(FocusError, match="not a folder"):
        read_topics("nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FocusError, match=r"no \*.toml"):
        read_topics(str(tmp_path / "empty"))


@pytest.fixture
def survey():
    web = small_web({"a": ["b", "c"], "b": ["d"], "c": [], "d": [], "far": ["e"], "e": []})
    web.page_labels |= {at(name): ["good"] for name in ("a", "c", "d", "e")}
    return Survey.of(web, {})


def trials_of(survey, topic, pages=10, **starts):
    return make_trials({"t": topic}, survey, starts or {"topic": []}, pages, "the web", lambda url: url)


def test_a_trial_knows_what_can_be_found(survey):
    (trial,), problems = trials_of(survey, Topic("T", label="good", seeds=[at("a")]))
    assert problems == []
    assert trial.reachable == 3
    assert [survey.urls[page] for page in trial.best] == [at("a"), at("c"), at("b"), at("d")]
    assert {survey.urls[page] for page in trial.targets} == {at("c"), at("d")}  # the seed is known
    (other,), _ = trials_of(survey, Topic("T", label="good", seeds=[at("a")], targets=[at("d")]), given=[at("b")])
    assert {survey.urls[page] for page in other.targets} == {at("d")}
    assert other.starts == (at("b"),)


@pytest.mark.parametrize(
    ("topic", "says"),
    [
        (Topic("T", seeds=[at("a")]), 'has no label; add label = "…" with one of the labels of the web: '),
        (Topic("T", label="x", seeds=[at("a")]), "no page of the web is labelled 'x'; labels: good"),
        (Topic("T", label="good", seeds=[at("nowhere")]), "none of 1 seeds is a page of the web"),
        (Topic("T", label="good", seeds=[at("a")], targets=[at("e")]), "none of its 1 targets can be reached"),
    ],
)
def test_topics_that_cannot_be_measured_are_told(survey, topic, says):
    trials, (problem,) = trials_of(survey, topic)
    assert trials == []
    assert says in problem


def test_what_is_out_of_reach_is_told(survey):
    topic = Topic("T", label="good", seeds=[at("b")])
    assert "can be reached in 1 pages" in trials_of(survey, topic, pages=1)[1][0]
    survey.labels[survey.number(at("d"))] = []
    assert "none of 3 pages labelled 'good' can be reached; left out" in trials_of(survey, topic)[1][0]


def test_a_topic_may_go_by_its_name(survey):
    assert trials_of(survey, Topic("good", seeds=[at("a")]))[1] == []
    assert trials_of(survey, Topic("Good", seeds=[at("a")]))[1] == []


def test_a_label_that_is_not_there_is_told_whatever_the_name_is(survey):
    trials, (problem,) = trials_of(survey, Topic("Good", label="goood", seeds=[at("a")]))
    assert len(trials) == 1
    assert problem.endswith("no page of the web is labelled 'goood'; those labelled 'good', its name, count instead")
    trials, (problem,) = trials_of(survey, Topic("T", label="goood", seeds=[at("a")]))
    assert trials == []
    assert "labelled 'goood'; did you mean 'good'?" in problem


def test_many_labels_are_named_in_part(survey):
    survey.labels[0] = [f"label {number}" for number in range(40)]
    _, (problem,) = trials_of(survey, Topic("T", seeds=[at("a")]))
    assert problem.endswith(", …; left out")


def test_seeds_and_targets_that_redirect_are_where_they_lead():
    web = small_web({"a": ["b"], "b": [], "c": []})
    web.page_labels[at("b")] = ["good"]
    web.redirect(at("moved"), at("a"))
    web.redirect(at("old-b"), at("b"))
    survey = Survey.of(web, {})
    topic = Topic("T", label="good", seeds=[at("moved")], targets=[at("old-b")])
    (trial,), problems = make_trials({"t": topic}, survey, {"topic": []}, 10, "the web", Reader(web).end)
    assert problems == []
    assert [survey.urls[page] for page in trial.first] == [at("a")]
    assert {survey.urls[page] for page in trial.targets} == {at("b")}
    assert trial.starts == (at("moved"),)


def jobs(spiders: str, topic: Topic, repeats: int = 1, seed: int = 1, pages: int = 100) -> list[Job | str]:
    web = small_web({"a": ["b"], "b": []})
    web.page_labels[at("b")] = ["sorting"]
    given = [at(name) for name in "abcdefgh"]
    (trial,), _ = make_trials({"t": topic}, Survey.of(web, {}), {"given": given}, pages, "the web", lambda url: url)
    found, _ = read_spiders(spiders, LOADER, "best_first")
    facts = {"web": "web.sqlite", "pages": pages, "digests": ("1", "2")}
    return list(jobs_of(trial, topic, found, repeats, seed, **facts))


def test_spiders_that_lack_something_are_left_out_with_a_line():
    topic = load_topic("sorting")
    topic.examples = []
    found = jobs("baseline,apprentice", topic)
    lines = [line for line in found if isinstance(line, str)]
    assert [job.spider for job in found if isinstance(job, Job)] == ["breadth_first", "best_first"]
    assert lines[0].startswith("baseline is left out of 't': topic 'Sorting algorithms' (sorting) has no examples")
    assert len(lines) == 2


def test_the_apprentice_takes_lessons_and_chance_has_a_seed():
    found = {
        job.spider: dict(job.options) for job in jobs("apprentice,info_spiders,hits:every=7", load_topic("sorting"))
    }
    assert found["apprentice"] == {"lessons": "auto", "lesson_pages": "50"}
    assert found["info_spiders"] == {"seed": "1"}
    assert found["hits:every=7"] == {"every": "7"}
    assert found["best_first"] == {}


def test_repeats_shuffle_the_seeds_and_change_the_chances():
    first, second, *_ = [job for job in jobs("info_spiders", load_topic("sorting"), 2) if job.name == "info_spiders"]
    assert first.starts == tuple(at(name) for name in "abcdefgh")
    assert first.starts != second.starts
    assert sorted(first.starts) == sorted(second.starts)
    assert (dict(first.options)["seed"], dict(second.options)["seed"]) == ("1", "2")
    assert jobs("info_spiders", load_topic("sorting"), 2) == jobs("info_spiders", load_topic("sorting"), 2)


def test_a_crawl_has_another_name_when_anything_is_another():
    topic = load_topic("sorting")
    names = [jobs("keyword", topic)[0].key, jobs("keyword", topic, pages=99)[0].key]
    names += [jobs("keyword", topic, 2)[1].key]
    assert len(set(names)) == 3
    assert jobs("keyword,hits", topic)[0].key == names[0]  # whoever else is compared does not matter


def test_a_crawl_has_another_name_when_the_crawler_is_another(monkeypatch):
    before = jobs("keyword", load_topic("sorting"))[0].key
    monkeypatch.setattr(plan, "_crawler_digest", lambda: "that of another version")
    assert jobs("keyword", load_topic("sorting"))[0].key != before
