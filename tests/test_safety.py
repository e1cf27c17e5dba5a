"""What no page, file or stranger on the network can make the crawl do."""

from __future__ import annotations

import ast
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from scrapy.crawler import Crawler
from scrapy.utils.project import get_project_settings

from focuscrawl.spiders.breadth_first import BreadthFirstSpider
from focuscrawl.web.webs import Answer, MemoryWeb
from tests.conftest import ROOT, Crawled, at, scrapy

SOURCES = sorted((ROOT / "focuscrawl").rglob("*.py"))
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
READS_CODE = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "yaml"}
#: What SQL is put together from besides constants: names of columns, and conditions that are written out beside it.
SQL_PARTS = {"', '.join(FIELDS)", "conditions", "fields"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_nothing_from_outside_is_run_as_code(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in RUNS_CODE, node.lineno
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {name.partition(".")[0] for name in names} & READS_CODE, node.lineno


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_values_reach_sql_as_parameters_only(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or not called.attr.startswith("execute") or not node.args:
            continue
        for part in ast.walk(node.args[0]):
            if isinstance(part, ast.FormattedValue):
                name = ast.unparse(part.value)
                is_constant = isinstance(part.value, ast.Name) and name.isupper()
                assert is_constant or name in SQL_PARTS, f"{path}:{node.lineno}"
            assert not isinstance(part, ast.BinOp), f"{path}:{node.lineno}"


def test_nobody_can_control_the_crawl_from_outside():
    settings = get_project_settings()
    assert not settings.getbool("REMOTE_CONTROL_ENABLED")
    assert not settings.getbool("TELNETCONSOLE_ENABLED")


def test_by_default_a_host_gets_one_request_at_a_time_and_one_a_second():
    crawler = Crawler(BreadthFirstSpider, get_project_settings())
    assert crawler.settings.getfloat("DOWNLOAD_DELAY") == 1
    assert crawler.settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN") == 1
    assert set(crawler.settings.getdict("DOWNLOAD_SLOTS")) == {"127.0.0.1", "localhost", "::1"}


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_files_are_written_inside_the_crawls_directory_only(tmp_path):
    web = MemoryWeb()
    bad = [
        "../../../../escaped",
        "%2e%2e/%2e%2e/escaped",
        "..%5C..%5Cescaped",
        "/etc/passwd",
        "file:///etc/passwd",
        "C:\\x",
    ]
    links = "".join(f'<a href="{target}">../../{target}</a>' for target in bad)
    web.answers[at("a")] = Answer(
        200, "text/html", f"<title>../../../title</title><p>sort{links}".encode(),
        headers=(("Content-Disposition", 'attachment; filename="../../../escaped"'),),
    )  # fmt: skip
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine.txt").write_text("mine")
    web.save(tmp_path / "web.sqlite")
    before = everything_in(tmp_path)
    topic = "name = '../../../outside/escape'\nkeywords = {sort = 1}\n" + f"seeds = ['{at('a')}']\n"
    (tmp_path / "outside" / "topic.toml").write_text(topic)
    result = scrapy(
        "crawl", "best_first", "-a", f"topic={tmp_path / 'outside' / 'topic.toml'}",
        "-s", f"FOCUS_WEB={tmp_path / 'web.sqlite'}", "-s", f"FOCUS_DIR={tmp_path / 'in' / 'here'}",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    after = everything_in(tmp_path)
    new = {path for path in after if path not in before} - {str(tmp_path / "outside" / "topic.toml")}
    assert new
    assert all(path.startswith(str(tmp_path / "in" / "here")) for path in new)
    assert all(after[path] == content for path, content in before.items())


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/meta-data/", "http://10.1.2.3/", "http://0.0.0.0:1/"]
)
def test_neither_a_link_nor_a_redirect_leads_into_the_private_network(tmp_path, target):
    class Aiming(BaseHTTPRequestHandler):
        def do_GET(self):
            moved = self.path == "/moved"
            self.send_response(302 if moved else 200 if self.path == "/" else 404)
            if moved:
                self.send_header("Location", f"{target}redirected")
            self.end_headers()
            self.wfile.write(f'<a href="{target}direct">x</a><a href="/moved">y</a>'.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Aiming) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        result = scrapy(
            "crawl", "breadth_first", "-a", f"seeds=http://127.0.0.1:{server.server_port}/",
            "-s", f"FOCUS_DIR={tmp_path}", http_proxy="", HTTP_PROXY="",
        )  # fmt: skip
        server.shutdown()
    assert result.returncode == 0, result.stderr
    crawled = Crawled(tmp_path)
    reasons = crawled.sql("SELECT reason FROM failure")
    assert len(reasons) == 2
    assert all(reason.startswith("private address: ") for (reason,) in reasons)
    assert len(crawled.urls) == 1
