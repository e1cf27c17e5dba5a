"""The niche genetic crawler: generations of URLs."""

from __future__ import annotations

import pytest

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.errors import FocusError
from focuscrawl.reports.explain import explain
from focuscrawl.store.store import Store
from focuscrawl.web.webs import open_web
from tests.conftest import at, scrapy, small_web

# two seeds: a hub of four pages, of which three are about the topic, and an authority; p links to it as well as to
# others that nobody else links to
LINKS = {
    "hub": ["p", "q", "r", "s"],
    "authority": ["deep/1"],
    "p": ["authority", "beside/1", "beside/2", "beside/3", "beside/4", "beside/5"],
    "q": ["q/1", "q/2", "q/3"],
    "r": [],
    "s": ["s/1", "s/2", "s/3"],
    **{name: [] for name in ("deep/1", "q/1", "q/2", "q/3", "s/1", "s/2", "s/3")},
    **{f"beside/{n}": [] for n in range(1, 6)},
}
TEXTS = {
    "hub": "heap",
    "authority": "heap sort",
    "p": "heap sort",
    "q": "heap",
    "r": "sort",
    "s": "nothing",
    "beside/2": "heap",
    "q/1": "heap",
}


def run(crawl, folder=None, **options):
    options = {"hub_links": 2, "pc": 0.5, "pm": 0.4, "knock_out": 0, **options}
    keywords = options.pop("keywords", "heap:2,sort:1")
    web = small_web(LINKS, TEXTS)
    return crawl("niche_genetic", web, folder, seeds=f"{at('hub')},{at('authority')}", keywords=keywords, **options)


def names(crawled) -> list[str]:
    return [url.removeprefix("http://").replace(".example/", "/").rstrip("/") for url in crawled.urls]


def test_a_generation(crawl):
    crawled = run(crawl, generations=1)
    # the seeds; then the links of the hub, to be measured. The authority's own link is not taken.
    assert names(crawled) == ["hub", "authority", "p", "q", "r", "s"]
    # of the four measured half go on, the best: p and q. p links to the authority: 2 of its 5 other links go on
    assert crawled.sql("SELECT * FROM generation") == [(1, 6, 1, 1, 2, 2, 0)]
    assert crawled.stats["focus/generation/1/crossover"] == 2
    assert crawled.stats["focus/generations"] == 1


def test_the_next_generation_is_what_crossover_and_mutation_left(crawl):
    crawled = run(crawl, generations=2)
    second = names(crawled)[6:]
    mutated = [name for name in second if name.startswith("beside")][:2]
    assert second[:2] == mutated  # Vm is fetched; Vc was, when it was measured
    assert set(second[2:]) == {"q/1", "q/2", "q/3", *(f"beside/{n}" for n in range(1, 6))} - set(mutated)
    assert "s/1" not in second  # s was measured and did not go on
    number, fetched, hubs, authorities, *_ = crawled.sql("SELECT * FROM generation")[1]
    assert (number, fetched, hubs) == (2, 8, 2)  # p and q
    assert authorities == ("beside/2" in mutated)


def test_the_worst_of_each_niche_are_knocked_out(crawl):
    crawled = run(crawl, generations=1, knock_out=1)
    # niches: p alone, q alone, and the two of beside: each loses one
    assert crawled.sql("SELECT crossover, mutation, knocked_out FROM generation") == [(2, 2, 3)]


def test_nothing_is_fetched_twice_and_the_crawl_ends(crawl):
    crawled = run(crawl, pc=1, pm=1)
    assert len(crawled.urls) == len(set(crawled.urls))
    assert {"q/1", "beside/2"} <= set(names(crawled))
    assert crawled.stats["finish_reason"] == "finished"


def test_the_same_seed_gives_the_same_crawl(crawl, tmp_path):
    first, again = (names(run(crawl, tmp_path / name, seed=5)) for name in ("1", "2"))
    assert first == again
    others = [names(run(crawl, tmp_path / f"s{seed}", seed=seed)) for seed in range(6, 10)]
    assert any(other != first for other in others)


@pytest.mark.parametrize("pages", [1, 2, 3, 5, 7, 8, 10])
def test_a_crawl_goes_on_in_the_middle_of_a_generation(crawl, tmp_path, pages):
    whole = run(crawl, tmp_path / "whole")
    run(crawl, tmp_path / "parts", max_pages=pages)
    parts = run(crawl, tmp_path / "parts")
    assert names(parts) == names(whole)
    assert parts.sql("SELECT * FROM generation") == whole.sql("SELECT * FROM generation")


def test_hubs_are_output_unless_authorities_alone_are_asked_for(crawl, tmp_path):
    assert at("hub") in run(crawl, tmp_path / "all").matched
    only = run(crawl, tmp_path / "authorities", output="authorities").matched
    assert at("authority") in only
    assert at("hub") not in only


def test_it_stops_after_the_generation_with_enough_relevant_pages(crawl):
    crawled = run(crawl, max_relevant=3)
    assert crawled.sql("SELECT count(*) FROM generation") == [(1,)]


def test_pages_that_are_not_output_do_not_count_as_found(crawl):
    crawled = run(crawl, max_relevant=3, output="authorities")  # the hub and p are relevant, but hubs
    assert crawled.sql("SELECT count(*) FROM generation") == [(2,)]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_sample_of_the_hubs_links_is_fetched(crawl, tmp_path, number):
    crawled = run(crawl, tmp_path / "1", generations=1, sample=number)
    measured = names(crawled)[2:]
    assert len(measured) == number
    assert set(measured) <= {"p", "q", "r", "s"}
    assert names(run(crawl, tmp_path / "2", generations=1, sample=number))[2:] == measured


def test_links_that_were_not_drawn_may_be_drawn_later(crawl, tmp_path):
    sampled = run(crawl, tmp_path / "1", sample=1, pc=1)
    assert {"p", "q", "r", "s"} <= set(names(sampled))
    assert max(fetched for (fetched,) in sampled.sql("SELECT fetched FROM generation WHERE number > 1")) <= 4


def test_the_number_of_links_of_a_hub_adapts_to_the_web(crawl, tmp_path):
    # of the two seeds, hub has four links and authority one: the median is 2.5
    crawled = run(crawl, tmp_path / "1", generations=1, hub_links="median")
    assert crawled.sql("SELECT hubs, authorities FROM generation") == [(1, 1)]
    alone = crawl(
        *("niche_genetic", small_web(LINKS, TEXTS), tmp_path / "2"),
        seeds=at("authority"),
        keywords="heap",
        generations=1,
        hub_links="median",
    )
    assert names(alone) == ["authority", "deep/1"]  # one page is as good as half of one
    only = run(crawl, tmp_path / "3", hub_links="median", output="authorities").matched
    assert at("r") in only
    assert at("p") not in only


def test_a_sample_depends_on_the_random_seed(crawl, tmp_path):
    samples = {tuple(names(run(crawl, tmp_path / f"{n}", generations=1, sample=1, seed=n))) for n in range(8)}
    assert len(samples) > 1


def test_a_sample_as_large_as_the_links_changes_nothing(crawl, tmp_path):
    assert names(run(crawl, tmp_path / "1", sample=99)) == names(run(crawl, tmp_path / "2"))


def test_the_threshold_adapts_after_the_first_generation(crawl, tmp_path):
    whole = run(crawl, tmp_path / "whole", generations=2)
    best = run(crawl, tmp_path / "best", generations=2, select=0.2)
    first, second = best.sql("SELECT hubs, authorities FROM generation")
    assert first == whole.sql("SELECT hubs, authorities FROM generation")[0]  # nothing to compare the seeds with
    assert second == (1, 0)  # p has both keywords, and is among the best fifth; q is not
    assert not {"q/1", "q/2", "q/3"} & set(names(best))


@pytest.mark.parametrize("pages", [3, 4, 6, 8])
def test_a_sampled_crawl_goes_on_in_the_middle_of_a_generation(crawl, tmp_path, pages):
    options = {"sample": 2, "select": 0.8, "hub_links": "median"}
    whole = run(crawl, tmp_path / "whole", **options)
    run(crawl, tmp_path / "parts", max_pages=pages, **options)
    parts = run(crawl, tmp_path / "parts", **options)
    assert names(parts) == names(whole)
    assert parts.sql("SELECT * FROM generation") == whole.sql("SELECT * FROM generation")


def test_nothing_above_the_threshold_in_the_first_generation(crawl):
    crawled = run(crawl, keywords="unheard")
    assert crawled.stats["finish_reason"] == "cannot_go_on"
    message = Crawl.of(crawled.crawler).fatal
    assert "the best of 2 has relevance 0.0000, which is not above threshold=0.05" in message


def test_that_costs_the_user_one_line_and_a_bad_exit(tmp_path):
    result = scrapy(
        *("crawl", "niche_genetic", "-a", "seeds=http://crossroads.example/", "-a", "keywords=unheardof"),
        *("-s", "FOCUS_WEB=demo", "-s", f"FOCUS_DIR={tmp_path}/c", "-L", "CRITICAL"),
    )
    assert result.returncode == 1
    assert "give seeds on the topic" in result.stderr


@pytest.mark.parametrize(
    "option",
    [
        {"pc": 1.5},
        {"pm": -1},
        {"knock_out": -0.1},
        {"niche": "path"},
        {"hub_links": -1},
        {"hub_links": "x"},
        {"sample": -1},
        {"select": 2},
    ],
)
def test_parameters_out_of_range_are_refused(crawl, option):
    ((name, value),) = option.items()
    with pytest.raises(FocusError, match=f"option {name}={value}: expected"):
        run(crawl, **option)


def test_keywords_are_needed(crawl):
    with pytest.raises(FocusError, match="keywords"):
        crawl("niche_genetic", small_web(LINKS), seeds=at("hub"))


def test_explain_tells_the_generation(crawl):
    crawled = run(crawl, generations=2)
    store = Store(crawled.folder / "crawl.sqlite", create=False)
    assert "link of a hub in generation 1" in "\n".join(explain(store, at("q")))
    assert "relevance of its page" in "\n".join(explain(store, at("s/1")))
    store.close()


def test_generations_on_a_web_of_many_hosts(crawl):
    crawled = crawl("niche_genetic", open_web("demo"), topic="sorting", max_pages=150, niche="host/3")
    assert len(crawled.urls) == 150
    assert crawled.sql("SELECT count(*) FROM generation")[0][0] >= 2
    assert all(fetched > 0 for (fetched,) in crawled.sql("SELECT fetched FROM generation"))
