"""Several workers on one crawl, and what befalls them: each test is a real fault on a real server."""

from __future__ import annotations

import signal
from time import sleep

import pytest

from tests.workers import LEASE, Workers, cluster

pytestmark = pytest.mark.usefixtures("unmeasured")


def check_whole(workers: Workers, pages: int) -> None:
    """Every page of the web is stored exactly once, and nothing waits."""
    assert workers.sql("SELECT count(*), count(DISTINCT url) FROM page") == [(pages, pages)]
    assert workers.sql("SELECT count(*) FROM frontier") == [(0,)]
    assert workers.sql("SELECT count(*) FROM failure") == [(0,)]


def test_three_workers_are_as_polite_as_one(postgres, tmp_path):
    """By the log of the web server alone: no host is asked sooner than its delay, by whomever."""
    with cluster(postgres, tmp_path, hosts=40, pages=5, DOWNLOAD_DELAY=0.5) as workers:
        workers.start(3)
        assert workers.finish() == [0, 0, 0]
        check_whole(workers, 200)
        assert min(workers.gaps().values()) > 0.45
        assert len(workers.asked()) == 200
        shares = [pages for (pages,) in workers.sql("SELECT pages FROM worker ORDER BY id")]
        assert min(shares) > 20, shares


def test_the_hosts_of_a_killed_worker_go_to_the_others(postgres, tmp_path):
    with cluster(postgres, tmp_path, hosts=20, pages=8, DOWNLOAD_DELAY=0.3) as workers:
        workers.start(2)
        workers.wait_for(40)
        workers.kill(0)
        assert workers.finish() == [-signal.SIGKILL, 0]
        check_whole(workers, 160)
        assert min(workers.gaps().values()) > 0.25


def test_the_writes_of_a_zombie_are_refused(postgres, tmp_path):
    """A worker that sleeps beyond its leases and wakes up again goes on with new ones."""
    with cluster(postgres, tmp_path, hosts=20, pages=10, DOWNLOAD_DELAY=0.3) as workers:
        workers.start(2)
        workers.wait_for(40)
        workers.kill(0, signal.SIGSTOP)
        sleep(LEASE * 1.5)
        workers.kill(0, signal.SIGCONT)
        assert workers.finish() == [0, 0]
        check_whole(workers, 200)
        assert workers.sql("SELECT sum(expired) > 0 FROM worker") == [(True,)]
        assert "Traceback" not in workers.log(0)


def test_workers_wait_for_a_server_that_is_restarted(tmp_path, postgres):
    with cluster(postgres, tmp_path, hosts=20, pages=8, DOWNLOAD_DELAY=0.3) as workers:
        workers.start(2)
        workers.wait_for(40)
        postgres.stop("immediate")
        sleep(2)
        postgres.start()
        assert workers.finish() == [0, 0]
        check_whole(workers, 160)
        for number in range(2):
            assert workers.log(number).count("waiting for the server") == 1
            assert "answers again" in workers.log(number)
            assert "Traceback" not in workers.log(number)
