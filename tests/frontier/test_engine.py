"""The private names of Scrapy and Twisted that the engine's seam relies on: one that is renamed is named here first."""

from __future__ import annotations

import ast
import inspect

import pytest
from scrapy.core import engine as scrapy_engine
from scrapy.core.downloader import Downloader, Slot
from scrapy.core.downloader.handlers import http11
from scrapy.utils import defer
from twisted.internet.endpoints import HostnameEndpoint, wrapClientTLS
from twisted.web import _newclient, client
from twisted.web.client import HTTPConnectionPool

from focuscrawl.frontier import engine


def source(of: object) -> str:
    return inspect.getsource(of)


#: What is relied on, where it is, and the version it was last seen in.
PRIVATE = [
    ("engine._slot", scrapy_engine.ExecutionEngine, "self._slot:", "Scrapy 2.19"),
    ("engine._slot.closing", scrapy_engine._Slot, "self.closing:", "Scrapy 2.19"),
    ("engine._slot.inprogress", scrapy_engine._Slot, "self.inprogress:", "Scrapy 2.19"),
    ("engine._slot.nextcall", scrapy_engine._Slot, "self.nextcall:", "Scrapy 2.19"),
    ("downloader._delay", Downloader, "self._delay:", "Scrapy 2.19"),
    ("downloader._jitter", Downloader, "self._jitter:", "Scrapy 2.19"),
    ("downloader.total_concurrency", Downloader, "self.total_concurrency:", "Scrapy 2.19"),
    ("downloader.domain_concurrency", Downloader, "self.domain_concurrency:", "Scrapy 2.19"),
    ("downloader.per_slot_settings", Downloader, "self.per_slot_settings:", "Scrapy 2.19"),
    ("downloader.slots", Downloader, "self.slots:", "Scrapy 2.19"),
    ("Slot.delay", Slot, "self.delay", "Scrapy 2.19"),
    ("Slot.jitter", Slot, "self.jitter", "Scrapy 2.19"),
    ("Slot.concurrency", Slot, "self.concurrency", "Scrapy 2.19"),
    ("HTTP11DownloadHandler._pool", http11.HTTP11DownloadHandler, "self._pool", "Scrapy 2.19"),
    ("HTTPConnectionPool._reactor", HTTPConnectionPool, "self._reactor", "Twisted 26.10"),
    ("HTTPConnectionPool._factory", HTTPConnectionPool, "_factory", "Twisted 26.10"),
    ("HTTPConnectionPool._connections", HTTPConnectionPool, "self._connections", "Twisted 26.10"),
    ("HTTPConnectionPool._timeouts", HTTPConnectionPool, "self._timeouts", "Twisted 26.10"),
    ("HTTP11ClientFactory._quiescentCallback", client._HTTP11ClientFactory, "self._quiescentCallback", "Twisted 26.10"),
    ("HostnameEndpoint._reactor", HostnameEndpoint, "self._reactor", "Twisted 26.10"),
    ("wrapClientTLS(…)._wrappedEndpoint", wrapClientTLS, "_WrapperEndpoint(", "Twisted 26.10"),
    ("HTTP11ClientProtocol._parser", _newclient.HTTP11ClientProtocol, "self._parser", "Twisted 26.10"),
    ("Request._parsedURI", _newclient.Request, "self._parsedURI", "Twisted 26.10"),
]

#: What is imported or overridden by name.
NAMES = [
    (defer, "_schedule_coro", "Scrapy 2.19"),
    (http11, "_LenientHTTP11ClientFactory", "Scrapy 2.19"),
    (http11, "_LenientHTTP11ClientProtocol", "Scrapy 2.19"),
    (http11, "_LenientHTTPClientParser", "Scrapy 2.19"),
    (http11, "_TunnelingTCP4ClientEndpoint", "Scrapy 2.19"),
    (_newclient, "HEADER", "Twisted 26.10"),
    (_newclient, "STATUS", "Twisted 26.10"),
    (_newclient, "ParseError", "Twisted 26.10"),
    (HTTPConnectionPool, "_newConnection", "Twisted 26.10"),
    (HTTPConnectionPool, "_putConnection", "Twisted 26.10"),
    (HTTPConnectionPool, "_removeConnection", "Twisted 26.10"),
    (http11._LenientHTTP11ClientFactory, "buildProtocol", "Twisted 26.10"),
]


@pytest.mark.parametrize(("name", "owner", "text", "seen"), PRIVATE, ids=[row[0] for row in PRIVATE])
def test_a_private_attribute_is_still_there(name, owner, text, seen):
    assert text in source(owner), f"{name} was last seen in {seen}: see focuscrawl/frontier/engine.py"


@pytest.mark.parametrize(("owner", "name", "seen"), NAMES, ids=[row[1] for row in NAMES])
def test_a_private_name_is_still_there(owner, name, seen):
    assert hasattr(owner, name), f"{name} was last seen in {seen}: see focuscrawl/frontier/engine.py"


def test_the_list_is_complete():
    tree = ast.parse(source(engine))
    imported = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("scrapy", "twisted"))
        for alias in node.names
        if alias.name.startswith("_") or "._" in (node.module or "")
    }
    ours = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    ours |= {
        ast.unparse(node.target).removeprefix("self.") for node in ast.walk(tree) if isinstance(node, ast.AnnAssign)
    }
    ours |= {
        ast.unparse(target).removeprefix("self.")
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
    }
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
    }
    listed = {name for _, name, _ in NAMES} | {row[0].rpartition(".")[2] for row in PRIVATE}
    assert imported - {"Request"} <= listed
    assert used - ours <= listed
