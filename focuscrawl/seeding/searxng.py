"""SearXNG: ranked lists from a metasearch engine, through its JSON API."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from focuscrawl import __version__, urls
from focuscrawl.errors import FocusError

#: Seconds between two requests to a remote instance.
PAUSE = 1.0

#: Maximum size of a response in bytes.
MAX_BYTES = 16 << 20

_REMEDIES = {
    403: "JSON is disabled, or access is denied; add json to the formats in its settings.yml, or use your own instance",
    404: "is this the address of a SearXNG instance, with the path it is served under?",
    429: "rate limit exceeded; wait, or use your own instance",
}


class _SameHost(HTTPRedirectHandler):
    """Follows redirects only within the instance's host, because the user has named no other."""

    def redirect_request(self, req: Request, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Request | None:
        target = urls.join(req.full_url, newurl)
        if target is None or urls.host(target) != urls.host(req.full_url):
            raise OSError(f"it redirects to {newurl[:200]}")
        return super().redirect_request(req, fp, code, msg, headers, target)


class SearXNG:
    """A SearXNG instance at *address*; parameters in its query (`?language=de`) are sent with every search."""

    def __init__(self, address: str, timeout: float = 20) -> None:
        try:
            parts = urlsplit(urls.check(address))
        except ValueError as error:
            raise FocusError(f"SearXNG: {error}; give an address such as http://localhost:8888") from None
        path = parts.path.rstrip("/").removesuffix("/search").rstrip("/")
        self.address = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
        self.parameters = dict(parse_qsl(parts.query))
        #: The search query in the address; empty if it has none.
        self.query = self.parameters.pop("q", "")
        self.timeout = timeout
        self._is_local = urls.is_local(self.address)
        self._asked = False
        # a proxy can rarely reach the user's own machine
        handlers = [_SameHost(), *([ProxyHandler({})] if self._is_local else [])]
        self._opener: OpenerDirector = build_opener(*handlers)

    def search(self, query: str, top: int, warn: Callable[[str], None], engine: str = "") -> list[str]:
        """The URLs of the first *top* results for *query*, best first; from one engine only if *engine* is given.

        Results that cannot be web pages (other schemes, files that are never HTML) are skipped.
        """
        parameters = {**self.parameters, "q": query, "format": "json"}
        if engine:
            parameters["engines"] = engine
        engine = parameters.get("engines", "")
        found: dict[int, str] = {}
        number = 0
        while len(found) < top:
            number += 1
            try:
                results, silent = self._page({**parameters, "pageno": str(number)})
            except FocusError as error:
                if number == 1:
                    raise
                warn(f"{error}; keeping the first {len(found)} results")
                break
            if number == 1 and silent:
                warn(f"SearXNG at {self.address}: no answer from {', '.join(silent)}")
            if engine and "," not in engine:
                results = self._only(results, engine)
            known = len(found)
            for result in results:
                url = _usable(result.get("url"))
                if url is not None:
                    found.setdefault(urls.key(url), url)
            if len(found) == known:  # no more results, or an engine without paging that repeats its first page
                break
        return list(found.values())[:top]

    def _only(self, results: list[dict[str, Any]], engine: str) -> list[dict[str, Any]]:
        """The results from *engine*: SearXNG falls back to other engines if it does not know the one requested."""
        own = [result for result in results if engine.lower() in _engines(result, engine)]
        if results and not own:
            others = sorted({name for result in results for name in _engines(result, engine)})
            raise FocusError(
                f"SearXNG at {self.address}: requested engine '{engine}', got results from {', '.join(others)}; choose"
                f" engines that are enabled there (its preferences page lists them)"
            )
        return own

    def _page(self, parameters: dict[str, str]) -> tuple[list[dict[str, Any]], list[str]]:
        """One page of results, and the engines that did not answer, with their reasons."""
        body = self._get(f"{self.address}/search?{urlencode(parameters, errors='replace')}")
        try:
            answer = json.loads(body)
        except (ValueError, RecursionError):
            raise self._error("the answer is not JSON; is it a SearXNG instance?") from None
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise self._error("the answer has no 'results'; is it a SearXNG instance?")
        silent = answer.get("unresponsive_engines")
        reasons = [" ".join(map(str, item)) if isinstance(item, list) else str(item) for item in silent or []]
        return [result for result in results if isinstance(result, dict)], reasons

    def _get(self, url: str) -> bytes:
        if self._asked and not self._is_local:
            time.sleep(PAUSE)
        self._asked = True
        request = Request(  # noqa: S310 - the address was checked: http or https
            url, headers={"User-Agent": f"focuscrawl/{__version__}", "Accept": "application/json"}
        )
        end = time.monotonic() + self.timeout
        body = b""
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                while piece := response.read1(1 << 16):
                    body += piece
                    if time.monotonic() > end:
                        raise TimeoutError
                    if len(body) > MAX_BYTES:
                        raise self._error(f"the answer is larger than {MAX_BYTES >> 20} MiB; is it a SearXNG instance?")
        except HTTPError as error:
            error.close()
            remedy = _REMEDIES.get(error.code, "see its log, or use another instance")
            raise self._error(f"HTTP {error.code}: {remedy}") from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, TimeoutError):
                raise self._error(f"no answer within {self.timeout:g} seconds; raise --timeout") from None
            why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
            raise self._error(f"not reachable ({why}); is it running, and is the address right?") from None
        return body

    def _error(self, message: str) -> FocusError:
        return FocusError(f"SearXNG at {self.address}: {message}")


def _engines(result: dict[str, Any], default: str) -> set[str]:
    """The engines a result came from; *default* if it does not say."""
    names = result.get("engines") or [result.get("engine") or default]
    return {str(name).lower() for name in names} if isinstance(names, list) else {default.lower()}


def _usable(url: object) -> str | None:
    """The URL of a result in the form used for seeds; None if it cannot be a page."""
    try:
        checked = urls.check(url) if isinstance(url, str) else None
    except ValueError:
        return None
    return None if checked is None or urls.is_binary(checked) else checked
