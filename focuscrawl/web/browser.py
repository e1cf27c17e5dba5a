"""Browser: runs the scripts of a page that the crawl has fetched, and returns what they made of it.

The document itself is not requested again: the browser gets the response that the crawl has. So robots.txt, redirects,
retries and sizes are those of every other page, and the browser requests only what the scripts need. Every page has a
context of its own (no cookies, no storage, no cache of others), a relay of its own to the network, and limits of time,
requests, bytes and memory. What it does beyond them costs this page only.

One browser serves all pages of a crawl. It starts with the first page, and again if it has crashed. Its driver is a
child of this process and ends with it, even with `kill -9`, and the browser ends with the driver.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from focuscrawl import urls
from focuscrawl.crawl import clock
from focuscrawl.web.relay import Relay

if TYPE_CHECKING:
    from playwright.async_api import Browser as Chromium
    from playwright.async_api import BrowserContext, CDPSession, Page, Playwright, Request, Response, Route

    from focuscrawl.web.addresses import Networks

logger = logging.getLogger(__name__)

#: Pages that are open at a time.
PAGES = 4
#: Megabytes of data that each process of the browser may have, and of objects that the scripts of a page may have.
MEMORY, HEAP = 1_200, 400
#: Seconds between two looks at whether the crawl ends.
_LOOK = 0.5
#: How often a page is opened if the browser ends meanwhile.
_TRIES = 3
#: The share of the time limit that a page may take to settle; the rest is for reading it.
_SETTLE = 0.6
#: Seconds that a page may take to settle if it has all the time it wants.
_SETTLED_WITHIN = 60.0
#: A page has settled when nothing is requested for this long, or when its text has not changed for so long.
_QUIET, _UNCHANGED = 0.5, 1.5
#: Text that is worth reading although the page still loads, in characters.
_SOME_TEXT = 200
#: A page that makes so many times the requests that it may is not waited for.
_FLOOD = 10
#: Seconds to close a page, and to start or close the browser, before it is killed.
_CLOSE, _START = 5.0, 30.0

#: What scripts need. Pictures, media and fonts have no text; frames are links of the page; styles are answered empty.
_NEEDED = frozenset(("script", "xhr", "fetch", "eventsource", "other"))
#: Headers of the response that mean something to scripts; the others are about the transfer.
_HEADERS = ("content-type", "content-language", "content-security-policy", "referrer-policy")

_ARGUMENTS = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # the relay resolves names
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # WebRTC would go past the relay
    "--disable-quic",
    f"--js-flags=--max-old-space-size={HEAP}",
)
#: Runs before any script of a page. Closes ways past the relay and out of the page: where a script wants to go is noted
#: instead, as a link of the page.
_PREPARE = """(() => {
  for (const name of ['RTCPeerConnection', 'webkitRTCPeerConnection', 'WebTransport']) delete self[name];
  self.open = () => null;
  const moves = [];
  if (self === top && self.navigation) navigation.addEventListener('navigate', event => {
    const target = event.destination;
    if (target.sameDocument || !event.cancelable) return;
    event.preventDefault();
    if (moves.length >= 10 || moves.includes(target.url) || target.url === location.href) return;
    moves.push(target.url);
    document.documentElement.setAttribute('focuscrawl-moves', moves.join(' '));
  });
})()"""

#: The page as HTML: with the content of shadow trees in their places, without what is for browsers only.
#: `null` if it is too large.
_READ = """(() => {
  const flatten = root => {
    for (const element of root.querySelectorAll('*')) {
      const inside = element.shadowRoot;
      if (inside) { flatten(inside); element.append(...inside.childNodes); }
    }
  };
  flatten(document);
  document.querySelectorAll('noscript, style').forEach(element => element.remove());
  for (const script of document.scripts) if (script.type !== 'application/ld+json') script.textContent = '';
  const root = document.documentElement;
  for (const move of root ? (root.getAttribute('focuscrawl-moves') || '').split(' ').filter(Boolean) : []) {
    const link = document.createElement('a');
    link.href = move;
    root.append(link);
  }
  if (document.baseURI !== %(url)s && document.head && !document.querySelector('base')) {
    const base = document.createElement('base');
    base.href = document.baseURI;
    document.head.prepend(base);
  }
  if (root) root.removeAttribute('focuscrawl-moves');
  const html = root ? root.outerHTML : '';
  return html.length > %(size)d ? null : html;
})()"""
_LENGTH = "document.body ? document.body.textContent.length : 0"


class RenderError(Exception):
    """A page could not be read with the browser; the message says why."""


class _CrashError(RenderError):
    """The browser ended while it had the page open."""


class Limits(NamedTuple):
    """What a page may cost: seconds, requests, and bytes, both received and as HTML."""

    seconds: float
    requests: float
    size: int


class Rules(NamedTuple):
    """What the crawl allows and wants to know."""

    networks: Networks
    #: Whether a page may request a URL.
    allows: Callable[[str], Awaitable[bool]]
    #: Called for every response to a page: URL, status, and when the page was opened.
    answered: Callable[[str, int, float], None]
    #: Whether the crawl is about to end: then no page is waited for.
    ending: Callable[[], bool] = lambda: False


class Rendered(NamedTuple):
    """What the scripts of a page made of it."""

    body: bytes
    #: Requests and received bytes.
    requests: int
    received: int
    #: Hosts outside the crawl's networks that the page wanted to reach.
    private: list[str]


class Browser:
    """The browser of a crawl."""

    def __init__(self, executable: str | None, user_agent: str, limits: Limits, rules: Rules) -> None:
        self.executable = executable
        self.user_agent = user_agent
        self.limits = limits
        self.rules = rules
        #: Why the browser cannot be started; None if it can, or was not tried.
        self.broken: str | None = None
        self.starts = 0
        self._playwright: Playwright | None = None
        self._chromium: Chromium | None = None
        self._drivers: set[int] = set()
        self._stopping: asyncio.Future[bool] | None = None
        self._starting = asyncio.Lock()
        self._turns = asyncio.Semaphore(PAGES)

    async def render(self, url: str, body: bytes, headers: Mapping[str, str]) -> Rendered:
        """Run the scripts of a page; raises RenderError if it costs too much or fails."""
        async with self._turns:
            for _ in range(_TRIES):
                with suppress(_CrashError):  # perhaps because of another page
                    return await self._render(url, body, headers)
            raise RenderError("the browser crashed")

    async def _render(self, url: str, body: bytes, headers: Mapping[str, str]) -> Rendered:
        chromium = await self._started()
        visit = _Visit(self, url, body, headers)
        task = asyncio.ensure_future(visit.read(chromium))
        try:
            end = clock.monotonic() + self.limits.seconds
            while not task.done():
                if self.rules.ending():
                    raise RenderError("the crawl ends")
                if (left := end - clock.monotonic()) <= 0:
                    raise RenderError(f"it takes longer than {self.limits.seconds:g} s")
                waits: set[asyncio.Future[Any]] = {task, visit.flooded}
                await asyncio.wait(waits, timeout=min(left, _LOOK), return_when=asyncio.FIRST_COMPLETED)
                if visit.flooded.done():
                    await self._kill(chromium)  # to close the page would take as long as all it has asked for
                    raise RenderError(f"it makes far more than {self.limits.requests:,} requests")
            return task.result()
        except RenderError:
            raise
        except Exception as error:  # playwright raises its own, of many kinds
            if not visit.crashed and (not chromium.is_connected() or _is_end(error)):
                await self._kill(chromium)
                raise _CrashError from error
            raise RenderError(visit.crashed or str(error).partition("\n")[0][:200] or type(error).__name__) from error
        finally:
            task.cancel()
            if not await _in_time(visit.close()):  # nothing else is sure to end a page
                await self._kill(chromium)

    # ---- the process

    async def _started(self) -> Chromium:
        async with self._starting:
            if self.broken is not None:
                raise RenderError(self.broken)
            if self._chromium is None or not self._chromium.is_connected():
                await self._end()
                try:
                    async with asyncio.timeout(_START):
                        self._chromium = await self._start()
                except Exception as error:
                    await self._end()
                    self.broken = "the browser does not start"
                    logger.error("The browser does not start: %s", _about(error))
                    raise RenderError(self.broken) from error
            return self._chromium

    async def _start(self) -> Chromium:
        from playwright.async_api import async_playwright

        before = _children()
        logging.getLogger("asyncio").addFilter(_is_worth_telling)
        self._playwright = await async_playwright().start()
        self._drivers = _children() - before
        _limit_memory(self._drivers)
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        if root and not self.starts:
            logger.warning("The browser runs without its sandbox, because this process runs as root")
        self.starts += 1
        return await self._playwright.chromium.launch(
            executable_path=self.executable,
            chromium_sandbox=not root,
            proxy={"server": "http://127.0.0.1:9"},  # nobody listens there: only pages have a way out
            args=list(_ARGUMENTS),
            handle_sigint=False,  # the crawl hears signals, and closes the browser when it ends
            handle_sigterm=False,
            handle_sighup=False,
            timeout=1000 * _START,
        )

    async def close(self) -> None:
        """End the browser."""
        async with self._starting:
            self.broken = self.broken or "the crawl ends"
            await self._end()
            if self._stopping is not None:
                await self._stopping

    async def _end(self) -> None:
        chromium, playwright = self._chromium, self._playwright
        self._chromium = self._playwright = None
        if chromium is not None and chromium.is_connected():
            await _in_time(chromium.close())
        if playwright is not None:
            await _in_time(playwright.stop())
        self._kill_driver()

    async def _kill(self, chromium: Chromium) -> None:
        """End a browser that does not answer, unless that was done; the next page starts another."""
        async with self._starting:
            if self._chromium is not chromium:
                return
            if not self._drivers:
                await self._end()
                return
            self._kill_driver()
            if (playwright := self._playwright) is not None:
                self._stopping = asyncio.ensure_future(_in_time(playwright.stop()))  # nobody needs to wait for it
            self._chromium = self._playwright = None

    def _kill_driver(self) -> None:
        for driver in self._drivers & _children():
            with suppress(OSError):
                os.kill(driver, signal.SIGKILL)
        self._drivers = set()


class _Visit:
    """One page in the browser."""

    def __init__(self, browser: Browser, url: str, body: bytes, headers: Mapping[str, str]) -> None:
        self.limits, self.rules, self.user_agent = browser.limits, browser.rules, browser.user_agent
        self.url, self.body = url, body
        self.headers = {name: value for name in _HEADERS if (value := headers.get(name))}
        self.relay = Relay(self.rules.networks, self.limits.size)
        self.context: BrowserContext | None = None
        self.page: Page | None = None
        self.shown = False
        self.requests = 0
        #: Requests without an answer yet, and when the last one began or ended.
        self.waiting: set[Request] = set()
        self.began = self.last = clock.monotonic()
        self.crashed = ""
        #: Done when the page makes requests faster than they can be refused.
        self.flooded: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def read(self, chromium: Chromium) -> Rendered:
        """Open the page, wait until it has settled, and read it."""
        proxy = await self.relay.open()
        self.context = context = await chromium.new_context(
            user_agent=self.user_agent,
            proxy={"server": proxy, "bypass": "<-loopback>"},
            accept_downloads=False,
            service_workers="block",
            permissions=[],
            ignore_https_errors=True,  # as for every other page
        )
        await context.add_init_script(_PREPARE)
        await context.route("**/*", self._on_request)
        context.on("request", self._on_redirect)
        context.on("response", self._on_response)
        context.on("requestfinished", self._on_end)
        context.on("requestfailed", self._on_end)
        self.page = page = await context.new_page()
        context.on("page", self._on_popup)
        page.on("crash", self._on_crash)
        page.set_default_timeout(0)  # the whole has a limit
        await page.goto(self.url, wait_until="commit")
        world = _World(await context.new_cdp_session(page))
        await self._settle(world)
        await world.session.send("Page.setWebLifecycleState", {"state": "frozen"})  # its scripts rest from now on
        if self.relay.full:
            raise RenderError(f"it receives more than {self.limits.size:,} bytes (DOWNLOAD_MAXSIZE)")
        text = await world.ask(_READ % {"url": json.dumps(self.url), "size": self.limits.size})
        if text is None:
            raise RenderError(f"it grows beyond {self.limits.size:,} characters (DOWNLOAD_MAXSIZE)")
        body = f"<!DOCTYPE html>{text}".encode("utf-8", "replace")
        return Rendered(body, self.requests, self.relay.received, list(self.relay.private))

    async def close(self) -> None:
        await self.relay.close()
        if self.context is not None:
            await self.context.close()

    async def _settle(self, world: _World) -> None:
        """Wait until nothing more is requested or the text does not change, but not for too long."""
        began = changed = self.last = clock.monotonic()
        length = -1
        while (now := clock.monotonic()) - began < min(self.limits.seconds * _SETTLE, _SETTLED_WITHIN):
            if not self.waiting and now - self.last >= _QUIET:
                return
            if self.requests > self.limits.requests or self.relay.full:
                return
            if self.crashed:
                raise RenderError(self.crashed)
            if (found := await world.ask(_LENGTH)) != length:
                length, changed = found, now
            elif now - changed >= _UNCHANGED and length >= _SOME_TEXT:
                return
            await asyncio.sleep(0.1)

    # ---- events

    async def _on_request(self, route: Route) -> None:
        try:
            await self._answer(route, route.request)
        except Exception:  # the page was closed meanwhile; playwright waits for an answer nevertheless
            with suppress(Exception):
                await route.fallback()

    async def _answer(self, route: Route, request: Request) -> None:
        kind = request.resource_type
        if request.is_navigation_request():
            await self._navigate(route, request)
        elif kind == "stylesheet":  # some scripts wait for it
            await route.fulfill(body="", content_type="text/css")
        elif kind in _NEEDED and await self._may(request):
            self.waiting.add(request)
            self.last = clock.monotonic()
            await route.continue_()
        else:
            await route.abort()

    async def _navigate(self, route: Route, request: Request) -> None:
        """Show the page, and nothing else: frames are links of the page."""
        if self.page is None or request.frame != self.page.main_frame:
            await route.abort()
        elif not self.shown:
            self.shown = True
            await route.fulfill(body=self.body, headers=self.headers)
        else:
            self.requests += 1
            await route.fulfill(status=204)  # a browser then stays where it is

    async def _may(self, request: Request) -> bool:
        """Whether a request may be sent; if so, its host can be reached."""
        self.requests += 1
        if self.requests > _FLOOD * self.limits.requests and not self.flooded.done():
            self.flooded.set_result(None)
        url = urls.join(request.url, "")
        if self.requests > self.limits.requests or url is None or not await self.rules.allows(url):
            return False
        self.relay.allow(request.url)
        return True

    async def _on_redirect(self, request: Request) -> None:
        if request.redirected_from is not None:  # the browser follows it by itself, as far as the relay lets it
            self.waiting.add(request)
            await self._may(request)

    async def _on_popup(self, popup: Page) -> None:
        await _in_time(popup.close())

    def _on_response(self, response: Response) -> None:
        if response.url != self.url:
            self.rules.answered(response.url, response.status, self.began)

    def _on_end(self, request: Request) -> None:
        self.waiting.discard(request)
        self.last = clock.monotonic()

    def _on_crash(self, _: Page) -> None:
        self.crashed = "it crashed, perhaps for want of memory"


class _World:
    """A place of our own in a page: its scripts cannot change what is asked here."""

    def __init__(self, session: CDPSession) -> None:
        self.session = session
        self._context: int | None = None

    async def ask(self, expression: str) -> Any:
        """The value of an expression."""
        for again in (True, False):
            try:
                if self._context is None:
                    tree = await self.session.send("Page.getFrameTree")
                    frame = {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "focuscrawl"}
                    self._context = (await self.session.send("Page.createIsolatedWorld", frame))["executionContextId"]
                asked = {"expression": expression, "contextId": self._context, "returnByValue": True}
                answer = await self.session.send("Runtime.evaluate", asked)
                return answer["result"].get("value")
            except Exception:
                self._context = None  # the document was replaced
                if not again:
                    raise
        return None


def _is_end(error: Exception) -> bool:
    """Whether an error of playwright says that browser or driver have ended."""
    return type(error).__name__ == "TargetClosedError" or "Connection closed" in str(error)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Whether an error of the event loop is not just a last message of playwright to a driver that was killed."""
    return "handler is closed" not in str((record.exc_info or [None, None])[1] or "")


def _about(error: Exception) -> str:
    """What playwright says, in one line, and the remedy for what is common."""
    lines = [line.strip("╔═╗║╚╝ ") for line in str(error).splitlines()]
    told = next((line for line in lines if "sandbox" in line.lower()), "") or next(filter(None, lines), "")
    remedy = "; allow user namespaces, or run it in a container that does" if "sandbox" in told.lower() else ""
    return f"{told[:300] or type(error).__name__}{remedy}; pages that need it stay unread"


async def _in_time(work: Awaitable[object]) -> bool:
    """Whether something ends in time, well or not."""
    task = asyncio.ensure_future(work)
    done, _ = await asyncio.wait({task}, timeout=_CLOSE)
    if not done:
        task.cancel()
    elif not task.cancelled():
        task.exception()  # else it would be reported as never retrieved
    return bool(done)


def _children() -> set[int]:
    """The processes that this one has started; only Linux tells."""
    found: set[int] = set()
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError, ValueError):
            found |= {int(number) for number in task.read_text().split()}
    return found


def _limit_memory(drivers: set[int]) -> None:
    """Limit the data of the driver, and with it that of every process of the browser."""
    if sys.platform == "linux":
        import resource

        for driver in drivers:
            with suppress(OSError, ValueError):
                resource.prlimit(driver, resource.RLIMIT_DATA, (MEMORY << 20, MEMORY << 20))
