"""How a spider of ours introduces itself to hosts: who it is, and how long it waits between requests."""

from __future__ import annotations

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from focuscrawl.web import replay


def introduce(settings: BaseSettings) -> None:
    """Put the contact into the User-Agent; drop the delay for webs in files and servers on the user's own machine."""
    contact = settings.get("FOCUS_CONTACT")
    if contact and (settings.getpriority("USER_AGENT") or 0) <= SETTINGS_PRIORITIES["project"]:
        settings.set("USER_AGENT", f"{settings['USER_AGENT']} (+{contact})", priority="spider")
    polite = (settings.getpriority("DOWNLOAD_DELAY") or 0) <= SETTINGS_PRIORITIES["project"]
    together = settings.getint("CONCURRENT_REQUESTS") or 100
    if settings.get("FOCUS_WEB"):
        replay.answer_from_web(settings)
        if polite:  # a web in a file needs no politeness delay
            settings.set("DOWNLOAD_DELAY", 0, priority="spider")
            settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", together, priority="spider")
    elif polite:  # nor does a server on the user's own machine
        free = {"delay": 0, "concurrency": together}
        slots = dict.fromkeys(("127.0.0.1", "localhost", "::1"), free)
        settings.set("DOWNLOAD_SLOTS", slots | settings.getdict("DOWNLOAD_SLOTS"), priority="spider")
