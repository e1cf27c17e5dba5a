"""Tables and views of individual strategies in the crawl's file. Each is created when its strategy starts."""

from __future__ import annotations

from collections.abc import Mapping

from focuscrawl.store.part import Part

#: The columns of table `generation`, besides its number.
FIGURES = ("fetched", "hubs", "authorities", "crossover", "mutation", "knocked_out")

_GENERATION = (
    "CREATE TABLE generation (number INTEGER PRIMARY KEY, " + ", ".join(f"{name} INTEGER" for name in FIGURES) + ")"
)
_SEED_PAGE = "CREATE TABLE seed_page (id INTEGER PRIMARY KEY, url_id INTEGER, rank REAL)"
_VIEW = "CREATE VIEW {} AS SELECT url, relevance, score, fetched_at FROM page WHERE {} ORDER BY id"


class Generations(Part):
    """Table `generation` of the niche genetic crawler."""

    def make(self) -> None:
        """Create the table if it does not exist."""
        self.store.make(_GENERATION)

    def set(self, number: int, figures: Mapping[str, int]) -> None:
        """Store the figures of a generation."""
        row = (number, *(figures[name] for name in FIGURES))
        self.store.execute("INSERT OR REPLACE INTO generation VALUES (?, ?, ?, ?, ?, ?, ?)", row)


class SeedPages(Part):
    """Table `seed_page` of the hybrid crawler."""

    def make(self) -> None:
        """Create the table if it does not exist."""
        self.store.make(_SEED_PAGE)

    def url_ids(self) -> set[int]:
        """The ids of the URLs of the seed pages."""
        return {url_id for (url_id,) in self.store.execute("SELECT url_id FROM seed_page")}

    def add(self, url_id: int, rank: float) -> None:
        """Record that a page has become a seed page."""
        self.store.execute("INSERT INTO seed_page (url_id, rank) VALUES (?, ?)", (url_id, rank))


class UrlViews(Part):
    """Views `relevant_url` and `irrelevant_url` of the link classifier."""

    def make(self) -> None:
        """Create the views if they do not exist."""
        for view, which in (("relevant_url", "relevant"), ("irrelevant_url", "NOT relevant AND problem IS NULL")):
            self.store.make(_VIEW.format(view, which))
