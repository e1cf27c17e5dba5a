"""Requests kept in the crawl's file.

Most are fully described by their URL. A request with its own method, headers or callback is stored as JSON. One that
cannot be serialised stays in memory, and becomes a plain GET after a crash.
"""

from __future__ import annotations

import base64
import json
import logging
import sys
from typing import Any

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from focuscrawl.crawl.focus import KEY, Focus
from focuscrawl.store.queue import Entry

logger = logging.getLogger(__name__)

#: Keys that the frontier itself puts into a request's meta; a request with any other key is stored in full.
_OWN_META = frozenset({KEY, "depth", "is_start_request"})


def is_plain(request: Request, spider: Spider) -> bool:
    """Whether the URL fully describes a request."""
    callback = getattr(request.callback, "__func__", request.callback)
    return (
        request.method == "GET"
        and not request.body
        and not request.headers
        and not request.cb_kwargs
        and not request.cookies
        and request.errback is None
        and (callback is None or callback is getattr(type(spider), "parse", None))
        and _OWN_META.issuperset(request.meta)
    )


def dump(request: Request, spider: Spider) -> str | None:
    """A request as JSON; None if it cannot be serialised."""
    try:
        fields = request.to_dict(spider=spider)
        fields["headers"] = {name.decode("latin-1"): values for name, values in fields["headers"].items()}
        if (focus := Focus.of(request)) is not None:  # the rest of it is in columns of the queue
            fields["meta"] = fields["meta"] | {KEY: {"parent": focus.parent}}
        return json.dumps(fields, default=_bytes_to_json)
    except (TypeError, ValueError) as error:
        logger.warning("%s cannot be stored in full; after a crash only its URL is left: %s", request, error)
        return None


def load(entry: Entry, spider: Spider) -> Request:
    """The request for an entry of the file. The file may be untrusted, so it cannot cause any code to be imported."""
    request = Request(entry.url)
    if entry.request:
        fields = json.loads(entry.request, object_hook=_bytes_from_json)
        module, _, name = fields.get("_class", "scrapy.Request").rpartition(".")
        if not issubclass(getattr(sys.modules[module], name), Request):
            raise ValueError(f"{module}.{name} is not a Request")
        request = request_from_dict(fields, spider=spider)
        noted = request.meta.pop(KEY, None) or {}
        request.meta[KEY] = Focus(parent=str(noted["parent"]) if noted.get("parent") else None)
    if not request.url.startswith(("http:", "https:")):
        raise ValueError(f"{request.url} has no host")
    return request


def _bytes_to_json(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"it contains a {type(value).__name__}")


def _bytes_from_json(value: dict[str, Any]) -> Any:
    return base64.b64decode(value["base64"]) if value.keys() == {"base64"} else value
