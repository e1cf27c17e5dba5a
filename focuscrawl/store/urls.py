"""Tables `url` and `host`, as reports and strategies ask for them."""

from __future__ import annotations

from typing import NamedTuple

from focuscrawl.store.part import Part


class HostFigures(NamedTuple):
    """What a host has given."""

    name: str
    pages: int
    relevant: int


class Urls(Part):
    """Every URL that the crawl has seen."""

    def last_id(self) -> int:
        """The largest id of a URL; 0 if there is none. Ids leave no gaps."""
        number: int = self.store.execute("SELECT ifnull(max(id), 0) FROM url").fetchone()[0]
        return number

    def url(self, url_id: int) -> str:
        """The URL with an id."""
        text: str = self.store.execute("SELECT url FROM url WHERE id = ?", (url_id,)).fetchone()[0]
        return text

    def find(self, key: int, other_key: int) -> tuple[int, str] | None:
        """Id and URL of what has one of two keys."""
        row: tuple[int, str] | None = self.store.execute(
            "SELECT id, url FROM url WHERE key IN (?, ?)", (key, other_key)
        ).fetchone()
        return row


class HostNames(Part):
    """The hosts that the crawl has seen."""

    def count(self) -> int:
        """The number of hosts that gave a page."""
        number: int = self.store.execute("SELECT count(*) FROM host WHERE pages").fetchone()[0]
        return number

    def best(self, limit: int) -> list[HostFigures]:
        """The hosts with the most relevant pages, best first."""
        rows = self.store.execute(
            "SELECT host.name, count(*), total(relevant) FROM page JOIN url ON url.id = page.url_id"
            " JOIN host ON host.id = url.host GROUP BY host.id ORDER BY 3 DESC, 2 DESC LIMIT ?",
            (limit,),
        )
        return [HostFigures(name, pages, int(relevant)) for name, pages, relevant in rows]
