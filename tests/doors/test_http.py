"""Any header value, any Location, any robots.txt, any tdmrep.json: an answer, quickly, and the same one twice."""

from __future__ import annotations

import json
from time import process_time

from hypothesis import example, given
from hypothesis import strategies as st

from focuscrawl import urls
from focuscrawl.manners.rights import read_tdmrep
from focuscrawl.manners.robots import Rules, wished_delay
from focuscrawl.middlewares.backoff import retry_after
from focuscrawl.middlewares.redirects import redirect_target
from focuscrawl.web.addresses import network

#: CPU seconds that any one input may take.
LIMIT = 2.0

HEADER = st.one_of(
    st.text(st.characters(max_codepoint=255), max_size=200),
    st.integers().map(str),
    st.floats().map(str),
    st.from_regex(
        r"(Mon|Tue|Sun), \d{1,3} (Jan|Feb|Nov) \d{1,15} \d{1,3}:\d\d:\d\d (GMT|\+9999|[A-Z]{1,9})", fullmatch=True
    ),
)
PIECES = st.sampled_from(
    ["..", ".", "%2e%2e", "%2E", "/", "//", "\\", "?", "#", "@", ":", "user:pw@", "http:", "https://", "HTTP://", "ftp://",
     "javascript:", "a", "b.example", "[::1]", "127.0.0.1", "%", "%00", "\t", "\n", "\x00", " ", "é", "\udcff", ":80", ":99999",
     "a" * 5000]
)  # fmt: skip
LOCATION = st.one_of(
    st.binary(max_size=100),
    st.lists(PIECES, max_size=12).map("".join).map(lambda text: text.encode("utf-8", "replace")),
)


@given(HEADER)
@example("Fri, 31 Dec 99999999999 23:59:59 GMT")
@example("9" * 5_000)
def test_any_retry_after_is_a_number_of_seconds_or_nothing(value):
    seconds = retry_after(value)
    assert seconds is None or 0 <= seconds < float("inf")


@given(LOCATION)
@example(b"/x/../y")
@example(b"http://a:b@c.example/%2e%2e/x")
@example(b"/" + b"a" * 70_000)
def test_any_location_leads_somewhere_normal_or_nowhere(location):
    began = process_time()
    target = redirect_target("http://h.example/a/b?c", location)
    assert process_time() - began < LIMIT
    assert target == redirect_target("http://h.example/a/b?c", location)
    if target is None:
        return
    assert target.startswith(("http://", "https://"))
    assert len(target) <= urls.MAX_LENGTH
    assert "#" not in target
    assert "@" not in target.split("/")[2]
    path = target.split("/", 3)[3].partition("?")[0].lower().replace("%2e", ".")
    assert not {".", ".."} & set(path.split("/"))
    assert urls.join(target, "") == target  # once is enough


LINES = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.builds(
            lambda name, value: name + b": " + value,
            st.sampled_from(
                [
                    b"User-agent",
                    b"Disallow",
                    b"Allow",
                    b"Crawl-delay",
                    b"Sitemap",
                    b"Request-rate",
                    b"\xef\xbb\xbfUser-agent",
                ]
            ),
            st.one_of(
                st.binary(max_size=30),
                st.sampled_from(
                    [
                        b"*",
                        b"focuscrawl",
                        b"focuscrawl, x",
                        b"/",
                        b"/*$",
                        b"*" * 200,
                        b"/%",
                        b"/%ff",
                        b"1e9",
                        b"1/0",
                        b"0.1",
                        b"\xe9",
                    ]
                ),
            ),
        ),
    ),
    max_size=20,
)


@given(LINES, st.sampled_from([b"\n", b"\r", b"\r\n", b"\x00\n"]), st.text(max_size=30))
def test_any_robots_txt_says_yes_or_no(lines, end, path):
    body = end.join(lines)
    began = process_time()
    rules = Rules.read(body, "focuscrawl/1.0")
    allowed = rules.allows(f"http://h.example/{path}")
    assert process_time() - began < LIMIT
    assert allowed is Rules.read(body, "focuscrawl/1.0").allows(f"http://h.example/{path}")
    assert rules.size <= 3 * len(body) + 300
    assert 0 <= wished_delay(body, "focuscrawl") < float("inf")
    assert rules.allows("http://h.example/robots.txt")


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.sampled_from(["*" * 50, "/a*b$", "1"])),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(["location", "tdm-reservation", "tdm-policy"]), inner)),
    max_leaves=20,
)  # fmt: skip


@given(st.one_of(st.binary(max_size=200), JSON.map(lambda value: json.dumps(value).encode())), st.text(max_size=50))
@example(b"[" * 100_000, "/")
@example(json.dumps([{"location": "*a" * 500, "tdm-reservation": 1}] * 2_000).encode(), "/" + "a" * 2_000)
def test_any_tdmrep_json_says_something_or_nothing(body, path):
    began = process_time()
    rule = read_tdmrep(body).rule_for(path)
    assert process_time() - began < LIMIT
    assert rule == read_tdmrep(body).rule_for(path)


@given(st.ip_addresses())
def test_any_address_is_in_one_network(address):
    assert network(str(address)) == network(str(address))
