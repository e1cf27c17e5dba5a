"""The report of a comparison: one self-contained HTML file."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from math import floor

from focuscrawl import __version__
from focuscrawl.lab.advice import FEW, WAYS, Needs, advise
from focuscrawl.lab.charts import curves, legend, over_pages, over_time, reliability_chart
from focuscrawl.lab.forecasts import CLOSE, FEW_PAGES, FROM, Accuracy
from focuscrawl.lab.measures import SIGNIFICANT
from focuscrawl.lab.plan import CHANCE, FLOOR, LIMIT
from focuscrawl.lab.polite import Manners
from focuscrawl.lab.reliability import BINS, Reliability
from focuscrawl.lab.reliability import FROM as FIRST
from focuscrawl.lab.tables import Summary
from focuscrawl.reports import report
from focuscrawl.reports.svg import Style

_STYLE = """
body { max-width: 76rem; }
.lead { background: var(--card); border: 1px solid var(--line); border-left: 4px solid #2563eb; border-radius: 10px;
  padding: .8rem 1rem; }
details { margin: .6rem 0; }
.scroll { overflow-x: auto; }
.scroll table { min-width: max-content; }
.scroll td, .scroll th { overflow-wrap: normal; }
td:first-child, th:first-child { position: sticky; left: 0; background: var(--page); }
.bar { display: inline-block; height: .7em; border-radius: .2em; vertical-align: baseline; }
.soft, .soft td { color: var(--dim); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; font-size: .9rem; }
.legend span { white-space: nowrap; }
.legend svg { width: 26px; height: 10px; margin-right: .4rem; }
.side { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); gap: 1rem 2.5rem; }
.side > div { min-width: 0; }
.side h3 { margin: 1rem 0 .5rem; font-size: 1rem; }
h2 { border-top: 1px solid var(--line); padding-top: 1.5rem; }
@media (max-width: 600px) { .chart text { font-size: 20px; } body { margin: 1rem auto; } }
"""


def lab_report(
    summaries: Sequence[Summary],
    overlaps: Mapping[tuple[str, str, str], float | None],
    look: Mapping[str, Style],
    *,
    web: str,
    pages: int,
    baseline: str,
    starts: Mapping[str, Sequence[str]],
    needs: Needs,
    about: str,
    notes: Sequence[str],
    command: str,
    manners: Manners | None = None,
    forecasts: Mapping[tuple[str, str], Accuracy] | None = None,
    reliability: Mapping[tuple[str, str], Reliability] | None = None,
) -> str:
    """The whole report; *about* describes the web, *command* is the command line that made it."""
    body = [f"<p>{html.escape(about)}</p>"]
    ways = list(dict.fromkeys(one.seeds for one in summaries))
    for way in ways:
        those = [one for one in summaries if one.seeds == way]
        body.append(f"<h2>From {html.escape(WAYS.get(way, way))}</h2>")
        if starts.get(way):
            links = ", ".join(html.escape(url) for url in starts[way][:5])
            body.append(f"<p><small>Every crawl starts at {links}</small></p>")
        body.append(f"<p class=lead>{html.escape(advise(those, web, pages, needs))}</p>")
        body.append(_headline(those, look, baseline, polite=manners is not None))
        body.append(f"<details><summary>More figures</summary>{_more(those)}</details>")
        names = [one.spider for one in those]
        series = over_pages(those)
        body.append("<div class=side><div><h3>Relevant pages over pages fetched, mean of all crawls</h3>")
        body.append(f"<div class=chart>{curves(series, look)}</div>{legend(list(series), look)}</div>")
        if timed := over_time(those):
            body.append("<div><h3>Relevant pages over the crawl's clock, mean of all crawls</h3>")
            body.append(f"<div class=chart>{curves(timed[0], look, timed[1])}</div></div>")
        body.append(f"<div><h3>Score by topic</h3>{_by_topic(those)}</div></div>")
        if told := _forecasts(way, names, forecasts or {}):
            body.append(f"<details><summary>How good the crawls' own forecasts were</summary>{told}</details>")
        if curve := _reliability(way, names, reliability or {}):
            body.append(f"<details><summary>How far scores can be taken for expectations</summary>{curve}</details>")
        if overlap := _overlaps(way, names, overlaps):
            body.append(
                "<details><summary>Of the relevant pages that either spider found, the share that both found</summary>"
            )
            body.append(f"{overlap}</details>")
    body.append(_reading(baseline, polite=manners is not None))
    if notes:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
        body.append(f"<h2>Notes</h2><ul>{items}</ul>")
    body.append(f"<p><small>focuscrawl {__version__}: <code>{html.escape(command)}</code></small></p>")
    topics = max((one.topics for one in summaries), default=0)
    spiders = len({one.spider for one in summaries} - {LIMIT, CHANCE})
    what = f"{_count(spiders, 'spider')}, {_count(topics, 'topic')}, {pages:,} pages per crawl"
    how = "" if manners is None else f"; {manners}, on the crawl's clock"
    subtitle = f"{what}{how}; relevant means relevant by the web's labels"
    return report.page(f"Strategies on {web}", subtitle, "\n".join(body), _STYLE)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _headline(summaries: Sequence[Summary], look: Mapping[str, Style], baseline: str, *, polite: bool) -> str:
    head = [
        *("spider", "score", "95 % interval", "harvest", "target recall", "relevant"),
        *(("relevant per hour", "duration") if polite else ()),
        *(f"against {baseline}", "p"),
    ]
    rows = []
    for one in summaries:
        width, colour = 4 * min(one.score, 1.2), look[one.spider].colour
        room = 4 * min(max(other.score for other in summaries), 1.2) - width  # bars begin at one place
        look_of_bar = f"width:{width:.2f}em;margin-right:{room + 0.5:.2f}em;background:{colour}"
        bar = f'<span class=bar style="{look_of_bar}"></span>'
        against, p = one.against, ""
        if against:
            p = f"{against.p:.2g}" if against.better + against.worse >= FEW else ""
            if one.p_holm is not None and one.p_holm < SIGNIFICANT:
                p = f"<b>{p}</b>"
        rows.append(
            (
                _name(one),
                f"{bar}{one.score:.3f}",
                f"{one.interval[0]:.2f} – {one.interval[1]:.2f}" if one.interval else "–",
                _share(one.means["harvest"]),
                _share(one.means["target_recall"]),
                f"{one.relevant:,.1f}",
                *(one.speed if polite else ()),
                f"{against.difference:+.3f} ({against.better} : {against.worse})" if against else "–",
                p or "–",
            )
        )
    return f"<div class=scroll>{report.table(head, rows, len(head) - 1)}</div>"


def _more(summaries: Sequence[Summary]) -> str:
    head = (
        "spider",
        "judged: precision",
        "judged: recall",
        "similarity",
        "relevant hosts",
        "requests",
        "CPU ms per page",
    )
    rows = [
        (
            _name(one),
            _share(one.means["judged_precision"]),
            _share(one.means["judged_recall"]),
            *(f"{one.means[name]:,.1f}" for name in ("similarity", "relevant_hosts", "requests")),
            f"{one.cost:.1f}" if one.cost else "–",
        )
        for one in summaries
    ]
    return f"<div class=scroll>{report.table(head, rows, len(head) - 1)}</div>"


def _name(one: Summary) -> str:
    name = html.escape(one.title)
    return f"<span class=soft>{name}</span>" if one.spider in (LIMIT, CHANCE, FLOOR) else f"<b>{name}</b>"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"


def _by_topic(summaries: Sequence[Summary]) -> str:
    topics = list(dict.fromkeys(topic for one in summaries for topic in one.scores))
    shown = [one for one in summaries if one.spider != LIMIT]
    rows = []
    for topic in topics:
        best = max((one.scores.get(topic, 0.0) for one in shown), default=0.0)
        cells = [f"{one.scores[topic]:.2f}" if topic in one.scores else "–" for one in shown]
        marked = [
            f"<b>{cell}</b>" if one.scores.get(topic) == best else cell for one, cell in zip(shown, cells, strict=True)
        ]
        rows.append((html.escape(topic), *marked))
    return f"<div class=scroll>{report.table(('topic', *(one.spider for one in shown)), rows, len(shown))}</div>"


def _overlaps(way: str, names: Sequence[str], overlaps: Mapping[tuple[str, str, str], float | None]) -> str:
    shown = [name for name in names if name != LIMIT]
    rows = []
    for one in shown:
        ratios = [overlaps.get((way, one, other), overlaps.get((way, other, one))) for other in shown]
        cells = ["" if name == one else _share(ratio) for name, ratio in zip(shown, ratios, strict=True)]
        rows.append((html.escape(one), *cells))
    return f"<div class=scroll>{report.table(('', *shown), rows, len(shown))}</div>" if len(shown) > 1 else ""


def _forecasts(way: str, names: Sequence[str], forecasts: Mapping[tuple[str, str], Accuracy]) -> str:
    """What crawls expected of their next pages, against what came."""
    head = ("spider", "forecasts", "relevant pages that came", "off by", "close", "inside the interval")
    rows = []
    for name in names:
        if good := forecasts.get((way, name)):
            figures = (f"{good.forecasts:,}", f"{good.truth:.1f}", f"{good.error:.1f}")
            rows.append((html.escape(name), *figures, _share(good.close), _share(good.covered)))
    if not rows:
        return ""
    note = (
        f"<p><small>From page {FROM} on, by the spider's own judgement. Close: off by {CLOSE:.0%} of what came, or by"
        f" {FEW_PAGES} pages, at most. The interval is meant to hold the truth in 80 % of the cases.</small></p>"
    )
    return f"<div class=scroll>{report.table(head, rows, len(head) - 1)}</div>{note}"


def _reliability(way: str, names: Sequence[str], found: Mapping[tuple[str, str], Reliability]) -> str:
    """The reliability curves of spiders that calibrate their scores."""
    parts = []
    for name in names:
        if good := found.get((way, name)):
            drawn = reliability_chart([(one.score, one.relevance, one.relevant) for one in good.bins])
            head = ("score", "pages", "mean score", "mean relevance by its judge", "relevant by the labels")
            rows = [
                (
                    f"{floor(one.score * BINS) / BINS:.1f} –",
                    f"{one.pages:,}",
                    f"{one.score:.2f}",
                    f"{one.relevance:.2f}",
                    _share(one.relevant),
                )
                for one in good.bins
            ]
            parts.append(
                f"<h3>{html.escape(name)}: off by {good.by_judge:.3f} by its own judge, {good.by_labels:.3f} by the"
                f" labels</h3><div class=side><div class=chart>{drawn}</div>"
                f"<div class=scroll>{report.table(head, rows, len(head) - 1)}</div></div>"
            )
    if not parts:
        return ""
    note = (
        f"<p><small>From page {FIRST} on. Off by: the expected calibration error, the mean distance of a tenth's mean"
        " score from what came, weighted by pages. Blue: the spider's own judge; orange: the labels.</small></p>"
    )
    return "".join(parts) + note


def _reading(baseline: str, *, polite: bool) -> str:
    clock = f"""
<p><b>On the clock</b>: the crawls were polite, and their waiting was simulated: each request took its latency, and the
crawl's clock jumped to the next event. <b>Duration</b> is the time on that clock until the last page arrived, including
the time for examples and for pages that a spider fetched to learn from; <b>relevant per hour</b> is the number of
relevant pages divided by it. <i>{LIMIT}</i> and <i>{CHANCE}</i> are as polite as the crawls: they take a page only
while its host is free. A curve stays flat after its crawl has ended; that of <i>{LIMIT}</i> ends when nothing is left
to find. CPU time is free on this clock, and neither DNS nor bandwidth is simulated. The score and the advice are about
pages, not about time.</p>"""
    return f"""<h2>How to read this</h2>
<p><b>Score</b>: area under the curve of relevant pages over pages fetched, divided by that of <i>{LIMIT}</i>, a crawler
that knows all links and labels and stops when nothing is left to find. <i>{CHANCE}</i> takes a random known page. Both
are orders computed from the links that the spiders see, not crawls. The <b>interval</b> is a bootstrap over topics and
repeats. <b>Harvest</b> is the share of fetched pages that are relevant, <b>target recall</b> the share of the topic's
target pages that were fetched. <b>Against {html.escape(baseline)}</b>: the mean difference in score, and the number of
topics on which it is better : worse; p is that of Wilcoxon's signed-rank test, bold where it stays below {SIGNIFICANT}
after Holm's correction for the number of spiders. The p in the advice is multiplied by the number of spiders that the
best was chosen from. <b>Judged</b> figures show how well the spider's own judgement of relevance
agrees with the labels. <b>Similarity</b> sums the cosines of the fetched pages with the topic's words. <b>Requests</b>
include robots.txt, examples and pages that a spider fetched to learn from.</p>{clock if polite else ""}"""
