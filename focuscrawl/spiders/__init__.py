"""The strategies, one file each."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from focuscrawl.settings import SPIDER_MODULES

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings, Settings


def with_our_spiders(settings: BaseSettings) -> Settings:
    """A copy of a project's settings that also finds focuscrawl's spiders, after the project's own."""
    copy = cast("Settings", settings.copy())
    copy.frozen = False
    modules = dict.fromkeys([*settings.getlist("SPIDER_MODULES"), *SPIDER_MODULES])
    copy.set("SPIDER_MODULES", list(modules), priority="cmdline")
    return copy
