"""The browser: what scripts make of a page is read, and a hostile page costs itself only."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from scrapy.settings import Settings

from focuscrawl.page import Page
from focuscrawl.reading.html import read_html
from focuscrawl.reading.shells import RENDERED
from focuscrawl.web.addresses import Networks
from focuscrawl.web.browser import Browser, Limits, Rendered, RenderError, Rules
from focuscrawl.web.browser_choice import find_browser
from tests.browsing import descendants, needs_browser, wait_until

pytestmark = needs_browser

URL = "http://page.example/dir/page"
#: Generous, because a busy machine is no reason to fail; pages that never end get SHORT.
LIMITS = Limits(seconds=30.0, requests=30, size=2_000_000)
SHORT = LIMITS._replace(seconds=3.0)
HTML = {"content-type": "text/html; charset=utf-8"}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        with self.server.lock:
            self.server.asked.append((self.path, self.headers.get("User-Agent", "")))
        self.send_response(302 if self.path.startswith("/to?") else 200)
        if self.path.startswith("/to?"):
            self.send_header("Location", self.path.partition("?")[2])
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "text/javascript" if self.path.endswith(".js") else "text/plain")
        self.end_headers()
        try:
            if self.path == "/endless?slowly":
                while not self.server.over.wait(0.1):
                    self.wfile.write(b"x")
            elif self.path == "/endless":
                while not self.server.over.is_set():
                    self.wfile.write(b"x" * 100_000)
            elif self.path.endswith(".js"):
                self.wfile.write(b"document.body.append('made by a script')")
            else:
                self.wfile.write(b"an answer")
        except OSError:
            pass

    def log_message(self, *_: object) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock, self.over = threading.Lock(), threading.Event()
        self.asked: list[tuple[str, str]] = []

    @property
    def site(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.asked]


@pytest.fixture
def server():
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()


class Browsing:
    """One browser for all tests, in a loop of its own."""

    def __init__(self) -> None:
        self.runner = asyncio.Runner()
        self.refused: set[str] = set()
        self.answers: list[tuple[str, int]] = []
        self.local = Networks(["http://127.0.0.1/"])
        self.browser = self.runner.run(self._make())

    async def _make(self) -> Browser:
        rules = Rules(self.local, self._allows, lambda url, status, _: self.answers.append((url, status)))
        return Browser(find_browser(Settings()), "tester/1.0", LIMITS, rules)

    async def _allows(self, url: str) -> bool:
        return url not in self.refused

    def render(self, html: str, networks: Networks | None = None, limits: Limits = LIMITS) -> Rendered:
        browser = self.browser
        browser.limits = limits
        browser.rules = browser.rules._replace(networks=networks or self.local)
        return self.runner.run(browser.render(URL, html.encode(), HTML))

    def text(self, html: str, networks: Networks | None = None) -> str:
        return read_html(Page(URL), self.render(html, networks).body, RENDERED).text


@pytest.fixture(scope="module")
def browsing():
    browsing = Browsing()
    yield browsing
    browsing.runner.run(browsing.browser.close())
    browsing.runner.close()
    wait_until(lambda: not any(_is_of_browser(process) for process in descendants(os.getpid())))


def _is_of_browser(process: int) -> bool:
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            command = file.read()
    except OSError:
        return False
    return b"playwright" in command or b"chrom" in command


def still_works(browsing) -> bool:
    return "all is well" in browsing.text("<body><script>document.body.append('all is well')</script>")


def test_what_scripts_write_is_read(browsing, server):
    text = browsing.text(f'<title>x</title><body><div id=root></div><script src="{server.site}/app.js"></script>')
    assert "made by a script" in text
    assert server.asked == [("/app.js", "tester/1.0")]  # the document itself is not requested again
    assert browsing.answers == [(f"{server.site}/app.js", 200)]


def test_links_in_shadow_trees_and_after_a_change_of_address_are_found(browsing):
    rendered = browsing.render("""<body><my-app></my-app><script>
        const root = document.querySelector('my-app').attachShadow({mode: 'open'});
        root.innerHTML = '<p>hidden in the shadow <a href="next">next</a></p>';
        history.pushState({}, '', '/other/place');
    </script><noscript>Enable JavaScript</noscript>""")
    page = read_html(Page(URL), rendered.body, RENDERED)
    assert "hidden in the shadow" in page.text
    assert "JavaScript" not in page.text
    assert [link.url for link in page.links] == ["http://page.example/other/next"]


def test_where_a_script_goes_is_a_link(browsing):
    page = read_html(
        Page(URL), browsing.render("<body><p>text</p><script>location.href = '/new'</script>").body, RENDERED
    )
    assert "text" in page.text
    assert [link.url for link in page.links] == ["http://page.example/new"]


def test_only_what_scripts_need_is_requested(browsing, server):
    site = server.site
    browsing.text(f"""<body><link rel=stylesheet href="{site}/style.css"><img src="{site}/picture.png">
        <iframe src="{site}/frame"></iframe><video src="{site}/film.mp4"></video>
        <script>fetch('{site}/data'); navigator.sendBeacon('{site}/beacon'); open('{site}/popup')</script>""")
    assert server.paths == ["/data"]


def test_what_the_crawl_does_not_allow_is_not_requested(browsing, server):
    browsing.refused = {f"{server.site}/refused"}
    text = browsing.text(f"""<body><script>
        fetch('{server.site}/refused').then(() => document.body.append('got it'), () => document.body.append('refused'))
    </script>""")
    assert "refused" in text
    assert server.asked == []


PRIVATE = {
    "fetch": "fetch('{site}/secret').then(() => 0, () => 0)",
    "a script": "const s = document.createElement('script'); s.src = '{site}/secret.js'; document.body.append(s)",
    "by name": "fetch('{site}/secret'.replace('127.0.0.1', 'localhost')).then(() => 0, () => 0)",
    "a number": "fetch('{site}/secret'.replace('127.0.0.1', '2130706433')).then(() => 0, () => 0)",
    "a worker": "new Worker(URL.createObjectURL(new Blob([\"fetch('{site}/secret').then(() => 0, () => 0)\"])))",
    "an event source": "new EventSource('{site}/secret')",
    "a WebSocket": "new WebSocket('{site}/secret'.replace('http', 'ws'))",
    "an upgraded connection": "const l = document.createElement('link'); l.rel = 'preconnect'; l.href = '{site}'; document.head.append(l)",
}


@pytest.mark.parametrize("way", PRIVATE)
def test_a_private_address_is_not_connected_to(browsing, server, way):
    """The relay checks addresses, and nothing goes around it."""
    connections = []
    server.verify_request = lambda request, address: connections.append(address) or True
    script = PRIVATE[way].replace("{site}", server.site)
    browsing.render(f"<body><script>{script}</script><p>text", Networks())
    assert connections == []


def test_a_redirect_to_a_private_address_is_not_followed(browsing, server):
    script = f"""
        for (const target of ['http://169.254.169.254/latest/meta-data/', 'http://10.0.0.1/', 'http://[fd00::1]/'])
            fetch('{server.site}/to?' + target).then(() => 0, () => 0)"""
    rendered = browsing.render(f"<body><script>{script}</script><p>text")
    assert set(rendered.private) == {"169.254.169.254", "10.0.0.1", "fd00::1"}


def test_a_redirect_to_another_allowed_host_is_followed(browsing, server):
    other = ThreadingHTTPServer(("127.0.0.2", 0), Handler)
    other.lock, other.asked, other.over = server.lock, server.asked, server.over  # type: ignore[attr-defined]
    threading.Thread(target=other.serve_forever, daemon=True).start()
    target = f"http://127.0.0.2:{other.server_port}/end"
    text = browsing.text(f"""<body><script>
        fetch('{server.site}/to?{target}').then(r => r.text()).then(text => document.body.append(text))</script>""")
    other.shutdown()
    other.server_close()
    assert "an answer" in text


def test_files_are_not_read(browsing):
    body = browsing.render("""<body><iframe src="file:///etc/passwd"></iframe><script>
        const show = text => document.body.append(text);
        fetch('file:///etc/passwd').then(r => r.text()).then(show, () => show('not fetched'));
        try { const x = new XMLHttpRequest(); x.open('GET', 'file:///etc/passwd', false); x.send(); show(x.responseText) }
        catch (e) { show('not read') }
        location.href = 'file:///etc/passwd';
    </script>""").body
    assert b"root:" not in body
    assert b"not fetched" in body
    assert b"not read" in body


def test_a_page_cannot_do_more_than_show_itself(browsing, server):
    text = browsing.text("""<body><a id=d download=x href="data:text/plain,x"></a><script>
        const show = text => document.body.append(text + ', ');
        document.getElementById('d').click();
        show('rtc ' + typeof RTCPeerConnection); show('popup ' + open('/popup'));
        navigator.permissions.query({name: 'geolocation'}).then(p => show('place ' + p.state));
        show('worker ' + ('serviceWorker' in navigator));
        if (navigator.serviceWorker) navigator.serviceWorker.register('/sw.js').then(() => show('registered'), () => 0);
        show(prompt('?') + ' ' + confirm('?'));
    </script>""")
    assert "rtc undefined, popup null" in text
    assert "null false" in text
    assert "place granted" not in text
    assert "registered" not in text


def test_alerts_without_end_cost_their_page(browsing):
    with pytest.raises(RenderError, match="longer than 3 s"):
        browsing.render("<body><script>while (true) alert(1)</script>", limits=SHORT)
    assert still_works(browsing)


def test_a_script_without_end_costs_its_page(browsing):
    with pytest.raises(RenderError, match="longer than 3 s"):
        browsing.render("<body><script>while (true);</script>", limits=SHORT)
    assert still_works(browsing)


def test_memory_is_limited(browsing):
    """Two gigabytes are not to be had."""
    script = """
        const all = [];
        try { while (all.length < 20) { const piece = new Uint8Array(100e6); piece.fill(1); all.push(piece) } } catch (e) {}
        document.body.textContent = `${all.length} pieces`"""
    try:
        pieces = int(browsing.text(f"<body><script>{script}</script>").split()[0])
    except RenderError as error:
        assert "memory" in str(error) or "longer" in str(error)  # noqa: PT017
    else:
        assert pieces < 13
    assert still_works(browsing)


def test_requests_are_limited(browsing, server):
    page = f"""<body><p>text</p><script>
        let n = 0; setInterval(() => fetch('{server.site}/' + n++).then(() => 0, () => 0), 20)</script>"""
    try:
        assert b"text" in browsing.render(page).body
    except RenderError as error:  # on a busy machine, it makes too many before anyone notices
        assert "requests" in str(error)  # noqa: PT017
    assert len(server.asked) <= LIMITS.requests
    assert still_works(browsing)


def test_redirects_by_script_without_end_are_limited(browsing):
    rendered = browsing.render(
        "<body><p>text</p><script>let n = 0; setInterval(() => location = '/' + n++, 5)</script>"
    )
    page = read_html(Page(URL), rendered.body, RENDERED)
    assert "text" in page.text
    assert 1 <= len(page.links) <= 10


def test_a_page_that_reloads_forever_is_read(browsing):
    assert "text" in browsing.text("<body><p>text</p><script>setInterval(() => location.reload(), 5)</script>")


def test_a_page_that_never_settles_is_read_as_it_is(browsing, server):
    page = f"""<body><p>text</p><script>
        setInterval(() => document.body.append(' more'), 50);
        fetch('{server.site}/endless?slowly').then(r => r.text())</script>"""
    body = browsing.render(page, limits=LIMITS._replace(seconds=6.0)).body
    assert b"text" in body
    assert b"more" in body


def test_bytes_are_limited(browsing, server):
    with pytest.raises(RenderError, match="DOWNLOAD_MAXSIZE"):
        browsing.render(f"<body><script>fetch('{server.site}/endless').then(r => r.text())</script>")


def test_a_page_that_grows_is_limited(browsing):
    with pytest.raises(RenderError, match="DOWNLOAD_MAXSIZE"):
        browsing.render("<body><script>document.body.append('x'.repeat(3e6))</script>")


def test_a_page_cannot_hide_its_size(browsing):
    with pytest.raises(RenderError, match="DOWNLOAD_MAXSIZE"):
        browsing.render("""<body><script>document.body.append('x'.repeat(3e6));
            Object.defineProperty(Element.prototype, 'outerHTML', {get: () => 'small'})</script>""")


def test_a_browser_that_was_killed_starts_again(browsing):
    assert still_works(browsing)
    starts = browsing.browser.starts
    for process in descendants(os.getpid()):
        if _is_of_browser(process):
            os.kill(process, signal.SIGKILL)
    wait_until(lambda: not any(_is_of_browser(process) for process in descendants(os.getpid())))
    assert still_works(browsing)
    assert browsing.browser.starts == starts + 1
