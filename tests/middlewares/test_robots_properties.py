from __future__ import annotations

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from focuscrawl.manners.robots import Rules, wished_delay

LITERALS = ["a", "b", "A", "/", "é", "%41", "%61", "%2F", "%2f", "%2A", "%24", "%C3%A9", "%c3", "%20", "."]
PATTERNS = st.lists(st.sampled_from([*LITERALS, "*", "*", "$"]), max_size=7).map("".join).map("/{}".format)
PATHS = st.lists(st.sampled_from([*LITERALS, "*", "$"]), max_size=9).map("".join).map("/{}".format)
RULES = st.lists(st.tuples(st.booleans(), PATTERNS), max_size=5)
AGENTS = st.sampled_from(["focuscrawl", "FocusCrawl", "focus", "other", "*"])
RECORDS = st.one_of(
    st.builds("User-agent: {}".format, AGENTS),
    st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), PATTERNS),
    st.just("Disallow:"),
)


def robots_txt(rules: list[tuple[bool, str]]) -> bytes:
    return "\n".join(
        ["User-agent: *", *(f"{'Allow' if allow else 'Disallow'}: {path}" for allow, path in rules)]
    ).encode()


def octets(text: str) -> str:
    """The signs of a path, one for each octet: an escape is its octet, but those of `/`, `*` and `$` are not the signs."""
    signs = []
    for sign in re.findall(rb"%[0-9a-fA-F]{2}|.", text.encode(), re.DOTALL):
        octet = int(sign[1:], 16) if len(sign) == 3 else sign[0]
        signs.append(chr(octet + 0x100 * (len(sign) == 3 and chr(octet) in "/*$")))
    return "".join(signs)


def allowed(rules: list[tuple[bool, str]], path: str) -> bool:
    """RFC 9309 in a few lines: the rule with the most octets counts, and Allow if two have as many."""
    plain = {ord("*"): 0x100 + ord("*"), ord("$"): 0x100 + ord("$")}
    url = octets(path).translate(plain)
    best = (0, True)
    for allow, pattern in rules:
        signs = octets(pattern)
        end = signs.endswith("$")
        pieces = [re.escape(piece.translate(plain)) for piece in signs.removesuffix("$").split("*")]
        if re.match(".*".join(pieces) + (r"\Z" if end else ""), url, re.DOTALL):
            best = max(best, (len(signs), allow))
    return best[1]


@settings(max_examples=200)
@given(RULES, PATHS)
@example([(False, "/a$")], "/a$")
@example([(False, "/*a*b$")], "/aabb")
@example([(True, "/%61"), (False, "/a")], "/a")
@example([(False, "/*A")], "/é")
def test_a_second_reading_of_the_rfc_agrees(rules, path):
    assert Rules.read(robots_txt(rules), "focuscrawl").allows(f"http://a.example{path}") is allowed(rules, path)


@settings(max_examples=100)
@given(RULES.filter(bool), st.data())
def test_a_path_made_from_a_rule_is_matched_by_it(rules, data):
    """Random paths seldom match: this one is a rule with something for its stars."""
    pattern = data.draw(st.sampled_from(rules))[1]
    path = re.sub(r"\*", data.draw(st.sampled_from(["", "a", "/b", "*", "é"])), pattern.removesuffix("$"))
    read = Rules.read(robots_txt(rules), "focuscrawl")
    assert read.allows(f"http://a.example{path}") is allowed(rules, path)
    assert Rules.read(robots_txt([(False, pattern)]), "focuscrawl").allows(f"http://a.example{path}") is False


ANY_BYTES = st.one_of(
    st.binary(max_size=200),
    st.lists(
        st.one_of(
            st.binary(max_size=8),
            st.sampled_from(
                [b"User-agent: *\n", b"Disallow:", b"Allow: /", b"Crawl-delay: ", b"Request-rate: 1/", b"%", b"*"]
            ),
        )
    ).map(b"".join),
)


@settings(max_examples=150)
@given(ANY_BYTES, st.text(max_size=20), st.text(max_size=10))
def test_any_bytes_are_read(body, path, agent):
    assert isinstance(Rules.read(body, agent).allows(f"http://a.example/{path}"), bool)
    assert isinstance(Rules.read(body, agent).allows(path), bool)
    assert 0 <= wished_delay(body, agent) < float("inf")


@settings(max_examples=100)
@given(
    st.lists(RECORDS, max_size=8),
    st.lists(
        st.tuples(
            st.integers(0, 8),
            st.sampled_from(["# Allow: /", "", "Sitemap: http://a.example/s", "Foo: /a", "foo", "Crawl-delay: 1"]),
        )
    ),
    PATHS,
)
def test_comments_and_unknown_records_change_nothing(records, more, path):
    longer = list(records)
    for place, line in more:
        longer.insert(place, line)
    before, after = (Rules.read("\n".join(some).encode(), "focuscrawl") for some in (records, longer))
    url = f"http://a.example{path}"
    assert before.allows(url) is after.allows(url)


@settings(max_examples=100)
@given(st.lists(RECORDS, max_size=8), st.sampled_from(["\r", "\r\n", "\n\n", " \n\t"]), PATHS)
def test_line_ends_and_white_space_change_nothing(records, end, path):
    before, after = (Rules.read(between.join(records).encode(), "focuscrawl") for between in ("\n", end))
    url = f"http://a.example{path}"
    assert before.allows(url) is after.allows(url)
