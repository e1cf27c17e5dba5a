"""What the pages of a host have in common says nothing about one of them."""

from __future__ import annotations

import pytest

from focuscrawl.crawl.repeated import PAGES, Repeated
from focuscrawl.judge import KeywordJudge
from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from tests.conftest import at

BRAND = "<div>Olive oil since 1957</div>"


def page(number: int, text: str, title: str = "", host: str = "a") -> Page:
    made = Page(f"http://{host}.example/{number}")
    html = f"<title>{title or f'Page {number}'} – The olive press</title>{BRAND}<h1>{title}</h1><p>{text}</p>"
    return read_html(made, html.encode(), "text/html; charset=utf-8")


def crawled(repeated: Repeated, *pages: Page) -> list[Page]:
    for number, one in enumerate(pages, 1):
        repeated.mark(one)
        one.number = number
        repeated.add(one)
    return list(pages)


def texts(one: Page) -> list[str]:
    return [one.cut(one.blocks[index]) for index in one.repeated_blocks]


def test_blocks_and_the_name_of_the_site_are_told_from_the_second_page_on():
    first, second, third = crawled(Repeated(page), *(page(number, f"text {number}") for number in (1, 2, 3)))
    assert (texts(first), first.repeated_title) == ([], "")
    for one in (second, third):
        assert (texts(one), one.repeated_title) == (["Olive oil since 1957"], "The olive press")


def test_hosts_have_nothing_in_common():
    _, other = crawled(Repeated(page), page(1, "x"), page(2, "x", host="b"))
    assert (texts(other), other.repeated_title) == ([], "")


def test_a_text_on_fewer_than_half_of_the_pages_is_their_own():
    pages = crawled(
        Repeated(page), *(page(number, "Homework" if number in (1, 2, 6) else f"{number}") for number in range(1, 7))
    )
    assert "Homework" in texts(pages[1])  # one page is too few to tell
    assert "Homework" not in texts(pages[5])


def test_the_heading_of_a_page_is_its_own_even_if_others_link_to_it():
    first = page(1, "x")
    read_html(
        first, f"<title>Home – The olive press</title>{BRAND}<ul><li><a href=2>Pruning</a></ul>".encode(), "text/html"
    )
    _, pruning = crawled(Repeated(page), first, page(2, "x", "Pruning"))
    assert texts(pruning) == ["Olive oil since 1957"]


def test_what_repeats_is_no_evidence_and_the_name_of_the_site_little():
    judge = KeywordJudge({"olive oil": 1})
    first, second, third = crawled(
        Repeated(page), page(1, "Call us."), page(2, "Call us now."), page(3, "We press olive oil. Olive oil is good.")
    )
    assert judge.evidence(first) == {"olive oil": pytest.approx(2 / 3)}
    assert judge.evidence(second) == {}
    assert judge.evidence(third) == {"olive oil": pytest.approx(2 / 2.5)}
    (worth,) = KeywordJudge({"olive": 1}).evidence(second).values()
    assert worth == pytest.approx(0.25 / 0.75)


def test_a_resumed_crawl_judges_as_if_it_had_never_stopped():
    pages = [page(number, f"text {number}") for number in range(1, 2 * PAGES)]
    read: list[int] = []

    def again(number: int) -> Page:
        read.append(number)
        return page(number, f"text {number}")

    crawled(Repeated(again), *pages)
    assert read == []
    for stopped in (0, 1, 2, 5, PAGES, PAGES + 3):
        resumed = Repeated(again, [(one.number, one.url) for one in pages[:stopped]])
        for one in pages[stopped:]:
            new = page(one.number, f"text {one.number}")
            resumed.mark(new)
            assert (new.repeated_blocks, new.repeated_title) == (one.repeated_blocks, one.repeated_title)
            new.number = one.number
            resumed.add(new)
    assert len(read) == 0 + 1 + 2 + 5 + 2 * PAGES


def test_a_page_that_is_judged_again_is_not_compared_with_itself():
    repeated = Repeated(page)
    (alone,) = crawled(repeated, page(1, "x"))
    again = page(1, "x")
    again.number = alone.number
    repeated.mark(again)
    assert texts(again) == []


def test_hosts_that_were_met_long_ago_are_forgotten():
    repeated = Repeated(page, hosts=3)
    for number in range(10):
        one = page(1, "x", host=f"h{number}")
        one.number = number + 1
        repeated.add(one)
    assert list(repeated._hosts) == ["h7.example", "h8.example", "h9.example"]


def test_a_crawl_leaves_out_what_repeats(crawl):
    from focuscrawl.web.webs import MemoryWeb

    web = MemoryWeb()
    links = "".join(f"<a href=/{name}>{name}</a> " for name in "abc")
    text = "<p>We grow trees on the hills and sell what they bear to all who come by, and we like it.</p>"
    for name in ("", "a", "b", "c"):
        more = "<p>The olive harvest: olives, and more olives.</p>" if name == "b" else ""
        web.add(
            f"{at('shop')}{name}",
            f"<title>{name or 'home'} | Shop</title><p>The olive people</p>{text}{more}<p>{links}",
        )
    found = crawl("best_first", web, seeds=at("shop"), keywords="olive")
    assert found.matched == [at("shop"), f"{at('shop')}b"]  # the first page of a host is not compared
