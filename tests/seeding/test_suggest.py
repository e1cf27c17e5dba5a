"""Words and phrases that tell relevant pages from others."""

from __future__ import annotations

from math import log

import pytest

from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.seeding.suggest import Change, Forms, Pages, likelihood_ratio, phrases, suggest


def page(text: str, title: str = "") -> Page:
    return read_html(Page(f"http://a.example/{abs(hash(text))}"), f"<title>{title}</title><p>{text}".encode())


FILLER = "It was a cold day in the old town and nobody spoke of anything new"
# six have each, but not the same six
ABOUT = [
    page(
        " ".join(
            (
                f"{FILLER} {number}.",
                "A merge sort, then another merge sort." if number < 6 else "",
                "Arrays, an array, two arrays." if number > 1 else "",
                "It is stable. They were stable." if number % 4 else "",
            )
        )
    )
    for number in range(8)
]
OTHERS = [page(f"{FILLER} {number}. The garden has roses, and they want water.") for number in range(12)]


def suggested(keywords=None, **options):
    settings = {"threshold": 0.3, "limit": 10} | options
    return {one.term: one for one in suggest(ABOUT, OTHERS, keywords or {}, **settings)}


def test_words_and_phrases_of_relevant_pages_only_are_suggested():
    found = suggested()
    assert {"arrays", "merge sort", "stable"} <= found.keys()
    assert not {"garden", "roses", "day", "town", "the", "8"} & found.keys()
    one = found["merge sort"]
    assert (one.relevant, one.others, one.source) == (6, 0, "phrase")


def test_terms_are_shown_in_their_commonest_form():
    assert "arrays" in suggested(), "and not its stem, arrai"
    forms = Forms([page("merge sorts, a merge sort, to merge sort, merged")])
    assert forms.of(("merg",)) == "merge"
    assert forms.of(("merg", "sort")) == "merge sort"


def test_keywords_are_not_suggested_in_any_form():
    assert not {"arrays", "array", "merge sort"} & suggested({"array": 1, "merge sorting": 1}).keys()


def test_of_terms_on_the_same_pages_only_the_best_is_kept():
    found = suggested(limit=50)
    assert "merge" not in found
    assert "merge sort" in found


def test_a_phrase_does_not_span_two_sentences_or_blocks():
    pages = [page(f"They merge. Sort then {number}, heap (queue) <p>tree") for number in range(5)]
    assert phrases(pages) == []
    assert ("heap", "sort") in phrases([page(f"a heap sort {number}") for number in range(5)])


def test_common_words_may_be_inside_a_phrase_but_not_at_its_end():
    found = phrases([page(f"the point of sale of {number}") for number in range(5)])
    assert ("point", "of", "sale") in found
    assert not any({"the", "of"} & {stems[0], stems[-1]} for stems in found)


def test_the_ratio_is_dunnings():
    table, total = (6, 2, 4, 28), 40
    expected = (10 * 8 / total, 30 * 8 / total, 10 * 32 / total, 30 * 32 / total)
    wanted = 2 * sum(seen * log(seen / by_chance) for seen, by_chance in zip(table, expected, strict=True))
    assert likelihood_ratio(6, 2, 10, 30) == pytest.approx(wanted)
    assert likelihood_ratio(2, 24, 10, 30) < 0, "it is on more of the others"
    assert likelihood_ratio(0, 0, 10, 30) == likelihood_ratio(10, 30, 10, 30) == likelihood_ratio(5, 0, 10, 0) == 0


def test_what_a_term_would_win_and_lose_is_what_the_judge_says():
    keywords = {"stable": 2.0, "rose": 2.0, "roses": 1.0}
    one = suggested(keywords, threshold=0.5)["merge sort"]
    assert one.weight == 2
    before, after = (
        [KeywordJudge(words).coverage(page, 0.5).relevant for page in (*ABOUT, *OTHERS)]
        for words in (keywords, {**keywords, one.term: one.weight})
    )
    won = [now and not then for then, now in zip(before, after, strict=True)]
    lost = [then and not now for then, now in zip(before, after, strict=True)]
    assert one.change == Change(sum(won[:8]), sum(won[8:]), sum(lost[:8]), sum(lost[8:]))
    assert any(one.change)


def test_the_relevance_by_the_table_is_that_of_the_judge():
    keywords = {"sort": 3.0, "sorting": 1.0, "merge sort": 2.0, "water": 1.0}
    relevance = Pages(ABOUT, OTHERS, keywords).relevance(keywords)
    judge = KeywordJudge(keywords)
    assert list(relevance) == pytest.approx([judge.coverage(page, 0.3).relevance for page in (*ABOUT, *OTHERS)])


def test_related_terms_need_less_evidence_and_none_if_there_are_no_pages():
    few = [page("a tale of sheep and wool"), page("a tale of sheep"), page("a tale"), page("a story")]
    others = [page(f"a story {number}") for number in range(6)]
    assert not suggest(few, others, {}, threshold=0.3, limit=9)
    (one,) = suggest(few, others, {}, threshold=0.3, limit=9, related={"sheep": "narrower than animal", "goat": "x"})
    assert (one.term, one.source) == ("sheep", "narrower than animal")
    alone = suggest([], [], {"animal": 3.0}, threshold=0.3, limit=9, related={"sheep": "narrower than animal"})
    assert [(one.term, one.weight) for one in alone] == [("sheep", 3)]


def test_a_single_relevant_page_is_better_than_none():
    found = suggest(ABOUT[:1], OTHERS, {}, threshold=0.3, limit=3)
    assert found == [], "one page proves nothing"
    assert suggest(ABOUT[:3], OTHERS, {}, threshold=0.3, limit=3)
