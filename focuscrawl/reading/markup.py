"""What the tags and attributes of HTML say about the text inside them."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: Tags whose content is not shown as text.
HIDDEN = ("style", "textarea", "select", "noembed")
#: Drawings and formulas are hidden; the HTML tags in BREAK_OUT end them, even if they are never closed.
FOREIGN = ("svg", "math")
BREAK_OUT = (
    *("b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2"),
    *("h3", "h4", "h5", "h6", "head", "hr", "i", "img", "li", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s"),
    *("small", "span", "strong", "strike", "sub", "sup", "table", "td", "th", "tr", "tt", "u", "ul", "var"),
)
#: Tags that begin a block of text.
BLOCKS = (
    *("p", "div", "td", "th", "tr", "table", "caption", "section", "article", "aside", "header", "footer", "nav"),
    *("form", "fieldset", "blockquote", "pre", "address", "center", "body", "dd", "dt", "li", "figure", "figcaption"),
    *("main", "details", "summary", "hr"),
)
LISTS = ("ul", "ol", "dl", "menu", "dir")

#: The parts of a page: its own text, and what is around it on most pages of a site.
BODY, MENU, FOOTER, ASIDE, NOTICE = "body", "menu", "footer", "aside", "notice"
#: A list of links in the body.
LIST = "list"
#: The part that a tag begins by itself.
PARTS = {"nav": MENU, "footer": FOOTER, "aside": ASIDE, "main": BODY, "article": BODY}

_ROLES = {
    **dict.fromkeys(("navigation", "menu", "menubar", "search", "banner"), MENU),
    "contentinfo": FOOTER,
    "complementary": ASIDE,
    **dict.fromkeys(("dialog", "alertdialog", "alert"), NOTICE),
    **dict.fromkeys(("main", "article"), BODY),
}
#: What class names and ids call the parts, as whole words: `main-menu`, `site_footer`, `cookie-notice`.
_NAMES = re.compile(
    r"(?<![a-z])(?:(?P<notice>cookies?|cookiebar|cookiebanner|consent|gdpr|cmp|popup|modal)"
    r"|(?P<menu>nav|navi|navbar|navigation|menu|mainnav|topnav|subnav|sitenav|mainmenu|topmenu|submenu|breadcrumbs?"
    r"|masthead|topbar|toolbar|pagination|pager)"
    r"|(?P<footer>footer|copyright|colophon|imprint|sitefooter|pagefooter)"
    r"|(?P<aside>sidebar|sidenav|aside|related|similar|recommended|teasers?|share|sharing|social|widgets?|advert|ads"
    r"|promo|newsletter|tagcloud|blogroll))(?![a-z])",
    re.IGNORECASE,
)
#: Attributes longer than this are data; names met more often than this are made up.
_LONGEST, _MOST = 200, 10_000
_known: dict[str, str] = {}


def step_of(tag: str, attributes: Mapping[str, str]) -> str:
    """An element in a tag path: its tag and the first of its classes."""
    classes = attributes.get("class", "")[:50].split(None, 1)
    return f"{tag}.{classes[0]}" if classes else tag


def part_of(attributes: Mapping[str, str]) -> str:
    """The part of a page that an element begins by its attributes; empty if they say nothing."""
    role = attributes.get("role")
    if role is not None and role.lower() in _ROLES:
        return _ROLES[role.lower()]
    names = f"{attributes.get('class', '')} {attributes.get('id', '')}"
    part = _known.get(names)
    if part is None:
        part = _part_by(names) if len(names) <= _LONGEST else ""
        if len(_known) >= _MOST:
            _known.clear()
        _known[names] = part
    return part


def _part_by(names: str) -> str:
    found = _NAMES.search(names)
    return found.lastgroup or "" if found else ""
