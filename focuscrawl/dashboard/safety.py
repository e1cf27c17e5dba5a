"""Who may see and change what: the middleware around all views.

The pages that the dashboard shows are hostile, and so may be other pages in the same browser. Reading is open on
loopback, or needs the token; a change needs the session's secret, which only our own forms have, and our own origin.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Only our own files, and nothing inline. A stored page is framed by a response with a stricter policy.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: For stored pages: no scripts, no network, no forms, an origin of their own; only our pages may frame them.
SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer, browsers hide the origin of our own forms
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
COOKIE = "focuscrawl"
#: Largest form, in bytes.
MAX_FORM = 64 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass
class Guard:
    """Decides about requests."""

    port: int
    #: Needed to see anything; empty: only loopback names are answered.
    token: str = ""
    #: In every form of this process.
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def names_us(self, host: str) -> bool:
        """Whether a Host header is ours. Another name that leads to this machine may be an attack (DNS rebinding)."""
        if self.token:
            return True  # the cookie is bound to the name under which the token was given
        name, _, port = host.rpartition(":")
        return (name, port) in {(ours, str(self.port)) for ours in _LOOPBACK} or (host in _LOOPBACK and self.port == 80)

    def refuse(self, request: Request) -> Response | None:
        """The answer to a request that is not allowed; None if it is."""
        if not self.names_us(request.headers.get("host", "")):
            return PlainTextResponse("The Host header names another site. Open http://127.0.0.1 instead.", 400)
        if self.token and not request.url.path.startswith("/static/") and not self._knows_token(request):
            return self._ask_for_token(request)
        if request.method not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("Only GET and POST.", 405)
        if request.method == "POST" and not self._is_from_us(request):
            return PlainTextResponse("This change was asked for by another site, so nothing was changed.", 403)
        return None

    def _is_from_us(self, request: Request) -> bool:
        if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
            return False
        origin = request.headers.get("origin", "")
        return bool(origin) and urlsplit(origin).netloc == request.headers.get("host")

    def _knows_token(self, request: Request) -> bool:
        try:
            cookies = SimpleCookie(request.headers.get("cookie", ""))
        except CookieError:
            return False
        given = cookies[COOKIE].value if COOKIE in cookies else ""
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        return _same(given, self.token) or _same(bearer, self.token)

    def _ask_for_token(self, request: Request) -> Response:
        if _same(request.query_params.get("token", ""), self.token):
            response = RedirectResponse(request.url.path, 303)
            secure = request.url.scheme == "https"
            response.set_cookie(COOKIE, self.token, httponly=True, samesite="strict", secure=secure)
            return response
        return PlainTextResponse("This dashboard needs its token: add ?token=… to the address.", 401)

    def has_secret(self, form: dict[str, str]) -> bool:
        """Whether a form is one of ours."""
        return _same(form.get("secret", ""), self.secret)


def _same(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode(), other.encode())


class Safety:
    """Refuses what is not allowed, and adds the headers that keep pages in their place."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app = app
        self.guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                have = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.lower().encode(), value.encode())
                        for name, value in HEADERS.items()
                        if name.lower().encode() not in have
                    ),
                ]
            await send(message)

        refusal = self.guard.refuse(Request(scope))
        await (refusal or self.app)(scope, receive, with_headers)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; empty if it is too large or not one."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM:
            return {}
    try:
        fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return {}
    return {name: values[-1] for name, values in fields.items()}
