"""A crawl over real HTTP meets everything that a server can do wrong, and takes no harm."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests import forks
from tests.conftest import ROOT, Crawled
from tests.faults import (
    FAULTS,
    MAX_SIZE,
    ROBOTS,
    SEED,
    Failed,
    Fault,
    FaultServer,
    is_forbidden,
    misbehaving,
    reachable,
    recovering,
    serving_with,
)

#: Megabytes that a fault may cost.
MEMORY = 150


class Ended(NamedTuple):
    """A crawl that has ended."""

    status: int
    log: str
    #: The most memory it used, in megabytes.
    memory: float
    crawled: Crawled
    server: FaultServer

    def stored(self) -> set[str]:
        """The URLs of pages that came well, as they were asked for and as they were found after redirects."""
        rows = self.crawled.sql("SELECT page.url, url.url FROM page JOIN url ON url.id = url_id WHERE status = 200")
        return {url for row in rows for url in row}

    def outcome(self, url: str) -> list[tuple[object, ...]]:
        """What is recorded of a URL: a status and a problem, or a reason."""
        return self.crawled.sql(
            "SELECT status, problem FROM page JOIN url ON url.id = url_id WHERE url.url = ?", self.server.at(url)
        ) + self.crawled.sql("SELECT reason FROM failure WHERE url = ?", self.server.at(url))


@contextmanager
def crawl(folder: Path, fault: Fault | None, bad: Collection[str] = ()) -> Iterator[Ended]:
    """Crawl the part of the web as a user does, with a limit to the time it may take."""
    settings = {
        "FOCUS_DIR": folder / "crawl",
        "FOCUS_BACKOFF_MAX": 0.1,
        "DOWNLOAD_TIMEOUT": 20,
        "DOWNLOAD_MAXSIZE": MAX_SIZE,
        **(fault.settings if fault else {}),
    }
    with serving_with(fault, bad) as server:
        arguments = ["crawl", "breadth_first", "-a", f"seeds={server.at(SEED)}"]
        for name, value in settings.items():
            arguments += ["-s", f"{name}={value}"]
        ended = forks.run(arguments, ROOT, dict(os.environ), timeout=120)
        assert ended is not None
        yield Ended(ended.returncode, ended.stdout + ended.stderr, ended.memory, Crawled(folder / "crawl"), server)


def assert_whole(ended: Ended) -> None:
    """Its file is whole, and nothing went wrong that nobody reckoned with."""
    assert ended.crawled.sql("PRAGMA integrity_check") == [("ok",)]
    for words in ("Traceback", "Unhandled", "never retrieved"):
        assert words not in ended.log, ended.log


def assert_sound(ended: Ended, warning: str = "") -> None:
    """It ended well and of itself, and the log warns of nothing else."""
    assert ended.status == 0, ended.log
    assert_whole(ended)
    assert "] ERROR:" not in ended.log, ended.log
    assert "] CRITICAL:" not in ended.log, ended.log
    for line in ended.log.splitlines():
        if "] WARNING:" in line:
            assert warning, line
            assert f"] WARNING: {warning}" in line
    if warning:
        assert f"] WARNING: {warning}" in ended.log


@pytest.fixture(scope="module")
def faultless(tmp_path_factory) -> Ended:
    with crawl(tmp_path_factory.mktemp("faultless"), None) as ended:
        return ended


def test_without_a_fault_every_page_is_stored(faultless):
    assert_sound(faultless)
    stored = {url for (url,) in faultless.crawled.sql("SELECT url FROM page WHERE status = 200")}
    assert stored == {faultless.server.at(url) for url in reachable()}
    assert len(reachable()) > 100
    assert len(misbehaving()) > 10


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_crawl_survives(fault, tmp_path, faultless):
    with crawl(tmp_path, fault) as ended:
        assert_sound(ended, fault.warning)
        assert ended.memory < faultless.memory + MEMORY
        well = recovering() if fault.retried else frozenset()
        bad = frozenset(misbehaving()) - well
        whole = not isinstance(fault.outcome, Failed) and fault.outcome.whole
        expected = reachable(frozenset() if whole else bad)
        assert {ended.server.at(url) for url in expected} <= ended.stored()
        waiting = {url for (url,) in ended.crawled.sql("SELECT url FROM frontier")}
        met = [url for url in bad if ended.server.asked[url]]
        assert len(met) > 3
        for url in met:
            outcome = ended.outcome(url)
            if isinstance(fault.outcome, Failed):
                assert len(outcome) == 1
                assert str(outcome[0][0]).startswith(fault.outcome.reason)
                assert (ended.server.at(url) in waiting) == fault.outcome.passing
            else:
                assert outcome == [(fault.outcome.status, fault.outcome.problem)]
                assert ended.server.at(url) not in waiting
            # Twisted asks once more by itself if a connection that was kept open breaks
            if fault.retried:
                assert ended.server.asked[url] >= 3
            elif not fault.name.startswith(("redirect", "cookie")):
                assert ended.server.asked[url] < 3
        assert waiting <= {ended.server.at(url) for url in met}
        assert not [url for url in ended.server.asked if is_forbidden(url.removeprefix("http:/"))]
        for url in well & expected:
            assert ended.outcome(url) == [(200, None)]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("silence", "DownloadTimeoutError"),
        ("reset_at_once", "ConnectionLost"),
        ("server_error", "HTTP 500"),
        ("endless_body", "too large"),
        ("endless_headers", "too large"),
        ("redirect_loop", "max redirections reached"),
        ("redirect_to_a_script", "bad redirect"),
    ],
)
def test_a_host_whose_robots_txt_cannot_be_read_is_left_alone(name, problem, tmp_path, faultless):
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    with crawl(tmp_path, fault, [ROBOTS]) as ended:
        assert_whole(ended)
        assert ended.status == 1
        assert ended.memory < faultless.memory + MEMORY
        ((reason,),) = ended.outcome(SEED)
        assert str(reason).startswith(f"robots.txt could not be read: {problem}")
        assert f"focuscrawl: no page could be read: {ended.server.at(SEED)}: {reason}" in ended.log
        assert ended.crawled.sql("SELECT url FROM frontier") == [(ended.server.at(SEED),)]
        assert set(ended.server.asked) == {ROBOTS}


@pytest.mark.parametrize("name", ["binary_called_html", "wrong_charset", "no_content"])
def test_a_robots_txt_that_says_nothing_forbids_nothing(name, tmp_path):
    (fault,) = [fault for fault in FAULTS if fault.name == name]
    with crawl(tmp_path, fault, [ROBOTS]) as ended:
        assert_sound(ended)
        assert {ended.server.at(url) for url in reachable()} <= ended.stored()
