"""The event loop: our spiders run in any; where Scrapy makes it, it is uvloop's."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

BEGIN = """
import asyncio
from scrapy.crawler import AsyncCrawlerProcess, AsyncCrawlerRunner
from scrapy.utils.defer import deferred_f_from_coro_f
from scrapy.utils.project import get_project_settings
from scrapy.utils.reactor import install_reactor

settings = get_project_settings()
settings.update({"FOCUS_WEB": "demo", "FOCUS_DIR": DIR, "LOG_LEVEL": "WARNING"})
spider = {"crawler_or_spidercls": "breadth_first", "seeds": "http://crossroads.example/", "max_pages": "2"}
ASYNCIO = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
"""
PROCESS = """
process = AsyncCrawlerProcess(settings)
process.crawl(**spider)
process.start()
"""
PROCESS_AFTER_ITS_REACTOR = f"install_reactor(ASYNCIO)\n{PROCESS}"
RUNNER_IN_A_REACTOR = """
install_reactor(ASYNCIO)
from twisted.internet.task import react
react(deferred_f_from_coro_f(lambda _: AsyncCrawlerRunner(settings).crawl(**spider)))
"""
RUNNER_IN_A_RUNNING_LOOP = """
async def main():
    from twisted.internet import asyncioreactor
    asyncioreactor.install(asyncio.get_running_loop())
    from twisted.internet import reactor
    reactor.startRunning(installSignalHandlers=False)
    await AsyncCrawlerRunner(settings).crawl(**spider)

asyncio.run(main())
"""
END = """
import atexit
from twisted.internet import reactor
atexit.register(lambda: print(type(reactor._asyncioEventloop).__module__))
"""


def run(program: str, tmp_path) -> subprocess.CompletedProcess[str]:
    text = f"DIR = {str(tmp_path / 'c')!r}\n{BEGIN}{program}"
    return subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    "program",
    [PROCESS_AFTER_ITS_REACTOR, RUNNER_IN_A_REACTOR, RUNNER_IN_A_RUNNING_LOOP],
    ids=["process, reactor installed", "runner in a reactor", "runner in a running loop"],
)
def test_our_spiders_run_in_any_loop(tmp_path, program):
    result = run(program, tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert len((tmp_path / "c" / "URLs.txt").read_text().splitlines()) == 2


def test_where_scrapy_makes_the_loop_it_is_uvloops(tmp_path):
    pytest.importorskip("uvloop")
    result = run(PROCESS + END, tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (0, "uvloop\n", "")
