"""Runs: what a run records in the crawl's file, and what a later run reuses.

The file may come from someone else. A later run reuses only what a run records, and no setting that is less polite than
the current one, changes the crawler's identity or refers to something outside the crawl. Such settings must be given
again on the command line, by a user who has seen them.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from importlib.metadata import version
from math import inf
from pathlib import Path
from platform import python_version
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from focuscrawl import __version__, urls
from focuscrawl import settings as project
from focuscrawl.errors import FocusError
from focuscrawl.options import options_of
from focuscrawl.reading.types import parse_documents
from focuscrawl.topic import named_topics, parse_seeds
from focuscrawl.web import webs
from focuscrawl.web.addresses import PUBLIC, is_literal, network

#: Scrapy settings that are recorded: politeness, and limits of the crawl.
_MANNERS = {
    *("USER_AGENT", "ROBOTSTXT_OBEY", "ROBOTSTXT_USER_AGENT", "DOWNLOAD_DELAY", "CONCURRENT_REQUESTS"),
    *("CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_SLOTS", "DOWNLOAD_TIMEOUT", "DOWNLOAD_MAXSIZE", "DEPTH_LIMIT"),
    *("URLLENGTH_LIMIT", "AUTOTHROTTLE_ENABLED"),
}
#: FOCUS_ settings that are not recorded: for one run only, secret, or for spiders of other projects, which cannot be
#: recrawled.
_OF_ONE_RUN = {
    *("FOCUS_DIR", "FOCUS_STORE", "FOCUS_PROGRESS", "FOCUS_START_CHECKS", "FOCUS_STRATEGY", "FOCUS_STRATEGY_OPTIONS"),
    *("FOCUS_SIGN_KEY", "FOCUS_SIGN_AGENT", "FOCUS_METRICS_PORT", "FOCUS_METRICS_FILE", "FOCUS_REPORT_MINUTES"),
}
#: Settings that are recorded; only these are reused.
NOTED = frozenset({name for name in dir(project) if name.startswith("FOCUS_")} - _OF_ONE_RUN | _MANNERS)
_FILES = {"FOCUS_WEB", "FOCUS_SCOPE"}

#: Longest value that a message quotes, and longest argument that is reused, in characters.
_SHOWN = 200
_MAX_ARGUMENT = 1_000_000
#: Largest seed or topic file named in a crawl's file that is read, in bytes.
_MAX_FILE = 10_000_000


def versions() -> dict[str, str]:
    """The versions that a run is made with."""
    return {"focuscrawl": __version__, "scrapy": version("scrapy"), "python": python_version()}


def given_settings(settings: BaseSettings) -> dict[str, Any]:
    """The settings of this run that later runs of the same crawl should reuse."""
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
    """The recorded settings that a later run reuses, and those that must be given again, as command-line options.

    *settings* are the current ones. Settings given on the command line are in neither.
    """
    taken: dict[str, Any] = {}
    asked: list[str] = []
    # FOCUS_WEB first, because politeness does not matter for a web in a file
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
    """The same for the arguments of a spider; those *given* now take precedence, and are included."""
    known = {*options_of(spider), "topic", "seeds", "keywords"} - {"max_pages", "max_hours", "stop_below"}
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
    """The message for options that must be given again."""
    return (
        f"{folder} was made with {' '.join(asked)}, which is not taken from a file; give it again on the command"
        " line, or give another value"
    )


def option(flag: str, name: str, value: object) -> str:
    """A command-line option, quoted for a shell; the value may be anything."""
    text = value if isinstance(value, str) else str(value) if isinstance(value, bool) else json.dumps(value)
    return f"{flag} {shlex.quote(f'{name}={text}')}" if len(text) <= _SHOWN else f"{flag} {name}=…"


def _as_json(value: object) -> Any:
    return json.loads(json.dumps(value, default=_to_json))


def _to_json(value: object) -> object:
    return value.copy_to_dict() if isinstance(value, BaseSettings) else str(value)


# ---- which settings must be given again: each function decides for a recorded value, given the current one


Ask = Callable[[Any, Any, BaseSettings], bool]


def _number(value: object, *, none_is: float) -> float:
    """The value of a setting as a number: *none_is* for 0, NaN if it is not a number."""
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
    """Ask for rules that replace others, and for regular expressions, which can be made to run forever."""
    return bool(now) or "re:" in json.dumps(value)


def _other_than_set(value: Any, now: Any, settings: BaseSettings) -> bool:
    return bool(now)


def _more_documents(value: Any, now: Any, settings: BaseSettings) -> bool:
    """Ask for kinds of documents that are not read now."""
    try:
        return not parse_documents(value) <= parse_documents(now)
    except (FocusError, TypeError):
        return True


def _slots(value: Any, now: Any, settings: BaseSettings) -> bool:
    """Ask for slots that are less polite to a host, other than this machine."""
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
    """Ask for a topic in a table if it names files."""
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
    "FOCUS_BANDWIDTH_MAX": _other_than_set,
    **dict.fromkeys(
        ("FOCUS_BROWSER", "FOCUS_BROWSER_EXECUTABLE", "FOCUS_BROWSER_REQUESTS", "FOCUS_BROWSER_TIMEOUT"), _other
    ),
    "FOCUS_CONTACT": _other,
    "FOCUS_CRAWL_DELAY_MAX": _less,
    "FOCUS_DENY": _rules,
    "FOCUS_DOCUMENTS": _more_documents,
    "FOCUS_LANGUAGES": _other,
    "FOCUS_LOAD_MAX": _other_than_set,
    "FOCUS_NOFOLLOW": _turned_off,
    "FOCUS_PATIENCE_MAX": _other,
    "FOCUS_PACE": _other_than_set,
    "FOCUS_PRIVATE_HOSTS": _turned_on,
    "FOCUS_RIGHTS": _other_than_set,
    "FOCUS_ROBOTS_META": _turned_off,
    "FOCUS_SCOPE": _other,
    "FOCUS_TOPIC": _topic,
    "FOCUS_WEB": _web,
    "FOCUS_WEB_LATENCY": _other,
    "ROBOTSTXT_OBEY": _turned_off,
    "ROBOTSTXT_USER_AGENT": _other,
    "USER_AGENT": _other,
}
#: Settings that matter only to hosts on a network.
_OF_THE_NETWORK = {
    *("AUTOTHROTTLE_ENABLED", "CONCURRENT_REQUESTS", "CONCURRENT_REQUESTS_PER_DOMAIN", "DOWNLOAD_DELAY"),
    *("DOWNLOAD_SLOTS", "DOWNLOAD_TIMEOUT", "FOCUS_BACKOFF_MAX", "FOCUS_CONTACT", "FOCUS_CRAWL_DELAY_MAX"),
    *("FOCUS_PRIVATE_HOSTS", "ROBOTSTXT_USER_AGENT", "USER_AGENT"),
}


def _is_topic(name: str) -> bool:
    """Whether a recorded topic may be read: one that comes with the project, or a small .toml file."""
    if name in named_topics():
        return True
    return Path(name).suffix == ".toml" and _is_small_file(Path(name))


def _are_seeds(text: str) -> bool:
    """Whether recorded seeds may be used: URLs, or a file of nothing but URLs, all of them on the public internet.

    An error message would quote a line that is not a URL, and the file may have nothing to do with crawls.
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
    """Whether a text names a special file, such as a pipe, which may never end when it is read."""
    try:
        return Path(text).exists() and not Path(text).is_file() and not Path(text).is_dir()
    except (OSError, ValueError):
        return False


def _is_small_file(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size <= _MAX_FILE
    except (OSError, ValueError):
        return False
