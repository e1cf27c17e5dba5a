"""What RFC 9309 says of robots.txt, section by section. The number in a case's name is that of the section."""

from __future__ import annotations

from itertools import pairwise

import pytest

from focuscrawl.crawl import clock
from focuscrawl.manners.robots import Rules
from focuscrawl.middlewares import robots
from focuscrawl.web.webs import Answer, MemoryWeb
from tests.conftest import at, small_web

US = "focuscrawl"


def lines(*records: str) -> str:
    return "\n".join(records) + "\n"


def to_all(*rules: str) -> str:
    return lines("User-agent: *", *rules)


#: 5.1 of the RFC: simple example.
SIMPLE = lines(
    "User-Agent: *",
    "Disallow: *.gif$",
    "Disallow: /example/",
    "Allow: /publications/",
    "",
    "User-Agent: foobot",
    "Disallow:/",
    "Allow:/example/page.html",
    "Allow:/example/allowed.gif",
    "",
    "User-Agent: barbot",
    "User-Agent: bazbot",
    "Disallow: /example/page.html",
    "",
    "User-Agent: quxbot",
    "",
    "EOF",
)
#: 5.2 of the RFC: longest match.
LONGEST = lines("User-Agent: foobot", "Allow: /example/page/", "Disallow: /example/page/disallowed.gif")
#: 2.2.1 of the RFC: two groups of the same crawler, and one for all others.
TWO_GROUPS = lines(
    "user-agent: ExampleBot",
    "disallow: /foo",
    "disallow: /bar",
    "",
    "user-agent: ExampleBot",
    "disallow: /baz",
)
#: 2.2.1 of the RFC: a group for all, and one for a crawler.
STAR_GROUP = lines(
    "user-agent: *",
    "disallow: /foo",
    "disallow: /bar",
    "",
    "user-agent: BazBot",
    "disallow: /baz",
)

#: Name, robots.txt, User-Agent or product token, path, and whether it may be fetched.
CASES: list[tuple[str, str | bytes, str, str, bool]] = [
    # ---- 2.1 protocol definition
    ("2.1-no-rules-at-all", "", US, "/x", True),
    ("2.1-rules-tell-what-may-not-be-fetched", to_all("Disallow: /x"), US, "/x", False),
    ("2.1-rules-tell-what-may-be-fetched", to_all("Disallow: /", "Allow: /x"), US, "/x", True),
    # ---- 2.2 formal syntax
    ("2.2-line-ends-lf", b"User-agent: *\nDisallow: /x\nDisallow: /y\n", US, "/y", False),
    ("2.2-line-ends-cr", b"User-agent: *\rDisallow: /x\rDisallow: /y\r", US, "/y", False),
    ("2.2-line-ends-crlf", b"User-agent: *\r\nDisallow: /x\r\nDisallow: /y\r\n", US, "/y", False),
    ("2.2-line-ends-mixed", b"User-agent: *\r\nDisallow: /x\rDisallow: /y\n", US, "/y", False),
    ("2.2-last-line-without-end", b"User-agent: *\nDisallow: /x", US, "/x", False),
    ("2.2-no-other-line-ends-form-feed", b"User-agent: *\nDisallow: /x\x0cy", US, "/x", True),
    ("2.2-no-other-line-ends-next-line", to_all("Disallow: /x\u0085y"), US, "/x", True),
    ("2.2-no-other-line-ends-line-separator", to_all("Disallow: /x\u2028y"), US, "/x", True),
    ("2.2-byte-order-mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /x", US, "/x", False),
    ("2.2-spaces-before-the-key", "  User-agent: *\n   Disallow: /x", US, "/x", False),
    ("2.2-tabs-before-the-key", "\tUser-agent: *\n\tDisallow: /x", US, "/x", False),
    ("2.2-white-space-before-the-colon", "User-agent : *\nDisallow \t: /x", US, "/x", False),
    ("2.2-white-space-after-the-colon", "User-agent:\t *\nDisallow: \t /x", US, "/x", False),
    ("2.2-no-white-space-after-the-colon", "User-agent:*\nDisallow:/x", US, "/x", False),
    ("2.2-white-space-at-the-end", "User-agent: * \t\nDisallow: /x \t", US, "/x/y", False),
    ("2.2-other-white-space-is-part-of-the-path", to_all("Disallow: /x\u00a0"), US, "/x", True),
    ("2.2-keys-in-lower-case", "user-agent: *\ndisallow: /x", US, "/x", False),
    ("2.2-keys-in-upper-case", "USER-AGENT: *\nDISALLOW: /\nALLOW: /x", US, "/x", True),
    ("2.2-comment-on-its-own-line", lines("# first", "User-agent: *", "# Allow: /", "Disallow: /x"), US, "/x", False),
    ("2.2-comment-after-a-user-agent", lines(f"User-agent: {US} # us", "Disallow: /x"), US, "/x", False),
    ("2.2-comment-after-a-rule", to_all("Disallow: /x # keep out"), US, "/x/y", False),
    ("2.2-comment-without-a-space-before-it", to_all("Disallow: /x#y"), US, "/x/z", False),
    ("2.2-comment-for-a-path", to_all("Disallow: # /x"), US, "/x", True),
    ("2.2-empty-lines-do-not-end-a-group", lines("", "User-agent: *", "", "Disallow: /x", "", "Disallow: /y"), US, "/y", False),
    ("2.2-empty-lines-between-user-agents", lines("User-agent: a", "", "User-agent: b", "Disallow: /x"), "a", "/x", False),
    # ---- 2.2.1 the user-agent line
    ("2.2.1-product-token", lines(f"User-agent: {US}", "Disallow: /x"), US, "/x", False),
    ("2.2.1-product-token-case-insensitive-in-the-file", lines("User-agent: FocusCrawl", "Disallow: /x"), US, "/x", False),
    ("2.2.1-product-token-case-insensitive-of-the-crawler", lines(f"User-agent: {US}", "Disallow: /x"), "FOCUSCRAWL", "/x", False),
    ("2.2.1-product-token-with-hyphen-and-underscore", lines("User-agent: a-b_c", "Disallow: /x"), "A-B_C/2", "/x", False),
    ("2.2.1-product-token-from-name-and-version", lines(f"User-agent: {US}", "Disallow: /x"), "focuscrawl/1.0", "/x", False),
    ("2.2.1-product-token-from-a-whole-user-agent", lines(f"User-agent: {US}", "Disallow: /x"), "focuscrawl/1.0 (+https://x)", "/x", False),
    ("2.2.1-product-token-with-a-version-in-the-file", lines(f"User-agent: {US}/1.0", "Disallow: /x"), US, "/x", False),
    ("2.2.1-another-product-token", lines("User-agent: other", "Disallow: /x"), US, "/x", True),
    ("2.2.1-not-the-beginning-of-the-token", lines("User-agent: focus", "Disallow: /x"), US, "/x", True),
    ("2.2.1-not-the-end-of-the-token", lines("User-agent: crawl", "Disallow: /x"), US, "/x", True),
    ("2.2.1-not-a-longer-token", lines("User-agent: focuscrawl-news", "Disallow: /x"), US, "/x", True),
    ("2.2.1-the-beginning-of-the-token-does-not-hide-the-group-of-all", lines("User-agent: focus", "Disallow: /y", "User-agent: *", "Disallow: /x"), US, "/x", False),
    ("2.2.1-several-user-agents-first", lines(f"User-agent: {US}", "User-agent: other", "Disallow: /x"), US, "/x", False),
    ("2.2.1-several-user-agents-last", lines("User-agent: other", f"User-agent: {US}", "Disallow: /x"), US, "/x", False),
    ("2.2.1-several-user-agents-with-star", lines("User-agent: other", "User-agent: *", "Disallow: /x"), US, "/x", False),
    ("2.2.1-a-user-agent-after-a-rule-begins-a-group", lines("User-agent: a", "Disallow: /x", "User-agent: b", "Disallow: /y"), "a", "/y", True),
    ("2.2.1-a-user-agent-after-an-empty-rule-begins-a-group", lines("User-agent: a", "Disallow:", "User-agent: b", "Disallow: /y"), "a", "/y", True),
    ("2.2.1-the-next-group-does-not-have-the-rules-before", lines("User-agent: a", "Disallow: /x", "User-agent: b", "Disallow: /y"), "b", "/x", True),
    ("2.2.1-example-groups-merged-first-rule", TWO_GROUPS, "ExampleBot", "/foo", False),
    ("2.2.1-example-groups-merged-second-rule", TWO_GROUPS, "ExampleBot", "/bar", False),
    ("2.2.1-example-groups-merged-third-rule", TWO_GROUPS, "ExampleBot", "/baz", False),
    ("2.2.1-groups-merged-before-the-longest-match", lines("User-agent: a", "Disallow: /x", "User-agent: b", "Disallow: /", "User-agent: A", "Allow: /x/y"), "a", "/x/y", True),
    ("2.2.1-star-groups-merged", lines("User-agent: *", "Disallow: /x", "User-agent: b", "Disallow: /", "User-agent: *", "Disallow: /y"), US, "/y", False),
    ("2.2.1-star-when-no-group-matches", STAR_GROUP, "OtherBot", "/foo", False),
    ("2.2.1-star-has-its-own-rules-only", STAR_GROUP, "OtherBot", "/baz", True),
    ("2.2.1-no-star-when-a-group-matches", STAR_GROUP, "BazBot", "/foo", True),
    ("2.2.1-the-matching-group-counts", STAR_GROUP, "BazBot", "/baz", False),
    ("2.2.1-star-after-the-matching-group", lines(f"User-agent: {US}", "Disallow: /y", "User-agent: *", "Disallow: /x"), US, "/x", True),
    ("2.2.1-no-matching-group-and-no-star", lines("User-agent: a", "Disallow: /", "User-agent: b", "Disallow: /"), US, "/x", True),
    ("2.2.1-an-empty-group-has-no-rules", lines("User-agent: *", "Disallow: /", f"User-agent: {US}"), US, "/x", True),
    ("2.2.1-rules-before-any-user-agent-are-ignored", lines("Disallow: /x", "User-agent: *", "Disallow: /y"), US, "/x", True),
    ("2.2.1-rules-without-any-user-agent-are-ignored", lines("Disallow: /"), US, "/x", True),
    ("2.2.1-rules-before-any-user-agent-do-not-harm", lines("Disallow: /x", "User-agent: *", "Disallow: /y"), US, "/y", False),
    # ---- 2.2.2 the allow and disallow lines
    ("2.2.2-a-path-is-a-prefix", to_all("Disallow: /x"), US, "/xyz/a", False),
    ("2.2.2-a-prefix-from-the-beginning", to_all("Disallow: /x"), US, "/a/x", True),
    ("2.2.2-a-folder", to_all("Disallow: /x/"), US, "/x", True),
    ("2.2.2-the-root", to_all("Disallow: /"), US, "", False),
    ("2.2.2-the-query-is-compared-too", to_all("Disallow: /x?a=1"), US, "/x?a=1&b=2", False),
    ("2.2.2-another-query", to_all("Disallow: /x?a=1"), US, "/x?a=2", True),
    ("2.2.2-a-query-without-a-path", to_all("Disallow: /?a"), US, "?a", False),
    ("2.2.2-the-fragment-is-not-compared", to_all("Disallow: /*y"), US, "/x#y", True),
    ("2.2.2-the-host-is-not-compared", to_all("Disallow: /*example"), US, "/x", True),
    ("2.2.2-no-rule-matches", to_all("Disallow: /x"), US, "/y", True),
    ("2.2.2-only-allow-rules-and-none-matches", to_all("Allow: /x"), US, "/y", True),
    ("2.2.2-empty-disallow", to_all("Disallow:"), US, "/x", True),
    ("2.2.2-empty-disallow-beside-another", to_all("Disallow:", "Disallow: /x"), US, "/x", False),
    ("2.2.2-empty-allow", to_all("Allow:", "Disallow: /x"), US, "/x", False),
    ("2.2.2-paths-are-case-sensitive", to_all("Disallow: /X"), US, "/x", True),
    ("2.2.2-longest-match-disallow", to_all("Allow: /x", "Disallow: /x/y"), US, "/x/y", False),
    ("2.2.2-longest-match-allow", to_all("Disallow: /x", "Allow: /x/y"), US, "/x/y/z", True),
    ("2.2.2-longest-match-whatever-the-order", to_all("Allow: /x/y", "Disallow: /x"), US, "/x/y", True),
    ("2.2.2-longest-match-of-three", to_all("Disallow: /x", "Allow: /x/y", "Disallow: /x/y/z"), US, "/x/y/z", False),
    ("2.2.2-longest-match-with-star", to_all("Allow: /x", "Disallow: /*.htm"), US, "/x.htm", False),
    ("2.2.2-longest-match-by-octets-not-characters", to_all("Allow: /*ééé", "Disallow: /*.html"), US, "/ééé.html", True),
    ("2.2.2-longest-match-the-end-is-an-octet", to_all("Disallow: /x$", "Allow: /x"), US, "/x", False),
    ("2.2.2-longest-match-a-star-is-an-octet", to_all("Disallow: /x*", "Allow: /x"), US, "/x", False),
    ("2.2.2-an-allowed-index-html-allows-no-more", to_all("Disallow: /x/", "Allow: /x/index.html"), US, "/x/", False),
    ("2.2.2-equal-rules-allow", to_all("Allow: /x", "Disallow: /x"), US, "/x", True),
    ("2.2.2-equal-rules-allow-whatever-the-order", to_all("Disallow: /x", "Allow: /x"), US, "/x", True),
    ("2.2.2-rules-equal-after-decoding-allow", to_all("Disallow: /%78", "Allow: /x"), US, "/x", True),
    ("2.2.2-robots-txt-is-allowed", to_all("Disallow: /"), US, "/robots.txt", True),
    ("2.2.2-robots-txt-is-allowed-to-those-named", lines(f"User-agent: {US}", "Disallow: /robots.txt"), US, "/robots.txt", True),
    ("2.2.2-only-the-robots-txt-at-the-root", to_all("Disallow: /"), US, "/x/robots.txt", False),
    ("2.2.2-table-row-1", to_all("Disallow: /foo/bar?baz=quz"), US, "/foo/bar?baz=quz", False),
    ("2.2.2-table-row-2", to_all("Disallow: /foo/bar?baz=https://foo.bar"), US, "/foo/bar?baz=https%3A%2F%2Ffoo.bar", False),
    ("2.2.2-table-row-2-the-other-way", to_all("Disallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar"), US, "/foo/bar?baz=https://foo.bar", False),
    ("2.2.2-table-row-2-both-plain", to_all("Disallow: /foo/bar?baz=https://foo.bar"), US, "/foo/bar?baz=https://foo.bar", False),
    ("2.2.2-table-row-2-behind-a-star", to_all("Disallow: /*baz=https://foo"), US, "/foo/bar?baz=https%3A%2F%2Ffoo.bar", False),
    ("2.2.2-table-row-3", to_all("Disallow: /foo/bar/ツ"), US, "/foo/bar/%E3%83%84", False),
    ("2.2.2-table-row-4", to_all("Disallow: /foo/bar/%E3%83%84"), US, "/foo/bar/%E3%83%84", False),
    ("2.2.2-table-row-4-the-other-way", to_all("Disallow: /foo/bar/%E3%83%84"), US, "/foo/bar/ツ", False),
    ("2.2.2-table-row-5", to_all("Disallow: /foo/bar/%62%61%7A"), US, "/foo/bar/baz", False),
    ("2.2.2-table-row-5-the-other-way", to_all("Disallow: /foo/bar/baz"), US, "/foo/bar/%62%61%7A", False),
    ("2.2.2-escapes-are-case-insensitive", to_all("Disallow: /%c3%a9"), US, "/%C3%A9", False),
    ("2.2.2-an-escaped-slash-is-no-slash", to_all("Disallow: /a/b"), US, "/a%2Fb", True),
    ("2.2.2-a-slash-is-no-escaped-slash", to_all("Disallow: /a%2Fb"), US, "/a/b", True),
    ("2.2.2-an-escaped-slash-is-itself", to_all("Disallow: /a%2Fb"), US, "/a%2fb", False),
    ("2.2.2-an-escaped-question-mark-begins-no-query", to_all("Disallow: /*?"), US, "/why%3F", True),
    ("2.2.2-other-reserved-characters-are-their-escapes", to_all("Disallow: /a:b@c"), US, "/a%3Ab%40c", False),
    ("2.2.2-an-escape-is-decoded-once", to_all("Disallow: /%2541"), US, "/A", True),
    ("2.2.2-octets-that-are-no-utf-8", b"User-agent: *\nDisallow: /caf\xe9", US, "/caf%E9", False),
    ("2.2.2-other-octets-that-are-no-utf-8", b"User-agent: *\nDisallow: /caf\xe9", US, "/caf%E8", True),
    ("2.2.2-escaped-octets-that-are-no-utf-8", to_all("Disallow: /caf%E9"), US, "/caf%E8", True),
    # ---- 2.2.3 special characters
    ("2.2.3-table-comment-in-line", to_all("Disallow: /x", "Allow: / # comment in line"), US, "/y", True),
    ("2.2.3-table-comment-on-its-own-line", to_all("# comment on its own line", "Disallow: /x"), US, "/x", False),
    ("2.2.3-table-end-of-the-pattern", to_all("Disallow: /", "Allow: /this/path/exactly$"), US, "/this/path/exactly", True),
    ("2.2.3-table-end-of-the-pattern-and-more", to_all("Disallow: /", "Allow: /this/path/exactly$"), US, "/this/path/exactly/not", False),
    ("2.2.3-table-star", to_all("Disallow: /", "Allow: /this/*/exactly"), US, "/this/path/exactly", True),
    ("2.2.3-table-star-more-between", to_all("Disallow: /", "Allow: /this/*/exactly"), US, "/this/a/b/exactly/c", True),
    ("2.2.3-table-star-less-between", to_all("Disallow: /", "Allow: /this/*/exactly"), US, "/this/exactly", False),
    ("2.2.3-table-escaped-star", to_all("Disallow: /path/file-with-a-%2A.html"), US, "/path/file-with-a-*.html", False),
    ("2.2.3-table-escaped-dollar", to_all("Disallow: /path/foo-%24"), US, "/path/foo-$", False),
    ("2.2.3-an-escaped-star-is-no-star", to_all("Disallow: /path/file-with-a-%2A.html"), US, "/path/file-with-a-b.html", True),
    ("2.2.3-an-escaped-dollar-is-no-end", to_all("Disallow: /path/foo-%24"), US, "/path/foo-", True),
    ("2.2.3-a-star-is-an-escaped-star-too", to_all("Disallow: /a*c"), US, "/a%2Ac", False),
    ("2.2.3-a-star-is-nothing-too", to_all("Disallow: /a*c"), US, "/ac", False),
    ("2.2.3-a-star-crosses-folders-and-the-query", to_all("Disallow: /a*z"), US, "/a/b?c=z", False),
    ("2.2.3-a-star-at-the-end-changes-nothing", to_all("Disallow: /a*"), US, "/a", False),
    ("2.2.3-a-star-at-the-beginning", to_all("Disallow: *.gif"), US, "/a/b.gif?c", False),
    ("2.2.3-only-a-star", to_all("Disallow: *"), US, "/x", False),
    ("2.2.3-several-stars", to_all("Disallow: /*a*b*c"), US, "/xaxbxcx", False),
    ("2.2.3-several-stars-in-order", to_all("Disallow: /*a*b*c"), US, "/xaxcxbx", True),
    ("2.2.3-stars-side-by-side", to_all("Disallow: /a**c"), US, "/abc", False),
    ("2.2.3-star-and-end", to_all("Disallow: /*.php$"), US, "/a.php", False),
    ("2.2.3-star-and-end-and-more", to_all("Disallow: /*.php$"), US, "/a.php?b", True),
    ("2.2.3-star-and-end-tries-the-last", to_all("Disallow: /*.php$"), US, "/a.php.php", False),
    ("2.2.3-star-and-end-without-overlap", to_all("Disallow: /aba*ba$"), US, "/aba", True),
    ("2.2.3-the-end-counts-the-query", to_all("Disallow: /a$"), US, "/a?b", True),
    ("2.2.3-the-root-only", to_all("Disallow: /$"), US, "/", False),
    ("2.2.3-the-root-only-and-more", to_all("Disallow: /$"), US, "/a", True),
    ("2.2.3-a-dollar-in-the-middle-is-a-dollar", to_all("Disallow: /a$b"), US, "/a$bc", False),
    ("2.2.3-a-dollar-in-the-middle-ends-nothing", to_all("Disallow: /a$b"), US, "/a", True),
    ("2.2.3-a-dollar-at-the-end-is-no-dollar", to_all("Disallow: /a$"), US, "/a$b", True),
    ("2.2.3-other-signs-mean-themselves", to_all("Disallow: /a.b+c(d)[e]"), US, "/a.b+c(d)[e]", False),
    ("2.2.3-a-dot-is-no-wildcard", to_all("Disallow: /a.b"), US, "/axb", True),
    # ---- 2.2.4 other records
    ("2.2.4-a-sitemap-does-not-end-a-group", to_all("Disallow: /x", "Sitemap: https://a.example/s.xml", "Disallow: /y"), US, "/y", False),
    ("2.2.4-a-sitemap-does-not-part-user-agents", lines("User-agent: a", "Sitemap: https://a.example/s.xml", "User-agent: b", "Disallow: /x"), "a", "/x", False),
    ("2.2.4-an-unknown-record-does-not-end-a-group", to_all("Disallow: /x", "Foo: bar", "Disallow: /y"), US, "/y", False),
    ("2.2.4-an-unknown-record-does-not-part-user-agents", lines("User-agent: a", "Foo: bar", "User-agent: b", "Disallow: /x"), "a", "/x", False),
    ("2.2.4-a-crawl-delay-does-not-part-user-agents", lines("User-agent: a", "Crawl-delay: 1", "User-agent: b", "Disallow: /x"), "a", "/x", False),
    ("2.2.4-an-unknown-record-does-not-join-groups", lines("User-agent: a", "Disallow: /x", "Foo: bar", "User-agent: b", "Disallow: /y"), "a", "/y", True),
    ("2.2.4-an-unknown-record-before-all-groups", lines("Host: a.example", "User-agent: *", "Disallow: /x"), US, "/x", False),
    ("2.2.4-a-longer-key-is-another-record", to_all("Allow: /", "Disallowed: /x", "No-Disallow: /x"), US, "/x", True),
    # ---- 2.3.1.5 parsing errors
    ("2.3.1.5-lines-without-a-colon", lines("hello", "User-agent: *", "out of here", "Disallow: /x"), US, "/x", False),
    ("2.3.1.5-lines-that-begin-with-a-colon", lines(":", "User-agent: *", ": /y", "::", "Disallow: /x"), US, "/x", False),
    ("2.3.1.5-html-around-the-rules", "<!DOCTYPE html><title>User-agent: *</title>\n<pre>\nUser-agent: *\nDisallow: /x\n</pre>", US, "/x", False),
    ("2.3.1.5-html-is-no-rule", "<html><body>\n<p>User-agent: *</p>\n<p>Disallow: /</p>\n</body></html>", US, "/x", True),
    ("2.3.1.5-binary-rubbish-around-the-rules", b"\x00\xff\xfe\x89PNG\r\n\x1a\nUser-agent: *\n\x80\x81:\x82\nDisallow: /x\n\x00", US, "/x", False),
    ("2.3.1.5-binary-rubbish-only", bytes(range(256)), US, "/x", True),
    ("2.3.1.5-a-path-without-a-slash-matches-nothing", to_all("Disallow: x", "Disallow: /y"), US, "/x", True),
    ("2.3.1.5-a-user-agent-without-a-name", lines("User-agent:", "Disallow: /x", "User-agent: *", "Disallow: /y"), US, "/x", True),
    # ---- 2.5 limits
    ("2.5-at-least-500-kib-are-read", to_all("#" * (500 * 1024 - 40), "Disallow: /x"), US, "/x", False),
    ("2.5-a-line-that-ends-at-the-limit-is-read", to_all("#" * (500 * 1024 - 27), "Disallow: /x"), US, "/x", False),
    ("2.5-a-line-that-is-cut-is-no-rule", to_all("#" * (500 * 1024 - 26), "Disallow: /x"), US, "/y", True),
    # ---- 5.1 simple example
    ("5.1-all-others-no-gif", SIMPLE, US, "/a/b.gif", False),
    ("5.1-all-others-gif-and-more", SIMPLE, US, "/a/b.gif?c", True),
    ("5.1-all-others-no-example", SIMPLE, US, "/example/page.html", False),
    ("5.1-all-others-publications", SIMPLE, US, "/publications/", True),
    ("5.1-all-others-gif-among-publications", SIMPLE, US, "/publications/a.gif", True),
    ("5.1-all-others-elsewhere", SIMPLE, US, "/elsewhere", True),
    ("5.1-foobot-page", SIMPLE, "foobot", "/example/page.html", True),
    ("5.1-foobot-gif", SIMPLE, "foobot", "/example/allowed.gif", True),
    ("5.1-foobot-another-page", SIMPLE, "foobot", "/example/other.html", False),
    ("5.1-foobot-not-the-rules-of-all", SIMPLE, "foobot", "/publications/", False),
    ("5.1-barbot-page", SIMPLE, "barbot", "/example/page.html", False),
    ("5.1-barbot-elsewhere", SIMPLE, "barbot", "/example/other.gif", True),
    ("5.1-bazbot-page", SIMPLE, "bazbot", "/example/page.html", False),
    ("5.1-bazbot-elsewhere", SIMPLE, "bazbot", "/", True),
    ("5.1-quxbot-anything", SIMPLE, "quxbot", "/example/page.html", True),
    ("5.1-quxbot-gif", SIMPLE, "quxbot", "/a.gif", True),
    # ---- 5.2 longest match
    ("5.2-the-longer-rule", LONGEST, "foobot", "/example/page/disallowed.gif", False),
    ("5.2-the-shorter-rule", LONGEST, "foobot", "/example/page/other.gif", True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("robots_txt", "agent", "path", "allowed"), [pytest.param(*case, id=name) for name, *case in CASES]
)
def test_what_a_robots_txt_allows(robots_txt, agent, path, allowed):
    body = robots_txt.encode() if isinstance(robots_txt, str) else robots_txt
    assert Rules.read(body, agent).allows(f"http://a.example{path}") is allowed


def test_the_cases_differ():
    assert len({case[0] for case in CASES}) == len({case[1:] for case in CASES}) == len(CASES)


# ---- 2.3 access method, 2.4 caching, 2.5 limits: real crawls of three pages, of which one is disallowed

LINKS = {"a": ["a/open", "a/closed/x"], "a/open": [], "a/closed/x": []}
ALL, SOME, NONE = 3, 2, 0
CLOSED = Answer(200, "text/plain", to_all("Disallow: /closed/").encode())


class SilentWeb(MemoryWeb):
    """A web whose robots.txt cannot be reached."""

    def get(self, url: str) -> Answer:
        if url.endswith("/robots.txt"):
            raise ConnectionRefusedError("nobody there")
        return super().get(url)


def fetched(crawl, answers: dict[str, Answer], web: MemoryWeb | None = None, **settings) -> int:
    web = web or MemoryWeb()
    web.answers |= small_web(LINKS).answers | {at(name): answer for name, answer in answers.items()}
    settings = {"RETRY_ENABLED": False, "DOWNLOAD_DELAY": 0, **settings}
    return len(crawl("breadth_first", web, settings=settings, seeds=at("a")).urls)


def redirects(hops: int, host: str = "a") -> dict[str, Answer]:
    """Answers that lead from robots.txt to the rules, over that many redirects."""
    names = ["a/robots.txt", *(f"{host}/hop-{hop}" for hop in range(1, hops + 1))]
    moved = {name: Answer(301, location=at(target)) for name, target in pairwise(names)}
    return {**moved, names[-1]: CLOSED}


@pytest.mark.parametrize(
    ("answers", "pages"),
    [
        pytest.param({"a/robots.txt": CLOSED}, SOME, id="2.3.1.1-success"),
        pytest.param(
            {"a/robots.txt": CLOSED._replace(content_type="text/html")}, SOME, id="2.3.1.1-success-called-html"
        ),
        pytest.param({"a/robots.txt": Answer(200, "text/plain")}, ALL, id="2.3.1.1-success-and-empty"),
        pytest.param({"b/robots.txt": CLOSED}, ALL, id="2.3-the-rules-of-another-host"),
        pytest.param({"a/open/robots.txt": CLOSED}, ALL, id="2.3-rules-in-a-folder"),
        pytest.param(redirects(1), SOME, id="2.3.1.2-one-redirect"),
        pytest.param(redirects(5), SOME, id="2.3.1.2-five-redirects"),
        pytest.param(redirects(1, "b"), SOME, id="2.3.1.2-a-redirect-to-another-host"),
        pytest.param(redirects(5, "b"), SOME, id="2.3.1.2-five-redirects-on-another-host"),
        pytest.param(
            {**redirects(1, "b"), "b/robots.txt": Answer(200, "text/plain", to_all("Disallow: /").encode())},
            SOME,
            id="2.3.1.2-a-redirect-does-not-ask-the-other-host's-rules",
        ),
        pytest.param(
            {"a/robots.txt": Answer(302, location=at("a/gone"))}, ALL, id="2.3.1.2-a-redirect-to-what-is-not-there"
        ),
        pytest.param({"a/robots.txt": Answer(301)}, ALL, id="2.3.1.2-a-redirect-to-nowhere"),
        *(
            pytest.param({"a/robots.txt": Answer(status)}, ALL, id=f"2.3.1.3-unavailable-{status}")
            for status in (400, 401, 403, 404, 410, 451)
        ),
        pytest.param(
            {"a/robots.txt": CLOSED._replace(status=404)}, ALL, id="2.3.1.3-unavailable-whatever-is-in-the-answer"
        ),
        *(
            pytest.param({"a/robots.txt": Answer(status)}, NONE, id=f"2.3.1.4-unreachable-{status}")
            for status in (500, 502, 504, 599)
        ),
        pytest.param(
            {"a/robots.txt": CLOSED._replace(status=500)}, NONE, id="2.3.1.4-unreachable-whatever-is-in-the-answer"
        ),
        pytest.param(
            {"a/robots.txt": Answer(301, location=at("a/hop")), "a/hop": Answer(500)},
            NONE,
            id="2.3.1.4-unreachable-after-a-redirect",
        ),
    ],
)
def test_what_an_answer_allows(crawl, answers, pages):
    assert fetched(crawl, answers) == pages


def test_nothing_is_fetched_from_a_host_that_does_not_answer(crawl):
    """2.3.1.4."""
    assert fetched(crawl, {}, SilentWeb()) == NONE


@pytest.mark.parametrize(("hours_per_page", "asked"), [(7, 1), (25, 3)])
def test_rules_are_used_for_a_day(crawl, monkeypatch, hours_per_page, asked):
    """2.4."""

    class SlowWeb(MemoryWeb):
        now = 0.0
        asked = 0

        def get(self, url: str) -> Answer:
            if url.endswith("/robots.txt"):
                self.asked += 1
            elif not url.endswith(".json"):
                self.now += hours_per_page * 3600
            return super().get(url)

    web = SlowWeb()
    monkeypatch.setattr(clock, "monotonic", lambda: web.now)
    assert fetched(crawl, {"a/robots.txt": Answer(200, "text/plain")}, web) == ALL
    assert web.asked == asked


def test_rules_that_changed_are_obeyed(crawl, monkeypatch):
    """2.4."""
    monkeypatch.setattr(robots, "MAX_AGE", -1.0)

    class ChangingWeb(MemoryWeb):
        def get(self, url: str) -> Answer:
            if url == at("a/open"):
                self.answers[at("a/robots.txt")] = CLOSED
            return super().get(url)

    assert fetched(crawl, {"a/robots.txt": Answer(200, "text/plain")}, ChangingWeb()) == SOME


@pytest.mark.parametrize(("filler", "pages"), [(499, NONE), (501, ALL)])
def test_500_kib_are_read(crawl, filler, pages):
    """2.5."""
    body = to_all(*["#" * 1023] * filler, "Disallow: /").encode()
    assert fetched(crawl, {"a/robots.txt": Answer(200, "text/plain", body)}) == pages
