"""The dashboard's web application: addresses, and the view behind each."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any
from urllib.parse import quote, urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from focuscrawl import __version__
from focuscrawl.console.program import program
from focuscrawl.crawl import wishes
from focuscrawl.crawl.lock import LockedError, locked_store
from focuscrawl.crawl.marking import mark_pages
from focuscrawl.dashboard import figures, hostmap, listing, pageview, review, topicview
from focuscrawl.dashboard.crawls import Crawls, OpenCrawl
from focuscrawl.dashboard.ledger import ORDERS
from focuscrawl.dashboard.rendering import environment
from focuscrawl.dashboard.safety import SANDBOX, Guard, Safety, read_form
from focuscrawl.dashboard.searching import find, search_filter
from focuscrawl.errors import FocusError
from focuscrawl.page import Page
from focuscrawl.reading.documents import read_page
from focuscrawl.search.index import Index
from focuscrawl.store.browse import LATEST_LINKS
from focuscrawl.store.marks import VERDICTS
from focuscrawl.store.sqlite_file import from_json
from focuscrawl.store.store import Store

logger = logging.getLogger(__name__)

VIEWS = ("pages", "review", "search", "frontier", "map", "topic")
_STATIC = {
    "style.css": "text/css",
    "app.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
#: Who marks from here.
MARKED_BY = "dashboard"
_MAX_NOTE = 1_000

View = Callable[[Request, OpenCrawl, Store], Response]


class Dashboard:
    """The views of some crawls."""

    def __init__(self, crawls: Crawls, guard: Guard) -> None:
        self.crawls = crawls
        self.guard = guard
        self.templates = environment()
        self.app = Starlette(routes=self._routes(), middleware=[Middleware(Safety, guard=guard)])

    def _routes(self) -> list[Route]:
        crawl = "/c/{crawl:path}"
        one = self._of_crawl
        return [
            Route("/", self.home),
            Route("/static/{name}", self.static),
            Route(f"{crawl}/now", one(partial(self.now, fragment=True))),
            Route(f"{crawl}/pages", one(self.pages)),
            Route(f"{crawl}/page/{{number:int}}", one(self.page)),
            Route(f"{crawl}/page/{{number:int}}/copy", one(self.copy)),
            Route(f"{crawl}/review", one(self.review)),
            Route(f"{crawl}/search", one(self.search)),
            Route(f"{crawl}/search.json", one(partial(self.search, as_json=True))),
            Route(f"{crawl}/frontier", one(self.frontier)),
            Route(f"{crawl}/map", one(self.map)),
            Route(f"{crawl}/topic", one(self.topic)),
            Route(f"{crawl}/mark", self.mark, methods=["POST"]),
            Route(f"{crawl}/ask", self.ask, methods=["POST"]),
            Route(f"{crawl}/index", self.index, methods=["POST"]),
            Route(f"{crawl}/", one(self.now)),
        ]

    def warm_up(self) -> None:
        """Do what the first request would wait for: compile the templates, begin to read, import what reads pages."""
        for name in self.templates.list_templates():
            self.templates.get_template(name)
        if self.crawls.single:
            self.crawls.all()[0].warm_up()
        read_page(Page("http://a.example/"), b"<title>a</title><p>Any text will do for this.</p>").main_text  # noqa: B018

    # ---- around the views

    def _of_crawl(self, view: View) -> Callable[[Request], Response]:
        """An endpoint that opens the crawl that the address names, and reports what is wrong with it in one line."""

        def endpoint(request: Request) -> Response:
            crawl = self.crawls.get(request.path_params["crawl"])
            if crawl is None:
                return self.problem("There is no such crawl.", 404)
            try:
                with crawl.open() as store:
                    return view(request, crawl, store)
            except FocusError as error:
                return self.problem(str(error), 500)

        return endpoint

    def render(self, name: str, crawl: OpenCrawl | None = None, status: int = 200, **values: Any) -> Response:
        """A page from a template."""
        base = f"/c/{quote(crawl.name)}/" if crawl else "/"
        html = self.templates.get_template(name).render(
            crawl=crawl,
            base=base,
            secret=self.guard.secret,
            single=self.crawls.single,
            version=__version__,
            program=program(),
            views=VIEWS,
            view=name.removesuffix(".html"),
            **values,
        )
        return HTMLResponse(html, status)

    def problem(self, message: str, status: int) -> Response:
        """A page that says what is wrong."""
        return self.render("problem.html", None, status, message=message, topic="")

    def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            return self.problem("There is no such file.", 404)
        content = files("focuscrawl.dashboard").joinpath("static", name).read_bytes()
        # the address has the version in it
        return Response(content, headers={"Cache-Control": "max-age=86400"}, media_type=_STATIC[name])

    # ---- views

    def home(self, request: Request) -> Response:
        """All crawls; or the only one."""
        crawls = self.crawls.all()
        if self.crawls.single:
            return RedirectResponse(f"/c/{quote(crawls[0].name)}/", 303)
        rows = []
        for crawl in crawls:
            try:
                with crawl.open() as store:
                    rows.append(figures.overview(crawl, store))
            except FocusError as error:
                rows.append({"name": crawl.name, "problem": str(error)})
        return self.render("overview.html", None, rows=rows, place=str(self.crawls.place), topic="")

    def now(self, request: Request, crawl: OpenCrawl, store: Store, *, fragment: bool = False) -> Response:
        values = figures.now(crawl, store)
        return self.render(
            "_now.html" if fragment else "now.html",
            crawl,
            topic=store.meta("topic") or "",
            spider=store.meta("spider") or "",
            complete=crawl.ledger.complete,
            **values,
        )

    def pages(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        crawl.catch_up(store)
        filters = listing.filters_of(request.query_params)
        found = listing.listing(crawl, store, filters, request.query_params.get("after", ""))
        ledger = crawl.ledger
        return self.render(
            "pages.html",
            crawl,
            topic=store.meta("topic") or "",
            filters=filters,
            query_values=listing.as_query(filters),
            found=found,
            first=not request.query_params.get("after"),
            orders=list(ORDERS),
            languages=[name for name, _, _ in ledger.by_name("language", ledger.languages)[:60] if name],
            reasons=[name for name in ledger.reasons.names if name],
            marked=crawl.marked,
            complete=ledger.complete,
            known=len(ledger.known),
        )

    def page(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        crawl.catch_up(store)
        return self._page(request.path_params["number"], crawl, store)

    def _page(self, number: int, crawl: OpenCrawl, store: Store, template: str = "page.html", **more: Any) -> Response:
        story, detail = store.pages.story(number), store.browse.detail(number)
        if story is None or detail is None:
            return self.problem(f"There is no page {number:,}.", 404)
        text, problem, cut = pageview.page_text(store, number)
        links, link_count = pageview.fates(store, number)
        return self.render(
            template,
            crawl,
            topic=store.meta("topic") or "",
            number=number,
            last=store.pages.last_number(),
            story=story,
            detail=detail,
            mark=store.marks.get(detail.key),
            threshold=store.standing.threshold(),
            text=text,
            text_problem=problem,
            cut=cut,
            chain=pageview.chain(store, number),
            links=links,
            link_count=link_count,
            withheld=pageview.withheld(detail.withheld),
            todo=pageview.todo(story.problem),
            said=pageview.said(store.metadata.get(number)),
            rights=pageview.rights(store.browse.rights(number)),
            has_copy=pageview.copy_of(store, number) is not None,
            **more,
        )

    def copy(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        """The stored bytes of a page, which only ever appear in a sandbox."""
        number = request.path_params["number"]
        found = pageview.copy_of(store, number) if store.pages.get(number) is not None else None
        body, kind = found or (b"There is no copy that a browser can show.", "text/plain")
        headers = {"Content-Security-Policy": SANDBOX, "Content-Type": kind}
        return Response(body, 200 if found else 404, headers)

    def review(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        crawl.catch_up(store)
        of = "random" if request.query_params.get("of") == "random" else "borderline"
        sample = review.sample(crawl.ledger, store.verdicts.overruled())
        waiting = review.borderline(crawl.ledger, store.standing.threshold(), crawl.marked, 30)
        skip = request.query_params.get("skip", "")
        if of == "borderline":
            waiting = [page for page in waiting if str(page) != skip]
            number = waiting[0] if waiting else None
        else:
            number = review.next_random(sample, crawl.marked)
        known: dict[str, Any] = {"of": of, "precision": review.precision(sample, crawl.marked), "matched": len(sample)}
        known["marked"] = len(crawl.marked)
        if number is None:
            return self.render("reviewed.html", crawl, topic=store.meta("topic") or "", **known)
        return self._page(number, crawl, store, "review.html", **known)

    def search(self, request: Request, crawl: OpenCrawl, store: Store, *, as_json: bool = False) -> Response:
        given = dict(request.query_params)
        text = given.get("q", "").strip()[:500]
        index = Index(store)
        waiting = crawl.fact("waiting", lambda store: Index(store).waiting(), fresh=3.0)
        answer, problem = None, ""
        if text and index.exists():
            try:
                answer = find(store, text, search_filter(given), given.get("limit", ""))
            except FocusError as error:
                problem = str(error)
        if as_json:
            status = 400 if problem else 200
            found = [hit.record() for hit in answer.hits] if answer else []
            total, more = (answer.total, answer.more) if answer else (0, False)
            told = {"query": text, "total": total, "more": more, "not_indexed": waiting, "results": found}
            return JSONResponse({"error": problem} if problem else told, status)
        names = ("q", "host", "topic", "since", "until", "matched", "language")
        return self.render(
            "search.html",
            crawl,
            topic=store.meta("topic") or "",
            given={name: given.get(name, "") for name in names},
            query_text=urlencode({name: given[name] for name in names if given.get(name)}),
            answer=answer,
            problem=problem,
            indexed=index.exists(),
            waiting=waiting or 0,
            running=crawl.holder() is not None,
            indexing=crawl.is_busy("index"),
        )

    def frontier(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        crawl.catch_up(store)
        ahead = crawl.fact("next", lambda store: store.browse.next_up(15), fresh=3.0)
        anchors = store.browse.anchors([url.via for url in ahead or [] if url.via])
        rows = []
        for url in ahead or []:
            anchor, why, page = anchors.get(url.via or 0, ("", None, 0))
            rows.append((url, anchor, from_json(why, dict), page))
        activity = figures.at_work(crawl, store)
        refused = store.browse.refused(30)
        reasons: dict[str, int] = {}
        for told, count in refused:
            reason = pageview.refusal(told)
            reasons[reason] = reasons.get(reason, 0) + count
        return self.render(
            "frontier.html",
            crawl,
            topic=store.meta("topic") or "",
            rows=rows,
            counting=ahead is None,
            queue=figures.queued(crawl, activity),
            running=crawl.holder() is not None,
            activity=activity,
            states={host.name: host for host in activity.hosts} if activity else {},
            hosts=crawl.fact("waiting hosts", lambda store: store.browse.waiting_hosts(20), fresh=5.0) or [],
            refused=sorted(reasons.items(), key=lambda item: -item[1])[:15],
            latest=LATEST_LINKS,
            failures=store.browse.last_failures(15),
            reasons=crawl.fact("reasons", lambda store: store.failures.by_reason(12), fresh=5.0) or [],
            files=store.unread.counts(10),
        )

    def map(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        crawl.catch_up(store)
        found = crawl.fact("map", lambda _: hostmap.layout(crawl.ledger), wait=0.1, fresh=10.0)
        base = f"/c/{quote(crawl.name)}/pages?host="
        return self.render(
            "map.html",
            crawl,
            topic=store.meta("topic") or "",
            drawing=hostmap.draw(found, base) if found else "",
            found=found,
            complete=crawl.ledger.complete,
        )

    def topic(self, request: Request, crawl: OpenCrawl, store: Store) -> Response:
        crawl.catch_up(store)
        return self.render(
            "topic.html",
            crawl,
            topic=store.meta("topic") or "",
            spider=store.meta("spider") or "",
            run=figures.last_run(store),
            runs=len(store.runs()),
            threshold=store.standing.threshold(),
            found=crawl.fact("topic", lambda store: topicview.contributions(store, crawl.ledger), fresh=5.0),
            learned=topicview.learned(store),
        )

    # ---- changes

    async def _change(self, request: Request) -> tuple[OpenCrawl, dict[str, str]] | Response:
        """The crawl and the fields of a change that is allowed."""
        form = await read_form(request)
        if not self.guard.has_secret(form):
            return self.problem("This form is from before the dashboard was restarted. Go back and reload.", 403)
        crawl = self.crawls.get(request.path_params["crawl"])
        return (crawl, form) if crawl is not None else self.problem("There is no such crawl.", 404)

    def _back(self, crawl: OpenCrawl, form: dict[str, str]) -> Response:
        """Back to the view that a form was on: only ever one of ours."""
        place = form.get("back", "")
        known = place in VIEWS or (place.partition("/")[0] == "page" and place[5:].isdigit())
        known = known or place == "review?of=random"
        return RedirectResponse(f"/c/{quote(crawl.name)}/{place if known else ''}", 303)

    async def mark(self, request: Request) -> Response:
        """Add a mark to the crawl's file."""
        change = await self._change(request)
        if isinstance(change, Response):
            return change
        crawl, form = change
        verdict, number = form.get("verdict", ""), form.get("number", "")
        if verdict not in VERDICTS or not number.isdigit() or len(number) > 15:
            return self.problem("A mark names a page, and says yes, no, unsure or none.", 400)

        def write() -> Response | None:
            with crawl.open() as store:
                detail = store.browse.detail(int(number))
            if detail is None:
                return self.problem(f"There is no page {number}.", 404)
            mark_pages(crawl.folder, [(detail.asked, verdict, form.get("note", "")[:_MAX_NOTE])], MARKED_BY)
            return None

        return await self._write(write) or self._back(crawl, form)

    async def ask(self, request: Request) -> Response:
        """Ask something of a running crawl."""
        change = await self._change(request)
        if isinstance(change, Response):
            return change
        crawl, form = change
        pages = form.get("pages", "")
        if crawl.holder() is None:
            return self.problem("This crawl is not running.", 409)
        number = int(pages) if pages.isascii() and pages.isdigit() and len(pages) < 12 else 0
        return await self._write(partial(wishes.ask, crawl.folder, form.get("do", ""), number)) or self._back(crawl, {})

    async def index(self, request: Request) -> Response:
        """Index the pages that cannot be found yet, in the background."""
        change = await self._change(request)
        if isinstance(change, Response):
            return change
        crawl, _ = change

        def work(_: Store) -> None:
            try:
                with locked_store(crawl.folder) as store:
                    Index(store).update()
            except (LockedError, OSError) as error:
                logger.warning("%s cannot be indexed now: %s", crawl.folder, error)

        (await run_in_threadpool(crawl.start, "index", work)).wait(0.0)
        return self._back(crawl, {"back": "search"})

    async def _write(self, work: Callable[[], Response | None]) -> Response | None:
        try:
            return await run_in_threadpool(work)
        except FocusError as error:
            return self.problem(str(error), 500)
