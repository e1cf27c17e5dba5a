"""Shells: pages without content of their own, which scripts fill in a browser.

Such a page says nothing about its topic: an empty `<div id=root>`, a request to turn on JavaScript, a title that may
be that of the whole site. It counts as unread. Real pages must not be taken for shells, so the test is strict: little
text, few links, at least one script, and a place that waits for content or a notice that asks for JavaScript.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from lxml import etree

from focuscrawl.page import Page

#: How `Page.problem` of a shell begins, what precedes the reason if a browser did not help, and what to do otherwise.
SHELL = "empty shell"
IN_BROWSER = ", in a browser too: "
REMEDY = "a browser can read it: pip install 'focuscrawl[browser]', then -s FOCUS_BROWSER=shells"

#: The content type of a page as a browser shows it: its bytes are not those that the server sent.
RENDERED = "text/html; charset=utf-8; rendered=browser"

#: Longest text of a page that is looked at, before and after white space is folded, in characters.
_MAX_RAW, _MAX_TEXT = 5_000, 1_000
#: Most links of a shell: some have a menu or a footer.
_MAX_LINKS = 9
#: Longest visible text around an empty root, and inside it ("Loading …").
_MAX_AROUND, _MAX_INSIDE = 400, 80
#: Longest visible text beside a notice, and longest notice.
_MAX_BESIDE, _MAX_NOTICE = 60, 400
#: More pictures than this are content.
_MAX_PICTURES = 2

#: Where frameworks put a page: React, Vue, Next, Nuxt, Gatsby, Svelte, Quasar, Angular and their kin.
_ROOTS = frozenset(
    (
        *("root", "app", "__next", "__nuxt", "___gatsby", "svelte", "q-app", "app-root", "react-root", "reactroot"),
        *("react-app", "vue-app", "app-container", "app-mount", "application", "mount", "main-app", "root-app", "spa"),
        *("ember-app", "single-spa-application", "elm", "elm-app", "flutter-app"),
    )
)
_HIDDEN = frozenset(("script", "style", "template", "title", "noembed", "noframes", "svg", "math"))

#: JavaScript, as it is written in the scripts of the world.
_JAVASCRIPT = (
    r"java[ -]?script|джава ?скрипт|ява ?скрипт|جافا ?سكري?بت|جاوا ?اسکریپت|ג'אווה ?סקריפט|जावास्क्रिप्ट|জাভাস্ক্রিপ্ট"
    r"|จาวาสคริปต์|자바 ?스크립트|ジャバスクリプト"
)
_NAMES_IT = re.compile(_JAVASCRIPT, re.IGNORECASE)
#: What a page asks of its readers or says of their browser: stems of words, in lower case.
_ASKS = (
    *(
        "enabl",
        "disabled",
        "require",
        "needs",
        "must",
        "support",
        "allow",
        "turn on",
        "turn it on",
        "switch",
    ),  # English
    *("aktivier", "schalte", "benötig", "erforderlich", "inschakel", "vereist", "nodig"),  # German, Dutch
    *("activ", "nécessaire", "nécessite", "habilit", "requiere", "necesit", "precis", "ativ"),  # French, Spanish, …
    *("attiv", "abilit", "richied", "necessari"),  # Italian
    *("aktiver", "slå på", "kräv", "kræve", "krever", "käyttöön", "vaati"),  # the North
    *("włącz", "wymag", "zapn", "povol", "vyžad", "engedélyez", "kapcsol", "szükség"),  # Polish, Czech, Hungarian
    *("включ", "отключ", "требу", "необходим", "увімкн", "потрібн", "ενεργοποι", "απαιτ"),  # Russian, Ukrainian, Greek
    *("etkinleştir", "gerek", "bật", "aktifkan", "diperlukan"),  # Turkish, Vietnamese, Indonesian
    *("有効", "必要", "オン", "启用", "啟用", "开启", "開啟", "需要", "사용", "필요", "활성"),
    *("تفعيل", "تمكين", "يتطلب", "فعال", "הפעל", "נדרש", "เปิด", "ต้อง", "सक्षम", "आवश्यक"),
)
_SCRIPT = re.compile(r"<script", re.IGNORECASE)


def why_shell(page: Page, text: str) -> str | None:
    """Why a page that was just read is an empty shell; None if it is not. *text* is its HTML.

    Most pages are told by the length of their text alone.
    """
    if len(page.raw_text) > _MAX_RAW or len(page.links) > _MAX_LINKS or page.links_left_out:
        return None
    if len("".join(page.raw_text.split())) > _MAX_TEXT or not _SCRIPT.search(text):
        return None
    survey = _Survey()
    parser = etree.HTMLParser(target=survey, encoding="utf-8")  # type: ignore[arg-type]
    parser.feed(text.encode("utf-8", "replace"))
    parser.close()
    return survey.verdict()


def mark_shell(page: Page, why: str) -> None:
    """Make a page one that could not be read, because it is an empty shell."""
    page.shell = why
    page.problem = f"{SHELL}: {why}"


def is_shell(problem: str | None) -> bool:
    """Whether the problem of a page is that it is an empty shell."""
    return problem is not None and problem.startswith(SHELL)


def remedy(problem: str | None) -> str:
    """What to do about the problem of a page, if it is a shell that no browser has tried to read; else empty."""
    return REMEDY if problem is not None and is_shell(problem) and IN_BROWSER not in problem else ""


class _Survey:
    """Receives the parser's events and notes what tells a shell from a short page."""

    def __init__(self) -> None:
        self.depth = 0
        self.scripts = self.pictures = 0
        #: Frames, refreshes and fields to fill in: a page with these is short for another reason.
        self.other_reason = False
        self.hidden: list[int] = []
        self.noscript: list[int] = []
        self.text: list[str] = []
        self.notice: list[str] = []
        #: The open root: its name, its depth, and what is in it.
        self.root, self.root_depth, self.root_text, self.root_links = "", 0, 0, 0
        self.empty_root = ""

    # ---- events from lxml

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if tag == "script":
            kind = attributes.get("type", "").lower()
            self.scripts += not kind or "javascript" in kind or kind == "module"
        if tag in _HIDDEN:
            self.hidden.append(self.depth)
        elif tag == "noscript":
            self.noscript.append(self.depth)
        elif tag in ("frame", "frameset", "textarea", "object"):
            self.other_reason = True
        elif tag == "iframe":
            self.other_reason |= not self.noscript and not _is_hidden(attributes)
        elif tag == "input":
            self.other_reason |= attributes.get("type", "text").lower() not in ("hidden", "checkbox")
        elif tag == "meta" and attributes.get("http-equiv", "").lower() == "refresh":
            self.other_reason |= not self.noscript
        elif tag in ("img", "video", "audio", "picture"):
            self.pictures += not self.noscript
        elif tag == "a" and self.root:
            self.root_links += "href" in attributes
        if not self.root and not self.hidden and not self.noscript:
            self._note_root(tag, attributes)

    def _note_root(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = attributes.get("id", "")
        if name.lower() in _ROOTS:
            self.root = f"<{tag} id={name}>"
        elif "-" in tag and tag.rpartition("-")[2] in ("app", "root"):  # <app-root>, <my-app>, <ion-app>
            self.root = f"<{tag}>"
        elif "ng-app" in attributes or "data-ng-app" in attributes or "ng-version" in attributes:
            self.root = f"<{tag} ng-app>" if tag not in ("html", "body") else ""
        if self.root:
            self.root_depth, self.root_text, self.root_links = self.depth, 0, 0

    def end(self, tag: str) -> None:
        if self.root and self.depth == self.root_depth:
            if self.root_text <= _MAX_INSIDE and not self.root_links:
                self.empty_root = self.empty_root or self.root[:100]
            self.root = ""
        for opened in (self.hidden, self.noscript):
            if opened and opened[-1] == self.depth:
                opened.pop()
        self.depth -= 1

    def data(self, text: str) -> None:
        if self.hidden:
            return
        if self.noscript:
            self.notice.append(text)
            return
        self.text.append(text)
        if self.root:
            self.root_text += len("".join(text.split()))

    def close(self) -> None:
        pass

    # ---- the end

    def verdict(self) -> str | None:
        if not self.scripts or self.other_reason or self.pictures > _MAX_PICTURES:
            return None
        text, notice = (" ".join(" ".join(parts).split()) for parts in (self.text, self.notice))
        if len(notice) > _MAX_NOTICE:
            return None
        if self.empty_root and len(text) <= _MAX_AROUND:
            return f"{self.empty_root} is left to scripts"
        if _NAMES_IT.search(notice) and len(text) <= _MAX_BESIDE:
            return f'it says "{notice[:100]}"'
        if len(text) <= _MAX_NOTICE // 2 and _NAMES_IT.search(text) and _asks(text):
            return f'it says "{text[:100]}"'
        return None


def _asks(text: str) -> bool:
    small = text.lower()
    return any(stem in small for stem in _ASKS)


def _is_hidden(attributes: Mapping[str, str]) -> bool:
    """Whether a frame is one that nobody sees, as those that count visitors."""
    style = attributes.get("style", "").replace(" ", "").lower()
    return "hidden" in attributes or "display:none" in style or attributes.get("height", "") in ("0", "1")
