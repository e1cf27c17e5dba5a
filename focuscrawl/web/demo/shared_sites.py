"""The sites without a topic: questions, diaries, the directory, a mirror, a calendar and the town office."""

from __future__ import annotations

import html

from focuscrawl.web.demo.world import ANSWERS, CALENDAR, DIARIES, DIRECTORY, MIRROR, OFFICE, TOPICS, World


def build_answers(world: World) -> None:
    """Questions about two articles at a time, and their answers."""
    style = 0
    nav = f'<a href="http://{ANSWERS}/">Questions</a> <a href="http://{DIRECTORY}/">Directory</a>'
    rows: dict[str, list[str]] = {}
    for subject in world.subjects.values():
        for article in subject.articles.values():
            if not article.related or world.random.random() < 0.35:
                continue
            other = subject.articles[world.random.choice(article.related)]
            number = len(world.web.answers)
            url = f"http://{ANSWERS}/q/{number}"
            title = world.random.choice(
                (
                    f"{article.title} or {other.title.lower()}?",
                    f"How does {article.title.lower()} go with {other.title.lower()}?",
                    f"Please explain {article.title.lower()}",
                )
            )
            first, second = world.random.choice(article.sentences), world.random.choice(other.sentences)
            world.page(
                url,
                title,
                f"<p>I have read about {html.escape(article.title.lower())} and do not see what it has to do with "
                f"{html.escape(other.title.lower())}. Can anybody help?</p><h2>Answers</h2><p>{html.escape(first)} "
                f'See <a href="{world.handbook(article)}">the handbook</a>.</p><p>{html.escape(second)} '
                f'There is <a href="{world.handbook(other)}">more about {html.escape(other.title.lower())}</a>, '
                f'and ask <a href="{world.note(article)}">the club</a>.</p>',
                [subject.topic],
                style=style,
                nav=nav,
            )
            rows.setdefault(subject.topic, []).append(f'<li><a href="{url}">{html.escape(title)}</a></li>')
    for topic, links in rows.items():
        world.page(
            f"http://{ANSWERS}/tag/{topic}",
            f"Questions about {world.subjects[topic].title.lower()}",
            f"<ul>{''.join(links)}</ul>",
            [topic, "hub"],
            style=style,
            nav=nav,
        )
    recent = [link for links in rows.values() for link in world.random.sample(links, 2)]
    world.random.shuffle(recent)
    tags = "".join(f'<li><a href="/tag/{topic}">{subject.title}</a></li>' for topic, subject in world.subjects.items())
    world.page(
        f"http://{ANSWERS}/",
        "Ask anybody",
        f"<h2>Latest questions</h2><ul>{''.join(recent)}</ul><h2>By subject</h2><ul>{tags}</ul>"
        '<p><a href="/search?q=help">Search</a></p>',
        [],
        style=style,
        nav=nav,
    )
    world.web.add(f"http://{ANSWERS}/robots.txt", "User-agent: *\nDisallow: /search\n", content_type="text/plain")
    world.web.add(f"http://{ANSWERS}/search?q=help", "<title>Search</title><p>Too many results.", ["forbidden"])


def build_diaries(world: World) -> None:
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
            one, two = world.random.sample(sorted(TOPICS), 2)
            first = world.random.choice(list(world.subjects[one].articles.values()))
            second = world.random.choice(list(world.subjects[two].articles.values()))
            url = f"http://{diary}/2024/{(day - 1) // 3 + 1:02d}/{day}.html"
            entries.append((url, first, second))
        for place, (url, first, second) in enumerate(entries):
            before, after = entries[place - 1][0], entries[(place + 1) % len(entries)][0]
            archive = f"http://{TOPICS[first.topic][2]}/"
            world.page(
                url,
                f"Day {place + 1}",
                f"<p>{world.random.choice(moods)} {html.escape(world.random.choice(first.sentences))} I looked it up in "
                f'<a href="{world.handbook(first)}">the book on {html.escape(first.title.lower())}</a>, and then lost an hour '
                f'among <a href="{archive}">the old papers about {html.escape(world.subjects[first.topic].title.lower())}</a>.</p>'
                f"<p>{html.escape(world.random.choice(second.sentences))} "
                f'<a href="{world.note(second)}">A member of the club</a> said so, at any rate.</p>',
                ["diary"],
                style=1,
                nav=f'<a href="{before}">Yesterday</a><br><a href="{after}">Tomorrow</a><br><a href="/">Diary</a>',
            )
        rows = "".join(
            f'<li><a href="{url}">Day {place + 1}</a></li>' for place, (url, _, _) in enumerate(entries[:12])
        )
        world.page(f"http://{diary}/", "A diary", f"<ul>{rows}</ul>", ["diary"], style=1)


def build_directory(world: World) -> None:
    """A page with all subjects, and one per subject."""
    nav = f'<a href="http://{ANSWERS}/">Ask anybody</a> <a href="/about.html">About</a>'
    rows = "".join(
        f'<li><a href="/{topic}.html">{html.escape(subject.title)}</a>: {html.escape(subject.about)}</li>'
        for topic, subject in world.subjects.items()
    )
    diaries = "".join(f'<li><a href="http://{diary}/">{diary}</a></li>' for diary in DIARIES)
    world.page(
        f"http://{DIRECTORY}/",
        "Crossroads, a directory",
        f"<h2>Subjects</h2><ul>{rows}</ul><h2>Diaries</h2><ul>{diaries}</ul>",
        ["hub"],
        style=3,
        nav=nav,
    )
    for topic, subject in world.subjects.items():
        world.page(
            f"http://{DIRECTORY}/{topic}.html",
            subject.title,
            f'<p>{html.escape(subject.about)}</p><ul><li><a href="{world.home(topic)}">The handbook</a></li>'
            f'<li><a href="http://{TOPICS[topic][1]}/">The club</a></li>'
            f'<li><a href="http://{ANSWERS}/tag/{topic}">Questions and answers</a></li>'
            f'<li><a href="http://{MIRROR}/{topic}/">A mirror of the handbook</a></li></ul>',
            [topic, "hub"],
            style=3,
            nav=nav,
        )
    world.page(
        f"http://{DIRECTORY}/about.html",
        "About the directory",
        f'<p>Kept by hand since the beginning. Complaints go to the <a href="http://{OFFICE}/">town office</a>.</p>',
        [],
        style=3,
        nav=nav,
    )


def build_mirror(world: World) -> None:
    """The same pages on another host: one whole handbook, and the front pages of the others."""
    for topic in TOPICS:
        host = TOPICS[topic][0]
        front = world.web.get(f"http://{host}/")
        world.web.add(f"http://{MIRROR}/{topic}/", front.body, [topic, "hub", "mirror"], front.content_type)
    for article in world.subjects["sorting"].articles.values():
        answer = world.web.get(world.handbook(article))
        body = answer.body.replace(f"http://{TOPICS['sorting'][0]}/articles/".encode(), b"")
        world.web.add(f"http://{MIRROR}/sorting/{article.slug}.html", body, ["sorting", "mirror"], answer.content_type)
    index = world.web.get(f"http://{TOPICS['sorting'][0]}/index.html")
    body = index.body.replace(f"http://{TOPICS['sorting'][0]}/articles/".encode(), b"")
    world.web.add(f"http://{MIRROR}/sorting/index.html", body, ["sorting", "hub", "mirror"], index.content_type)


def build_calendar(world: World) -> None:
    """Ten years of months, each an empty page that links to the next."""
    for year in range(2020, 2030):
        for month in range(1, 13):
            last = f"/calendar?year={year - (month == 1)}&amp;month={(month - 2) % 12 + 1}"
            following = f"/calendar?year={year + (month == 12)}&amp;month={month % 12 + 1}"
            cells = "".join(f"<td>{day}</td>" for day in range(1, 29))
            world.page(
                f"http://{CALENDAR}/calendar?year={year}&month={month}",
                f"Bookings {month}/{year}",
                f'<table><tr>{cells}</tr></table><p><a href="{last}">Month before</a> <a href="{following}">Month after</a></p>',
                ["trap"],
                style=1,
            )
    world.page(
        f"http://{CALENDAR}/",
        "Village hall",
        '<p>Rooms by the hour. <a href="/calendar?year=2024&amp;month=1">Is it free?</a></p>',
        [],
        style=1,
    )


def build_office(world: World) -> None:
    """A site with every kind of mistake."""
    base = f"http://{OFFICE}"
    world.page(
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
        f'<li><a href="http://{hosts[1]}/">{world.subjects[topic].title}</a>' for topic, hosts in TOPICS.items()
    )
    world.page(f"{base}/societies.html", "Register of societies", f"<ul>{rows}</ul>", ["office", "hub"], style=2)
    world.web.add(f"{base}/plan", b"\x89PNG\r\n\x1a\n" + bytes(range(256)), ["office"], "image/png")
    world.web.add(f"{base}/scan", bytes(range(256)) * 8, ["office"], "text/html")
    world.web.add(f"{base}/minutes.txt", "Minutes of the meeting\n\nNobody came.\n", ["office"], "text/plain")
    notice = "<title>Öffnungszeiten</title><p>Das Büro ist für Bürger geöffnet. <a href='/'>Zurück</a>"
    world.web.add(f"{base}/umlaut.html", notice.encode("latin-1"), ["office"], "text/html")
    world.web.add(f"{base}/empty.html", "", ["office"])
    world.web.add(
        f"{base}/broken.html",
        "<table><tr><td><h2>Bus<p>Line 4<a href=/societies.html>stops here<a href='/minutes.txt'>or here<b><i></b></i>"
        "<p>no later than &nosuch; &#99999999; <!-- never closed",
        ["office"],
    )
    world.web.add(
        f"{base}/based.html",
        f"<base href='http://{DIRECTORY}/'><title>Signposts</title><p>To the <a href='about.html'>directory</a>",
        ["office"],
    )
    world.web.add(
        f"{base}/map.html",
        "<title>Map</title><map name=m><area href='/societies.html' alt='Societies'><area href='/plan' alt='Plan'></map>",
        ["office"],
    )
    world.web.add(f"{base}/nofollow.html", "<title>Sponsor</title><p>Buy something.", ["office"])
    world.web.redirect(f"{base}/loop/a", f"{base}/loop/b")
    world.web.redirect(f"{base}/loop/b", f"{base}/loop/a")
    world.web.redirect(f"{base}/moved", f"{base}/moved-again")
    world.web.redirect(f"{base}/moved-again", f"http://www.{OFFICE}/entrance.html")
    world.web.add(f"http://www.{OFFICE}/entrance.html", "<title>Entrance</title><p>Round the corner.", ["office"])
