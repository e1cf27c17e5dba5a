"""Which pages a browser reads, and which browser that is: the settings, checked before a crawl starts."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from focuscrawl import urls
from focuscrawl.errors import FocusError, suggest

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

OFF, SHELLS, ALWAYS = "off", "shells", "always"
#: Names of browsers on the PATH that speak the protocol.
_ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_INSTALL = "playwright install chromium, or install Debian's package chromium"


class Choice(NamedTuple):
    """The pages that a browser reads: shells, all pages, or those of some hosts and their subdomains."""

    shells: bool = False
    always: bool = False
    hosts: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return self.shells or self.always or bool(self.hosts)

    def takes(self, url: str) -> bool:
        """Whether every page at such a URL is for the browser."""
        if self.always or not self.hosts:
            return self.always
        host = urls.host(url)
        while host:
            if host in self.hosts:
                return True
            host = host.partition(".")[2]
        return False


def browser_choice(settings: BaseSettings) -> Choice:
    """The value of FOCUS_BROWSER. A web in a file has no network, so no browser either."""
    given = [word.strip().lower() for word in settings.getlist("FOCUS_BROWSER") if word.strip()]
    if settings.get("FOCUS_WEB") or given in ([], [OFF]):
        return Choice()
    if given == [SHELLS] or given == [ALWAYS]:
        return Choice(shells=given == [SHELLS], always=given == [ALWAYS])
    for word in given:
        if urls.host(f"http://{word}/") != word or not ("." in word or ":" in word or word == "localhost"):
            hint = suggest(word, (OFF, SHELLS, ALWAYS), "{}", cutoff=0.6)
            raise FocusError(
                f"setting FOCUS_BROWSER={settings.get('FOCUS_BROWSER')}: expected off, shells, always or host names"
                + (f"; {hint}" if hint else "")
            )
    return Choice(hosts=frozenset(given))


def find_browser(settings: BaseSettings) -> str | None:
    """The browser to start; None for playwright's own. Raises FocusError with the remedy if there is none."""
    if find_spec("playwright") is None:
        raise FocusError(
            f"setting FOCUS_BROWSER={settings.get('FOCUS_BROWSER')} needs a package: pip install 'focuscrawl[browser]'"
        )
    given = settings.get("FOCUS_BROWSER_EXECUTABLE")
    if given:
        if found := shutil.which(str(given)):
            return found
        raise FocusError(f"setting FOCUS_BROWSER_EXECUTABLE={given}: there is no such program")
    if any(_of_playwright().glob("chromium*-*")):
        return None
    for name in _ON_PATH:
        if found := shutil.which(name):
            return found
    raise FocusError(
        f"setting FOCUS_BROWSER={settings.get('FOCUS_BROWSER')}: no browser found; run {_INSTALL}, or name one with"
        " -s FOCUS_BROWSER_EXECUTABLE=…"
    )


def _of_playwright() -> Path:
    """Where playwright keeps the browsers that it installs."""
    if given := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        return Path(given)
    caches = {"darwin": "Library/Caches", "win32": "AppData/Local"}
    return Path.home() / caches.get(sys.platform, ".cache") / "ms-playwright"
