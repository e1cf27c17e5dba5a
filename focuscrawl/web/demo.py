"""The embedded web: a small world of 12 topics to crawl with no network.

The articles are in `data/web/<topic>.txt`; this module lays them out as sites. Each topic has a handbook (the articles),
a club (notes on them, in the words of an enthusiast) and an archive that is linked from diaries only, so that one has
to pass through pages about other things to find it. Beside them stand a directory, a question-and-answer site, diaries
that mix topics, a mirror, a moved site, and what else the real web has: redirects, dead links, robots.txt rules, a
calendar without end, files that are no pages, and markup of every age. The same source always gives the same web.
"""

from __future__ import annotations

import html
import re
from functools import cache
from random import Random

from focuscrawl import resources
from focuscrawl.web.source import LINK, Article, Subject, plain, read_subject
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


@cache
def demo_web() -> MemoryWeb:
    """The embedded web, built."""
    subjects = {topic: read_subject(resources.data("web", f"{topic}.txt").read_text("utf-8")) for topic in TOPICS}
    return _Builder(subjects).build()


class _Builder:
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

    # ---- building

    def build(self) -> MemoryWeb:
        for subject in self.subjects.values():
            self.build_handbook(subject)
            self.build_club(subject)
            self.build_archive(subject)
        self.build_answers()
        self.build_diaries()
        self.build_directory()
        self.build_mirror()
        self.build_calendar()
        self.build_office()
        return self.web

    def page(
        self, url: str, title: str, body: str, labels: list[str], *, style: int, nav: str = "", meta: str = ""
    ) -> None:
        """Add a page in the dress of its site: some neat, some careless, some from another age."""
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
        elif style == 2:  # nothing is ever closed
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

    def build_handbook(self, subject: Subject) -> None:
        host = TOPICS[subject.topic][0]
        style = self.random.randrange(4)
        nav = (
            '<ul><li><a href="/">Start</a></li><li><a href="/index.html">All articles</a></li>'
            f'<li><a href="http://{DIRECTORY}/">Crossroads, the directory</a></li><li><a href="/contact.html">Contact</a></li>'
            f'<li><a href="mailto:post@{host}">Write to us</a></li></ul>'
        )
        articles = list(subject.articles.values())
        for article in articles:
            parts = []
            for heading, paragraphs in article.sections:
                if heading:
                    parts.append(f"<h2>{html.escape(heading)}</h2>")
                parts += [f"<p>{self.text(article, paragraph)}</p>" for paragraph in paragraphs]
            related = self.random.sample(articles, 3)
            club = self.note(article)
            parts.append("<h2>Further reading</h2><ul>")
            parts += [
                f'<li><a href="{self.handbook(other)}">{html.escape(other.title)}</a></li>'
                for other in related
                if other is not article
            ]
            if self.random.random() < 0.3:
                parts.append(f'<li><a href="{club}">What the members say about it</a></li>')
            if self.random.random() < 0.1:
                parts.append(f'<li><a href="/articles/{article.slug}-draft.html">An earlier draft</a></li>')  # gone
            if self.random.random() < 0.1:
                parts.append(f'<li><a href="/files/{article.slug}.pdf">To print</a></li>')
            if self.random.random() < 0.2:
                parts.append(f'<li><a href="http://{MOVED}/{article.topic}/{article.slug}">The first edition</a></li>')
                self.web.redirect(f"http://{MOVED}/{article.topic}/{article.slug}", self.handbook(article))
            parts.append("</ul>")
            words = ", ".join(article.title.lower().split())
            meta = f'<meta name="keywords" content="{html.escape(words)}">' if self.random.random() < 0.5 else ""
            if style == 3:
                meta = meta.replace('">', '" />')
            self.page(
                self.handbook(article),
                article.title,
                "\n".join(parts),
                [subject.topic],
                style=style,
                nav=nav,
                meta=meta,
            )
        self.build_index(subject, f"http://{host}/index.html", f"All articles: {subject.title}", style, nav)
        first = self.random.sample(articles, 6)
        rows = "".join(
            f'<li><a href="{self.handbook(article)}">{html.escape(article.title)}</a>: {html.escape(article.sentences[0])}</li>'
            for article in first
        )
        self.page(
            self.home(subject.topic),
            subject.title,
            f'<p>{html.escape(subject.about)} <a href="index.html">See the whole list</a>, or join '
            f'<a href="http://{TOPICS[subject.topic][1]}/">the people who do it</a>.</p><h2>To begin with</h2><ul>{rows}</ul>',
            [subject.topic, "hub"],
            style=style,
            nav=nav,
        )
        self.page(
            f"http://{host}/contact.html",
            "Contact",
            "<p>The editors read every letter. Corrections are made within the week; thanks are printed on the last page. "
            f'We are listed in the <a href="http://{DIRECTORY}/about.html">directory of handbooks</a>.</p>'
            '<p><a href="/private/accounts.html">Accounts of the editors</a></p>',
            [],
            style=style,
            nav=nav,
        )
        self.web.add(f"http://{host}/robots.txt", "User-agent: *\nDisallow: /private/\n", content_type="text/plain")
        self.web.add(
            f"http://{host}/private/accounts.html", "<title>Accounts</title><p>Not for visitors.", ["forbidden"]
        )

    def build_index(self, subject: Subject, url: str, title: str, style: int, nav: str) -> None:
        rows = "".join(
            f'<li><a href="{self.handbook(article)}">{html.escape(article.title)}</a></li>'
            for article in sorted(subject.articles.values(), key=lambda article: article.title)
        )
        self.page(
            url,
            title,
            f"<p>{html.escape(subject.about)}</p><ul>{rows}</ul>",
            [subject.topic, "hub"],
            style=style,
            nav=nav,
        )

    def build_club(self, subject: Subject) -> None:
        host = TOPICS[subject.topic][1]
        style = self.random.randrange(4)
        nav = '<p><a href="/">Home</a> | <a href="/members.html">Members</a> | <a href="/links.html">Links</a></p>'
        openings = (
            "Somebody asked about this at the last meeting, so here is what I remember.",
            "A short note before I forget it again.",
            "This came up while we were putting the chairs away.",
            "We have argued about this for years, and I still think the short answer will do.",
            "For the new members, once more from the beginning.",
            "Copied from the notice board, with a few words added.",
        )
        articles = list(subject.articles.values())
        for article in articles:
            sentences = article.sentences
            begin = self.random.randrange(max(1, len(sentences) - 3))
            others = [subject.articles[title] for title in article.related] or articles
            other = self.random.choice(others)
            self.page(
                self.note(article),
                f"{article.title}: a note",
                f"<p>{self.random.choice(openings)} {html.escape(' '.join(sentences[begin : begin + 3]))}</p>"
                f'<p>The whole of it is on <a href="{self.handbook(article)}">the page about {html.escape(article.title.lower())}</a>'
                f" in the handbook. {html.escape(self.random.choice(other.sentences))} That belongs to "
                f'<a href="{self.note(other)}">our note on {html.escape(other.title.lower())}</a>.</p>',
                [subject.topic],
                style=style,
                nav=nav,
            )
        rows = "".join(
            f'<dt><a href="{self.note(article)}">{html.escape(article.title)}</a></dt><dd>{html.escape(article.sentences[-1])}</dd>'
            for article in self.random.sample(articles, 12)
        )
        self.page(
            f"http://{host}/",
            f"{subject.title}: the club",
            f"<p>{html.escape(subject.about)} We meet every second Thursday at the "
            f'<a href="http://{CALENDAR}/calendar?year=2024&amp;month=1">village hall</a>.</p><h2>Notes</h2><dl>{rows}</dl>',
            [subject.topic, "hub"],
            style=style,
            nav=nav,
        )
        friends = self.random.sample([topic for topic in TOPICS if topic != subject.topic], 4)
        rows = "".join(
            f'<li><a href="http://{TOPICS[topic][1]}/">{html.escape(self.subjects[topic].title)}</a>, our neighbours</li>'
            for topic in friends
        )
        self.page(
            f"http://{host}/links.html",
            "Links",
            f'<ul>{rows}<li><a href="{self.home(subject.topic)}">The handbook of {html.escape(subject.title.lower())}</a></li>'
            f'<li><a href="http://{self.random.choice(DIARIES)}/">A diary we like</a></li>'
            '<li><a href="http://vanished.example/">A page that used to be good</a></li></ul>',
            [],
            style=style,
            nav=nav,
        )
        self.page(
            f"http://{host}/members.html",
            "Members",
            "<p>There are forty of us, most of them retired. The list of names is kept in the cupboard.</p>"
            f'<p><a href="http://{OFFICE}/societies.html">Register of societies at the town office</a></p>',
            [],
            style=style,
            nav=nav,
        )

    def build_archive(self, subject: Subject) -> None:
        """An island: nothing but diaries and its own pages links here."""
        host = TOPICS[subject.topic][2]
        articles = list(subject.articles.values())
        papers = self.random.sample(articles, len(articles) * 2 // 3)
        for place, article in enumerate(papers):
            following = papers[(place + 1) % len(papers)]
            cited = [subject.articles[title] for title in article.related if subject.articles[title] in papers][:3]
            quoted = self.random.choice(papers)
            rows = "".join(
                f'<li><a href="{self.paper(other)}">{html.escape(other.title)}</a>, in this archive</li>'
                for other in cited
            )
            paragraphs = "".join(f"<p>{html.escape(plain(paragraph))}</p>" for paragraph in article.paragraphs[:2])
            self.page(
                self.paper(article),
                f"On {article.title.lower()}",
                f"{paragraphs}<blockquote>{html.escape(self.random.choice(quoted.sentences))}</blockquote>"
                f'<p>Next in the box: <a href="{self.paper(following)}">{html.escape(following.title)}</a>.</p><ul>{rows}</ul>',
                [subject.topic],
                style=2,
                nav='<a href="../contents.htm">Contents</a><hr>',
            )
        rows = "".join(
            f'<li><a href="papers/{article.slug}.htm">{html.escape(article.title)}</a>' for article in papers[:15]
        )
        self.page(
            f"http://{host}/contents.htm",
            f"Papers on {subject.title.lower()}",
            f"<p>What was left in the drawers. {html.escape(subject.about)}</p><ul>{rows}</ul>",
            [subject.topic, "hub"],
            style=2,
        )
        # the front door is a frameset, as it was in 1997
        self.web.add(
            f"http://{host}/",
            "<html><head><title>Archive</title></head><frameset cols='20%,80%'><frame src='contents.htm' name='contents'>"
            "<frame src='papers/' name='main'></frameset></html>",
            [],
        )
        self.web.redirect(f"http://{host}/papers/", f"http://{host}/contents.htm")

    def build_answers(self) -> None:
        style = 0
        nav = f'<a href="http://{ANSWERS}/">Questions</a> <a href="http://{DIRECTORY}/">Directory</a>'
        rows: dict[str, list[str]] = {}
        for subject in self.subjects.values():
            for article in subject.articles.values():
                if not article.related or self.random.random() < 0.35:
                    continue
                other = subject.articles[self.random.choice(article.related)]
                number = len(self.web.answers)
                url = f"http://{ANSWERS}/q/{number}"
                title = self.random.choice(
                    (
                        f"{article.title} or {other.title.lower()}?",
                        f"How does {article.title.lower()} go with {other.title.lower()}?",
                        f"Please explain {article.title.lower()}",
                    )
                )
                first, second = self.random.choice(article.sentences), self.random.choice(other.sentences)
                self.page(
                    url,
                    title,
                    f"<p>I have read about {html.escape(article.title.lower())} and do not see what it has to do with "
                    f"{html.escape(other.title.lower())}. Can anybody help?</p><h2>Answers</h2><p>{html.escape(first)} "
                    f'See <a href="{self.handbook(article)}">the handbook</a>.</p><p>{html.escape(second)} '
                    f'There is <a href="{self.handbook(other)}">more about {html.escape(other.title.lower())}</a>, '
                    f'and ask <a href="{self.note(article)}">the club</a>.</p>',
                    [subject.topic],
                    style=style,
                    nav=nav,
                )
                rows.setdefault(subject.topic, []).append(f'<li><a href="{url}">{html.escape(title)}</a></li>')
        for topic, links in rows.items():
            self.page(
                f"http://{ANSWERS}/tag/{topic}",
                f"Questions about {self.subjects[topic].title.lower()}",
                f"<ul>{''.join(links)}</ul>",
                [topic, "hub"],
                style=style,
                nav=nav,
            )
        recent = [link for links in rows.values() for link in self.random.sample(links, 2)]
        self.random.shuffle(recent)
        tags = "".join(
            f'<li><a href="/tag/{topic}">{subject.title}</a></li>' for topic, subject in self.subjects.items()
        )
        self.page(
            f"http://{ANSWERS}/",
            "Ask anybody",
            f"<h2>Latest questions</h2><ul>{''.join(recent)}</ul><h2>By subject</h2><ul>{tags}</ul>"
            '<p><a href="/search?q=help">Search</a></p>',
            [],
            style=style,
            nav=nav,
        )
        self.web.add(f"http://{ANSWERS}/robots.txt", "User-agent: *\nDisallow: /search\n", content_type="text/plain")
        self.web.add(f"http://{ANSWERS}/search?q=help", "<title>Search</title><p>Too many results.", ["forbidden"])

    def build_diaries(self) -> None:
        """Diaries mix topics, and know where the archives are."""
        moods = (
            "Rain again, and nothing in the post.",
            "Up early; the kettle would not boil.",
            "A quiet day with the window open.",
            "Visitors all afternoon, and cake.",
            "Could not sleep, so I read.",
        )
        for diary in DIARIES:
            entries = []
            for day in range(1, 37):
                one, two = self.random.sample(sorted(TOPICS), 2)
                first = self.random.choice(list(self.subjects[one].articles.values()))
                second = self.random.choice(list(self.subjects[two].articles.values()))
                url = f"http://{diary}/2024/{(day - 1) // 3 + 1:02d}/{day}.html"
                entries.append((url, first, second))
            for place, (url, first, second) in enumerate(entries):
                before, after = entries[place - 1][0], entries[(place + 1) % len(entries)][0]
                archive = f"http://{TOPICS[first.topic][2]}/"
                self.page(
                    url,
                    f"Day {place + 1}",
                    f"<p>{self.random.choice(moods)} {html.escape(self.random.choice(first.sentences))} I looked it up in "
                    f'<a href="{self.handbook(first)}">the book on {html.escape(first.title.lower())}</a>, and then lost an hour '
                    f'among <a href="{archive}">the old papers about {html.escape(self.subjects[first.topic].title.lower())}</a>.</p>'
                    f"<p>{html.escape(self.random.choice(second.sentences))} "
                    f'<a href="{self.note(second)}">A member of the club</a> said so, at any rate.</p>',
                    ["diary"],
                    style=1,
                    nav=f'<a href="{before}">Yesterday</a><br><a href="{after}">Tomorrow</a><br><a href="/">Diary</a>',
                )
            rows = "".join(
                f'<li><a href="{url}">Day {place + 1}</a></li>' for place, (url, _, _) in enumerate(entries[:12])
            )
            self.page(f"http://{diary}/", "A diary", f"<ul>{rows}</ul>", ["diary"], style=1)

    def build_directory(self) -> None:
        nav = f'<a href="http://{ANSWERS}/">Ask anybody</a> <a href="/about.html">About</a>'
        rows = "".join(
            f'<li><a href="/{topic}.html">{html.escape(subject.title)}</a>: {html.escape(subject.about)}</li>'
            for topic, subject in self.subjects.items()
        )
        diaries = "".join(f'<li><a href="http://{diary}/">{diary}</a></li>' for diary in DIARIES)
        self.page(
            f"http://{DIRECTORY}/",
            "Crossroads, a directory",
            f"<h2>Subjects</h2><ul>{rows}</ul><h2>Diaries</h2><ul>{diaries}</ul>",
            ["hub"],
            style=3,
            nav=nav,
        )
        for topic, subject in self.subjects.items():
            self.page(
                f"http://{DIRECTORY}/{topic}.html",
                subject.title,
                f'<p>{html.escape(subject.about)}</p><ul><li><a href="{self.home(topic)}">The handbook</a></li>'
                f'<li><a href="http://{TOPICS[topic][1]}/">The club</a></li>'
                f'<li><a href="http://{ANSWERS}/tag/{topic}">Questions and answers</a></li>'
                f'<li><a href="http://{MIRROR}/{topic}/">A mirror of the handbook</a></li></ul>',
                [topic, "hub"],
                style=3,
                nav=nav,
            )
        self.page(
            f"http://{DIRECTORY}/about.html",
            "About the directory",
            f'<p>Kept by hand since the beginning. Complaints go to the <a href="http://{OFFICE}/">town office</a>.</p>',
            [],
            style=3,
            nav=nav,
        )

    def build_mirror(self) -> None:
        """The same pages under other names: one handbook whole, the front pages of the others."""
        for topic in TOPICS:
            host = TOPICS[topic][0]
            front = self.web.get(f"http://{host}/")
            self.web.add(f"http://{MIRROR}/{topic}/", front.body, [topic, "hub", "mirror"], front.content_type)
        for article in self.subjects["sorting"].articles.values():
            answer = self.web.get(self.handbook(article))
            body = answer.body.replace(f"http://{TOPICS['sorting'][0]}/articles/".encode(), b"")
            self.web.add(
                f"http://{MIRROR}/sorting/{article.slug}.html", body, ["sorting", "mirror"], answer.content_type
            )
        index = self.web.get(f"http://{TOPICS['sorting'][0]}/index.html")
        body = index.body.replace(f"http://{TOPICS['sorting'][0]}/articles/".encode(), b"")
        self.web.add(f"http://{MIRROR}/sorting/index.html", body, ["sorting", "hub", "mirror"], index.content_type)

    def build_calendar(self) -> None:
        """Ten years of months, each a page of nothing, each leading to the next."""
        for year in range(2020, 2030):
            for month in range(1, 13):
                last = f"/calendar?year={year - (month == 1)}&amp;month={(month - 2) % 12 + 1}"
                following = f"/calendar?year={year + (month == 12)}&amp;month={month % 12 + 1}"
                cells = "".join(f"<td>{day}</td>" for day in range(1, 29))
                self.page(
                    f"http://{CALENDAR}/calendar?year={year}&month={month}",
                    f"Bookings {month}/{year}",
                    f'<table><tr>{cells}</tr></table><p><a href="{last}">Month before</a> <a href="{following}">Month after</a></p>',
                    ["trap"],
                    style=1,
                )
        self.page(
            f"http://{CALENDAR}/",
            "Village hall",
            '<p>Rooms by the hour. <a href="/calendar?year=2024&amp;month=1">Is it free?</a></p>',
            [],
            style=1,
        )

    def build_office(self) -> None:
        """A site that has everything that can be wrong with one."""
        base = f"http://{OFFICE}"
        self.page(
            f"{base}/",
            "Town office",
            '<p>Forms and registers. <a href="/societies.html">Societies</a>, <a href="/plan">the town plan</a>, '
            '<a href="/minutes.txt">minutes</a>, <a href="/scan">a scanned letter</a>, <a href="/umlaut.html">a notice</a>, '
            '<a href="/loop/a">opening hours</a>, <a href="/moved">the old entrance</a>, <a href="/empty.html">nothing yet</a>, '
            '<a href="javascript:history.back()">back</a>, <a href="tel:123">telephone</a>, <a href="#top">top</a>, '
            '<a href="/broken.html">the bus timetable</a>, <a href="http://[not-a-host/">a mistake</a>, '
            '<a href="/form.docx">a form</a>, <a href="/based.html">signposts</a>, <a href="/nofollow.html" rel="nofollow">a'
            " sponsor</a>, <a href='/map.html'>a map</a>.</p>",
            ["office"],
            style=2,
        )
        rows = "".join(
            f'<li><a href="http://{hosts[1]}/">{self.subjects[topic].title}</a>' for topic, hosts in TOPICS.items()
        )
        self.page(f"{base}/societies.html", "Register of societies", f"<ul>{rows}</ul>", ["office", "hub"], style=2)
        self.web.add(f"{base}/plan", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ["office"], "image/png")
        self.web.add(f"{base}/scan", bytes(range(256)) * 8, ["office"], "text/html")
        self.web.add(f"{base}/minutes.txt", "Minutes of the meeting\n\nNobody came.\n", ["office"], "text/plain")
        notice = "<title>Öffnungszeiten</title><p>Das Büro ist für Bürger geöffnet. <a href='/'>Zurück</a>"
        self.web.add(f"{base}/umlaut.html", notice.encode("latin-1"), ["office"], "text/html")
        self.web.add(f"{base}/empty.html", "", ["office"])
        self.web.add(
            f"{base}/broken.html",
            "<table><tr><td><h2>Bus<p>Line 4<a href=/societies.html>stops here<a href='/minutes.txt'>or here<b><i></b></i>"
            "<p>no later than &nosuch; &#99999999; <!-- never closed",
            ["office"],
        )
        self.web.add(
            f"{base}/based.html",
            f"<base href='http://{DIRECTORY}/'><title>Signposts</title><p>To the <a href='about.html'>directory</a>",
            ["office"],
        )
        self.web.add(
            f"{base}/map.html",
            "<title>Map</title><map name=m><area href='/societies.html' alt='Societies'><area href='/plan' alt='Plan'></map>",
            ["office"],
        )
        self.web.add(f"{base}/nofollow.html", "<title>Sponsor</title><p>Buy something.", ["office"])
        self.web.redirect(f"{base}/loop/a", f"{base}/loop/b")
        self.web.redirect(f"{base}/loop/b", f"{base}/loop/a")
        self.web.redirect(f"{base}/moved", f"{base}/moved-again")
        self.web.redirect(f"{base}/moved-again", f"http://www.{OFFICE}/entrance.html")
        self.web.add(f"http://www.{OFFICE}/entrance.html", "<title>Entrance</title><p>Round the corner.", ["office"])
