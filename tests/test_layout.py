"""What belongs where in the package."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.conftest import ROOT

PACKAGE = ROOT / "focuscrawl"

#: Modules outside store/ that may hold SQL: `Crawled.sql` is for tests, web files are another format.
SQL_ELSEWHERE = {"testing.py", "web/webs.py"}
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|REPLACE|DROP|ALTER|PRAGMA)\s")


def is_sql(node: ast.AST) -> bool:
    """Whether a part of a module runs SQL or holds some."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("executemany", "executescript") or ast.unparse(node).endswith(
            ("store.execute", "connection.execute")
        )
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(STATEMENT.match(node.value))


def test_sql_is_in_the_store_only():
    found = {
        f"{name}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if not (name := path.relative_to(PACKAGE).as_posix()).startswith("store/") and name not in SQL_ELSEWHERE
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if is_sql(node)
    }
    assert found == set()


def imports(path: Path) -> set[str]:
    """The modules that a module imports, at run time or for its types."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def test_frontier_and_components_meet_in_the_crawl_only():
    components = ("focuscrawl.middlewares", "focuscrawl.pipelines")
    found = {
        f"{path.relative_to(PACKAGE)}: {module}"
        for room, others in (
            ("frontier", components),
            ("middlewares", "focuscrawl.frontier"),
            ("pipelines", "focuscrawl.frontier"),
        )
        for path in (PACKAGE / room).glob("*.py")
        for module in imports(path)
        if module.startswith(others)
    }
    assert found == set()


def test_private_names_of_scrapy_and_twisted_are_in_the_seam_only():
    found = {
        f"{path.relative_to(PACKAGE)}: {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path != PACKAGE / "frontier" / "engine.py"
        for name in (*imports(path), *foreign_attributes(path))
        if name.startswith(("scrapy.", "twisted.", "engine.", "downloader.", "slot.")) and "._" in name
    }
    assert found == set()


def foreign_attributes(path: Path) -> set[str]:
    """Attributes of Scrapy's engine, downloader and their slots, by the names that these have everywhere."""
    return {
        f"{owner}.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Attribute)
        and (owner := ast.unparse(node.value).rpartition(".")[2]) in ("engine", "downloader", "slot", "_slot")
    }


#: Modules that may read the machine's clock: the clock itself, the CPU and wall time that crawls of the lab cost, the
#: clock of Twisted's reactor, and a command that does not crawl.
CLOCKS = {"crawl/clock.py", "lab/crawls.py", "frontier/engine.py", "seeding/searxng.py"}
READS = {
    *(f"time.{name}{ns}" for name in ("time", "monotonic", "perf_counter", "process_time") for ns in ("", "_ns")),
    *("time.localtime", "time.gmtime", "datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
}


def clock_readings(path: Path) -> set[str]:
    """What a module reads the time with, whether it calls it or hands it on."""
    tree = ast.parse(path.read_text("utf-8"))
    attributes = (ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    names = {".".join(name.split(".")[-2:]) for name in attributes}
    return (names | imports(path)) & READS


def test_the_time_is_read_from_the_clock_only():
    found = {
        f"{name}: {reading}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if (name := path.relative_to(PACKAGE).as_posix()) not in CLOCKS
        for reading in clock_readings(path)
    }
    assert found == set()
    assert all(clock_readings(PACKAGE / name) for name in CLOCKS)


def test_no_module_is_longer_than_500_lines():
    long = {
        str(path.relative_to(PACKAGE))
        for path in PACKAGE.rglob("*.py")
        if len(path.read_text("utf-8").splitlines()) > 500
    }
    assert long == set()
