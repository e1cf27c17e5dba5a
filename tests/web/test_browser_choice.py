"""Which pages a browser reads, and which browser."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from focuscrawl.errors import FocusError
from focuscrawl.web import browser_choice as choices
from focuscrawl.web.browser_choice import browser_choice, find_browser


def choice(value: object, **more: object):
    return browser_choice(Settings({"FOCUS_BROWSER": value, **more}))


@pytest.mark.parametrize("value", ["off", "", None, [], "Off"])
def test_by_default_there_is_none(value):
    assert not choice(value)


def test_shells_are_told_by_their_text():
    assert choice("shells").shells
    assert not choice("shells").takes("http://a.example/")


def test_always_takes_every_page():
    assert choice("always").takes("http://a.example/")


def test_hosts_take_their_subdomains_too():
    chosen = choice("a.example, b.example")
    assert chosen.takes("http://a.example/x")
    assert chosen.takes("https://www.b.example/")
    assert not chosen.takes("http://nota.example/")
    assert not chosen.takes("http://example/")
    assert not chosen.shells


@pytest.mark.parametrize("value", ["shell", "yes", "http://a.example/", "a.example/path", "shells,always"])
def test_anything_else_is_refused(value):
    with pytest.raises(FocusError, match="expected off, shells, always or host names"):
        choice(value)


def test_a_web_in_a_file_needs_no_browser():
    assert not choice("shells", FOCUS_WEB="demo")


def test_a_missing_package_is_told_with_the_remedy(monkeypatch):
    monkeypatch.setattr(choices, "find_spec", lambda _: None)
    with pytest.raises(FocusError, match=r"pip install 'focuscrawl\[browser\]'"):
        find_browser(Settings({"FOCUS_BROWSER": "shells"}))


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    monkeypatch.setattr(choices, "find_spec", lambda _: True)
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "playwright"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    return tmp_path


def program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_missing_browser_is_told_with_the_remedy(nothing_installed):
    with pytest.raises(FocusError, match="no browser found; run playwright install chromium"):
        find_browser(Settings({"FOCUS_BROWSER": "shells"}))


def test_the_one_given_comes_first_then_playwrights_then_the_path(nothing_installed):
    own = program(nothing_installed / "own" / "browser")
    on_path = program(nothing_installed / "bin" / "chromium")
    assert find_browser(Settings()) == on_path
    program(nothing_installed / "playwright" / "chromium-1200" / "chrome")
    assert find_browser(Settings()) is None
    assert find_browser(Settings({"FOCUS_BROWSER_EXECUTABLE": own})) == own
    with pytest.raises(FocusError, match="FOCUS_BROWSER_EXECUTABLE=/nowhere: there is no such program"):
        find_browser(Settings({"FOCUS_BROWSER_EXECUTABLE": "/nowhere"}))
