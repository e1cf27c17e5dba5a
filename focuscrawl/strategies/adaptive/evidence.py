"""What speaks for the waiting URLs: all their known in-links, in columns.

An in-link keeps its features, the page it is on and its tag path. A URL keeps sums over its in-links, so that a score
takes one matrix product. Columns are indexed by the frontier's numbers of URLs and by the numbers of pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from focuscrawl.strategies.adaptive.below import Below
from focuscrawl.strategies.adaptive.checkpoint import Arrays, check_range, check_sizes, check_steps
from focuscrawl.strategies.adaptive.columns import (
    ANCHOR_I,
    ANCHOR_W,
    BEST,
    HEADING_I,
    KEYWORD,
    LINKS,
    LOG_ODDS,
    MAX_P,
    MAXIMA,
    MEANINGS,
    MEANT,
    NAMES,
    PAID,
    PARENTS,
    PATH_Y,
    PATHS,
    SIBLINGS,
    SIBLINGS_Y,
    SPARSE,
    SUMS,
    P,
    Q,
    Runs,
    chunks,
    counted,
    grown,
    runs,
)
from focuscrawl.strategies.adaptive.hashing import BITS, SIZE, Ints
from focuscrawl.strategies.adaptive.judge import PageJudge, logit
from focuscrawl.strategies.adaptive.meanings import Meanings
from focuscrawl.strategies.adaptive.rates import Origins, Rates
from focuscrawl.strategies.adaptive.reading import FEATURES, PLACES, URL_WORD, Floats, Links

#: In-links of a URL that count; later ones are ignored.
MOST = 32
#: The largest log-odds that a text adds.
_MOST_ODDS = 8.0
#: Features of in-links that are worked on at once.
_CHUNK = 1 << 20
#: As many as stay in the processor's cache, and as many URLs.
_CACHED, _URLS = 1 << 16, 1 << 12
#: The share of in-links of URLs that were fetched from which they are removed.
_DEAD = 0.1
_GROUP = np.array([0, 0, 1, 2])
#: Columns that are kept in the crawl's file; `last` and `before` follow from `url`, `dense` from them all.
_BY_URL = ("sums", "maxima", "places", "fronts", "known", "done", "frozen", "outcome")
_BY_LINK = ("url", "parent", "path", "repeats")


class Row(NamedTuple):
    """The features by which a URL was fetched: dense ones, and sparse ones with their values."""

    dense: Floats
    features: Ints
    values: NDArray[np.float64]


class Evidence:
    """The in-links of URLs, the pages they are on, and how links of a kind have paid."""

    def __init__(self, judge: PageJudge, meanings: Meanings | None = None) -> None:
        self.judge, self.meanings = judge, meanings
        self._width = SUMS if meanings is None else MEANT.stop
        #: What each sparse feature adds.
        self.sparse = np.zeros(FEATURES, dtype=np.float32)
        self.read_judge()
        # by URL
        self.sums = np.zeros((1024, self._width))
        self.maxima = np.zeros((1024, MAXIMA))
        self.places = np.zeros((1024, 4), dtype=np.int32)
        self.fronts = np.zeros(1024, dtype=bool)
        self.known = np.zeros(1024)
        self.done = np.zeros(1024, dtype=bool)
        self.frozen = np.zeros(1024, dtype=bool)
        self.outcome = np.zeros(1024)
        self.last = np.zeros(1024, dtype=np.int64)  # 1 + the last in-link
        self.dense = np.zeros((1024, len(NAMES)), dtype=np.float32)  # as of the last time they were refreshed
        # by in-link
        self.links = 0
        self.url = np.zeros(1024, dtype=np.int64)
        self.parent = np.zeros(1024, dtype=np.int64)
        self.path = np.zeros(1024, dtype=np.int32)
        self.repeats = np.zeros(1024, dtype=bool)
        self.before = np.zeros(1024, dtype=np.int64)  # 1 + the in-link of the same URL before this one
        self.first = np.zeros(1025, dtype=np.int64)
        self.features = np.zeros(65_536, dtype=np.int32)
        # by page
        self.p = np.zeros(1024)
        self.rates = Rates()
        self.below = Below()
        #: What the texts of links say that were scored and not yet added, by the identity of their features.
        self._previewed: dict[int, tuple[Floats, Floats, Links]] = {}

    def __len__(self) -> int:
        """The number of in-links."""
        return self.links

    def read_judge(self) -> None:
        """Take over the weights of words from the judge."""
        judge = self.judge
        #: What a word adds to the score of a text, by its hash.
        self.word_weights = judge.weights * judge.idf
        self._idf2 = judge.idf * judge.idf
        self._keyword = judge.keywords > 0
        if self.meanings is not None:
            self.meanings.aim(judge.direction)

    # ---- adding

    def set_page(self, page: int, p: float) -> None:
        """The relevance of a page."""
        self.p = grown(self.p, page + 1)
        if page >= len(self.rates.children.total):
            self.rates.children.grow(len(self.p))
        self.p[page] = p

    def make_room(self, url: int) -> None:
        """Make room for a URL."""
        if url >= len(self.sums):
            for name in (*_BY_URL, "last", "dense"):
                setattr(self, name, grown(getattr(self, name), url + 1))

    def add(self, page: int, targets: NDArray[np.int64], links: Links, *, but: int = -1) -> NDArray[np.int64]:
        """Add the links of a page *but* those to one URL; returns the URLs that wait and now have more in-links."""
        if not len(targets):
            return targets
        self.make_room(int(targets.max()))
        done = self.done[targets]
        for target in dict.fromkeys(targets[done].tolist()):  # there already: the other links of this page may be alike
            self.rates.pay_later(page, target, float(self.outcome[target]))
        chosen = (~done & (self.sums[targets, LINKS] < MOST) & (targets != but)).nonzero()[0]
        targets = targets[chosen]
        thawed = targets[self.frozen[targets]]
        if len(thawed):
            self.sums[thawed], self.maxima[thawed], self.frozen[thawed] = 0, 0, False
        return self._add(np.full(len(chosen), page), targets, links, chosen)

    def _add(
        self, pages: NDArray[np.int64], targets: NDArray[np.int64], links: Links, chosen: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Add the chosen ones of some links, each on one of *pages*."""
        if not len(chosen):
            return targets
        start = self.links
        order = self._append(pages, targets, links, chosen)
        texts = self._previewed.pop(id(links.features), None)
        if texts is None:
            return self._gather(targets, order, *self._parts(start, self.links))
        sums, maxima = texts[0].take(chosen, axis=0), texts[1].take(chosen, axis=0)
        self._add_pages(sums, maxima, start, self.links)
        return self._gather(targets, order, sums, maxima)

    def _gather(self, urls: NDArray[np.int64], sorted_urls: Runs, sums: Floats, maxima: Floats) -> NDArray[np.int64]:
        """Add what in-links say to their URLs, which are returned; sorted, as `ufunc.at` is many times slower."""
        order, _, ends = sorted_urls
        found = urls[order[ends]]
        first = np.concatenate([[0], ends[:-1] + 1])
        self.sums[found] += np.add.reduceat(sums.take(order, axis=0), first, axis=0)
        self.maxima[found] = np.maximum(self.maxima[found], np.maximum.reduceat(maxima[order], first, axis=0))
        return found

    def _append(
        self, pages: NDArray[np.int64], targets: NDArray[np.int64], links: Links, chosen: NDArray[np.int64]
    ) -> Runs:
        start, count = self.links, len(chosen)
        end = start + count
        for name in ("url", "parent", "path", "repeats", "before"):
            setattr(self, name, grown(getattr(self, name), end))
        self.first = grown(self.first, end + 1)
        self.url[start:end] = targets
        self.parent[start:end] = pages
        self.path[start:end] = links.paths[chosen]
        self.places[targets], self.fronts[targets] = links.places[chosen], links.fronts[chosen]
        lengths = links.first[1:] - links.first[:-1]
        self.first[start + 1 : end + 1] = self.first[start] + lengths[chosen].cumsum()
        self.features = grown(self.features, int(self.first[end]))
        mine = np.zeros(len(links.paths), dtype=bool)
        mine[chosen] = True
        self.features[self.first[start] : self.first[end]] = links.features[mine.repeat(lengths)]
        order, same, ends = sorted_urls = runs(targets)
        before = self.last[targets]
        before[order[1:]] = np.where(same, start + order[:-1] + 1, before[order[1:]])
        self.before[start:end] = before
        self.repeats[start:end] = (before > 0) & (self.parent[before - 1] == pages)
        self.last[targets[order[ends]]] = start + order[ends] + 1
        self.links = end
        return sorted_urls

    def in_links(self, url: int) -> list[int]:
        """The numbers of the in-links of a URL, the last one first."""
        found = []
        number = int(self.last[url])
        while number:
            found.append(number - 1)
            number = int(self.before[number - 1])
        return found

    # ---- sums

    def _parts(self, start: int, end: int) -> tuple[Floats, Floats]:
        """What some in-links add to the sums and maxima of their URLs."""
        sums, maxima = (np.concatenate(parts) for parts in zip(*map(self._texts, *self._cut(start, end)), strict=True))
        self._add_pages(sums, maxima, start, end)
        return sums, maxima

    def _cut(self, start: int, end: int) -> tuple[list[Ints], list[NDArray[np.int64]]]:
        """The features of some in-links, and where they begin, in pieces that stay in the processor's cache."""
        first = self.first[start : end + 1]
        firsts = [first[begin : stop + 1] for begin, stop in chunks(first, _CACHED)]
        return [self.features[one[0] : one[-1]] for one in firsts], firsts

    def _add_pages(self, sums: Floats, maxima: Floats, start: int, end: int) -> None:
        self._add_parents(sums, maxima, self.p[self.parent[start:end]], ~self.repeats[start:end])
        for column, values in self._rates(start, end):
            sums[:, column] = values

    def _texts(self, features: Ints, first: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """What the features of in-links add to the sums and maxima."""
        count = len(first) - 1
        sums, maxima = np.zeros((count, self._width)), np.zeros((count, MAXIMA))
        if not count:
            return sums, maxima
        sums[:, SPARSE] = self._learned(features, first)
        text = (features < PLACES).nonzero()[0]
        words = features.take(text).astype(np.intp)
        kind, words = words >> BITS, words & (SIZE - 1)
        row = np.arange(0, 3 * count, 3).repeat(first[1:] - first[:-1]).take(text)
        place = row + _GROUP.take(kind)
        weights = np.bincount(place, self.word_weights.take(words), minlength=3 * count).reshape(count, 3)
        lengths = np.bincount(place, self._idf2.take(words), minlength=3 * count).reshape(count, 3)
        sums[:, ANCHOR_W : HEADING_I + 1 : 2] = weights
        sums[:, ANCHOR_I : HEADING_I + 1 : 2] = lengths
        if self.meanings is not None:
            tables = self.meanings.near, self.meanings.weight, self.meanings.squared
            meant = [np.bincount(place, table[words], minlength=3 * count).reshape(count, 3)[:, :2] for table in tables]
            sums[:, MEANT] = np.column_stack(meant)
        maxima[:, BEST] = np.maximum(0.0, weights[:, 0] / np.sqrt(lengths[:, 0] + 1e-9))
        keywords = (self._keyword.take(words) & (kind <= URL_WORD)).nonzero()[0]
        maxima[row.take(keywords) // 3, KEYWORD] = 1
        return sums, maxima

    def _learned(self, features: Ints, first: NDArray[np.int64]) -> Floats:
        """What the learned weights of features add, by in-link; each has features."""
        return np.add.reduceat(self.sparse.take(features).astype(np.float64), first[:-1] - first[0])

    @staticmethod
    def _add_parents(sums: Floats, maxima: Floats, p: Floats, new: NDArray[np.bool_]) -> None:
        sums[:, LINKS] = 1
        sums[:, PARENTS] = new
        sums[:, LOG_ODDS] = new * logit(np.minimum(np.maximum(p, 0.01), 0.99))
        sums[:, P] = new * p
        sums[:, Q] = new * (1 - p)
        maxima[:, MAX_P] = p

    def _rates(self, start: int, end: int) -> Iterator[tuple[int, Floats]]:
        """How links beside some in-links have paid, by column of the sums."""
        parent, path = self.parent[start:end], self.path[start:end]
        new = ~self.repeats[start:end]
        children, by_path = self.rates.children, self.rates.by_path
        yield SIBLINGS_Y, new * children.total[parent]
        yield SIBLINGS, new * children.number[parent]
        yield PATH_Y, by_path.total[path]
        yield PATHS, by_path.number[path]

    def renew_rates(self) -> None:
        """Bring the sums of outcomes up to date for all URLs."""
        for column, values in self._rates(0, self.links):
            self._renew(column, values)

    def renew_sparse(self) -> None:
        """Compute the sums of learned weights again, after these have changed."""
        self._previewed.clear()
        self._forget_done()
        if self.links:
            self._renew(SPARSE, np.concatenate(list(map(self._learned, *self._cut(0, self.links)))))

    def _renew(self, column: int, values: Floats) -> None:
        """Replace a column of the sums by those of what each in-link says now."""
        found = np.bincount(self.url[: self.links], values, minlength=len(self.sums))
        self.sums[:, column] = np.where(self.frozen, self.sums[:, column], found)

    def renew(self) -> None:
        """Compute all sums again, after the judge has changed."""
        self.read_judge()
        self._previewed.clear()
        self._forget_done()
        self.sums[~self.frozen] = 0
        self.maxima[~self.frozen] = 0
        for start, end in chunks(self.first[: self.links + 1], _CHUNK):
            self._gather(self.url[start:end], runs(self.url[start:end]), *self._parts(start, end))

    def _forget_done(self) -> None:
        """Remove the in-links of URLs that were fetched, if they are many."""
        keep = ~self.done[self.url[: self.links]]
        if int(keep.sum()) <= self.links * (1 - _DEAD):
            self._keep(keep)

    def freeze(self, urls: NDArray[np.int64]) -> None:
        """Forget the in-links of waiting URLs, to bound the memory: their sums stay until another in-link is found."""
        self.frozen[urls] = True
        self._keep(~self.frozen[self.url[: self.links]])

    def _keep(self, keep: NDArray[np.bool_]) -> None:
        """Keep some of the in-links."""
        kept = int(keep.sum())
        lengths = np.diff(self.first[: self.links + 1])
        self.features[: int(lengths[keep].sum())] = self.features[: int(self.first[self.links])][
            np.repeat(keep, lengths)
        ]
        for name in ("url", "parent", "path", "repeats"):
            column = getattr(self, name)
            column[:kept] = column[: self.links][keep]
        self.first[1 : kept + 1] = np.cumsum(lengths[keep])
        self.links = kept
        self._chain()

    def _chain(self) -> None:
        """Set which in-link of a URL is its last one, and which one comes before each."""
        urls = self.url[: self.links]
        order, same, ends = runs(urls)
        self.before[: self.links] = 0
        self.before[order[1:]] = np.where(same, order[:-1] + 1, 0)
        self.last[:] = 0
        self.last[urls[order[ends]]] = order[ends] + 1

    # ---- features

    def waiting(self) -> NDArray[np.int64]:
        """The URLs that have in-links and were not fetched."""
        return np.flatnonzero((self.sums[:, LINKS] > 0) & ~self.done)

    def refresh(self, urls: NDArray[np.int64]) -> None:
        """Bring the dense features of URLs up to date."""
        for start in range(0, len(urls), _URLS):
            some = urls[start : start + _URLS]
            sums, maxima = self.sums.take(some, axis=0), self.maxima.take(some, axis=0)  # an index takes longer
            places = self.places.take(some, axis=0)
            self.dense[some] = self._dense(sums, maxima, places, self.fronts[some], self.known[some])

    def refresh_rates(self) -> None:
        """Bring those features of all URLs up to date that tell how links have paid."""
        end = int(self.url[: self.links].max()) + 1 if self.links else 0
        for start in range(0, end, _URLS):
            some = slice(start, min(end, start + _URLS))
            self.dense[some, PAID] = self._paid(self.sums[some], self.places[some], self.fronts[some]).T

    def _dense(self, sums: Floats, maxima: Floats, places: Ints, fronts: NDArray[np.bool_], known: Floats) -> Floats:
        slope = self.judge.scale.slope
        found = np.empty((len(sums), len(NAMES)))
        found[:, 0] = 1
        found[:, 1] = maxima[:, KEYWORD]
        odds = slope * sums[:, ANCHOR_W : HEADING_I + 1 : 2] / np.sqrt(sums[:, ANCHOR_I : HEADING_I + 1 : 2] + 1e-9)
        np.minimum(np.maximum(odds, -_MOST_ODDS), _MOST_ODDS, out=found[:, 2:5])
        np.minimum(_MOST_ODDS, slope * maxima[:, BEST], out=found[:, 5])
        found[:, 6] = maxima[:, MAX_P]
        np.divide(sums[:, LOG_ODDS], np.maximum(1, sums[:, PARENTS]), out=found[:, 7])
        np.log1p(sums[:, P : Q + 1], out=found[:, 8:10])
        found[:, PAID] = self._paid(sums, places, fronts).T
        found[:, 15] = known
        found[:, MEANINGS] = self._meant(sums)
        return found

    def _meant(self, sums: Floats) -> Floats | float:
        """What the texts of links mean for the topic, as log-odds: nothing without words."""
        if self.meanings is None:
            return 0.0
        near, weight, squared = np.split(sums[:, MEANT], 3, axis=1)
        odds = self.judge.direction_scale.odds(self.meanings.cosines(near, weight, squared))
        return np.asarray(np.clip(np.nan_to_num(odds), -_MOST_ODDS, _MOST_ODDS))

    def _paid(self, sums: Floats, places: Ints, fronts: NDArray[np.bool_]) -> Floats:
        below = self.below.of_front_pages(fronts, places[:, 1])
        return np.vstack([self.rates.surpluses(sums[:, SIBLINGS_Y : PATHS + 1], places), below])

    def preview(self, links: Links, p: float) -> tuple[Floats, Floats]:
        """Dense features and the part of the sparse ones for links of a new page, as if nothing else led there."""
        count = len(links.paths)
        sums, maxima = self._texts(links.features, links.first)
        self._previewed[id(links.features)] = sums, maxima, links  # what follows is set anew when they are added
        self._add_parents(sums, maxima, np.full(count, p), np.ones(count, dtype=bool))
        sums[:, PATH_Y] = self.rates.by_path.total[links.paths]
        sums[:, PATHS] = self.rates.by_path.number[links.paths]
        return self._dense(sums, maxima, links.places, links.fronts, np.zeros(count)), sums[:, SPARSE]

    def sparse_part(self, urls: NDArray[np.int64]) -> Floats:
        """What the sparse features add to the scores of URLs: the mean over their in-links."""
        return np.asarray(self.sums[:, SPARSE][urls] / np.maximum(1, self.sums[:, LINKS][urls]))

    def row(self, url: int) -> Row:
        """The features of a URL with in-links, to learn from."""
        in_links = self.in_links(url)
        self.refresh(np.array([url]))
        features = np.concatenate([self.features[self.first[link] : self.first[link + 1]] for link in in_links])
        features = np.where(features < PLACES, features & (SIZE - 1), features)  # a word is one wherever it stands
        found, numbers = counted(features)
        return Row(self.dense[url].astype(np.float64), found, numbers / len(in_links))

    def settle(self, url: int, outcome: float) -> None:
        """A URL was fetched, with this outcome: links of the same kind may pay alike."""
        self.make_room(url)
        self.done[url], self.outcome[url] = True, outcome
        self.rates.pay(url, self.origins(url), outcome)

    def origins(self, url: int) -> Origins | None:
        """Where the links to a URL are; None if there are none."""
        if not (in_links := self.in_links(url)):
            return None
        pages, paths = (sorted(set(column[in_links].tolist())) for column in (self.parent, self.path))
        return Origins(pages, paths, self.places[url].tolist())

    def pay_again(self) -> None:
        """Count all outcomes again, after the judge has changed its mind about them."""
        self.rates.pay_again(self.outcome)
        self.below.count_again(self.p)

    def adopt(self, known: Mapping[int, int], other: Evidence) -> None:
        """Take over the in-links of URLs from other evidence about the same pages: its number by the number here."""
        pairs = [(url, link) for url, there in known.items() for link in reversed(other.in_links(there))]
        if not pairs:
            return
        parts = [other.features[other.first[link] : other.first[link + 1]] for _, link in pairs]
        targets, chosen = np.array([url for url, _ in pairs]), np.array([link for _, link in pairs])
        first = np.cumsum([0, *map(len, parts)])
        there = other.url[chosen]
        links = Links(np.concatenate(parts), first, other.path[chosen], other.places[there], other.fronts[there])
        self._add(other.parent[chosen], targets, links, np.arange(len(pairs)))

    # ---- keeping

    def state(self) -> Arrays:
        """What is known, to go on from there."""
        links, end = self.links, int(self.first[self.links])
        found: Arrays = {name: getattr(self, name) for name in (*_BY_URL, "p")}
        found |= {name: getattr(self, name)[:links] for name in _BY_LINK}
        found["first"], found["features"] = self.first[: links + 1], self.features[:end]
        found |= self.rates.state()
        found |= self.below.state()
        return found

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from a state; raises ValueError or KeyError if it is not one."""
        check_sizes(state, _BY_URL)
        check_sizes(state, _BY_LINK)
        check_sizes(state, ("p", "children total"))
        check_steps("first", state["first"], len(state["features"]))
        urls, pages = len(state["sums"]), len(state["p"])
        for name, end in (
            *(("url", urls), ("parent", pages)),
            *(("path", SIZE), ("places", SIZE), ("features", len(self.sparse))),
        ):
            check_range(name, state[name], end)
        shapes: dict[str, tuple[int, ...]] = {
            "sums": (urls, self._width),
            "maxima": (urls, MAXIMA),
            "places": (urls, 4),
            "first": (len(state["url"]) + 1,),
        }
        if any(state[name].shape != shape for name, shape in shapes.items()):
            raise ValueError("a column has another size")
        for name in (*_BY_URL, *_BY_LINK, "p", "first", "features"):
            setattr(self, name, state[name].astype(getattr(self, name).dtype))
        self.links = len(state["url"])
        self.rates.restore(state, urls)
        self.below.restore(state, self.p)
        self.before = np.zeros(max(1, self.links), dtype=np.int64)
        self.last = np.zeros(urls, dtype=np.int64)
        if self.links:
            self._chain()
        self.read_judge()
        self.dense = np.zeros((urls, len(NAMES)), dtype=np.float32)
        self.refresh(self.waiting())
