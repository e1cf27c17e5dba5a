from __future__ import annotations

import pytest

from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html


def page(text: str, title: str = "") -> Page:
    return read_html(Page("http://example.com/"), f"<title>{title}</title><p>{text}".encode(), "text/html")


def test_keywords_are_compared_by_stem():
    judge = KeywordJudge({"sorting": 1, "algorithm": 1})
    assert judge.frequencies(page("It sorts. Sorted algorithms, sort")) == {"sorting": 3, "algorithm": 1}


def test_phrases_are_found_in_order_only_and_each_time():
    judge = KeywordJudge({"bubble sort": 1})
    assert judge.frequencies(page("bubble sort, bubbles sorted; sort bubble bubble sort")) == {"bubble sort": 3}
    assert judge.frequencies(page("sort a bubble")) == {}


def test_the_title_counts():
    assert KeywordJudge({"heap": 1}).frequencies(page("nothing", title="Heap"))


def test_two_forms_of_one_word_count_once_by_the_heavier():
    judge = KeywordJudge({"times": 1, "time": 3, "heap": 1})
    assert judge.share(page("time"), 0.5).relevance == pytest.approx(0.75)


def test_share_is_the_weight_of_what_occurs_over_the_weight_of_all():
    judge = KeywordJudge({"time": 1, "bubble": 1, "sort": 2})
    judgement = judge.share(page("sort sort sort time"), 0.5)
    assert judgement.relevance == pytest.approx(0.75)
    assert judgement.why == {"time": 0.25, "sort": 0.5}
    assert judgement.relevant


def test_all_means_all_in_spite_of_rounding():
    judge = KeywordJudge(dict.fromkeys(["a1", "b1", "c1", "d1", "e1", "f1", "g1"], 0.1))
    assert judge.share(page("a1 b1 c1 d1 e1 f1 g1"), 1.0).relevant
    assert not judge.share(page("a1 b1 c1 d1 e1 f1"), 1.0).relevant


def test_coverage_prefers_many_keywords_to_one_frequent_one():
    judge = KeywordJudge({"heap": 1, "bubble": 1, "sort": 1})
    filler = "word " * 300
    assert (
        judge.coverage(page(f"heap bubble sort {filler}"), 0.3).relevance
        > judge.coverage(page(f"{'sort ' * 50} {filler}"), 0.3).relevance
    )


def test_coverage_prefers_a_page_about_a_word_to_one_that_mentions_it():
    judge = KeywordJudge({"sort": 1, "heap": 1})
    filler = "word " * 1000
    assert (
        judge.coverage(page(f"{'sort ' * 6} {filler}"), 0.3).relevance
        > judge.coverage(page(f"sort {filler}"), 0.3).relevance
    )


def test_both_measures_stay_between_0_and_1():
    judge = KeywordJudge({"sort": 3, "heap": 1})
    for text in ("", "nothing", "sort " * 500 + "heap " * 500):
        for judgement in (judge.share(page(text), 0.5), judge.coverage(page(text), 0.5)):
            assert 0 <= judgement.relevance <= 1


def test_a_word_too_long_to_be_one_is_counted_but_not_remembered():
    long = "x" * 100_000
    judge = KeywordJudge({long: 1, "sort": 1})
    judged = page(f"sort {long} {long}y")
    assert judge.frequencies(judged) == {long: 1, "sort": 1}
    assert judge._for(judged.language)._forms.keys() == {"sort"}


# ---- the cosine weighted by tags: x is the frequency over the largest, W is 5, 3, 2 or 1 by the place


def tagged(html: str) -> Page:
    return read_html(Page("http://example.com/"), html.encode(), "text/html")


PLACES = (
    "<title>Heap</title><meta name=keywords content='radix'><meta name=description content='radix and merge'>"
    "<p>heap, quick, quick <a href=/x>bubble</a> merge"
)


def test_tag_weighted_cosine_by_hand():
    """heap twice (title, text), quick twice, bubble once in a link, radix twice in meta, merge once each."""
    judge = KeywordJudge({"heap": 3, "quick": 1, "bubble": 2, "radix": 1, "merge": 4})
    # x = 1, 1, 0.5, 1, 1 and W = 5, 1, 3, 2, 2
    dot = 3 * 5 + 1 * 1 + 2 * 1.5 + 1 * 2 + 4 * 2
    length = (25 + 1 + 2.25 + 4 + 4) ** 0.5 * (9 + 1 + 4 + 1 + 16) ** 0.5
    judgement = judge.tag_weighted(tagged(PLACES), 0.05)
    assert judgement.relevance == pytest.approx(dot / length)
    assert judgement.why["heap"] == pytest.approx(15 / length)
    assert judgement.relevant


def test_the_largest_place_counts():
    judge = KeywordJudge({"heap": 1, "sort": 1})
    # both once in the text; heap also in the title and in a link, so W = 5 and x = 3 of 3; sort x = 1 of 3, W = 1
    page = tagged("<title>Heap</title><p>heap sort <a href=/x>heap</a>")
    assert judge.tag_weighted(page, 0).relevance == pytest.approx((5 + 1 / 3) / (2**0.5 * (25 + 1 / 9) ** 0.5))


def test_phrases_have_places_too():
    judge = KeywordJudge({"call for paper": 5, "network": 3})
    # the phrase twice: once in a link (W = 3, x = 1); network once (W = 1, x = 0.5)
    page = tagged("<p>calls for papers <a href=/x>Call for Papers</a> network")
    assert judge.tag_weighted(page, 0).relevance == pytest.approx((5 * 3 + 3 * 0.5) / (34**0.5 * 9.25**0.5))


def test_a_phrase_does_not_reach_from_one_link_into_the_next():
    judge = KeywordJudge({"bubble sort": 1, "heap": 1})
    page = tagged("<p>A text on <a href=/1>bubble</a> <a href=/2>sort</a> and heap")
    # it is in the text, but in no link: W = 1 for both
    assert judge.tag_weighted(page, 0).why == pytest.approx({"bubble sort": 0.5, "heap": 0.5})


def test_no_keyword_no_relevance():
    judgement = KeywordJudge({"heap": 1}).tag_weighted(tagged("<p>nothing"), 0.0)
    assert judgement == (0.0, False, {})


def test_the_threshold_has_to_be_passed():
    judge = KeywordJudge({"heap": 3, "sort": 4})
    assert judge.tag_weighted(tagged("<p>heap"), 0.6).relevance == pytest.approx(0.6)
    assert not judge.tag_weighted(tagged("<p>heap"), 0.6).relevant
    assert judge.tag_weighted(tagged("<p>heap"), 0.59).relevant


def test_cosine_of_a_few_words():
    judge = KeywordJudge({"heap": 3, "bubble sort": 4})
    assert judge.cosine(["heaps", "of", "sand", "now"]) == pytest.approx(3 / (5 * 2))
    assert judge.cosine(["bubble", "sorting"]) == pytest.approx(4 / (5 * 2**0.5))
    assert judge.cosine(["sort", "bubble"]) == judge.cosine([]) == 0


def test_an_acronym_that_is_a_common_word_counts_in_capitals_only():
    judge = KeywordJudge({"IT": 3, "computer": 1})
    assert judge.frequencies(page("It is what it is: a computer")) == {"computer": 1}
    assert judge.frequencies(page("IT, and IT departments; ITS", title="IT news")) == {"IT": 3}
    assert judge.tag_weighted(page("it is it", title="What is it"), 0.05).relevance == 0
    assert judge.tag_weighted(page("about it", title="IT news"), 0.05).relevant
    assert judge.cosine(["it"]) == 0  # words in lower case do not tell which is meant
    assert KeywordJudge({"DNA": 1}).frequencies(page("dna")) == {"DNA": 1}


@pytest.mark.parametrize(
    ("markup", "phrase", "word"),
    [
        ("<p>call for papers, database", 1, 1),
        ("<title>Calls for papers</title><p>call for papers, database", 5, 0.5),
        ("<p>call for papers, database, <a href=x>a call for papers</a>", 3, 0.5),
        ("<meta name=description content='A call for papers'><p>call for papers, database", 2, 0.5),
        ("<p>a call, papers for a database", 0, 1),
    ],
)
def test_phrases_count_in_every_place(markup, phrase, word):
    judge = KeywordJudge({"call for paper": 5, "database": 3})
    found = judge.tag_weighted(read_html(Page("http://example.com/"), markup.encode(), "text/html"), 0.05)
    assert found.relevance == pytest.approx((5 * phrase + 3 * word) / (34**0.5 * (phrase**2 + word**2) ** 0.5))


def test_one_mention_of_the_heaviest_keyword_is_not_enough_and_a_little_more_is():
    judge = KeywordJudge({"olive": 4, "harvest": 3, "mill": 2, "press": 1, "basket": 4, "ladder": 4})
    filler = "and we walked in the hills " * 20
    for text, relevant in (
        ("an olive", False),
        ("an olive and another olive", True),
        ("an olive and a press", True),
        ("a mill and a press", False),
        ("a harvest and a mill", True),
    ):
        assert judge.coverage(page(f"{text} {filler}"), 0.3).relevant is relevant, text


def test_more_keywords_do_not_make_a_page_less_relevant_unless_there_are_very_many():
    text = page("The olive harvest begins.")
    few, more, many = (
        KeywordJudge({"olive": 2, "harvest": 1, **{f"word{number}": 1 for number in range(count)}})
        for count in (5, 10, 100)
    )
    assert few.coverage(text, 0.3).relevance == more.coverage(text, 0.3).relevance
    assert many.coverage(text, 0.3).relevance < few.coverage(text, 0.3).relevance / 1.5


def test_common_words_say_less():
    judge = KeywordJudge({"home": 1, "olive": 1, "you": 1})
    why = judge.coverage(page("You are at home with an olive."), 0.3).why
    assert why["olive"] > why["home"] > why["you"] == 0


def test_the_parts_of_a_phrase_are_mentioned_once():
    judge = KeywordJudge({"olive oil": 2, "olive": 1, "oil": 1})
    assert judge.evidence(page("We sell olive oil.")).keys() == {"olive oil"}
    assert judge.evidence(page("We sell olive oil and olives.")).keys() == {"olive oil", "olive"}


def test_a_form_that_the_stemmer_does_not_know_is_a_keyword_with_one_more_letter():
    french = "<html lang=fr><p>Les tuyaux de la maison ont été réparés par le plombier, et il est parti.</p>"
    found = KeywordJudge({"tuyau": 1}).frequencies(read_html(Page("http://a.example/"), french.encode(), "text/html"))
    assert found == {"tuyau": 1}


def test_one_mention_is_enough_if_there_is_but_one_keyword():
    assert KeywordJudge({"olive": 1}).coverage(page("An olive, and much else."), 0.3).relevant
    assert KeywordJudge({"olive": 1, "mill": 1}).coverage(page("An olive, and much else."), 0.3).relevant
