"""Checks of settings: a misspelt name or an invalid value stops a crawl before it starts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import inf
from typing import Any

from scrapy.settings import BaseSettings, default_settings

from focuscrawl import settings as project
from focuscrawl.errors import FocusError, suggest
from focuscrawl.manners.pace import Pace

#: FOCUS_ settings that have an upper bound.
_AT_MOST = {"FOCUS_DUPLICATES": 1.0, "FOCUS_PATIENCE": 1.0}
#: Scrapy settings that accept any number although their defaults are integers, and those that are log levels.
_SECONDS = {"DOWNLOAD_DELAY", "DOWNLOAD_TIMEOUT", "DNS_TIMEOUT"}
_LEVELS = {"LOG_LEVEL", "RETRY_GIVE_UP_LOG_LEVEL", "DEFAULT_DROPITEM_LOG_LEVEL"}


def check_settings(settings: BaseSettings) -> None:
    """Reject misspelt FOCUS_ settings, which would have no effect, and invalid values."""
    for name in settings:
        if name.startswith("FOCUS_") and not hasattr(project, name):
            # compared without the prefix, which would make all of them similar
            known = [setting.removeprefix("FOCUS_") for setting in dir(project) if setting.startswith("FOCUS_")]
            hint = suggest(name.removeprefix("FOCUS_"), known, "FOCUS_{}", cutoff=0.7) or "see docs/settings.md"
            raise FocusError(f"unknown setting {name}; {hint}")
    check_values(settings)


def check_values(settings: BaseSettings) -> None:
    """Reject values that do not fit the type of the setting's default; Scrapy would raise a traceback."""
    for name in settings:
        kinds = {type(vars(module).get(name)) for module in (default_settings, project)}
        if bool in kinds:
            yes_or_no(settings, name)
        elif name.startswith("FOCUS_") and kinds & {int, float}:
            number(settings, name)
        elif float in kinds or name in _SECONDS:
            _check_value(settings, name, BaseSettings.getfloat, "a number")
        elif int in kinds:
            _check_value(settings, name, BaseSettings.getint, "a whole number")
        elif name in _LEVELS:
            _check_value(settings, name, _level, "DEBUG, INFO, WARNING, ERROR or CRITICAL")
    if settings.get("FOCUS_PROGRESS") != "auto":
        yes_or_no(settings, "FOCUS_PROGRESS")
    keeps_warc(settings)


def number(settings: BaseSettings, name: str) -> Any:
    """The value of a numeric FOCUS_ setting: of the type of its default, and not negative."""
    kind, at_most = type(getattr(project, name)), _AT_MOST.get(name, inf)
    try:
        value = kind(settings.get(name))
    except (TypeError, ValueError, OverflowError):
        value = kind(-1)
    if not (0 <= value <= at_most and value < inf):
        what = "a whole number" if kind is int else "a number"
        bound = "at least 0" if at_most == inf else f"0 to {at_most:g}"
        raise FocusError(f"setting {name}={settings.get(name)}: expected {what}, {bound}")
    return value


def yes_or_no(settings: BaseSettings, name: str) -> bool:
    """The value of a setting that is True or False."""
    try:
        return settings.getbool(name)
    except (TypeError, ValueError):
        raise FocusError(f"setting {name}={settings.get(name)}: expected True or False") from None


def keeps_warc(settings: BaseSettings) -> bool:
    """The value of FOCUS_WARC: yes or no, in Scrapy's spellings, too."""
    value = str(settings.get("FOCUS_WARC")).lower()
    if value not in ("yes", "true", "1", "no", "false", "0"):
        raise FocusError(f"setting FOCUS_WARC={settings.get('FOCUS_WARC')}: expected yes or no")
    return value in ("yes", "true", "1")


def pace(settings: BaseSettings) -> Pace:
    """The value of FOCUS_PACE."""
    try:
        return Pace(settings.getdict("FOCUS_PACE"))
    except (TypeError, ValueError):
        message = 'expected a JSON object such as {"08:00-18:00": 0.25}'
        raise FocusError(f"setting FOCUS_PACE={settings.get('FOCUS_PACE')}: {message}") from None


def _check_value(settings: BaseSettings, name: str, read: Callable[[BaseSettings, str], object], expected: str) -> None:
    try:
        read(settings, name)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise FocusError(f"setting {name}={settings[name]}: expected {expected}") from None


def _level(settings: BaseSettings, name: str) -> int:
    value = settings[name]
    return value if isinstance(value, int) else logging.getLevelNamesMapping()[value]
