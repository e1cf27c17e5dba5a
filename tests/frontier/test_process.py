"""Settings of the process: nobody's own choice is overridden."""

import gc
import logging

import pytest

from focuscrawl.frontier.process import OBJECTS, tune
from focuscrawl.testing import at, small_web

NAMES = ("scrapy.core.engine", "scrapy.core.scraper")


@pytest.fixture(autouse=True)
def as_before():
    thresholds = gc.get_threshold()
    levels = {name: logging.getLogger(name).level for name in ("scrapy", *NAMES)}
    for name in NAMES:
        logging.getLogger(name).setLevel(logging.NOTSET)
    yield
    gc.set_threshold(*thresholds)
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.mark.parametrize(("given", "level"), [("INFO", logging.INFO), ("ERROR", logging.WARNING), (10, logging.DEBUG)])
def test_what_nobody_sees_is_not_logged(given, level):
    logging.getLogger("scrapy").setLevel(logging.DEBUG)
    tune(given)
    assert {logging.getLogger(name).getEffectiveLevel() for name in NAMES} == {level}


def test_a_higher_level_that_somebody_has_set_stays():
    logging.getLogger("scrapy").setLevel(logging.CRITICAL)
    tune("INFO")
    assert {logging.getLogger(name).getEffectiveLevel() for name in NAMES} == {logging.CRITICAL}


def test_the_next_crawl_of_the_process_may_log_more(crawl):
    logging.getLogger("scrapy").setLevel(logging.DEBUG)
    crawl("breadth_first", small_web({"a": []}), settings={"LOG_LEVEL": "ERROR"}, seeds=at("a"))
    assert {logging.getLogger(name).getEffectiveLevel() for name in NAMES} == {logging.DEBUG}


@pytest.mark.parametrize(("before", "after"), [(700, OBJECTS), (50_000, 50_000), (0, 0)])
def test_cycles_are_looked_for_less_often_unless_somebody_has_decided(before, after):
    gc.set_threshold(before, 10, 10)
    tune("INFO")
    assert gc.get_threshold() == (after, 10, 10)
