"""Rights: what a page, its headers and its host say about how it may be used.

The crawl stores this for every page; FOCUS_RIGHTS selects the reservations that keep a page out of the exports.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from focuscrawl.errors import FocusError
from focuscrawl.manners.paths import PathRules, normal_path
from focuscrawl.manners.usage import AI_INPUT, AI_TRAIN, MAX_SAID, MAX_TOGETHER, RSL, SEARCH, TDM, Statement

#: Values of FOCUS_RIGHTS, and what each means: purposes that a page refuses, and other reservations.
RESERVATIONS = {
    SEARCH: "the page is not to be used for search",
    AI_INPUT: "the page is not to be used as input for artificial intelligence",
    AI_TRAIN: "the page is not to be used to train artificial intelligence",
    TDM: "text and data mining is reserved",
    "noai": "the page asks not to be used for artificial intelligence",
    "noimageai": "the page asks that its images not be used for artificial intelligence",
    "rsl": "the page is under an RSL licence, whose terms are in a file of their own",
    "unlicensed": "the page states no licence",
}
#: Reservations that a host may state in its tdmrep.json.
OF_TDMREP = frozenset((TDM, AI_TRAIN))
#: Where a signal is found.
ROBOTS_TXT, HEADER, PAGE, TDMREP = "robots.txt", "header", "page", "tdmrep.json"
#: The same by the names that `tdm_source` has for it.
_TDM_PLACES = {"meta": PAGE, "header": HEADER, "file": TDMREP}
#: Robots directives about artificial intelligence, and what they refuse.
_DIRECTIVES: dict[str, tuple[str, ...]] = {"noai": (AI_INPUT, AI_TRAIN), "noimageai": ()}

#: Maximum number of rules read from a tdmrep.json, and maximum length of a location in characters.
_MAX_RULES = 1_000
_MAX_LOCATION = 1_000
_MAX_LICENCES = 20


def _text(given: str) -> str:
    """Text from outside, cut to a bounded length; lone surrogates, which JSON may contain, are replaced."""
    return given.strip()[:1000].encode("utf-8", "replace").decode()


@dataclass
class Rights:
    """The rights of one page."""

    #: What robots.txt says: `allowed`, `none` (there is none), `ignored` (it was not consulted).
    robots_txt: str = ""
    #: The X-Robots-Tag headers as received.
    x_robots_tag: str = ""
    #: Directives of `<meta name=robots>` and X-Robots-Tag that apply to us.
    noai: bool = False
    noimageai: bool = False
    #: TDM reservation: 1 reserved, 0 not reserved, None unspecified; and its source: meta, header or file.
    tdm_reservation: int | None = None
    tdm_policy: str = ""
    tdm_source: str = ""
    #: URLs or names of licences: `rel=license`, schema.org.
    licences: list[str] = field(default_factory=list)
    #: The reservation in FOCUS_RIGHTS that keeps the page out of the exports; empty if there is none.
    left_out: str = ""
    #: Every signal about usage that was found: `signal`, what it `said`, `where` and `when`, and what it `refuses`.
    signals: list[dict[str, str]] = field(default_factory=list)
    #: When the page was fetched.
    when: str = ""

    def signal(self, statement: Statement, where: str, when: str = "") -> None:
        """Record a signal; *when* it was read, if that was not with the page."""
        said = _text(statement.said)[:MAX_SAID]
        found = {"signal": statement.signal, "said": said, "where": where, "when": when or self.when}
        if statement.refuses:
            found["refuses"] = ", ".join(statement.refuses)
        alike = [one for one in self.signals if (one["signal"], one["where"]) == (statement.signal, where)]
        if found not in alike and len(alike) < MAX_TOGETHER:
            self.signals.append(found)

    def directives(self, found: Iterable[str], where: str) -> None:
        """Record those of the robots directives for us that are about artificial intelligence."""
        for name in sorted(_DIRECTIVES.keys() & set(found)):
            self.signal(Statement("robots", name, _DIRECTIVES[name]), where)

    def refused(self, places: Sequence[str] = (ROBOTS_TXT, HEADER, PAGE, TDMREP)) -> set[str]:
        """The purposes that any signal in these places refuses."""
        refusals = (signal["refuses"] for signal in self.signals if "refuses" in signal and signal["where"] in places)
        return {purpose for refusal in refusals for purpose in refusal.split(", ")}

    def tdm(self, reservation: str | None, policy: str | None, source: str, when: str = "") -> None:
        """Record what a source says about text and data mining; the first source, closest to the page, wins."""
        value = (reservation or "").strip()
        if value not in ("0", "1"):
            return
        counts = self.tdm_reservation is None
        if counts:
            self.tdm_reservation, self.tdm_source = int(value), source
            self.tdm_policy = self.tdm_policy or _text(policy or "")
        refuses = (AI_TRAIN, TDM) if counts and value == "1" else ()
        self.signal(Statement("TDM-Reservation", value, refuses), _TDM_PLACES[source], when)

    def rsl(self, url: str, where: str) -> None:
        """Record an RSL licence, by its URL."""
        if url:
            self.signal(Statement(RSL, url), where)

    def licence(self, name: str) -> None:
        """Record a licence."""
        name = _text(name)
        if name and name not in self.licences and len(self.licences) < _MAX_LICENCES:
            self.licences.append(name)

    def reserved(self, wanted: Iterable[str]) -> str:
        """The first of the *wanted* reservations that applies; empty if none does."""
        applies = {
            "noai": self.noai,
            "noimageai": self.noimageai,
            TDM: self.tdm_reservation == 1,
            "rsl": any(signal["signal"] == RSL for signal in self.signals),
            "unlicensed": not self.licences,
        } | dict.fromkeys(self.refused(), True)
        return next((name for name in wanted if applies.get(name)), "")


def check(names: Iterable[str]) -> list[str]:
    """The reservations that FOCUS_RIGHTS names."""
    wanted = [name.strip().lower() for name in names if name.strip()]
    for name in wanted:
        if name not in RESERVATIONS:
            raise FocusError(f"setting FOCUS_RIGHTS: unknown '{name}'; expected {', '.join(RESERVATIONS)}")
    return wanted


def schema_licences(data: object) -> list[str]:
    """The licences named anywhere in schema.org data that was read from JSON."""
    waiting = [data]
    found: list[str] = []
    while waiting and len(found) < _MAX_LICENCES:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += value.values()
            licences = value.get("license")
            for licence in licences if isinstance(licences, list) else [licences]:
                name = licence.get("@id") or licence.get("url") if isinstance(licence, dict) else licence
                if isinstance(name, str):
                    found.append(name)
    return found


@dataclass(slots=True)
class TdmRule:
    """A rule of a host's `/.well-known/tdmrep.json`, without its path pattern."""

    reservation: str
    policy: str


class TdmRules:
    """The rules of a tdmrep.json, as pairs of a pattern (same syntax as in robots.txt) and a rule."""

    def __init__(self, rules: Sequence[tuple[str, TdmRule]] = ()) -> None:
        # unlike in robots.txt, the order of the rules decides
        self._rules = PathRules(rules, precedence="first")
        #: When the file was read.
        self.read_at = ""
        #: Approximate size of the rules in bytes.
        self.size = self._rules.size + sum(100 + len(rule.policy) for _, rule in rules)

    def rule_for(self, path: str) -> TdmRule | None:
        """The first rule that matches a path with its query."""
        return self._rules.find(normal_path(path))


def read_tdmrep(body: bytes) -> TdmRules:
    """Read a tdmrep.json; malformed entries are skipped."""
    try:
        entries = json.loads(body)
    except (ValueError, RecursionError):
        return TdmRules()
    rules: list[tuple[str, TdmRule]] = []
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict) or not isinstance(entry.get("location"), str) or len(rules) >= _MAX_RULES:
            continue
        location = entry["location"]
        pattern = location.removesuffix("$")[:_MAX_LOCATION] + ("$" if location.endswith("$") else "")
        reservation, policy = entry.get("tdm-reservation"), entry.get("tdm-policy")
        rule = TdmRule(
            str(reservation)[:10] if isinstance(reservation, int | str) else "",
            policy[:1000] if isinstance(policy, str) else "",
        )
        rules.append((pattern, rule))
    return TdmRules(rules)
