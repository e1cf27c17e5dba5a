"""A dashboard without a network: requests go straight to the application."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from focuscrawl.dashboard.app import Dashboard
from focuscrawl.dashboard.crawls import Crawls
from focuscrawl.dashboard.safety import Guard

PORT = 8080
ADDRESS = f"http://127.0.0.1:{PORT}"


class Asking:
    """Somebody who looks at the dashboard of a crawl, or of a folder of crawls."""

    def __init__(self, place: Path, token: str = "") -> None:
        self.crawls = Crawls(str(place))
        self.guard = Guard(PORT, token)
        self.client = TestClient(Dashboard(self.crawls, self.guard).app, base_url=ADDRESS, follow_redirects=False)
        self.base = f"/c/{self.crawls.all()[0].name}/"

    def get(self, view: str = "", **headers: str) -> Any:
        """The answer for a view of the first crawl, or for an address that begins with a slash."""
        return self.client.get(view if view.startswith("/") else self.base + view, headers=headers)

    def post(self, view: str, fields: dict[str, str], **headers: str) -> Any:
        """The answer to a form, as our own pages send it, unless the headers say otherwise."""
        given = {"Origin": ADDRESS, **headers}
        return self.client.post(self.base + view, data={"secret": self.guard.secret, **fields}, headers=given)

    def pages(self, view: str) -> list[int]:
        """The numbers of the pages that a view lists, in order."""
        return [
            int(number) for number in re.findall(r'<td class="what"><a href="[^"]*/page/(\d+)"', self.get(view).text)
        ]
