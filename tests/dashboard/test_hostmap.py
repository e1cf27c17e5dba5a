"""The map of hosts, and the review's sample, on crawls of any size."""

from __future__ import annotations

import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from focuscrawl.dashboard import hostmap
from focuscrawl.dashboard.ledger import Ledger
from focuscrawl.dashboard.review import Precision, borderline, precision, sample
from focuscrawl.store.browse import Fact

WHEN = "2026-11-18T00:00:00.000+00:00"


def ledger_of(hosts: int, pages: int) -> Ledger:
    """A ledger of pages on some hosts; half of them are relevant, and a few hosts have most of the pages."""
    chance = random.Random(1)
    of = chance.choices(range(hosts), [1 / (number + 1) for number in range(hosts)], k=pages)
    facts = [
        Fact(number, f"http://h{host}.example/{number}", f"http://h{of[number // 2]}.example/", 200, 0.5,
             chance.random(), number % 2, number % 2, WHEN, "en", 0, None)
        for number, host in enumerate(of, 1)
    ]  # fmt: skip
    ledger = Ledger()
    ledger._take(facts, pages)
    ledger._begun, ledger.top = True, pages
    return ledger


@pytest.mark.parametrize(("hosts", "pages"), [(1, 1), (2, 5), (30, 400), (3_000, 40_000)])
def test_hosts_are_placed_apart_and_drawn(hosts, pages):
    found = hostmap.layout(ledger_of(hosts, pages))
    assert 0 < len(found.places) <= hosts
    assert sum(place.pages for place in found.places) == pages
    core = found.places[: hostmap.CORE]
    for place, one in enumerate(core):
        for other in core[place + 1 :]:
            distance = ((one.x - other.x) ** 2 + (one.y - other.y) ** 2) ** 0.5
            assert distance > 0.9 * (one.radius + other.radius)
    drawn = ET.fromstring(hostmap.draw(found, "/c/x/pages?host="))
    names = [element.text for element in drawn.iter("text")]
    assert 0 < len(names) <= hostmap.NAMED
    assert names[0] == found.places[0].name


def test_a_name_covers_no_other_circle_where_there_is_room():
    places = [
        hostmap.Place(1, "large.example", x=500, y=300, radius=40, pages=90, relevant=9),
        hostmap.Place(2, "small.example", x=500, y=355, radius=4, pages=1, relevant=0),  # where the name would go
    ]
    labels = hostmap._labels(places, 0, 0, 1_000)
    large, small = (ET.fromstring(label).attrib for label in labels)
    assert float(large["y"]) < 300
    assert float(small["y"]) > 355


def test_an_empty_crawl_has_no_map():
    assert hostmap.draw(hostmap.layout(Ledger()), "/") == ""


def test_hosts_that_are_found_while_others_are_counted_come_next_time(monkeypatch):
    ledger = ledger_of(3, 100)
    count = np.bincount

    def counting(*values, **options):
        ledger.hosts.number(f"new{len(ledger.hosts.names)}.example")  # as the thread does that reads the crawl
        return count(*values, **options)

    monkeypatch.setattr(np, "bincount", counting)
    assert sum(pages for _, pages, _ in ledger.by_name("host", ledger.hosts)) == 100


def test_the_sample_is_random_and_stays_when_pages_are_added():
    few, more = sample(ledger_of(3, 1_000), {}), sample(ledger_of(3, 2_000), {})
    assert [page for page in more if page <= 1_000] == few
    assert abs(sum(few[:100]) / 100 - 500) < 100
    assert all(page % 2 for page in few)


def test_pages_that_were_marked_stay_in_the_sample_by_what_the_judge_said():
    ledger = ledger_of(3, 100)
    first = sample(ledger, {})
    page = first[0]
    ledger.flags[page] &= ~4 & 0xFF  # marked no: it does not match any more
    assert page not in sample(ledger, {})
    assert sample(ledger, {page: True}) == first
    ledger.flags[2] |= 4  # marked yes: it matches now
    assert sample(ledger, {page: True, 2: False}) == first


def test_the_precision_is_that_of_the_pages_marked_so_far():
    pages = [5, 3, 9, 1]
    assert precision(pages, {5: "yes", 3: "no", 1: "yes"}) == Precision(1, 1, 0)
    assert precision(pages, {5: "unsure", 3: "yes", 9: "yes"}) == Precision(2, 0, 1)
    low, high = Precision(80, 20, 0).interval()
    assert (round(low, 3), round(high, 3)) == (0.711, 0.867)
    assert Precision(0, 0, 3).interval() == (0, 1)


def test_borderline_pages_are_nearest_to_the_threshold_and_not_marked():
    ledger = ledger_of(3, 200)
    found = borderline(ledger, 0.5, {}, 10)
    distances = [abs(float(ledger.relevance[page]) - 0.5) for page in found]
    assert distances == sorted(distances)
    assert borderline(ledger, 0.5, {found[0]: "unsure"}, 9) == found[1:]


def test_the_border_follows_the_marks():
    ledger = ledger_of(3, 200)
    found = borderline(ledger, 0.5, {}, 5)
    yes, no = (borderline(ledger, 0.5, dict.fromkeys(found, verdict), 5) for verdict in ("yes", "no"))
    middle = [float(np.mean(ledger.relevance[pages])) for pages in (yes, found, no)]
    assert middle[0] < middle[1] - 0.1
    assert middle[2] > middle[1] + 0.1
