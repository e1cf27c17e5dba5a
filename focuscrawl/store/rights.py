"""Table `rights`: what pages, their headers and their hosts say about how they may be used."""

from __future__ import annotations

import json
from typing import NamedTuple

from focuscrawl.manners.rights import Rights
from focuscrawl.store.part import Part, upsert
from focuscrawl.store.sqlite_file import from_json

_COLUMNS = (
    *("robots_txt", "x_robots_tag", "noai", "noimageai", "tdm_reservation", "tdm_policy", "tdm_source", "licences"),
    "left_out",
)
_SET = upsert("rights", "page", *_COLUMNS, "signals")
#: The keys of a signal.
_KEYS = ("signal", "said", "where", "when", "refuses")
_COUNTS = (
    "SELECT json_extract(value, '$.signal'), json_extract(value, '$.said'), json_extract(value, '$.where'),"
    " json_extract(value, '$.refuses'), count(*) FROM rights CROSS JOIN json_each(signals)"
    " WHERE signals IS NOT NULL AND type = 'object' GROUP BY 1, 2, 3, 4 ORDER BY count(*) DESC, 1, 2, 3 LIMIT ?"
)


class SignalCount(NamedTuple):
    """How many pages have a signal."""

    signal: str
    said: str
    where: str
    refuses: str
    pages: int


class RightsLedger(Part):
    """The rights of the stored pages."""

    def set(self, number: int, rights: Rights) -> None:
        """Store the rights of a page, in place of those that it had before. Call inside a transaction."""
        self.store.execute(
            _SET,
            (
                number,
                rights.robots_txt,
                rights.x_robots_tag,
                rights.noai,
                rights.noimageai,
                None if rights.tdm_reservation is None else bool(rights.tdm_reservation),
                rights.tdm_policy,
                rights.tdm_source,
                json.dumps(rights.licences) if rights.licences else None,
                rights.left_out,
                json.dumps(rights.signals, ensure_ascii=False) if rights.signals else None,
            ),
        )

    def get(self, number: int) -> Rights:
        """The rights of a stored page. The file is not trusted: what is not of the right kind is left out."""
        query = f"SELECT {', '.join(_COLUMNS)}, {self._signals} FROM rights WHERE page = ?"
        row = self.store.execute(query, (number,)).fetchone()
        if row is None:
            return Rights()
        robots_txt, x_robots_tag, noai, noimageai, tdm, policy, source, licences, left_out, signals = row
        return Rights(
            str(robots_txt or ""),
            str(x_robots_tag or ""),
            noai == 1,
            noimageai == 1,
            tdm if tdm in (0, 1) else None,
            str(policy or ""),
            str(source or ""),
            list(map(str, from_json(licences, list))),
            str(left_out or ""),
            [
                {key: str(signal[key]) for key in _KEYS if key in signal}
                for signal in from_json(signals, list)
                if isinstance(signal, dict) and signal.keys() >= {"signal", "said", "where"}
            ],
        )

    def counts(self, limit: int) -> list[SignalCount]:
        """The most frequent signals, each with its number of pages."""
        rows = self.store.execute(_COUNTS, (limit,)) if self.store.version >= 5 else ()
        return [SignalCount._make((*(str(text or "") for text in texts), pages)) for *texts, pages in rows]

    @property
    def _signals(self) -> str:
        """The signals, in SQL: an older file that is only read has none."""
        return "signals" if self.store.version >= 5 else "NULL"
