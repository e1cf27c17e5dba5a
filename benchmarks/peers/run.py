"""Compare with other crawlers: each crawls the same labelled web for a topic, over HTTP on loopback.

    python benchmarks/peers/run.py [--web FILE --topics DIR] [--topic NAME …] [--pages 300] [--peers scrapy,crawlee]

Each crawl is a separate process with the same seeds, keywords and number of pages, one request at a time if the tool
supports that, without delay. Its requests and their order are read from the server's log, never from the tool's output.
`pip install 'focuscrawl[peers]'` installs the tools; one that is missing, or fails in a crawl, is left out with a
message. A peer is TOOL or TOOL:VARIANT, and focuscrawl:SPIDER is any of our spiders.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import NamedTuple
from urllib.parse import urljoin

from focuscrawl import urls
from focuscrawl.topic import Topic, load_topic
from focuscrawl.web.server import WebServer, serving
from focuscrawl.web.webs import Answer, MemoryWeb, Web, canonical, open_web

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WEBS = ROOT.parent / "shared" / "webs"
YARDSTICK = "scrapy:breadth_first"
#: The peers, and what determines their order.
PEERS = {
    YARDSTICK: "found first",
    "scrapy": "found last",
    "trafilatura": "navigation pages",
    "crawlee": "found first",
    "crawlee:keywords": "keyword in the link",
    "crawl4ai:best_first": "keywords in the URL",
    "crawl4ai:adaptive": "previews of links",
    "focuscrawl:keyword": "keywords on the page",
    "focuscrawl:best_first": "relevance of the page",
    "focuscrawl:shark_search": "page, link, ancestors",
    "focuscrawl:adaptive": "learned while crawling",
}
#: The page that lists the seeds, for tools that start from one page: on the host of the first seed, and not counted.
START = "/list-of-seeds"
PROBE = Topic("probe", seeds=["http://probe.example/"], keywords={"sorting": 1})


class Request(NamedTuple):
    """A line of the server's log."""

    method: str
    url: str
    #: Whether it is a link preview, which sends a range or refuses compression.
    partial: bool = False


class Figures(NamedTuple):
    """The figures of a log."""

    #: Requests of any kind, up to the last counted page.
    requests: int
    #: Distinct requests for pages, including dead links, without robots.txt, embedded resources and previews.
    pages: int
    #: Pages with the label, and those of them among the first *pages* requests of any kind.
    relevant: int
    relevant_in_requests: int


class Crawl(NamedTuple):
    """A finished crawl."""

    log: list[Request]
    #: CPU seconds, including child processes.
    cpu: float
    #: Why it failed.
    error: str = ""


class Row(NamedTuple):
    """A peer on a topic."""

    figures: Figures
    #: Relevant pages relative to those that the yardstick found in as many pages.
    ratio: float
    #: CPU seconds per page, without start-up.
    cpu: float


def figures(log: Iterable[Request], web: Web, label: str, pages: int) -> Figures:
    """Count the requests in order, until *pages* pages were requested."""
    seen: set[str] = set()
    requests = relevant = relevant_in_requests = 0
    for request in log:
        if request.url.endswith(START):
            continue
        if len(seen) == pages:
            break
        requests += 1
        name = canonical(request.url)
        if name in seen or not is_page(request) or 300 <= web.get(request.url).status < 400:
            continue
        seen.add(name)
        if label in web.labels(request.url):
            relevant += 1
            relevant_in_requests += requests <= pages
    return Figures(requests, len(seen), relevant, relevant_in_requests)


def is_page(request: Request) -> bool:
    """Whether a request is for a whole page."""
    other = request.url.endswith(("/robots.txt", ".css", ".js", ".ico")) or "/.well-known/" in request.url
    return request.method == "GET" and not request.partial and not other and not urls.is_binary(request.url)


def page(title: str, links: str = "") -> bytes:
    """A page with enough text for tools to accept it."""
    text = f"<h1>{title}</h1><p>This page is here so that there is something to read and something to follow.</p>"
    return f"<html><head><title>{title}</title></head><body>{text}{links}</body></html>".encode()


class WithStart(Web):
    """A web with one more page, which links to the seeds."""

    def __init__(self, web: Web, seeds: list[str]) -> None:
        self.web = web
        self.start = urljoin(seeds[0], START)
        self.links = "".join(f'<p><a href="{seed}">{seed}</a></p>' for seed in seeds)

    def get(self, url: str) -> Answer:
        if url == self.start:
            return Answer(200, "text/html; charset=utf-8", page("Seeds", self.links))
        return self.web.get(url)


def logged(server: WebServer) -> list[Request]:
    """All requests that a server receives from now on, in order."""
    log: list[Request] = []

    class Logged(server.RequestHandlerClass):  # type: ignore[misc, name-defined]
        def parse_request(self) -> bool:
            is_request = super().parse_request()
            if is_request:
                partial = "Range" in self.headers or self.headers.get("Accept-Encoding") == "identity"
                url = urls.join(self.path, "") if self.path.startswith("http://") else None
                log.append(Request(self.command, url or self.path, partial))
            return is_request

    server.RequestHandlerClass = Logged
    server.handle_error = lambda *_: None  # previews close the connection in the middle of a page
    return log


def crawl(peer: str, web: Web, topic: Topic, pages: int, robots: bool = False, timeout: float = 900) -> Crawl:
    """Run a peer's crawl of a web from the seeds of a topic, and log its requests."""
    tool, _, variant = peer.partition(":")
    with_start = WithStart(web, topic.seeds)
    command = [sys.executable, str(HERE / f"with_{tool}.py"), f"--variant={variant}", f"--start={with_start.start}"]
    command += [f"--seed={seed}" for seed in topic.seeds] + [f"--keyword={word}" for word in topic.keywords]
    command += [f"--pages={pages}"] + ["--robots"] * robots
    error = ""
    with serving(with_start) as server, tempfile.TemporaryDirectory() as folder:
        log = logged(server)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
            "http_proxy": server.address,
            "PYTHONPATH": str(ROOT),
            "HOME": folder,  # no state from earlier runs, nothing left behind
        }
        before = cpu_of_children()
        process = subprocess.Popen(
            [*command, f"--proxy={server.address}"],
            cwd=folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            said = process.communicate(timeout=timeout)[1]
            said = said.partition("Exception ignored in")[0].strip()  # the rest is about the interpreter's end
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            error = f"not done after {timeout:.0f} s"
        else:
            if process.returncode or not any(map(is_page, log)):
                error = said.splitlines()[-1] if said else f"no page, and exit code {process.returncode}"
        return Crawl(list(log), cpu_of_children() - before, error)


def cpu_of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def probe_web() -> MemoryWeb:
    """Two links that look alike, one of them forbidden by robots.txt."""
    web = MemoryWeb()
    host = PROBE.seeds[0]
    web.add(f"{host}robots.txt", "User-agent: *\nDisallow: /closed/\n", content_type="text/plain")
    names = ("open/sorting.html", "closed/sorting.html")
    web.add(host, page("Sorting", "".join(f'<p><a href="/{name}">sorting</a></p>' for name in names)))
    for name in names:
        web.add(f"{host}{name}", page("Sorting"))
    return web


def obeys(log: Iterable[Request]) -> bool | None:
    """Whether the forbidden page of the probe was not requested; None if the other one was not either."""
    asked = {request.url for request in log}
    if f"{PROBE.seeds[0]}closed/sorting.html" in asked:
        return False
    return True if f"{PROBE.seeds[0]}open/sorting.html" in asked else None


def manners(peer: str) -> tuple[str, Crawl]:
    """Whether a peer obeys robots.txt, by default or if asked, and the tiny crawl that shows it."""
    short = crawl(peer, probe_web(), PROBE, 10)
    by_itself = obeys(short.log)
    if by_itself is not False:
        return {True: "yes", None: "?"}[by_itself], short
    asked = crawl(peer, probe_web(), PROBE, 10, robots=True)
    return "if asked" if obeys(asked.log) else "no", short._replace(error=short.error or asked.error)


def installed(peers: list[str]) -> list[str]:
    """The peers whose tool is installed; prints a line for each of the others."""
    for tool in dict.fromkeys(peer.partition(":")[0] for peer in peers):
        if not (HERE / f"with_{tool}.py").exists():
            sys.exit(f"unknown peer '{tool}'; choose from {', '.join(PEERS)} and focuscrawl:SPIDER")
        if find_spec(tool) is None:
            print(f"{tool} is not installed and is left out: pip install 'focuscrawl[peers]'", flush=True)
            peers = [peer for peer in peers if peer.partition(":")[0] != tool]
    return peers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--web", default=str(WEBS / "wikipedia.sqlite"))
    parser.add_argument("--topics", type=Path, default=WEBS / "topics" / "wikipedia")
    parser.add_argument("--topic", nargs="*", help="names of topic files; default: all")
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--peers", default=",".join(PEERS))
    options = parser.parse_args()
    if options.web != "demo" and not Path(options.web).exists():
        sys.exit(f"{options.web} does not exist; give a labelled web with --web and its topics with --topics")
    web = open_web(options.web)
    files = {file.stem: file for file in sorted(options.topics.glob("*.toml"))}
    for name in options.topic or files:
        if name not in files:
            sys.exit(f"no topic '{name}' in {options.topics}; choose from {', '.join(files)}")
    topics = [load_topic(str(files[name])) for name in options.topic or files]
    probes = probed(installed(list(dict.fromkeys([YARDSTICK, *options.peers.split(",")]))))
    rows = compared(topics, web, options.pages, probes)
    if rows[YARDSTICK]:
        print(table(rows, {peer: robots for peer, (robots, _) in probes.items()}, options.pages))


def probed(peers: list[str]) -> dict[str, tuple[str, Crawl]]:
    """The robots.txt behaviour of each peer that works."""
    probes = {}
    for peer in peers:
        robots, short = manners(peer)
        if short.error:
            leave_out(peer, "failed", short.error)
        else:
            probes[peer] = robots, short
    return probes


def compared(topics: list[Topic], web: Web, pages: int, probes: dict[str, tuple[str, Crawl]]) -> dict[str, list[Row]]:
    """The results of each peer on each topic, without peers that failed."""
    rows: dict[str, list[Row]] = {peer: [] for peer in probes}
    try:
        # topic by topic, so load on the machine affects all peers alike
        for number, topic in enumerate(topics, 1):
            print(f"{topic.name}, {number} of {len(topics)} …", file=sys.stderr, flush=True)
            found = on_topic(topic, web, pages, {peer: probes[peer][1] for peer in rows})
            rows = {peer: [*rows[peer], row] for peer, row in found.items()}
    except KeyboardInterrupt:
        print("stopped; the results cover the topics finished so far", file=sys.stderr)
    return rows


def leave_out(peer: str, failed: str, why: str) -> None:
    """Report that a peer is left out; exits if it is the yardstick."""
    if peer == YARDSTICK:
        sys.exit(f"{peer} {failed}, and the others cannot be compared without it: {why}")
    print(f"{peer} {failed} and is left out: {why}", flush=True)


def on_topic(topic: Topic, web: Web, pages: int, probes: dict[str, Crawl]) -> dict[str, Row]:
    """Crawl for one topic with each peer, the yardstick first; peers that fail are left out."""
    rows = {}
    yardstick: list[Request] = []
    for peer, probe in probes.items():
        done = crawl(peer, web, topic, pages)
        if done.error:
            leave_out(peer, f"failed on {topic.name}", done.error)
            continue
        if peer == YARDSTICK:
            yardstick = done.log
        counted = figures(done.log, web, topic.label, pages)
        # a crawl that ends early is compared with as many pages of the yardstick's
        base = figures(yardstick, web, topic.label, counted.pages).relevant
        # start-up time is not part of the cost per page
        more = figures(done.log, web, "", sys.maxsize).pages - figures(probe.log, web, "", sys.maxsize).pages
        rows[peer] = Row(counted, counted.relevant / max(1, base), (done.cpu - probe.cpu) / max(1, more))
    return rows


def table(rows: dict[str, list[Row]], robots: dict[str, str], pages: int) -> str:
    """Means over the topics; ratios are means of ratios."""
    head = ("pages", "relevant", "share", "ratio", "requests/relevant", f"in {pages} requests", "CPU", "robots.txt")
    widths = (7, 10, 7, 8, 18, 17, 8, 12)

    def line(name: str, cells: Iterable[str], last: str) -> str:
        return f"{name:25}{''.join(f'{cell:>{width}}' for cell, width in zip(cells, widths, strict=True))}  {last}"

    lines = [line(f"mean of {len(rows[YARDSTICK])} topics", head, "order by")]
    for peer, results in rows.items():
        found = [row.figures for row in results]
        relevant = sum(one.relevant for one in found)
        cells = (
            f"{mean(one.pages for one in found):.0f}",
            f"{relevant / len(found):.1f}",
            f"{relevant / max(1, sum(one.pages for one in found)):.0%}",
            f"{mean(row.ratio for row in results):.2f}×",
            f"{sum(one.requests for one in found) / max(1, relevant):.1f}",
            f"{mean(one.relevant_in_requests for one in found):.1f}",
            f"{mean(row.cpu / base.cpu for row, base in zip(results, rows[YARDSTICK], strict=True)):.2f}×",
            robots[peer],
        )
        lines.append(line(peer, cells, PEERS.get(peer, "")).rstrip())
    return "\n".join([*lines, versions(rows)])


def versions(peers: Iterable[str]) -> str:
    tools = dict.fromkeys(peer.partition(":")[0] for peer in peers)
    return ", ".join(f"{tool} {version(tool)}" for tool in tools)


if __name__ == "__main__":
    main()
