"""The sites of a topic: a handbook, a club, and an archive that only diaries link to."""

from __future__ import annotations

import html

from focuscrawl.web.demo.world import CALENDAR, DIARIES, DIRECTORY, MOVED, OFFICE, TOPICS, World
from focuscrawl.web.source import Subject, plain


def build_handbook(world: World, subject: Subject) -> None:
    """The articles, each with links to others, and the other pages of a site."""
    host = TOPICS[subject.topic][0]
    style = world.random.randrange(4)
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
            parts += [f"<p>{world.text(article, paragraph)}</p>" for paragraph in paragraphs]
        related = world.random.sample(articles, 3)
        club = world.note(article)
        parts.append("<h2>Further reading</h2><ul>")
        parts += [
            f'<li><a href="{world.handbook(other)}">{html.escape(other.title)}</a></li>'
            for other in related
            if other is not article
        ]
        if world.random.random() < 0.3:
            parts.append(f'<li><a href="{club}">What the members say about it</a></li>')
        if world.random.random() < 0.1:
            parts.append(f'<li><a href="/articles/{article.slug}-draft.html">An earlier draft</a></li>')  # gone
        if world.random.random() < 0.1:
            parts.append(f'<li><a href="/files/{article.slug}.ps">To print</a></li>')
        if world.random.random() < 0.2:
            parts.append(f'<li><a href="http://{MOVED}/{article.topic}/{article.slug}">The first edition</a></li>')
            world.web.redirect(f"http://{MOVED}/{article.topic}/{article.slug}", world.handbook(article))
        parts.append("</ul>")
        words = ", ".join(article.title.lower().split())
        meta = f'<meta name="keywords" content="{html.escape(words)}">' if world.random.random() < 0.5 else ""
        if style == 3:
            meta = meta.replace('">', '" />')
        world.page(
            world.handbook(article),
            article.title,
            "\n".join(parts),
            [subject.topic],
            style=style,
            nav=nav,
            meta=meta,
        )
    _build_index(world, subject, f"http://{host}/index.html", f"All articles: {subject.title}", style, nav)
    first = world.random.sample(articles, 6)
    rows = "".join(
        f'<li><a href="{world.handbook(article)}">{html.escape(article.title)}</a>: {html.escape(article.sentences[0])}</li>'
        for article in first
    )
    world.page(
        world.home(subject.topic),
        subject.title,
        f'<p>{html.escape(subject.about)} <a href="index.html">See the whole list</a>, or join '
        f'<a href="http://{TOPICS[subject.topic][1]}/">the people who do it</a>.</p><h2>To begin with</h2><ul>{rows}</ul>',
        [subject.topic, "hub"],
        style=style,
        nav=nav,
    )
    world.page(
        f"http://{host}/contact.html",
        "Contact",
        "<p>The editors read every letter. Corrections are made within the week; thanks are printed on the last page. "
        f'We are listed in the <a href="http://{DIRECTORY}/about.html">directory of handbooks</a>.</p>'
        '<p><a href="/private/accounts.html">Accounts of the editors</a></p>',
        [],
        style=style,
        nav=nav,
    )
    world.web.add(f"http://{host}/robots.txt", "User-agent: *\nDisallow: /private/\n", content_type="text/plain")
    world.web.add(f"http://{host}/private/accounts.html", "<title>Accounts</title><p>Not for visitors.", ["forbidden"])


def _build_index(world: World, subject: Subject, url: str, title: str, style: int, nav: str) -> None:
    rows = "".join(
        f'<li><a href="{world.handbook(article)}">{html.escape(article.title)}</a></li>'
        for article in sorted(subject.articles.values(), key=lambda article: article.title)
    )
    world.page(
        url,
        title,
        f"<p>{html.escape(subject.about)}</p><ul>{rows}</ul>",
        [subject.topic, "hub"],
        style=style,
        nav=nav,
    )


def build_club(world: World, subject: Subject) -> None:
    """An enthusiast's note on each article."""
    host = TOPICS[subject.topic][1]
    style = world.random.randrange(4)
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
        begin = world.random.randrange(max(1, len(sentences) - 3))
        others = [subject.articles[title] for title in article.related] or articles
        other = world.random.choice(others)
        world.page(
            world.note(article),
            f"{article.title}: a note",
            f"<p>{world.random.choice(openings)} {html.escape(' '.join(sentences[begin : begin + 3]))}</p>"
            f'<p>The whole of it is on <a href="{world.handbook(article)}">the page about {html.escape(article.title.lower())}</a>'
            f" in the handbook. {html.escape(world.random.choice(other.sentences))} That belongs to "
            f'<a href="{world.note(other)}">our note on {html.escape(other.title.lower())}</a>.</p>',
            [subject.topic],
            style=style,
            nav=nav,
        )
    rows = "".join(
        f'<dt><a href="{world.note(article)}">{html.escape(article.title)}</a></dt><dd>{html.escape(article.sentences[-1])}</dd>'
        for article in world.random.sample(articles, 12)
    )
    world.page(
        f"http://{host}/",
        f"{subject.title}: the club",
        f"<p>{html.escape(subject.about)} We meet every second Thursday at the "
        f'<a href="http://{CALENDAR}/calendar?year=2024&amp;month=1">village hall</a>.</p><h2>Notes</h2><dl>{rows}</dl>',
        [subject.topic, "hub"],
        style=style,
        nav=nav,
    )
    friends = world.random.sample([topic for topic in TOPICS if topic != subject.topic], 4)
    rows = "".join(
        f'<li><a href="http://{TOPICS[topic][1]}/">{html.escape(world.subjects[topic].title)}</a>, our neighbours</li>'
        for topic in friends
    )
    world.page(
        f"http://{host}/links.html",
        "Links",
        f'<ul>{rows}<li><a href="{world.home(subject.topic)}">The handbook of {html.escape(subject.title.lower())}</a></li>'
        f'<li><a href="http://{world.random.choice(DIARIES)}/">A diary we like</a></li>'
        '<li><a href="http://vanished.example/">A page that used to be good</a></li></ul>',
        [],
        style=style,
        nav=nav,
    )
    world.page(
        f"http://{host}/members.html",
        "Members",
        "<p>There are forty of us, most of them retired. The list of names is kept in the cupboard.</p>"
        f'<p><a href="http://{OFFICE}/societies.html">Register of societies at the town office</a></p>',
        [],
        style=style,
        nav=nav,
    )


def build_archive(world: World, subject: Subject) -> None:
    """An island: only diaries and its own pages link here."""
    host = TOPICS[subject.topic][2]
    articles = list(subject.articles.values())
    papers = world.random.sample(articles, len(articles) * 2 // 3)
    for place, article in enumerate(papers):
        following = papers[(place + 1) % len(papers)]
        cited = [subject.articles[title] for title in article.related if subject.articles[title] in papers][:3]
        quoted = world.random.choice(papers)
        rows = "".join(
            f'<li><a href="{world.paper(other)}">{html.escape(other.title)}</a>, in this archive</li>'
            for other in cited
        )
        paragraphs = "".join(f"<p>{html.escape(plain(paragraph))}</p>" for paragraph in article.paragraphs[:2])
        world.page(
            world.paper(article),
            f"On {article.title.lower()}",
            f"{paragraphs}<blockquote>{html.escape(world.random.choice(quoted.sentences))}</blockquote>"
            f'<p>Next in the box: <a href="{world.paper(following)}">{html.escape(following.title)}</a>.</p><ul>{rows}</ul>',
            [subject.topic],
            style=2,
            nav='<a href="../contents.htm">Contents</a><hr>',
        )
    rows = "".join(
        f'<li><a href="papers/{article.slug}.htm">{html.escape(article.title)}</a>' for article in papers[:15]
    )
    world.page(
        f"http://{host}/contents.htm",
        f"Papers on {subject.title.lower()}",
        f"<p>What was left in the drawers. {html.escape(subject.about)}</p><ul>{rows}</ul>",
        [subject.topic, "hub"],
        style=2,
    )
    # the front door is a frameset, as it was in 1997
    world.web.add(
        f"http://{host}/",
        "<html><head><title>Archive</title></head><frameset cols='20%,80%'><frame src='contents.htm' name='contents'>"
        "<frame src='papers/' name='main'></frameset></html>",
        [],
    )
    world.web.redirect(f"http://{host}/papers/", f"http://{host}/contents.htm")
