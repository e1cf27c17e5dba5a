"""Small labelled webs in many languages, from the text files of tests/webs/.

Each file NAME.txt has the pages of a language, host by host; NAME.toml beside it is a topic with ten keywords. A host
begins with `=== HOST STYLE` and a few lines `key: value`:

    === orgelfreunde.example article
    name: the site's name, part of every title
    menu: Text /path | Text /path
    latest: heading of a list of other pages of the host, which every page has
    cookies: a notice
    footer: a text

A page begins with `--- PATH`, then `relevant` if a reader would say that its main text is about the topic, and options:
`lang=en` declares another language than that of the file, `lang=none` declares none; `charset=NAME` encodes the page and
says so in a meta tag, `header=NAME` says so in the HTTP header. The text is a little Markdown: `# title`, `## heading`,
`- item`, `[text](/path)`, paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from focuscrawl.testing import crawl
from focuscrawl.web.webs import MemoryWeb

FOLDER = Path(__file__).parent / "webs"
#: Languages with a web of 24 pages or more, and those with ten pages.
LARGE = ("de", "fr", "es", "ru", "ar", "ja", "zh", "en")
SMALL = ("it", "nl", "pl", "tr", "hi", "th", "ko", "el")
#: The topic that has keywords in several languages, which have the same subject.
MIXED = "mixed"
MIXED_LANGUAGES = ("de", "fr", "en")
#: The label of relevant pages.
RELEVANT = "relevant"

_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]+)\)")
_RIGHT_TO_LEFT = ("ar",)


@dataclass
class Site:
    """A host, and what all its pages have in common."""

    host: str
    style: str
    language: str
    about: dict[str, str] = field(default_factory=dict)
    pages: list[Source] = field(default_factory=list)


@dataclass
class Source:
    """A page as it was written."""

    path: str
    relevant: bool
    options: dict[str, str]
    lines: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.lines[0].removeprefix("# ")


def topic_file(name: str) -> Path:
    """The topic of a language, or MIXED."""
    return FOLDER / f"{name}.toml"


def language_web(*languages: str) -> MemoryWeb:
    """The web of a language, or of several together."""
    web = MemoryWeb()
    for language in languages:
        for site in sites(language):
            if site.pages[0].path != "/":  # as encyclopedias do
                web.redirect(f"http://{site.host}/", f"http://{site.host}{site.pages[0].path}")
            for number, source in enumerate(site.pages):
                others = [site.pages[(number + step) % len(site.pages)] for step in range(1, min(4, len(site.pages)))]
                charset = source.options.get("charset") or source.options.get("header") or "utf-8"
                html = _document(site, source, others)
                content_type = f"text/html; charset={charset}" if "header" in source.options else "text/html"
                labels = [RELEVANT] if source.relevant else []
                body = html.encode(charset, "xmlcharrefreplace")
                web.add(f"http://{site.host}{source.path}", body, labels, content_type)
    return web


def sites(language: str) -> list[Site]:
    """The hosts of a language's file."""
    found: list[Site] = []
    page: Source | None = None
    for line in (FOLDER / f"{language}.txt").read_text("utf-8").splitlines():
        if line.startswith("=== "):
            host, style = line.split()[1:]
            found.append(Site(host, style, language))
            page = None
        elif line.startswith("--- "):
            path, *words = line.split()[1:]
            options = dict(word.split("=") for word in words if word != RELEVANT)
            page = Source(path, RELEVANT in words, options)
            found[-1].pages.append(page)
        elif page is not None:
            if line.strip():
                page.lines.append(line.strip())
        elif line.strip() and not line.startswith("//"):
            key, _, value = line.partition(": ")
            found[-1].about[key] = value
    return found


def _inline(text: str) -> str:
    return _LINK.sub(lambda link: f'<a href="{link[2]}">{link[1]}</a>', escape(text, quote=False))


def _blocks(lines: list[str], paragraph: str = "<p>{}</p>") -> Iterator[str]:
    """The HTML of a text, block by block."""
    items: list[str] = []
    for line in [*lines, ""]:
        if line.startswith("- "):
            items.append(f"<li>{_inline(line[2:])}</li>")
            continue
        if items:
            yield f"<ul>{''.join(items)}</ul>"
            items = []
        if line.startswith("## "):
            yield f"<h2>{_inline(line[3:])}</h2>"
        elif line:
            yield paragraph.format(_inline(line))


def _document(site: Site, source: Source, others: list[Source]) -> str:
    language = source.options.get("lang", site.language)
    attributes = "" if language == "none" else f' lang="{language}"'
    if site.language in _RIGHT_TO_LEFT:
        attributes += ' dir="rtl"'
    charset = source.options.get("charset") or ("" if "header" in source.options else "utf-8")
    name = site.about.get("name", "")
    title = f"{source.title} – {name}" if name else source.title
    head = f'<meta charset="{charset}">' if charset else ""
    menu = [tuple(item.strip().rsplit(" ", 1)) for item in site.about.get("menu", "").split("|") if item.strip()]
    links = [f'<a href="{path}">{escape(text)}</a>' for text, path in menu]
    latest = [f'<a href="{other.path}">{escape(other.title)}</a>' for other in others]
    body = STYLES[site.style](site, source, links, latest)
    return f"<!DOCTYPE html>\n<html{attributes}>\n<head>{head}<title>{escape(title)}</title></head>\n{body}\n</html>\n"


def _items(links: list[str]) -> str:
    return "".join(f"<li>{link}</li>" for link in links)


def _article(site: Site, source: Source, links: list[str], latest: list[str]) -> str:
    """A blog or magazine of today, with the tags that say what is what."""
    about = site.about
    cookies = about.get("cookies")
    return "\n".join(
        [
            "<body>",
            f'<header><a class="logo" href="/">{about["name"]}</a><nav><ul>{_items(links)}</ul></nav></header>',
            f"<main><article><h1>{source.title}</h1>",
            *_blocks(source.lines[1:]),
            "</article></main>",
            f"<aside><h3>{about['latest']}</h3><ul>{_items(latest)}</ul></aside>",
            f"<footer><p>{_inline(about.get('footer', ''))}</p></footer>",
            f'<div id="cookie-banner" role="dialog"><p>{cookies}</p><button>OK</button></div>' if cookies else "",
            "</body>",
        ]
    )


def _divs(site: Site, source: Source, links: list[str], latest: list[str]) -> str:
    """A newspaper of a few years ago: containers in containers, and the notice comes first."""
    about = site.about
    cookies = about.get("cookies")
    return "\n".join(
        [
            '<body class="single"><div id="page">',
            f'<div class="cc-window"><div class="cc-message">{cookies}</div></div>' if cookies else "",
            f'<div class="top"><div class="brand">{about["name"]}</div><div class="nav">{" ".join(links)}</div></div>',
            f'<div class="row"><div class="col-8"><div class="content"><div class="headline">{source.title}</div>',
            *_blocks(source.lines[1:], '<div class="text">{}</div>'),
            f'</div></div><div class="col-4"><div class="box"><div class="box-title">{about["latest"]}</div>',
            "".join(f'<div class="teaser">{link}</div>' for link in latest),
            f'</div></div></div><div class="bottom">{_inline(about.get("footer", ""))}</div></div></body>',
        ]
    )


def _wiki(site: Site, source: Source, links: list[str], latest: list[str]) -> str:
    """An encyclopedia: the content first, menus after it."""
    about = site.about
    return "\n".join(
        [
            f'<body><div id="content" class="mw-body"><h1 id="firstHeading">{source.title}</h1>',
            '<div id="mw-content-text"><div class="mw-parser-output">',
            *_blocks(source.lines[1:]),
            "</div></div></div>",
            f'<div id="mw-navigation"><h2>{about["name"]}</h2><div class="portal"><ul>{_items(links)}</ul></div>',
            f'<div class="portal"><h3>{about["latest"]}</h3><ul>{_items(latest)}</ul></div></div>',
            f'<div id="footer"><ul><li>{_inline(about.get("footer", ""))}</li></ul></div></body>',
        ]
    )


def _tables(site: Site, source: Source, links: list[str], latest: list[str]) -> str:
    """The home page of a small firm, made in 1999."""
    about = site.about
    return "\n".join(
        [
            '<body bgcolor="#ffffcc"><table width="760" border="0" cellpadding="4">',
            f'<tr><td colspan="2" bgcolor="#003366"><font color="white" size="5">{about["name"]}</font></td></tr>',
            f'<tr><td width="150" valign="top" bgcolor="#eeeeee">{"<br>".join(links)}<hr>',
            f"<b>{about['latest']}</b><br>{'<br>'.join(latest)}</td>",
            f'<td valign="top"><font face="Arial" size="4"><b>{source.title}</b></font><br>',
            *_blocks(source.lines[1:], '<font face="Arial" size="2">{}</font><br><br>'),
            f'</td></tr><tr><td colspan="2" align="center"><font size="1">{_inline(about.get("footer", ""))}</font>',
            "</td></tr></table></body>",
        ]
    )


def _forum(site: Site, source: Source, links: list[str], latest: list[str]) -> str:
    """A thread of a forum: every paragraph is a post."""
    about = site.about
    post = '<div class="post"><div class="author">#</div><div class="postbody">{}</div></div>'
    return "\n".join(
        [
            f'<body><div id="wrap"><div id="header"><h2>{about["name"]}</h2></div><ul class="navbar">{_items(links)}</ul>',
            f'<h1 class="topic-title">{source.title}</h1><div class="posts">',
            *_blocks(source.lines[1:], post),
            f'</div><div class="similar"><h4>{about["latest"]}</h4><ul>{_items(latest)}</ul></div>',
            f'<div class="copyright">{_inline(about.get("footer", ""))}</div></div></body>',
        ]
    )


STYLES: dict[str, Callable[[Site, Source, list[str], list[str]], str]] = {
    "article": _article,
    "divs": _divs,
    "wiki": _wiki,
    "tables": _tables,
    "forum": _forum,
}


@dataclass(frozen=True)
class Measured:
    """How well the matched pages of a crawl are the relevant ones."""

    #: URL by URL: the relevance that the crawl saw, whether it matched, and whether the page is relevant.
    pages: Mapping[str, tuple[float, bool, bool]]

    @property
    def relevant(self) -> int:
        return sum(relevant for _, _, relevant in self.pages.values())

    @property
    def missed(self) -> list[str]:
        """Relevant pages that did not match."""
        return [url for url, (_, matched, relevant) in self.pages.items() if relevant and not matched]

    @property
    def wrong(self) -> list[str]:
        """Pages that matched and are not relevant."""
        return [url for url, (_, matched, relevant) in self.pages.items() if matched and not relevant]

    @property
    def precision(self) -> float:
        """The share of matched pages that are relevant; none if nothing matched."""
        matched = sum(matched for _, matched, _ in self.pages.values())
        return (matched - len(self.wrong)) / max(1, matched)

    @property
    def recall(self) -> float:
        """The share of relevant pages that matched."""
        return 1 - len(self.missed) / max(1, self.relevant)

    @property
    def average_precision(self) -> float:
        """Of the pages in the order of their relevance. Equal ones are ordered with the irrelevant first."""
        ranked = sorted(self.pages.values(), key=lambda page: (-page[0], page[2]))
        found, total = 0, 0.0
        for rank, (_, _, relevant) in enumerate(ranked, 1):
            if relevant:
                found += 1
                total += found / rank
        return total / max(1, found)

    @classmethod
    def together(cls, several: Iterable[Measured]) -> Measured:
        """Several crawls of different webs as if they were one."""
        return cls({url: page for one in several for url, page in one.pages.items()})


def measure(name: str, folder: Path, spider: str = "best_first", seeds: Sequence[str] = ()) -> Measured:
    """Crawl the web of a language, or of MIXED, to the last page, into *folder*.

    By its topic, or by nothing but *seeds*, if there are any.
    """
    web = language_web(*(MIXED_LANGUAGES if name == MIXED else (name,)))
    given = {"seeds": ",".join(seeds)} if seeds else {"topic": topic_file(name)}
    crawled = crawl(spider, web, folder, **given)
    matched = set(crawled.matched)
    relevance = {url: relevance or 0.0 for url, relevance in crawled.sql("SELECT url, relevance FROM page")}
    missing = set(web.page_urls()) - relevance.keys()
    if missing:
        raise ValueError(f"web '{name}': the crawl did not reach {', '.join(sorted(missing))}")
    return Measured({url: (relevance[url], url in matched, RELEVANT in web.labels(url)) for url in web.page_urls()})


def three_relevant(name: str) -> list[str]:
    """Three relevant pages of a language's web, from its first, middle and last part."""
    web = language_web(name)
    relevant = [url for url in web.page_urls() if RELEVANT in web.labels(url)]
    return [relevant[0], relevant[len(relevant) // 2], relevant[-1]]
