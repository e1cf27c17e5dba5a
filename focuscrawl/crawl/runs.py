"""Runs: what a run notes in the crawl's file, and what a later one takes over from there.

The file may be somebody else's. A later run takes over only what a run notes, and of that nothing that is less polite
than the settings in force, speaks under another name or points at something outside the crawl: such a setting has to be
given again on the command line, by somebody who has read it.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from focuscrawl import settings as project
from focuscrawl import urls
from focuscrawl.errors import FocusError
from focuscrawl.options import options_of
from focuscrawl.topic import parse_seeds, shipped_topics
from focuscrawl.web import webs
from focuscrawl.web.addresses import PUBLIC, is_literal, network

#: Scrapy's settings that are noted: how hosts are treated, and how far the crawl goes.
_MANNERS = {
    *("USER_AGENT", "ROBOTSTXT_OBEY", "ROBOTSTXT_USER_AGENT", "DOWNLOAD_DELAY", "CONCURRENT_REQUESTS"),
    *("CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_SLOTS", "DOWNLOAD_TIMEOUT", "DOWNLOAD_MAXSIZE", "DEPTH_LIMIT"),
    *("URLLENGTH_LIMIT", "AUTOTHROTTLE_ENABLED"),
}
#: Ours that are not: about one run only, or for spiders of other projects, which no later run makes again.
_OF_ONE_RUN = {"FOCUS_DIR", "FOCUS_PROGRESS", "FOCUS_STRATEGY", "FOCUS_STRATEGY_OPTIONS"}
#: Settings that are noted, and the only ones that are taken over.
NOTED = frozenset({name for name in dir(project) if name.startswith("FOCUS_")} - _OF_ONE_RUN | _MANNERS)
_FILES = {"FOCUS_WEB", "FOCUS_SCOPE"}

#: Longest value that is shown when a setting is asked for, in characters; longest argument that is taken over.
_SHOWN = 200
_MAX_ARGUMENT = 1_000_000
#: Largest file of seeds or of a topic that is read because a crawl's file says so, in bytes.
_MAX_FILE = 10_000_000


def given_settings(settings: BaseSettings) -> dict[str, Any]:
    """The settings of this run that a later one on the same crawl should have, too."""
    given: dict[str, Any] = {}
    for name in settings:
        if name in NOTED and (settings.getpriority(name) or 0) > SETTINGS_PRIORITIES["spider"]:
            value = settings.get(name)
            if name in _FILES and value:
                path = webs.web_file(str(value)) if name == "FOCUS_WEB" else Path(str(value))
                value = path.resolve() if path is not None and path.is_file() else value
            given[name] = _as_json(value)
    return given


def settings_again(noted: Mapping[str, Any], settings: BaseSettings) -> tuple[dict[str, Any], list[str]]:
    """The noted settings that a later run takes over, and those to be given again, as on the command line.

    *settings* are those in force. What was given on the command line is neither.
    """
    taken: dict[str, Any] = {}
    asked: list[str] = []
    # first, because nobody is bothered by a web in a file
    for name in sorted(NOTED & noted.keys(), key=lambda name: (name != "FOCUS_WEB", name)):
        value, now = noted[name], _as_json(settings.get(name))
        if (settings.getpriority(name) or 0) >= SETTINGS_PRIORITIES["cmdline"] or value == now:
            continue
        offline = bool(taken.get("FOCUS_WEB") or settings.get("FOCUS_WEB"))
        if name in _ASKS and not (offline and name in _OF_THE_NETWORK) and _ASKS[name](value, now, settings):
            asked.append(option("-s", name, value))
        else:
            taken[name] = value
    return taken, asked


def arguments_again(
    noted: Mapping[str, Any], spider: type[Any], given: Mapping[str, str]
) -> tuple[dict[str, str], list[str]]:
    """The same for the arguments of a spider; those *given* now win, and are among what is returned."""
    known = {*options_of(spider), "topic", "seeds", "keywords"} - {"max_pages"}
    taken: dict[str, str] = dict(given)
    asked: list[str] = []
    for name, value in noted.items():
        if name not in known or name in given:
            continue
        if (
            not isinstance(value, str)
            or len(value) > _MAX_ARGUMENT
            or _is_device(value)
            or (name == "topic" and not _is_topic(value))
            or (name == "seeds" and not _are_seeds(value))
        ):
            asked.append(option("-a", name, value))
        else:
            taken[name] = value
    return taken, asked


def not_taken(folder: Path, asked: list[str]) -> str:
    """The message for what has to be given again."""
    return (
        f"{folder} was made with {' '.join(asked)}, which is not taken from a file; give it again if you want that, or"
        " another value"
    )


def option(flag: str, name: str, value: object) -> str:
    """An option as a shell takes it, with a value that may be anything."""
    text = value if isinstance(value, str) else str(value) if isinstance(value, bool) else json.dumps(value)
    return f"{flag} {shlex.quote(f'{name}={text}')}" if len(text) <= _SHOWN else f"{flag} {name}=…"


def _as_json(value: object) -> Any:
    return json.loads(json.dumps(value, default=_to_json))


def _to_json(value: object) -> object:
    return value.copy_to_dict() if isinstance(value, BaseSettings) else str(value)


# ---- what has to be given again: each says so of a value, given the one in force


Ask = Callable[[Any, Any, BaseSettings], bool]


def _number(value: object, *, none_is: float) -> float:
    """A number in a setting, in whatever way it was given; 0 is *none_is*."""
    try:
        return float(value) or none_is  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return float("nan")


def _less(value: Any, now: Any, _: BaseSettings) -> bool:
    return not _number(value, none_is=0.0) >= _number(now, none_is=0.0)


def _more(value: Any, now: Any, _: BaseSettings) -> bool:
    return not 0 < _number(value, none_is=inf) <= _number(now, none_is=inf)


def _turned_off(value: Any, now: Any, _: BaseSettings) -> bool:
    return _is_true(now) and not _is_true(value)


def _turned_on(value: Any, now: Any, _: BaseSettings) -> bool:
    return not _is_true(now) and value not in (False, 0, "0", "False", "false", None)


def _is_true(value: object) -> bool:
    return value in (True, 1, "1", "True", "true")


def _other(value: Any, now: Any, settings: BaseSettings) -> bool:
    return True


def _web(value: Any, now: Any, settings: BaseSettings) -> bool:
    return bool(value != "demo")


def _rules(value: Any, now: Any, settings: BaseSettings) -> bool:
    """Rules in place of others are asked for, and regular expressions: one can be written that takes for ever."""
    return bool(now) or "re:" in json.dumps(value)


def _other_than_set(value: Any, now: Any, settings: BaseSettings) -> bool:
    return bool(now)


def _slots(value: Any, now: Any, settings: BaseSettings) -> bool:
    """Slots are asked for that hurry a host; this machine may be hurried."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return True
    if not isinstance(value, Mapping) or now:
        return True
    delay, together = settings.getfloat("DOWNLOAD_DELAY"), settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN")
    for host, slot in value.items():
        if urls.is_local(f"http://{host}/"):
            continue
        if not isinstance(slot, Mapping) or slot.keys() - {"delay", "concurrency"}:
            return True
        if _less(slot.get("delay", delay), delay, settings):
            return True
        if _more(slot.get("concurrency", together), together, settings):
            return True
    return False


def _topic(value: Any, now: Any, settings: BaseSettings) -> bool:
    """A topic in a table is asked for if it names files."""
    if isinstance(value, str):
        return not _is_topic(value)
    if not isinstance(value, Mapping):
        return True
    examples = [value.get(name) or [] for name in ("examples", "counterexamples")]
    return not all(isinstance(items, list) and all("://" in str(item) for item in items) for items in examples)


_ASKS: dict[str, Ask] = {
    "AUTOTHROTTLE_ENABLED": _turned_off,
    "CONCURRENT_REQUESTS": _more,
    "CONCURRENT_REQUESTS_PER_DOMAIN": _more,
    "DOWNLOAD_DELAY": _less,
    "DOWNLOAD_MAXSIZE": _more,
    "DOWNLOAD_SLOTS": _slots,
    "DOWNLOAD_TIMEOUT": _more,
    "FOCUS_ALLOW": _rules,
    "FOCUS_BACKOFF_MAX": _less,
    "FOCUS_CONTACT": _other,
    "FOCUS_CRAWL_DELAY_MAX": _less,
    "FOCUS_DENY": _rules,
    "FOCUS_NOFOLLOW": _turned_off,
    "FOCUS_PACE": _other_than_set,
    "FOCUS_PRIVATE_HOSTS": _turned_on,
    "FOCUS_RIGHTS": _other_than_set,
    "FOCUS_ROBOTS_META": _turned_off,
    "FOCUS_SCOPE": _other,
    "FOCUS_TOPIC": _topic,
    "FOCUS_WEB": _web,
    "ROBOTSTXT_OBEY": _turned_off,
    "ROBOTSTXT_USER_AGENT": _other,
    "USER_AGENT": _other,
}
#: Those that matter only to hosts on a network.
_OF_THE_NETWORK = {
    *("AUTOTHROTTLE_ENABLED", "CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_DELAY"),
    *("DOWNLOAD_SLOTS", "DOWNLOAD_TIMEOUT", "FOCUS_BACKOFF_MAX", "FOCUS_CONTACT", "FOCUS_CRAWL_DELAY_MAX"),
    *("FOCUS_PRIVATE_HOSTS", "ROBOTSTXT_USER_AGENT", "USER_AGENT"),
}


def _is_topic(name: str) -> bool:
    """Whether a noted topic may be read: one that ships with the project, or a file that is meant for one."""
    if name in shipped_topics():
        return True
    return Path(name).suffix == ".toml" and _is_small_file(Path(name))


def _are_seeds(text: str) -> bool:
    """Whether noted seeds may be used: URLs, or a file of URLs and nothing else, all of them on the public internet.

    A message about a line that is no URL would quote it, and the file may be one that has nothing to do with crawls.
    """
    try:
        if text.startswith("@") and not _is_small_file(Path(text[1:])):
            return False
        seeds = parse_seeds(text)
        checked = [urls.check(seed) for seed in seeds]
    except (FocusError, ValueError):
        return False
    hosts = {urls.host(seed) for seed in checked if not urls.is_local(seed)}
    return not any(map(urls.is_local, checked)) and all(network(host) == PUBLIC for host in hosts if is_literal(host))


def _is_device(text: str) -> bool:
    """Whether a text is the name of something that may never end when it is read, such as a pipe."""
    try:
        return Path(text).exists() and not Path(text).is_file() and not Path(text).is_dir()
    except (OSError, ValueError):
        return False


def _is_small_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _MAX_FILE
    except (OSError, ValueError):
        return False
