"""Tables and views of individual strategies in the crawl's file. Each is created when its strategy starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from focuscrawl.page import RULE
from focuscrawl.store.links import WHY
from focuscrawl.store.part import Part, upsert

#: The columns of table `generation`, besides its number.
FIGURES = ("fetched", "hubs", "authorities", "crossover", "mutation", "knocked_out")

_GENERATION = (
    "CREATE TABLE generation (number INTEGER PRIMARY KEY, " + ", ".join(f"{name} INTEGER" for name in FIGURES) + ")"
)
_SEED_PAGE = "CREATE TABLE seed_page (id INTEGER PRIMARY KEY, url_id INTEGER, rank REAL)"
_PREDICTION = "CREATE TABLE prediction (url_id INTEGER PRIMARY KEY, relevant INTEGER)"
_MODEL = "CREATE TABLE model (name TEXT PRIMARY KEY, page INTEGER, data BLOB)"
_PREDICTED = (
    "CREATE VIEW {} AS SELECT url.url, page.score, page.relevance, page.relevant, page.fetched_at FROM prediction"
    " JOIN url ON url.id = prediction.url_id LEFT JOIN page ON page.url_id = prediction.url_id"
    " WHERE {} ORDER BY prediction.url_id"
)
#: The views `relevant_url` and `irrelevant_url`, and their definitions in older crawls.
_VIEWS = {
    _PREDICTED.format("relevant_url", "prediction.relevant"): (
        "CREATE VIEW relevant_url AS SELECT url, relevance, score, fetched_at FROM page WHERE relevant ORDER BY id"
    ),
    _PREDICTED.format("irrelevant_url", "NOT prediction.relevant"): (
        "CREATE VIEW irrelevant_url AS SELECT url, relevance, score, fetched_at FROM page"
        " WHERE NOT relevant AND problem IS NULL ORDER BY id"
    ),
}
_DROPS = ("DROP VIEW relevant_url", "DROP VIEW irrelevant_url")
_PREDICT = (
    "INSERT INTO prediction SELECT link.url_id, count(CASE WHEN link.score >= ? THEN 1 END) > 0 FROM link"
    " JOIN url ON url.id = link.url_id WHERE link.id > ? AND NOT url.done"
    f" AND (link.score IS NOT NULL OR coalesce(instr({WHY}, ?) != 1, TRUE)) GROUP BY link.url_id"
    " ON CONFLICT (url_id) DO UPDATE SET relevant = prediction.relevant OR excluded.relevant"
)
_PREDICT_AGAIN = (
    "INSERT INTO prediction SELECT url_id, score >= ? FROM frontier WHERE via IS NOT NULL"
    " ON CONFLICT (url_id) DO UPDATE SET relevant = excluded.relevant"
)
_SET_GENERATION = upsert("generation", "number", *FIGURES)
_SET_MODEL = upsert("model", "name", "page", "data")
_READ = "SELECT url.url FROM prediction JOIN url ON url.id = url_id WHERE relevant = ? ORDER BY url_id"


class Generations(Part):
    """Table `generation` of the niche genetic crawler."""

    def make(self) -> None:
        """Create the table if it does not exist."""
        self.store.make(_GENERATION)

    def set(self, number: int, figures: Mapping[str, int]) -> None:
        """Store the figures of a generation."""
        row = (number, *(figures[name] for name in FIGURES))
        self.store.execute(_SET_GENERATION, row)


class Models(Part):
    """Table `model`: what a strategy has learned up to a page, in its own form."""

    def make(self) -> None:
        """Create the table if it does not exist."""
        self.store.make(_MODEL)

    def get(self, name: str) -> tuple[int, bytes] | None:
        """The page up to which a strategy has learned, and what; None if nothing usable is there."""
        row = self.store.execute("SELECT page, data FROM model WHERE name = ?", (name,)).fetchone()
        return row if row and isinstance(row[0], int) and isinstance(row[1], bytes) else None

    def set(self, name: str, page: int, data: bytes) -> None:
        """Replace what a strategy has learned."""
        self.store.execute(_SET_MODEL, (name, page, data))


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


class Predictions(Part):
    """Table `prediction` of the link classifier: whether a URL was predicted relevant; and a view of each kind.

    Links that a rule refuses are left out: no prediction could have let them in.
    """

    def make(self) -> None:
        """Create the table and its views if they do not exist."""
        self.store.make(_PREDICTION)
        for (view, earlier), drop in zip(_VIEWS.items(), _DROPS, strict=True):
            self.store.replace_view(earlier, drop)
            self.store.make(view)

    def add(self, least: float) -> None:
        """Record the predictions for the links stored since the last call; a score of *least* or more is relevant.

        A URL that has been fetched keeps the prediction it was fetched by. As in the queue, the best link to a URL
        counts.
        """
        store = self.store
        with store.batch():
            store.execute(_PREDICT, (least, store.number("predicted"), f'{{"{RULE}'))
            self._note_links()

    def renew(self, least: float) -> None:
        """Replace the predictions for all waiting URLs, after the model has changed and they have been re-scored."""
        with self.store.batch():
            self.store.execute(_PREDICT_AGAIN, (least,))
            self._note_links()

    def _note_links(self) -> None:
        """Record that the predictions for all links stored so far are recorded."""
        self.store.set_meta("predicted", max(0, self.store.execute("SELECT max(id) FROM link").fetchone()[0] or 0))

    def urls(self, *, relevant: bool) -> Iterator[str]:
        """The URLs that were predicted relevant, or irrelevant, in the order found."""
        return (url for (url,) in self.store.execute(_READ, (relevant,)))
