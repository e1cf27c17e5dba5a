"""A crawl as one HTML file that opens with no network: figures, the harvest curve, the best pages, the hosts."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from string import Template

from focuscrawl.manners.traps import TRIES
from focuscrawl.reports import svg
from focuscrawl.store.store import Store

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: 0; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
.figures { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0; }
.figures div { background: var(--soft); border-radius: .5rem; padding: .6rem 1rem; min-width: 7rem; }
.figures b { display: block; font-size: 1.4rem; }
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
small { color: #888; }
svg { width: 100%; height: auto; max-width: 44rem; }
svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
$style</style>
</head>
<body>
<h1>$title</h1>
<p>$subtitle</p>
$body
</body>
</html>
""")


def curve(store: Store) -> list[int]:
    """How many of the first n pages were judged relevant, for each n."""
    total = 0
    points = []
    for (relevant,) in store.execute("SELECT relevant FROM page ORDER BY id"):
        total += bool(relevant)
        points.append(total)
    return points


def chart(series: Mapping[str, Sequence[int]], what: str) -> str:
    """Curves of relevant pages over pages fetched, as SVG."""
    looks = {name: svg.style(place) for place, name in enumerate(series)}
    drawn = svg.curve_chart(series, looks, x_label="pages fetched", y_label=what, height=300, legend="inside")
    return drawn or f"<p>No {html.escape(what)} yet.</p>"


def table(head: Sequence[str], rows: Sequence[Sequence[object]], numbers: int) -> str:
    """An HTML table whose last *numbers* columns are numbers."""
    first = len(head) - numbers
    cells = "".join(f"<th{' class=n' if n >= first else ''}>{html.escape(name)}</th>" for n, name in enumerate(head))
    parts = [f"<table><tr>{cells}</tr>"]
    for row in rows:
        cells = "".join(f"<td{' class=n' if n >= first else ''}>{value}</td>" for n, value in enumerate(row))
        parts.append(f"<tr>{cells}</tr>")
    return "".join([*parts, "</table>"])


def page(title: str, subtitle: str, body: str, style: str = "") -> str:
    """An HTML page; *title* and *subtitle* are text, *body* is HTML, *style* is CSS of its own."""
    return _PAGE.substitute(title=html.escape(title), subtitle=html.escape(subtitle), body=body, style=style)


def link(url: str, text: str = "") -> str:
    """A link to a page of the crawl, its URL in small print."""
    href = html.escape(url)
    return f'<a href="{href}" rel="noreferrer">{html.escape(text or url)}</a><br><small>{href}</small>'


def crawl_report(store: Store) -> str:
    """The report of one crawl."""
    with store.reading():
        return _report(store)


def _report(store: Store) -> str:
    pages, relevant, matched, first, last = store.execute(
        "SELECT count(*), total(relevant), total(matched), min(fetched_at), max(fetched_at) FROM page"
    ).fetchone()
    waiting = store.execute("SELECT count(*) FROM frontier").fetchone()[0]
    failed = store.execute("SELECT count(*) FROM failure").fetchone()[0]
    hosts = store.execute("SELECT count(*) FROM host WHERE pages").fetchone()[0]
    copies = store.execute("SELECT count(*) FROM page WHERE duplicate_of NOT NULL").fetchone()[0]
    figures = {
        "pages": f"{pages:,}",
        "relevant": f"{int(relevant):,}",
        "harvest rate": f"{relevant / pages:.0%}" if pages else "–",
        "matched": f"{int(matched):,}",
        "hosts": f"{hosts:,}",
        "waiting": f"{waiting:,}",
        "failed": f"{failed:,}",
        "near-duplicates": f"{copies:,}",
    }
    body = ["<div class=figures>", *(f"<div>{name}<b>{value}</b></div>" for name, value in figures.items()), "</div>"]
    body += ["<h2>Relevant pages over pages fetched</h2>", chart({"relevant": curve(store)}, "relevant pages")]
    best = store.execute(
        "SELECT url, title, relevance, id FROM page WHERE matched ORDER BY relevance DESC, id LIMIT 25"
    ).fetchall()
    rows: list[tuple[str, ...]] = [
        (link(url, title), f"{relevance or 0:.3f}", f"{number:,}") for url, title, relevance, number in best
    ]
    body += ["<h2>Best matched pages</h2>", table(("page", "relevance", "fetched as"), rows, 2)]
    top = store.execute(
        "SELECT host.name, count(*), total(relevant) FROM page JOIN url ON url.id = page.url_id"
        " JOIN host ON host.id = url.host GROUP BY host.id ORDER BY 3 DESC, 2 DESC LIMIT 25"
    ).fetchall()
    rows = [(html.escape(name), f"{count:,}", f"{int(good):,}", f"{good / count:.0%}") for name, count, good in top]
    body += ["<h2>Hosts</h2>", table(("host", "pages", "relevant", "harvest"), rows, 3)]
    reasons = store.execute(
        "SELECT CASE WHEN instr(reason, ':') THEN substr(reason, 1, instr(reason, ':') - 1) ELSE reason END, count(*)"
        " FROM failure GROUP BY 1 ORDER BY 2 DESC LIMIT 15"
    ).fetchall()
    if reasons:
        rows = [(html.escape(reason), f"{count:,}") for reason, count in reasons]
        body += ["<h2>What gave no page</h2>", table(("reason", "URLs"), rows, 1)]
    traps = store.execute(
        "SELECT pattern, pages, stale FROM pattern WHERE stale >= ? ORDER BY stale DESC LIMIT 15", (TRIES,)
    ).fetchall()
    if traps:
        rows = [(html.escape(pattern), f"{pages:,}", f"{stale:,}") for pattern, pages, stale in traps]
        body += ["<h2>Traps</h2><p>URLs like these gave page after page with nothing new, and were put back.</p>"]
        body += [table(("URLs like", "pages", "last ones with nothing new"), rows, 2)]
    when = f"{first[:19]} to {last[:19]}".replace("T", " ") + " UTC" if pages else "no page yet"
    subtitle = f"Spider {store.meta('spider')}, {when}"
    return page(store.meta("topic") or "A crawl", subtitle, "\n".join(body))
