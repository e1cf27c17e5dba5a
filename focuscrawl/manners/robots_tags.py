"""Page-level rules for crawlers: X-Robots-Tag headers and robots meta tags.

No standard defines the syntax. It is read as the large search engines document it. Where that is ambiguous, the
stricter reading applies: a rule that may be meant for us is obeyed.
"""

from __future__ import annotations

import re

from focuscrawl.manners.robots import product_token

_VALUED = frozenset(("max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"))
#: Known rules. A prefix is a crawler's name only if one of these follows, because an unknown rule may have a value.
_RULES = _VALUED | frozenset(
    (
        *("all", "none", "index", "noindex", "follow", "nofollow", "archive", "noarchive", "nocache", "snippet"),
        *("nosnippet", "imageindex", "noimageindex", "translate", "notranslate", "nositelinkssearchbox", "nopreview"),
        *("indexifembedded", "noodp", "noydir", "noimageclick", "ai", "noai", "imageai", "noimageai", "noml"),
    )
)
_WORD = re.compile(r"[\w-]+")
_END_OF_RULE = re.compile(r"[,;]")


def robots_directives(text: str, agent: str) -> set[str]:
    """The rules of one X-Robots-Tag header, or of the content of a meta tag, that apply to the crawler *agent*.

    *agent* is a product token in lower case. Rules are in lower case; those with a value are `name:value`. `none` adds
    noindex and nofollow. Rules after a crawler's name apply to that crawler, up to the next name.
    """
    found: set[str] = set()
    ours = True
    for rule in _END_OF_RULE.split(text.lower()):
        before, colon, after = rule.partition(":")
        if colon and _RULES.isdisjoint(_WORD.findall(before)):
            following = _WORD.search(after)
            if product_token(before) in (agent, "*", "robots", ""):
                ours, rule = True, after
            elif following is not None and following[0] in _RULES:
                ours = False
            else:  # an unknown rule, or the rest of a date
                continue
        if ours:
            found |= _rules_in(rule)
    return found | {"noindex", "nofollow"} if "none" in found else found


def _rules_in(text: str) -> set[str]:
    """The rules between two commas: normally one, several by mistake."""
    words = _WORD.findall(text)
    found = set(words) if len(words) == 1 else set(words) & _RULES - _VALUED
    before, _, value = text.partition(":")
    names = before.split()
    if names and names[-1] in _VALUED:
        found.add(f"{names[-1]}:{' '.join(value.split())}")
    return found
