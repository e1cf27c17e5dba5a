"""What belongs where in the package."""

from __future__ import annotations

import ast
import re

from tests.conftest import ROOT

PACKAGE = ROOT / "focuscrawl"

#: Modules outside store/ that may hold SQL: `Crawled.sql` is for tests, web files are another format.
SQL_ELSEWHERE = {"testing.py", "web/webs.py"}
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|REPLACE|DROP|ALTER|PRAGMA)\s")


def is_sql(node: ast.AST) -> bool:
    """Whether a part of a module runs SQL or holds some."""
    if isinstance(node, ast.Attribute):
        return node.attr in ("execute", "executemany", "executescript")
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
