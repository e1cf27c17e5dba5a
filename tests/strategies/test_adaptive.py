"""The logic of `adaptive`: judging pages, gathering evidence, learning which links pay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from focuscrawl import urls, words
from focuscrawl.judge import KeywordJudge
from focuscrawl.language.frequencies import frequency_table
from focuscrawl.page import Link, Page
from focuscrawl.reading.html import read_html
from focuscrawl.strategies.adaptive.beforehand import Known
from focuscrawl.strategies.adaptive.columns import LINKS, chunks, counted
from focuscrawl.strategies.adaptive.credit import worth_of_leading
from focuscrawl.strategies.adaptive.evidence import Evidence, Row
from focuscrawl.strategies.adaptive.hashing import BITS, SIZE, hashes
from focuscrawl.strategies.adaptive.judge import PageJudge
from focuscrawl.strategies.adaptive.learner import Learner
from focuscrawl.strategies.adaptive.lessons import FIRST, WIDTH, Lessons
from focuscrawl.strategies.adaptive.reading import CONTEXT, URL_WORD, Reader, link_words, place_of
from focuscrawl.strategies.adaptive.regression import fit, sigmoid
from focuscrawl.strategies.adaptive.scales import worth_beside
from focuscrawl.strategies.adaptive.shapes import shape_of
from focuscrawl.strategies.adaptive.telling import explain, reasons
from focuscrawl.strategies.adaptive.worths import Worths

SORTING = "quicksort and mergesort compare elements of an array, heapsort builds a heap, bubble swaps neighbours"
COOKING = "knead the dough, heat the oven, bake the bread with flour and butter, then season the soup with pepper"
WEATHER = "clouds gather over the coast, rain falls on the hills and the wind turns to the north before evening"


def page(text: str, *links: tuple[str, str], url: str = "http://a.example/") -> Page:
    anchors = "".join(f'<p class=x><a href="{target}">{anchor}</a></p>' for target, anchor in links)
    return read_html(Page(url), f"<title>page</title><p>{text}</p>{anchors}".encode(), "text/html")


def read(arrived: Page, keywords: KeywordJudge | None = None):
    return Reader(keywords).read(arrived)


def vector(text: str, keywords: KeywordJudge | None = None):
    return read(page(text), keywords).vector


class Crawl:
    """Pages that arrive one after another, each under the number of its URL."""

    def __init__(self, learner: Learner) -> None:
        self.learner, self.number, self.ids = learner, 0, {}

    def id_of(self, url: str) -> int:
        return self.ids.setdefault(url, len(self.ids) + 1)

    def fetch(self, arrived: Page, *, dead: bool = False, told: float | None = None) -> None:
        self.number += 1
        reading = read(arrived, self.learner.judge.given)
        p = 0.0 if dead else self.learner.relevance(reading)
        targets = np.array([self.id_of(link.url) for link in arrived.links], dtype=np.int64)
        key_of = [1000 + int(target) for target in targets].__getitem__
        scores = [told] * len(targets)
        self.learner.take_in(self.number, self.id_of(arrived.url), reading, p, targets, key_of, dead=dead, told=scores)

    def score(self, url: str) -> float:
        return float(self.learner.log_odds(np.array([self.ids[url]]))[0])


# ---- reading


def test_common_words_are_on_many_pages_and_unknown_ones_on_few():
    shares = {stem: share for share, stems in frequency_table() for stem in stems}
    assert shares["the"] > 0.9
    assert shares["the"] > shares["friend"] > shares["granit"]
    assert "zzyzx" not in shares


@pytest.mark.parametrize(
    ("language", "common", "rarer"), [("de", "und", "pfeif"), ("ru", "и", "пчел"), ("zh", "我们", "风琴")]
)
def test_so_they_are_in_other_languages(language, common, rarer):
    shares = {stem: share for share, stems in frequency_table(language) for stem in stems}
    assert shares[f"{language}:{common}"] > 0.5
    assert shares.get(f"{language}:{rarer}", 0.0) < 0.05


def test_a_language_without_a_table_has_no_common_words():
    assert frequency_table("zu") == []


def test_a_link_speaks_by_anchor_url_context_and_heading():
    source = b"<h1>Rocks</h1><h2>Layers</h2><p>old strata <a href='/granite/deep.html'>Hard stones</a> are folded</p>"
    (link,) = read_html(Page("http://a.example/"), source, "text/html").links
    found = link_words(link)
    assert list(found.anchor) == ["hard", "stone"]
    assert {"granit", "deep"} <= set(found.url)
    assert {"strata", "fold"} <= set(found.context)
    assert list(found.heading) == ["layer"]


@pytest.mark.parametrize("text", ["plain words", "naïve cafés — élan", "a 東京 tower", "İstanbul ﬁsh"])
def test_contexts_are_the_words_around_each_link(text):
    parts = [f"{text} word{number} <a href='/{number}'>link {number}</a> {text}, " for number in range(30)]
    arrived = read_html(Page("http://a.example/"), f"<p>{''.join(parts)} the end of it".encode(), "text/html")
    links = read(arrived).links
    for place, link in enumerate(arrived.links):
        mine = links.features[links.first[place] : links.first[place + 1]]
        around = {CONTEXT * SIZE + number for number in hashes(link_words(link).context)}
        found = {int(feature) for feature in mine if feature >> BITS == CONTEXT}
        # a word may be cut into pieces otherwise where scripts are mixed
        assert found == around if text.isascii() else len(found & around) >= 0.5 * len(around)


def test_a_link_knows_its_place_in_the_markup():
    source = b"<div class='menu side'><ul><li><a href='/x'>x</a></ul></div><p><a href='/y'>y</a>"
    first, second = read_html(Page("http://a.example/"), source, "text/html").links
    assert first.path.endswith("div.menu>ul>li>a")
    assert second.path.endswith("p>a")


@pytest.mark.parametrize(
    ("one", "other"),
    [("/news/2024/05/some-title.html", "/news/1999/12/another-long-title.html"), ("/a/b", "/other/name")],
)
def test_urls_of_one_kind_have_one_shape(one, other):
    assert shape_of(one, "") == shape_of(other, "")


def test_other_kinds_of_urls_have_other_shapes():
    shapes = {
        shape_of(*parts) for parts in (("/a/b", ""), ("/a/b.html", ""), ("/a/9", ""), ("/a/b", "id=3"), ("/", ""))
    }
    assert len(shapes) == 5


def test_places_share_host_and_directory():
    one, two, three = map(place_of, ("http://a.example/x/y/1", "http://a.example/x/z/2", "http://b.example/x/y/1"))
    assert one.host == two.host != three.host
    assert one.top == two.top
    assert one.directory != two.directory


@pytest.mark.parametrize(
    "path",
    [
        "p1.html",
        "p22.html",
        "p22.htm",
        "p2.x3",
        "p2.x4",
        "2024/p1.html",
        "%41b%31.x",
        "a?p1=2",
        "a?p2=2",
        "x/?q=a/b7.c",
    ],
)
def test_urls_that_differ_by_a_number_are_read_alike_and_no_others(path):
    url = f"http://h7.example/dir3/{path}"
    links = read(page("", ("http://h7.example/dir3/p333.html", "one"), (url, "other"))).links
    mine = links.features[links.first[1] : links.first[2]]
    assert {int(one) & (SIZE - 1) for one in mine if one >> BITS == URL_WORD} == set(
        hashes(words.stems(urls.words(url)))
    )
    assert tuple(links.places[1].tolist()) == place_of(url)


# ---- the judge


def test_keywords_are_enough_to_judge():
    given = KeywordJudge({"heap": 1.0, "array": 1.0})
    judge = PageJudge(given)
    assert judge.log_odds(vector(SORTING, given)) > 0 > judge.log_odds(vector(COOKING, given))


def test_examples_teach_words_that_no_keyword_names():
    positives = [vector(f"{SORTING} case {number}") for number in range(5)]
    negatives = [vector(f"{text} case {number}") for number, text in enumerate((COOKING, WEATHER) * 4)]
    judge = PageJudge(None, positives, negatives)
    assert judge.supervised
    assert (
        judge.log_odds(vector("mergesort and heapsort of elements")) > 0 > judge.log_odds(vector("bread in the oven"))
    )


def test_keywords_count_beside_examples_as_far_as_they_tell_these_apart():
    def judged(word: str, text: str) -> float:
        given = KeywordJudge({word: 1.0})
        positives = [vector(f"{SORTING} algorithm page {number}", given) for number in range(5)]
        negatives = [vector(f"{other} page {number}", given) for number, other in enumerate((COOKING, WEATHER) * 4)]
        return PageJudge(given, positives, negatives).log_odds(vector(text, given))

    unlike = "an algorithm for graphs, and another algorithm for page tables"  # no word of the examples but these two
    assert judged("algorithm", unlike) > 1 + judged("page", unlike)
    assert judged("algorithm", COOKING) < 0


def test_a_measure_that_says_nothing_is_worth_nothing_beside_another():
    labels, scores = np.array([1.0, 1, 1, 0, 0, 0]), np.array([0.9, 0.8, 0.2, 0.3, 0.1, 0.0])
    assert worth_beside(labels, scores, labels) > worth_beside(scores, scores, labels) > 0
    assert worth_beside(np.ones(6), scores, labels) == worth_beside(1 - labels, scores, labels) == 0


def test_a_seed_stands_for_keywords():
    judge = PageJudge()
    judge.learn_seed(vector(SORTING))
    assert judge.log_odds(vector("a heap of elements: heapsort of an array")) > judge.log_odds(vector(WEATHER))


def test_it_teaches_itself_words_that_go_with_the_keywords():
    learner = Learner(KeywordJudge({"heap": 1.0}))
    crawl = Crawl(learner)
    unnamed = vector("quicksort mergesort neighbours")
    before = learner.judge.log_odds(unnamed)
    for number in range(20):
        text = SORTING if number % 2 else COOKING
        crawl.fetch(page(f"{text} {number}", url=f"http://a.example/{number}"))
    assert learner.judge.log_odds(unnamed) > before


# ---- evidence


def test_every_page_that_links_there_counts():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0, "quicksort": 1.0})))
    crawl.fetch(page(SORTING, ("http://t.example/one", "more"), ("http://t.example/both", "more")))
    once = crawl.score("http://t.example/both")
    crawl.fetch(page(SORTING, ("http://t.example/both", "more"), url="http://b.example/"))
    assert crawl.score("http://t.example/both") > once
    assert crawl.score("http://t.example/both") > crawl.score("http://t.example/one")


def test_features_are_counted_and_cut_into_pieces():
    values = np.array([7, 3, 7, 7, 1], dtype=np.int32)
    for some in (values, values[:1], values[:0]):
        for found, expected in zip(counted(some), np.unique(some, return_counts=True), strict=True):
            assert found.tolist() == expected.tolist()
    assert list(chunks(np.array([0, 2, 3, 9, 10]), 3)) == [(0, 2), (2, 3), (3, 4)]
    assert not list(chunks(np.array([0]), 3))


def test_sums_computed_again_are_those_that_were_kept():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    for number in range(6):
        links = [(f"http://t.example/{target}", f"link {target}") for target in range(number, number + 4)]
        crawl.fetch(page(f"{SORTING} {number}", *links, url=f"http://a.example/{number}"))
    evidence = crawl.learner.evidence
    evidence.renew_rates()
    before = evidence.sums.copy()
    evidence.renew()
    waiting = evidence.waiting()
    assert len(waiting) == 9
    assert np.allclose(before[waiting], evidence.sums[waiting])


def test_a_page_that_was_fetched_leaves_the_columns():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    crawl.fetch(page(SORTING, ("http://t.example/1", "x"), ("http://t.example/2", "y")))
    crawl.fetch(page(COOKING, url="http://t.example/1"))
    evidence = crawl.learner.evidence
    evidence.renew()
    assert evidence.links == 1
    assert evidence.waiting().tolist() == [crawl.ids["http://t.example/2"]]


def test_in_links_beyond_the_limit_cost_no_memory():
    evidence = Evidence(PageJudge(KeywordJudge({"heap": 1.0})))
    links = read(page("", ("http://t.example/1", "x"))).links
    for number in range(100):
        evidence.set_page(number, 0.5)
        evidence.add(number, np.array([7]), links)
    assert evidence.links == evidence.sums[7, LINKS] == 32


def test_a_preview_is_the_score_of_a_new_url():
    texts = ((SORTING, 1.0), (f"{SORTING} again", 1.0), (COOKING, 0.0), (WEATHER, 0.0))
    known = [Known(number, label, read(page(text)), []) for number, (text, label) in enumerate(texts)]
    learner = Learner(KeywordJudge({"heap": 1.0}), known)
    crawl = Crawl(learner)
    crawl.fetch(page(SORTING, ("http://t.example/1", "x")))
    arrived = page(SORTING, ("http://t.example/2", "a heap"), ("http://t.example/3", "soup"), url="http://b.example/")
    scores, reasons = learner.preview(read(arrived).links, learner.relevance(read(arrived)))
    crawl.fetch(arrived)
    again = [float(learner.probability(np.array(crawl.score(link.url)))) for link in arrived.links]
    assert scores == pytest.approx(again)
    assert scores[0] > scores[1]
    assert reasons[0]["anchor and URL"] > 0 > reasons[1]["anchor and URL"]


# ---- learning


def test_a_directory_of_dead_links_falls():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    dead = [(f"http://t.example/dead/{number}", "read on") for number in range(12)]
    live = [(f"http://t.example/live/{number}", "read on") for number in range(12)]
    crawl.fetch(page(SORTING, *dead, *live))
    assert crawl.score(dead[11][0]) == pytest.approx(crawl.score(live[11][0]), abs=0.5)
    for number in range(10):
        crawl.fetch(page("", url=dead[number][0]), dead=True)
        crawl.fetch(page(f"{SORTING} {number}", url=live[number][0]))
    assert crawl.score(live[11][0]) > crawl.score(dead[11][0]) + 1


def test_a_page_is_worth_what_was_found_through_it():
    index, listing, shared, lost, *found = range(12)
    p = np.array([0.0, 0.0, 0.0, 0.0, *[1.0] * 5, *[0.2] * 3])
    fetched = [(listing, [index]), (lost, [index]), *((page, [listing, shared]) for page in found[:5])]
    fetched += [(page, [lost]) for page in found[5:]]
    worth = worth_of_leading(p, fetched, usual=0.2)
    assert worth[listing] == worth[shared] == pytest.approx(2.5 / 3.5)  # each half of five pages
    assert worth[listing] > worth[index] > 0.6  # one step further
    assert worth[lost] == 0  # to pages like all the others
    assert not worth[found].any()


def test_what_leads_to_lists_of_relevant_pages_is_learned():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    anchors = {number: "pickle" if number % 2 else "toffee" for number in range(12)}
    crawl.fetch(page(COOKING, *((f"http://t.example/{number}", anchor) for number, anchor in anchors.items())))
    for number, anchor in list(anchors.items())[:-2]:
        lists = f"http://t.example/{number}/list"
        crawl.fetch(page(f"{COOKING} {number}", (lists, "more"), url=f"http://t.example/{number}"))
        links = [(f"{lists}/{place}", f"number {place}") for place in range(4)]
        crawl.fetch(page(f"{WEATHER} {number}", *links, url=lists))
        for url, _ in links:
            crawl.fetch(page(f"{SORTING if anchor == 'pickle' else COOKING} {url}", url=url))
    assert crawl.score("http://t.example/11") > crawl.score("http://t.example/10") + 0.5


def test_where_all_seems_hopeless_what_was_known_beforehand_chooses():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    dead = [(f"http://t.example/{number}", "a heap") for number in range(200)]
    heap, soup = "http://else.example/of/arrays.html", "http://else.example/of/soups.html"
    crawl.fetch(page(SORTING, *dead))
    crawl.fetch(page(SORTING, (heap, "a heap"), url="http://b.example/"))
    crawl.fetch(page(COOKING, (soup, "a soup"), url="http://c.example/"))
    for url, _ in dead:
        crawl.fetch(page("", url=url), dead=True)
    assert crawl.learner.probability(np.array(crawl.score(heap))) < 0.01
    by_url = crawl.learner.scores[[crawl.ids[heap], crawl.ids[soup]]]
    assert by_url[0] > 2 * by_url[1]


@pytest.mark.parametrize("path", ["staff/", "staff/index.html", ""])
def test_the_front_page_above_relevant_pages_comes_first(path):
    crawl = Crawl(Learner(KeywordJudge({"quicksort": 1.0, "array": 1.0})))
    links = [(f"http://{host}.example/{path}", "up") for host in "ab"] + [("http://a.example/staff/x", "x")]
    crawl.fetch(page(WEATHER, *links, url="http://c.example/"))
    before = crawl.score("http://a.example/staff/x")
    assert crawl.score(f"http://a.example/{path}") == crawl.score(f"http://b.example/{path}")
    crawl.fetch(page(SORTING, url="http://a.example/staff/one/home.html"))
    crawl.learner.evidence.refresh(crawl.learner.evidence.waiting())
    assert crawl.score(f"http://a.example/{path}") > crawl.score(f"http://b.example/{path}")
    assert crawl.score("http://a.example/staff/x") == pytest.approx(before, abs=0.3)  # no front page


def test_words_that_led_to_relevant_pages_are_learned():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    good = [(f"http://t.example/{number}", "gherkin") for number in range(0, 40, 2)]
    poor = [(f"http://t.example/{number}", "lozenge") for number in range(1, 40, 2)]
    crawl.fetch(page(SORTING, *good, *poor))
    for (one, _), (other, _) in zip(good[:18], poor[:18], strict=True):
        crawl.fetch(page(f"{SORTING} {one}", url=one))
        crawl.fetch(page(f"{COOKING} {other}", url=other))
    assert crawl.score(good[19][0]) > crawl.score(poor[19][0]) + 1


def test_a_word_counts_the_same_wherever_it_stands():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    good = [(f"http://t.example/{number}", "gherkin") for number in range(0, 40, 2)]
    poor = [(f"http://t.example/{number}", "lozenge") for number in range(1, 40, 2)]
    elsewhere = [("http://t.example/gherkin/41", "x"), ("http://t.example/lozenge/41", "x")]
    crawl.fetch(page(SORTING, *good, *elsewhere, *poor))
    for (one, _), (other, _) in zip(good, poor, strict=True):
        crawl.fetch(page(f"{SORTING} {one}", url=one))
        crawl.fetch(page(f"{COOKING} {other}", url=other))
    by_url = [crawl.score(url) for url, _ in elsewhere]
    assert by_url[0] > by_url[1] + 0.5


def test_words_of_relevant_pages_speak_for_links():
    texts = ((SORTING, 1.0), (f"{SORTING} again", 1.0), (COOKING, 0.0), (WEATHER, 0.0))
    crawl = Crawl(
        Learner(None, [Known(number, label, read(page(text)), []) for number, (text, label) in enumerate(texts)])
    )
    followed = [(f"http://t.example/{number}", "pickle" if number % 2 else "toffee") for number in range(40)]
    for number, (url, anchor) in enumerate(followed):
        crawl.fetch(page(SORTING, (url, anchor), url=f"http://from.example/{number}"))
    for number, (url, _) in enumerate(followed):  # no example has the last word, and no link that was followed
        crawl.fetch(page(f"{SORTING} pickle gherkin" if number % 2 else f"{COOKING} toffee lozenge", url=url))
    for name, anchor in (("a", "a gherkin"), ("b", "a lozenge")):
        crawl.fetch(page(SORTING, (f"http://t.example/{name}", anchor), url=f"http://from.example/{name}"))
    assert crawl.score("http://t.example/a") > crawl.score("http://t.example/b") + 0.1
    why = explain(crawl.learner, crawl.ids["http://t.example/a"], Link("http://t.example/a", "a gherkin"))
    assert any("gherkin" in name for name in why if name.startswith("learned words"))


def test_words_are_worth_what_their_pages_are():
    gherkin, lozenge, both = (np.array(hashes([word])) for word in ("gherkin", "lozenge", "both"))
    worths = Worths()
    assert not worths.of_words().any()
    for number in range(20):
        worths.add(np.concatenate([gherkin if number % 2 else lozenge, both]), number % 2)
    found = worths.of_words()
    assert found[gherkin] > 1
    assert found[lozenge] < -1
    assert found[both] == pytest.approx(0, abs=0.2)
    pages = [np.concatenate([lozenge, both])] * 10
    worths.correct(pages, np.ones(10))  # the judge has changed its mind
    assert worths.of_words()[lozenge] == pytest.approx(worths.of_words()[gherkin])
    again = Worths()
    again.restore(worths.state())
    np.testing.assert_array_equal(again.of_words(), worths.of_words())
    with pytest.raises(ValueError, match="another size"):
        again.restore(worths.state() | {"worth total": np.zeros(3)})


def test_links_between_known_pages_are_lessons_and_examples_are_sought():
    known = [
        Known(1, 1.0, read(page(SORTING, ("http://t.example/2", "a"))), [2]),
        Known(2, 1.0, read(page(f"{SORTING} b", ("http://t.example/1", "b"))), [1]),
        Known(3, 0.0, read(page(COOKING)), []),
        Known(4, 0.0, read(page(WEATHER)), []),
    ]
    learner = Learner(None, known)
    assert learner.known_labels == [1.0, 1.0, 0.0, 0.0, 1.0, 1.0]  # where the pages lie, then the links between them
    arrived = read(page(WEATHER, ("http://t.example/1", "x"), ("http://t.example/3", "x")))
    learner.take_in(1, 10, arrived, 0.1, np.array([11, 13]), [1, 3].__getitem__)
    example, counterexample = learner.log_odds(np.array([11, 13]))
    assert example > counterexample + 10


def test_an_example_that_links_to_itself_says_something_of_other_pages():
    there = [("http://a.example/", "myself"), ("http://a.example/sort", "quick")]
    there += [(f"http://a.example/{number}", "x") for number in range(2000)]
    known = [
        Known(urls.key("http://a.example/"), 0.0, read(page(COOKING, *there)), [urls.key(url) for url, _ in there]),
        Known(urls.key("http://a.example/sort"), 1.0, read(page(SORTING, url="http://a.example/sort")), []),
        Known(urls.key("http://a.example/1999"), 0.0, read(page(WEATHER, url="http://a.example/1999")), []),
    ]
    learner = Learner(None, known)
    assert len(learner.known_labels) - learner._known_places == 2
    assert learner.evidence.rates.children.number.sum() == 2


def test_what_known_pages_say_of_links_stays_when_outcomes_change():
    there = [("http://a.example/sort", "quick")]
    known = [
        Known(urls.key("http://a.example/"), 0.0, read(page(COOKING, *there)), [urls.key(url) for url, _ in there]),
        Known(urls.key("http://a.example/sort"), 1.0, read(page(SORTING, url="http://a.example/sort")), []),
    ]
    learner = Learner(None, known)
    before = learner.evidence.rates.children.total.copy()
    assert before.sum() == 1.0
    learner.mark([Known(1, 1.0, read(page(SORTING)), ())], [])
    assert list(learner.evidence.rates.children.total) == list(before)


def test_marks_change_the_judge_and_the_scores():
    learner = Learner(KeywordJudge({"heap": 1.0}))
    crawl = Crawl(learner)
    crawl.fetch(page(COOKING, ("http://t.example/1", "bake bread")))
    before = crawl.score("http://t.example/1")
    labels = ((COOKING, 1.0), (f"{COOKING} again", 1.0), (SORTING, 0.0), (WEATHER, 0.0))
    learner.mark([Known(number, label, read(page(text)), []) for number, (text, label) in enumerate(labels)])
    assert crawl.score("http://t.example/1") > before


def test_a_few_marks_tell_which_words_count():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    for number in range(20):
        text = (f"a heap is a tree {SORTING}", f"a heap of flour {COOKING}", WEATHER)[number % 3]
        crawl.fetch(page(f"{text} number {number}", url=f"http://p.example/{number}"))
    learner = crawl.learner
    tree, flour = read(page("the heap of a tree, and an array")), read(page("the heap of flour, and bread"))
    before = learner.relevance(tree) - learner.relevance(flour)
    labels = (
        (f"heap {SORTING}", 1.0),
        (f"array heap {SORTING}", 1.0),
        (f"heap {COOKING}", 0.0),
        (f"bake {COOKING}", 0.0),
    )
    learner.mark([Known(number, label, read(page(text)), []) for number, (text, label) in enumerate(labels)])
    assert not learner.judge.supervised
    assert learner.relevance(tree) > 0.5 > learner.relevance(flour)
    assert learner.relevance(tree) - learner.relevance(flour) > before + 0.2


def test_every_reason_has_a_name():
    learner = Learner(KeywordJudge({"heap": 1.0}))
    arrived = page("a heap's place, a heap's size, one heap's end")
    reading = read(arrived)
    learner.relevance(reading)
    learner.judge.weights[:] = 1.0
    assert "heap" in reasons(learner.judge, reading, arrived)
    assert all(reasons(learner.judge, reading, arrived))


def test_scores_that_only_fell_are_not_reported():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    links = [(f"http://t.example/{number}", "read on") for number in range(30)]
    crawl.fetch(page(SORTING, *links), told=0.0)
    assert len(crawl.learner.changes()) == 30
    for number in range(19):
        crawl.fetch(page("", url=links[number][0]), dead=True)
    url = crawl.ids[links[29][0]]
    assert url not in dict(crawl.learner.changes())
    assert crawl.learner.current(url, 1.0) < 0.5


def test_links_that_must_not_be_followed_are_reported_once_another_page_allows_it():
    crawl = Crawl(Learner(KeywordJudge({"heap": 1.0})))
    crawl.fetch(page(SORTING, ("http://t.example/1", "a heap")), told=None)
    assert crawl.learner.changes() == []
    crawl.fetch(page(SORTING, ("http://t.example/1", "x"), url="http://b.example/"), told=0.001)
    assert dict(crawl.learner.changes()).keys() == {crawl.ids["http://t.example/1"]}


def test_links_with_the_same_reasons_share_them():
    learner = Learner(KeywordJudge({"heap": 1.0}))
    many = [(f"http://b.example/{number}", "the same anchor about a heap") for number in range(20)]
    _, reasons = learner.preview(read(page(SORTING, *many)).links, 0.9)
    assert len({id(why) for why in reasons}) < 5
    assert all(0 < len(why) <= 3 for why in reasons)


def lesson(*features: int) -> Row:
    numbers = np.array(features, dtype=np.int32)
    return Row(np.arange(WIDTH) / 10, numbers, numbers / 100)


def test_lessons_are_rows_of_a_matrix():
    lessons = Lessons()
    for features in ((7, 300), (300,), (5, 7)):
        lessons.add(lesson(*features))
    assert lessons.features.tolist() == [7, 300, 5]
    worth = np.zeros(SIZE)
    worth[[5, 7]] = 2, 10
    lessons.weigh(worth)
    matrix = lessons.matrix().toarray()
    assert matrix[:, FIRST:].tolist() == [[0.07, 3.0, 0.0], [0.0, 3.0, 0.0], [0.07, 0.0, 0.05]]
    np.testing.assert_array_equal(matrix[:, :FIRST], lessons.first())
    np.testing.assert_allclose(matrix[:, WIDTH], [0.7, 0, 0.8])
    rest = lessons.without(0, 1)
    assert rest.features.tolist() == [300, 5, 7]
    again = Lessons()
    again.add(lessons.row(0))
    again.restore(lessons.state(1))
    again.weigh(worth)
    np.testing.assert_array_equal(again.matrix().toarray(), matrix)


def test_reasons_name_the_signals_and_the_words():
    learner = Learner(KeywordJudge({"heap": 1.0, "array": 1.0}))
    crawl = Crawl(learner)
    crawl.fetch(page(SORTING, ("http://t.example/1", "the heap")))
    why = explain(learner, crawl.ids["http://t.example/1"], Link("http://t.example/1", "the heap", "an array", ""))
    assert why["a keyword in anchor or URL"] == 0.5
    assert why["anchor and URL (heap)"] > 0
    assert "context (arrai)" in why


# ---- regression


def test_the_regression_finds_the_odds():
    rows = csr_array(np.array([[1.0, 0.0], [1.0, 1.0]]))
    weights = fit(rows, np.array([0.2, 0.9]), 1e-6, rounds=200)
    assert sigmoid(rows @ weights) == pytest.approx([0.2, 0.9], abs=1e-3)


def test_the_offset_counts_and_the_ridge_holds_weights_back():
    rows, labels = csr_array(np.array([[1.0]])), np.array([0.5])
    assert fit(rows, labels, 1e-6, offset=np.array([2.0])) == pytest.approx([-2.0], abs=1e-2)
    assert abs(fit(rows, labels, 100.0, offset=np.array([2.0]))[0]) < 0.01
