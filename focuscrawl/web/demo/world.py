"""What the sites of the embedded web share: their hosts, the addresses of articles, and the markup of pages."""

from __future__ import annotations

import html
import re
from random import Random

from focuscrawl.web.source import LINK, Article, Subject
from focuscrawl.web.webs import MemoryWeb

TOPICS = {
    # topic: (handbook, club, archive)
    "sorting": ("sorting-handbook.example", "algorithm-club.example", "old-lab.example"),
    "gardening": ("kitchen-garden.example", "allotment-society.example", "seed-drawer.example"),
    "astronomy": ("night-sky.example", "stargazers.example", "observatory-papers.example"),
    "baking": ("bread-book.example", "bakers-bench.example", "village-oven.example"),
    "seashore": ("shore-guide.example", "shell-collectors.example", "tide-tables.example"),
    "clocks": ("clock-manual.example", "watch-menders.example", "town-clock.example"),
    "recycling": ("waste-guide.example", "repair-cafe.example", "sorting-plant.example"),
    "chess": ("chess-primer.example", "chess-circle.example", "endgame-notebook.example"),
    "railways": ("railway-companion.example", "branch-line.example", "signal-box.example"),
    "birds": ("bird-book.example", "field-club.example", "nest-records.example"),
    "volcanoes": ("volcano-atlas.example", "lava-watch.example", "ash-archive.example"),
    "sailing": ("sailing-manual.example", "harbour-club.example", "knot-locker.example"),
}
DIARIES = ("slow-diary.example", "back-room.example", "rainy-days.example", "two-cups.example")
DIRECTORY = "crossroads.example"
ANSWERS = "ask-anybody.example"
MIRROR = "mirror.crossroads.example"
CALENDAR = "village-hall.example"
MOVED = "handbooks-old.example"
OFFICE = "town-office.example"


class World:
    """The web that is being built, the addresses of its articles, and how its pages look."""

    def __init__(self, subjects: dict[str, Subject]) -> None:
        self.subjects = subjects
        self.web = MemoryWeb()
        self.random = Random(1997)

    # ---- URLs

    def handbook(self, article: Article) -> str:
        return f"http://{TOPICS[article.topic][0]}/articles/{article.slug}.html"

    def note(self, article: Article) -> str:
        return f"http://{TOPICS[article.topic][1]}/notes/{article.slug}"

    def paper(self, article: Article) -> str:
        return f"http://{TOPICS[article.topic][2]}/papers/{article.slug}.htm"

    def home(self, topic: str) -> str:
        return f"http://{TOPICS[topic][0]}/"

    # ---- markup

    def page(
        self, url: str, title: str, body: str, labels: list[str], *, style: int, nav: str = "", meta: str = ""
    ) -> None:
        """Add a page in its site's style of markup: clean, careless or outdated."""
        name = html.escape(title)
        if style == 0:
            text = (
                f'<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8"><title>{name}</title>{meta}</head>\n<body>\n'
                f"<header><nav>{nav}</nav></header>\n<main>\n<h1>{name}</h1>\n{body}\n</main>\n"
                "<script>var page = 1; // <a href='/script.html'>no link</a>\n</script></body>\n</html>\n"
            )
        elif style == 1:  # tables for layout, capitals, no quotes
            text = (
                f"<HTML><HEAD><TITLE>{name}</TITLE>{meta}</HEAD>\n<BODY BGCOLOR=#ffffff>\n<TABLE WIDTH=100%><TR>"
                f"<TD WIDTH=20%>{nav}</TD>\n<TD><H1>{name}</H1>\n{body}</TD></TR></TABLE></BODY></HTML>\n"
            )
        elif style == 2:  # no element is ever closed
            loose = re.sub(r"</(p|li|dd|dt|td|tr)>", "", body)
            text = f"<title>{name}</title>{meta}\n<body>{nav}<h1>{name}</h1>\n{loose}\n<p><font size=2>end of page"
        else:  # XHTML
            text = (
                '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" '
                '"http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">\n<html xmlns="http://www.w3.org/1999/xhtml" '
                f'xml:lang="en"><head><title>{name}</title>{meta}</head><body><div id="nav">{nav}</div><h1>{name}</h1>'
                f"{body}</body></html>\n"
            )
        self.web.add(url, text, labels, "text/html; charset=utf-8" if style in (0, 3) else "text/html")

    def text(self, article: Article, paragraph: str) -> str:
        """A paragraph of the source as HTML, with its links."""
        subject = self.subjects[article.topic]
        parts: list[str] = []
        end = 0
        for match in LINK.finditer(paragraph):
            parts.append(html.escape(paragraph[end : match.start()], quote=False))
            end = match.end()
            if match[1]:
                target, anchor = self.handbook(subject.articles[match[1]]), match[2] or match[1]
            else:
                target, anchor = self.home(match[3]), match[4]
            parts.append(f'<a href="{target}">{html.escape(anchor)}</a>')
        parts.append(html.escape(paragraph[end:], quote=False))
        return "".join(parts)
