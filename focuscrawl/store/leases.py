"""Tables `worker`, `lease` and `news` of a shared crawl: who works on it, and which worker holds which host.

A host has one holder at a time, so that delays and back-offs hold for the whole cluster. All times are the server's.
The epoch of a lease grows each time the host changes hands: the writes of a worker that has lost it are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from focuscrawl.store.part import Part
from focuscrawl.store.queue import Entry, NewRow, Queue

if TYPE_CHECKING:
    from focuscrawl.store.postgres import PostgresStore
    from focuscrawl.store.store import Store


class Leased(NamedTuple):
    """A host that was leased."""

    host: int
    epoch: int
    name: str
    pages: int


class WaitingRow(NamedTuple):
    """A waiting URL of a leased host."""

    url_id: int
    host: int
    rank: float
    damping: float
    #: Whether a request for it got no answer since the workers began, and ever.
    failed: int
    tried: int
    #: Whether it was fetched meanwhile: somebody has queued it again before they could know.
    done: int


class Identified(NamedTuple):
    """What is known of URLs and hosts, after new ones were added."""

    #: By key: id, host, whether it is done.
    urls: dict[int, tuple[int, int, int]]
    #: By name: id, whether nobody holds it, and the epoch if the worker does.
    hosts: dict[str, tuple[int, int, int | None]]
    #: A number for the next page, if one was asked for.
    page: int | None


class Cluster(NamedTuple):
    """Where all workers together stand."""

    workers: int
    #: Hosts that somebody holds; hosts that nobody holds and that have waiting URLs, counted up to a thousand.
    held: int
    free: int
    #: The rank of the best waiting URL among hosts that nobody holds and that may be asked now.
    best: float | None
    #: That of the best URL that another worker is about to fetch.
    elsewhere: float | None
    pages: int
    relevant: int
    matched: int


class Worker(NamedTuple):
    """A worker, for people."""

    id: int
    name: str
    joined: str
    #: Seconds since it was last heard of; whether it has left.
    silent: float
    gone: int
    hosts: int
    pages: int
    relevant: int
    #: Leases that others have taken from it after they expired.
    expired: int
    #: Pages per second since it joined.
    pace: float


_RENEW = (
    "UPDATE lease SET until = now() + make_interval(secs => mine.seconds) FROM unnest(%s::bigint[], %s::bigint[],"
    " %s::float8[]) AS mine (host, epoch, seconds) WHERE lease.host = mine.host AND lease.epoch = mine.epoch AND"
    " holder = %s RETURNING lease.host"
)
_TAKE = """
WITH expired AS (
    SELECT host, holder FROM lease WHERE holder IS NOT NULL AND until < now() AND next_at <= now()
    ORDER BY best DESC NULLS LAST, host LIMIT %s FOR UPDATE SKIP LOCKED
), free AS (
    SELECT host, holder FROM lease WHERE holder IS NULL AND best IS NOT NULL AND next_at <= now()
    ORDER BY best DESC, host LIMIT %s FOR UPDATE SKIP LOCKED
), chosen AS (
    SELECT * FROM expired UNION ALL SELECT * FROM free LIMIT %s
), taken AS (
    UPDATE lease SET holder = %s, epoch = lease.epoch + 1, until = now() + make_interval(secs => %s)
    FROM chosen WHERE lease.host = chosen.host RETURNING lease.host, lease.epoch, chosen.holder AS before
), lost AS (
    UPDATE worker SET expired = expired + number
    FROM (SELECT before, count(*) AS number FROM taken GROUP BY before) AS x WHERE worker.id = x.before
), cleared AS (
    DELETE FROM news USING taken WHERE news.host = taken.host
)
SELECT taken.host, taken.epoch, host.name, host.pages FROM taken JOIN host ON host.id = taken.host ORDER BY 1
"""
_GIVE_BACK = (
    "UPDATE lease SET holder = NULL, until = NULL, next_at = now() + make_interval(secs => mine.rest),"
    " best = (SELECT max(rank) FROM frontier WHERE frontier.host = lease.host AND NOT EXISTS (SELECT 1 FROM failure"
    " WHERE failure.url_id = frontier.url_id AND failure.id > %s)) FROM unnest(%s::bigint[], %s::bigint[],"
    " %s::float8[]) AS mine (host, epoch, rest) WHERE lease.host = mine.host AND lease.epoch = mine.epoch"
    " AND holder = %s"
)
_ROW = (
    "f.url_id, f.host, f.rank, f.damping, EXISTS (SELECT 1 FROM failure WHERE failure.url_id = f.url_id AND id > %s),"
    " EXISTS (SELECT 1 FROM failure WHERE failure.url_id = f.url_id),"
    " coalesce((SELECT done FROM url WHERE url.id = f.url_id), TRUE)"
)
_ROWS = (
    f"SELECT {_ROW} FROM unnest(%s::bigint[]) AS mine (host) CROSS JOIN LATERAL (SELECT url_id, host, rank, damping"
    " FROM frontier WHERE frontier.host = mine.host ORDER BY rank DESC, url_id LIMIT %s) AS f"
)
_BELOW = (
    f"SELECT {_ROW} FROM frontier AS f WHERE host = %s AND (rank < %s OR rank = %s AND url_id >= %s)"
    " ORDER BY rank DESC, url_id LIMIT %s"
)
_NEWS = (
    "WITH taken AS (DELETE FROM news WHERE host = ANY(%s) RETURNING url_id)"
    f" SELECT {_ROW} FROM frontier AS f WHERE url_id IN (SELECT url_id FROM taken) ORDER BY url_id"
)
_CLUSTER = (
    "SELECT (SELECT count(*) FROM worker WHERE gone IS NULL AND seen > now() - make_interval(secs => %s)),"
    " (SELECT count(*) FROM lease WHERE holder IS NOT NULL),"
    " (SELECT count(*) FROM (SELECT 1 FROM lease WHERE holder IS NULL AND best IS NOT NULL LIMIT 1000) AS x),"
    " (SELECT best FROM lease WHERE holder IS NULL AND best IS NOT NULL AND next_at <= now() ORDER BY best DESC"
    " LIMIT 1), (SELECT max(best) FROM worker WHERE gone IS NULL AND seen > now() - interval '3 seconds' AND id <> %s),"
    " sum(pages)::bigint, sum(relevant)::bigint, sum(matched)::bigint FROM worker"
)
_FOREIGN = """
WITH new AS (
    SELECT * FROM unnest(%s::bigint[], %s::text[], %s::bigint[], %s::float8[], %s::float8[], %s::bigint[], %s::bigint[],
        %s::text[]) AS x (url_id, url, host, score, rank, depth, via, request)
), stored AS (
    INSERT INTO frontier SELECT url_id, url, host, score, rank, depth, via, FALSE, request, 1 FROM new ORDER BY url_id
    ON CONFLICT (url_id) DO UPDATE SET score = excluded.score, depth = least(frontier.depth, excluded.depth),
        via = excluded.via, rank = frontier.rank + (excluded.score - frontier.score) * frontier.damping
        WHERE excluded.score > frontier.score
    RETURNING url_id, host, rank
), told AS (
    INSERT INTO news (host, url_id) SELECT host, url_id FROM stored
), best AS (
    SELECT host, max(rank) AS rank FROM stored GROUP BY host
), raised AS (
    SELECT lease.host, best.rank FROM lease JOIN best ON best.host = lease.host
    WHERE holder IS NULL AND (lease.best IS NULL OR lease.best < best.rank)
    ORDER BY lease.host FOR NO KEY UPDATE OF lease
)
UPDATE lease SET best = greatest(lease.best, raised.rank) FROM raised WHERE lease.host = raised.host
"""
#: What failed in an earlier run waits again, unless others are still at work.
_RESUME = (
    "UPDATE lease SET best = x.rank FROM (SELECT host, max(rank) AS rank FROM frontier GROUP BY host) AS x"
    " WHERE lease.host = x.host AND holder IS NULL AND best IS NULL AND NOT EXISTS (SELECT 1 FROM worker"
    " WHERE gone IS NULL AND seen > now() - make_interval(secs => %s) AND id <> %s)"
)
_STRAY = (
    "UPDATE lease SET best = x.rank FROM (SELECT frontier.host, max(rank) AS rank FROM news JOIN frontier"
    " ON frontier.url_id = news.url_id WHERE NOT EXISTS (SELECT 1 FROM failure WHERE failure.url_id = news.url_id)"
    " GROUP BY 1) AS x WHERE lease.host = x.host AND holder IS NULL AND best IS NULL"
)
_KNOWN = (
    "SELECT key, id, host, done, NULL FROM url WHERE key = ANY(%s) UNION ALL"
    " SELECT NULL, host.id, pages, lease.holder IS NULL OR lease.until < now(), name FROM host"
    " LEFT JOIN lease ON lease.host = host.id WHERE name = ANY(%s)"
)
_RESCORE = (
    "UPDATE frontier SET score = x.score, rank = x.rank, cold = x.cold, damping = x.damping FROM unnest(%s::float8[],"
    " %s::float8[], %s::boolean[], %s::float8[], %s::bigint[]) AS x (score, rank, cold, damping, url_id)"
    " WHERE frontier.url_id = x.url_id"
)
_ENTRIES = f"SELECT {', '.join(Entry._fields)} FROM frontier WHERE url_id = ANY(%s)"
_ADD_HOSTS = "INSERT INTO host (name) SELECT unnest(%s::text[]) ON CONFLICT (name) DO NOTHING RETURNING id, name"
_HOLD = (
    "INSERT INTO lease (host, holder, epoch, until) SELECT unnest(%s::bigint[]), %s, 1,"
    " now() + make_interval(secs => %s)"
)
_WORKERS = (
    "SELECT id, name, to_char(joined AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), extract(epoch FROM now() - seen)"
    "::float8, gone IS NOT NULL, (SELECT count(*) FROM lease WHERE holder = worker.id), pages, relevant, expired,"
    " (pages / greatest(extract(epoch FROM coalesce(gone, seen) - joined), 1))::float8 FROM worker ORDER BY id"
)


class SharedQueue(Queue):
    """Table `frontier` of a shared crawl: the waiting URLs of all workers."""

    store: PostgresStore
    #: The ids of URLs that will probably be asked for next.
    upcoming: Callable[[], list[int]] = staticmethod(list)

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._near: dict[int, Entry] = {}

    def add(self, rows: Any) -> None:
        """Queue URLs of hosts that this worker holds; a row that is on disk only is raised."""
        rows = sorted(rows)
        self.store.executemany(
            "INSERT INTO frontier VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1) ON CONFLICT (url_id) DO UPDATE"
            " SET score = excluded.score, rank = excluded.rank, via = excluded.via WHERE excluded.rank > frontier.rank",
            rows,
        )

    def entry(self, url_id: int) -> Entry | None:
        """A waiting URL; those that will probably be asked for next are read together with it."""
        if url_id not in self._near:
            rows = self._run(_ENTRIES, [url_id, *self.upcoming()])
            self._near = {row[0]: Entry(*row) for row in rows}
        return self._near.pop(url_id, None)

    def forget_near(self) -> None:
        """Read waiting URLs again: others may have changed them."""
        self._near.clear()

    def raise_scores(self, rows: Any) -> None:
        """Update URLs that were found again."""
        self._near.clear()
        super().raise_scores(rows)

    def rescore(self, rows: Any) -> None:
        """Change scores: score, rank, cold, damping, URL id."""
        found = list(rows)
        for row in found:
            self._near.pop(row[-1], None)
        if found:
            self._run(_RESCORE, *map(list, zip(*found, strict=True)))

    def keep_request(self, url_id: int, request: str) -> None:
        """Store the request for a URL that is waiting as a plain link."""
        self._near.pop(url_id, None)
        super().keep_request(url_id, request)

    def _run(self, statement: str, *values: object) -> Any:
        return self.store.connection.run(statement, values)

    def freeze(self, url_ids: Sequence[int]) -> None:
        """Nothing: the holder of a host knows what it has in memory."""

    def thaw(self, url_ids: Sequence[int]) -> None:
        """Nothing: the holder of a host knows what it has in memory."""


class Leases(Part):
    """Workers and their leases."""

    store: PostgresStore

    def _run(self, statement: str, *values: object) -> Any:
        return self.store.connection.run(statement, values)

    # ---- workers

    def join(self, name: str, lease: float) -> tuple[int, int]:
        """Become a worker; returns its number, and that of the last failure before the present workers began."""
        (number,) = self._run("INSERT INTO worker (name) VALUES (%s) RETURNING id", name).fetchone()
        self._run(
            "UPDATE worker SET failures = coalesce((SELECT min(failures) FROM worker WHERE gone IS NULL AND seen >"
            " now() - make_interval(secs => %s)), (SELECT max(id) FROM failure), 0) WHERE id = %s",
            lease,
            number,
        )
        (failures,) = self._run("SELECT failures FROM worker WHERE id = %s", number).fetchone()
        self._run(_RESUME, lease, number)
        return number, failures

    def adopt(self) -> None:
        """Take over what was copied from a file: ids go on, hosts can be leased, and the pages are counted."""
        self._run(
            "SELECT setval('url_id', (SELECT coalesce(max(id), 0) + 1 FROM url), FALSE),"
            f" setval('later_links', (SELECT greatest(1, -coalesce(min(id), 0) / {1 << 20} + 1) FROM link))"
        )
        self._run(
            "INSERT INTO lease (host, best) SELECT host.id, (SELECT max(rank) FROM frontier WHERE frontier.host ="
            " host.id) FROM host ON CONFLICT (host) DO NOTHING"
        )
        self._run(
            "INSERT INTO worker (name, gone, pages, relevant, matched) SELECT 'copied', now(), count(*),"
            " count(*) FILTER (WHERE relevant), count(*) FILTER (WHERE matched) FROM page"
        )

    def seen(self, worker: int, best: float | None) -> None:
        """Show that a worker is alive, and the rank of the best URL that it is about to fetch."""
        self._run("UPDATE worker SET seen = now(), gone = NULL, best = %s WHERE id = %s", best, worker)

    def leave(self, worker: int) -> None:
        """Leave the crawl."""
        self._run("UPDATE worker SET seen = now(), gone = now() WHERE id = %s", worker)

    def count_page(self, worker: int, relevant: bool, matched: bool) -> None:
        """Count a page that a worker has stored. Call inside its transaction."""
        self._run(
            "UPDATE worker SET pages = pages + 1, relevant = relevant + %s, matched = matched + %s WHERE id = %s",
            int(relevant),
            int(matched),
            worker,
        )

    def has_earlier(self, worker: int, lease: float) -> bool:
        """Whether a worker that joined before is at work: of two that join at the same time, one goes on."""
        query = (
            "SELECT 1 FROM worker WHERE gone IS NULL AND seen > now() - make_interval(secs => %s) AND id < %s LIMIT 1"
        )
        return self._run(query, lease, worker).fetchone() is not None

    def workers(self) -> list[Worker]:
        """All workers that ever joined, in that order."""
        return [Worker(*row) for row in self._run(_WORKERS)]

    def cluster(self, worker: int, lease: float) -> Cluster:
        """Where all workers together stand; a worker that was silent for *lease* seconds does not count."""
        return Cluster(*self._run(_CLUSTER, lease, worker).fetchone())

    # ---- leases

    def renew(self, worker: int, leases: Mapping[int, int], seconds: Sequence[float]) -> set[int]:
        """Renew leases (epochs by host) for so many seconds each; returns the hosts that are still held."""
        rows = self._run(_RENEW, list(leases), list(leases.values()), list(seconds), worker)
        return {host for (host,) in rows}

    def take(self, worker: int, limit: int, seconds: float) -> list[Leased]:
        """Lease the hosts with the best waiting URLs that nobody holds and that may be asked now."""
        return [Leased(*row) for row in self._run(_TAKE, limit, limit, limit, worker, seconds)]

    def take_hosts(self, worker: int, names: Collection[str], seconds: float) -> list[Leased]:
        """Lease the hosts with some names, as far as nobody holds them."""
        rows = self._run(
            "UPDATE lease SET holder = %s, epoch = epoch + 1, until = now() + make_interval(secs => %s) FROM host"
            " WHERE host.id = lease.host AND name = ANY(%s) AND (holder IS NULL OR until < now())"
            " RETURNING lease.host, epoch, name, pages",
            *(worker, seconds, list(names)),
        )
        return [Leased(*row) for row in rows]

    def give_back(self, worker: int, leases: Mapping[int, int], rests: Sequence[float], failures: int) -> None:
        """Give hosts back (epochs by host); each may be asked again after so many seconds."""
        self._run(_GIVE_BACK, failures, list(leases), list(leases.values()), list(rests), worker)

    def rest(self, host: int, seconds: float) -> None:
        """Record when a host may be asked again, for whoever holds it then. Call inside a transaction."""
        query = "UPDATE lease SET next_at = now() + make_interval(secs => %s) WHERE host = %s"
        self._run(query, seconds, host)

    def fence(self, worker: int, leases: Mapping[int, int]) -> None:
        """Refuse the open transaction unless the worker holds these hosts (epochs by host)."""
        self._run("SELECT fence(%s, %s, %s)", worker, list(leases), list(leases.values()))

    def find_strays(self) -> None:
        """Find waiting URLs of hosts that were given back while somebody else added to them."""
        self._run(_STRAY)

    # ---- waiting URLs

    def rows(self, hosts: Collection[int], limit: int, failures: int) -> list[WaitingRow]:
        """The best waiting URLs of hosts, at most *limit* of each."""
        return self._waiting(self._run(_ROWS, failures, list(hosts), limit))

    def below(self, host: int, floor: tuple[float, int], limit: int, failures: int) -> list[WaitingRow]:
        """The best waiting URLs of a host from *floor* (-rank, URL id) on."""
        rank = -floor[0]
        return self._waiting(self._run(_BELOW, failures, host, rank, rank, floor[1], limit))

    def some(self, url_ids: Collection[int], failures: int) -> list[WaitingRow]:
        """Some URLs, as far as they wait."""
        query = f"SELECT {_ROW} FROM frontier AS f WHERE url_id = ANY(%s)"
        return [WaitingRow(*row) for row in self._run(query, failures, list(url_ids))]

    def news(self, hosts: Collection[int], failures: int) -> list[WaitingRow]:
        """The waiting URLs of hosts that others have added or raised since the last call."""
        return self._waiting(self._run(_NEWS, list(hosts), failures))

    def _waiting(self, found: Iterable[Any]) -> list[WaitingRow]:
        """Rows of the queue; those of URLs that were fetched before they were queued are removed."""
        rows = list(map(WaitingRow._make, found))
        if done := [row.url_id for row in rows if row.done]:
            self._run("DELETE FROM frontier WHERE url_id = ANY(%s)", done)
            rows = [row for row in rows if not row.done]
        return rows

    def remove_fetched(self, url_id: int) -> None:
        """Remove a URL from the queue if its page is stored."""
        self._run("DELETE FROM frontier USING page WHERE page.url_id = frontier.url_id AND page.url_id = %s", url_id)

    def offer(self, rows: Sequence[NewRow]) -> None:
        """Queue URLs of hosts that this worker does not hold, or raise their scores. Call inside a transaction."""
        url_ids, found, hosts, scores, ranks, depths, vias, _, requests = map(list, zip(*sorted(rows), strict=True))
        self._run(_FOREIGN, url_ids, found, hosts, scores, ranks, depths, vias, requests)

    # ---- known URLs

    def known(
        self, keys: Collection[int], names: Collection[str]
    ) -> tuple[dict[int, tuple[int, int, int]], dict[str, tuple[int, int]]]:
        """The URLs with some keys (id, host, done) and the hosts with some names (id, whether nobody holds it)."""
        found: dict[int, tuple[int, int, int]] = {}
        hosts: dict[str, tuple[int, int]] = {}
        for key, number, host, flag, name in self._run(_KNOWN, list(keys), list(names)):
            if name is None:
                found[key] = number, host, flag
            else:
                hosts[name] = number, flag
        return found, hosts

    def urls(self, url_ids: Collection[int]) -> list[tuple[int, int, int]]:
        """Some URLs: id, host, whether they are done."""
        rows: list[tuple[int, int, int]] = self._run(
            "SELECT id, host, done FROM url WHERE id = ANY(%s)", list(url_ids)
        ).fetchall()
        return rows

    def identify(
        self,
        keys: list[int],
        urls: list[str],
        names: list[str],
        asked: list[str],
        hold: tuple[int, int, float],
        *,
        page: bool,
    ) -> Identified:
        """The URLs with some keys, added if they are new, and the hosts *asked* for, in one round trip.

        *names*: the hosts of the URLs. *hold*: worker, how many new hosts it may lease, for how many seconds. *page*:
        whether to reserve the number of a page. Call inside a transaction.
        """
        query = "SELECT * FROM identify(%s::bigint[], %s::text[], %s::text[], %s::text[], %s, %s, %s, %s)"
        found = Identified({}, {}, None)
        for key, number, host, flag, name, epoch in self._run(query, keys, urls, names, asked, *hold, int(page)):
            if key is not None:
                found.urls[key] = number, host, flag
            elif name is not None:
                found.hosts[name] = number, flag, epoch
            else:
                found = found._replace(page=number)
        return found

    def add_hosts(self, names: Collection[str]) -> dict[str, int]:
        """Add hosts; returns the ids of those that are new. Call inside a transaction."""
        return {name: number for number, name in self._run(_ADD_HOSTS, sorted(names))}

    def hold(self, worker: int, hosts: Collection[int], seconds: float) -> None:
        """Lease hosts that were just added, or nobody for *worker* 0. Call inside the same transaction."""
        if worker:
            self._run(_HOLD, sorted(hosts), worker, seconds)
        else:
            self._run("INSERT INTO lease (host) SELECT unnest(%s::bigint[])", sorted(hosts))
