"""A crawl as one self-contained HTML file: figures, the harvest curve, the best pages, the hosts."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from string import Template
from typing import Literal

from focuscrawl.console.program import program
from focuscrawl.crawl.outlook import RECENT, Forecast
from focuscrawl.manners.traps import TRIES
from focuscrawl.reading import types
from focuscrawl.reading.shells import IN_BROWSER, REMEDY, SHELL
from focuscrawl.reports import account, svg
from focuscrawl.reports.audit import audit_of
from focuscrawl.reports.no_match import no_match
from focuscrawl.reports.status import outlook_lines, span
from focuscrawl.store.store import Store

#: Points of the curve.
_POINTS = 300

_PAGE = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>
:root { color-scheme: light dark; --line: #d9dcdf; --dim: #57606a; --page: #f7f7f5; --card: #fff; --ink: #1b1f24;
  --link: #1d4ed8; }
@media (prefers-color-scheme: dark) {
  :root { --line: #343a41; --dim: #a4adb6; --page: #14171a; --card: #1c2024; --ink: #e7eaed; --link: #8fb4ff; }
}
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--page); }
a { color: var(--link); }
h1 { font-size: 1.6rem; line-height: 1.25; margin-bottom: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin-top: 2rem; }
.figures { display: grid; grid-template-columns: repeat(var(--columns), 1fr); gap: 1px; margin: 1rem 0;
  background: var(--line); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
.figures div { background: var(--card); padding: .6rem 1rem; color: var(--dim); font-size: .9rem; }
.figures b { display: block; font-size: 1.4rem; color: var(--ink); font-variant-numeric: tabular-nums; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .8rem 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; font-size: .88rem; }
@media (max-width: 40rem) {
  .figures { grid-template-columns: 1fr 1fr; }
  .figures div:last-child:nth-child(odd) { grid-column: 1 / -1; }
  table { display: block; overflow-x: auto; }
}
table { border-collapse: collapse; width: 100%; font-size: .93rem; }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); overflow-wrap: anywhere;
  vertical-align: baseline; }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
@media (max-width: 40rem) { td { overflow-wrap: break-word; } td > *, td small { overflow-wrap: anywhere; } }
td b { overflow-wrap: normal; }
@media (min-width: 40rem) { td b { white-space: nowrap; } }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
small, th { color: var(--dim); }
th { font-weight: 500; }
svg { width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--dim); }
@media (max-width: 40rem) { svg text { font-size: 18px; } }
$style</style>
</head>
<body>
<h1>$title</h1>
<p>$subtitle</p>
$body
</body>
</html>
""")


def chart(series: Mapping[str, Sequence[int]], what: str, x_end: float | None = None) -> str:
    """Curves of relevant pages over fetched pages, as SVG; with *x_end*, their points are evenly spaced up to it."""
    looks = {name: svg.style(place) for place, name in enumerate(series)}
    legend: Literal["inside"] | None = "inside" if len(series) > 1 else None
    drawn = svg.curve_chart(
        series, looks, x_label="pages fetched", y_label=what, x_end=x_end, height=300, legend=legend
    )
    return drawn or f"<p>No {html.escape(what)} yet.</p>"


def harvest_chart(store: Store) -> str:
    """The curve of a crawl, with a bounded number of points."""
    points, last = store.standing.harvest(_POINTS)
    return chart({"relevant": points}, "relevant pages", last if len(points) < last else None)


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
    """An HTML page; *title* and *subtitle* are text, *body* is HTML, *style* is additional CSS."""
    return _PAGE.substitute(title=html.escape(title), subtitle=html.escape(subtitle), body=body, style=style)


def link(url: str, text: str = "") -> str:
    """A link to a page of the crawl, with its URL in small print."""
    href = html.escape(url)
    return f'<a href="{href}" rel="noreferrer">{html.escape(text or url)}</a><br><small>{href}</small>'


def crawl_report(store: Store, *, running: bool = False) -> str:
    """The report of one crawl; *running*: it goes on while this is written."""
    with store.reading():
        return _report(store, running=running)


def _types(store: Store) -> list[tuple[str, int, int]]:
    """What the pages were, by their Content-Type: name, pages and relevant pages, the most frequent first."""
    found: dict[str, list[int]] = {}
    for content_type, pages, relevant in store.pages.content_types():
        mime = types.mime(content_type)
        kind = types.of_mime(mime)
        name = kind.name if kind else "HTML" if "html" in mime else "XML" if "xml" in mime else "other"
        counts = found.setdefault(name, [0, 0])
        counts[0] += pages
        counts[1] += relevant
    return sorted(((name, pages, good) for name, (pages, good) in found.items()), key=lambda row: (-row[1], row[0]))


def _recent(store: Store) -> str:
    """The harvest of the latest pages."""
    latest = store.standing.outcomes(RECENT)
    return f"{sum(relevant for _, relevant in latest) / len(latest):.0%}" if latest else "–"


def _about_shells(shells: int, tried: int) -> str:
    """What became of the pages that are left to scripts."""
    told = f"{shells:,} {'page is an empty shell' if shells == 1 else 'pages are empty shells'} that scripts fill."
    if tried:
        told += f" A browser could not read {'it' if shells == tried == 1 else f'{tried:,} of them'}."
    if shells > tried:
        told += f" Not judged: {REMEDY}; {program()} recrawl then reads those that are stored."
    return told


#: What a strategy that learns has learned, by the keys of `learned` in the crawl's file.
_LEARNED = {
    "page for": "words that speak for a page",
    "page against": "words that speak against it",
    "link for": "what speaks for a link",
    "link against": "what speaks against it",
}


def _learned(store: Store) -> list[str]:
    """What the strategy has learned; nothing if it does not learn."""
    found = store.meta("learned")
    if not isinstance(found, dict):
        return []
    rows = [
        (
            f"<b>{title}</b>",
            ", ".join(html.escape(str(told[0])[:200]) for told in found[key][:25] if isinstance(told, list) and told),
        )
        for key, title in _LEARNED.items()
        if isinstance(found.get(key), list) and found[key]
    ]
    return ["<h2>What was learned</h2>", table(("", "the strongest first"), rows, 0)] if rows else []


def _what_counts(judged: bool) -> str:
    """What the figures count, so that nobody compares them with those by labels."""
    if judged:
        return "Relevant: on the topic in the spider’s own judgement. Matched: in URLs.txt."
    return (
        "No page was judged, because the topic has no keywords or examples: every page that could be read is matched,"
        " which means that it is in URLs.txt. Give keywords to learn which pages are on the topic."
    )


def _columns(figures: int) -> int:
    """The number of columns that leaves the fewest gaps."""
    return min((5, 4, 6), key=lambda columns: -figures % columns)


def _report(store: Store, *, running: bool) -> str:
    pages, relevant, matched, copies, first, last = store.pages.figures()
    judged = store.pages.any_judged()
    figures = {
        "pages": f"{pages:,}",
        "relevant": f"{relevant:,}" if judged else "–",
        "harvest rate": f"{relevant / pages:.0%}" if judged else "–",
        f"harvest of last {RECENT}": _recent(store) if judged else "–",
        "matched": f"{matched:,}",
        "hosts": f"{store.hosts.count():,}",
        "waiting": f"{store.queue.count():,}",
        "failed": f"{store.failures.count():,}",
        "near-duplicates": f"{copies:,}",
        "time": span(store.number("seconds")),
    }
    audit = audit_of(store)
    if audit is not None and audit.precision is not None:  # what people say comes first, and the judge's opinion is one
        told = {"precision": str(audit.precision)} | ({"recall": str(audit.recall)} if audit.recall else {})
        judge = {"relevant": "relevant, says the judge", "harvest rate": "harvest rate, says the judge"}
        figures = told | {judge.get(name, name): value for name, value in figures.items()}
    tiles = (f"<div>{name}<b>{value}</b></div>" for name, value in figures.items())
    body = [f'<div class=figures style="--columns: {_columns(len(figures))}">', *tiles, "</div>"]
    if audit is not None and audit.precision is not None:
        body.append(
            f"<p>Precision and recall, within what was fetched, by an audit of {audit.marked:,} pages drawn at random;"
            " 95 % intervals.</p>"
        )
    body += [f"<p><small>{_what_counts(judged)}</small></p>"]
    if not matched and (missing := no_match(store)):
        body += ["<h2>Why nothing matches</h2>", f"<pre>{html.escape(chr(10).join(missing))}</pre>"]
    if judged or not pages:
        body += ["<h2>Relevant pages over pages fetched</h2>", harvest_chart(store)]
    if forecast := Forecast.read(store.standing.forecast()):
        body += ["<h2>Outlook</h2>", f"<p>{html.escape(' '.join(outlook_lines(forecast)))}</p>"]
    rows: list[tuple[str, ...]] = [
        (link(best.url, best.title), f"{best.relevance or 0:.3f}", f"{best.number:,}") for best in store.pages.best(25)
    ]
    body += ["<h2>Best matched pages</h2>", table(("page", "relevance", "page number"), rows, 2)]
    body += account.doubtful(store, table, link)
    rows = [
        (html.escape(host.name), f"{host.pages:,}", f"{host.relevant:,}", f"{host.relevant / host.pages:.0%}")
        for host in store.hosts.best(25)
        if host.relevant
    ]
    others = store.hosts.count() - len(rows)
    body += _learned(store)
    body += ["<h2>Hosts</h2>", table(("host", "pages", "relevant", "harvest"), rows, 3)] if rows else []
    body += [f"<p>{others:,} more host{'' if others == 1 else 's'}.</p>"] if rows and others else []
    body += account.languages(store, table)
    rows = [(html.escape(name), f"{count:,}", f"{good:,}") for name, count, good in _types(store)]
    if len(rows) > 1:
        body += ["<h2>Types</h2>", table(("type", "pages", "relevant"), rows, 2)]
    rows = [(html.escape(name), f"{count:,}") for name, count in store.unread.counts(15)]
    if rows:
        body += ["<h2>Linked files that were not fetched</h2>"]
        body += ["<p>FOCUS_DOCUMENTS says which documents are read; the others never are.</p>"]
        body += [table(("type", "files"), rows, 1)]
    reasons = store.failures.by_reason(15)
    if reasons:
        rows = [(html.escape(reason), f"{count:,}") for reason, count in reasons]
        body += ["<h2>Failed URLs</h2>", table(("reason", "URLs"), rows, 1)]
    rows = [
        (*map(html.escape, (found.signal, found.said, found.where, found.refuses or "–")), f"{found.pages:,}")
        for found in store.rights.counts(15)
    ]
    if rows:
        body += ["<h2>Rights</h2><p>What pages, headers and hosts say about use; FOCUS_RIGHTS leaves pages out.</p>"]
        body += [table(("signal", "says", "in", "refuses", "pages"), rows, 1)]
    shells, tried = store.pages.unread(SHELL, IN_BROWSER)
    if shells:
        body += ["<h2>Pages that need a browser</h2>", f"<p>{html.escape(_about_shells(shells, tried))}</p>"]
    traps = store.patterns.stalest(at_least=TRIES, limit=15)
    if traps:
        rows = [(html.escape(trap.pattern), f"{trap.pages:,}", f"{trap.stale:,}") for trap in traps]
        body += ["<h2>Traps</h2><p>Recent pages at these URLs had no new content, so the others come first.</p>"]
        body += [table(("URL pattern", "pages", "latest without new content"), rows, 2)]
    body += account.made(store, table, running=running)
    body += account.cited(store, pages, matched, first, last)
    when = f"{first[:19]} to {last[:19]}".replace("T", " ") + " UTC" if first and last else "no page yet"
    subtitle = f"Spider {store.meta('spider')}, {when}{account.state(store, running=running)}"
    return page(store.meta("topic") or "A crawl", subtitle, "\n".join(body))
