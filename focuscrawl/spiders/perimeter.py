"""Perimeter search: crawl everything around the best page, then everything around the best page found there.

Paper: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling", introduction.

The crawl proceeds in rounds. A round searches exhaustively, breadth-first, to depth `d` below its seeds. The most
relevant page it finds and its relatives up to degree `r` are the seeds of the next round. A relevant page is thus
trusted to have more of the topic further down its lineage, even if the pages in between score low.

The paper does not define relatives. Here they are defined in the tree of pages and the links that led to them: a page
that is reached by going up a ≥ 0 and then down b ≥ 1 links is a relative of degree a + b. Degree 1 is the children;
degree 2 adds siblings and grandchildren; degree 3 adds the siblings' children and the parent's siblings; degree 4 adds
cousins. Relatives that were fetched before are seeds as well: the search continues through them to the waiting links
below.

The paper does not name a depth either. With `d=2`, the default, the first round is a breadth-first search that lasts
for hundreds of pages or, from seeds with many links, for the whole crawl; with `d=1`, it mostly ends after some dozens.

The frontier is the only queue. A link inside the perimeter scores above one half, by its distance from the seeds; a
link outside scores below, by the relevance of its page. When nothing is left inside, the next round begins, and the
waiting links on pages inside its perimeter are raised. If there are none, the next best page of the round is taken, and
after the last one the best page of earlier rounds. The crawl's file stores the rounds.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush

from focuscrawl.frontier.frontier import Candidate
from focuscrawl.options import Option
from focuscrawl.page import Page
from focuscrawl.spider import HELD, OPEN, FocusedSpider


def score_at(distance: int) -> float:
    """The score of a link at this distance from the seeds."""
    return OPEN + OPEN / (1 + distance)


class PerimeterSpider(FocusedSpider):
    name = "perimeter"
    floor = OPEN

    d = Option(2, "depth of the search below the seeds, in links", at_least=0)
    r = Option(1, "maximum degree of the relatives of the best page that become seeds", at_least=1)

    def prepare(self) -> None:
        #: The number of the round; its central page and ancestors, with how many levels up they are.
        self._round = 0
        self._line: dict[int, int] = {}
        #: Heaps of (-relevance, number): the pages found in this round, and those left over from earlier rounds.
        self._found: list[tuple[float, int]] = []
        self._left: list[tuple[float, int]] = []
        # the tree: by page number its parent (0: none) and its children
        self._parent = array("I", [0])
        self._children: dict[int, list[int]] = {}

    # ---- scoring

    def score(self, page: Page) -> Sequence[float]:
        self._catch_up()
        parent = self.crawl.store.queue.page_of(page.url_id)
        distance = self._distance(0, 1) if parent is None else self._distance(parent, 2)
        if distance is None:
            relevance = self.relevance(page)
            score, why = HELD * relevance, {"outside round": float(self._round), "relevance of its page": relevance}
        else:
            score, why = score_at(distance), self._why(distance)
        return self.alike(page, score, why)

    def _why(self, distance: int) -> dict[str, float]:
        return {"round": float(self._round), "links from its seeds": float(distance)}

    def _distance(self, page: int, steps: int) -> int | None:
        """The distance from the round's seeds of a link *steps* below a page; None outside the perimeter."""
        if not self._round:  # the first round is around the seeds of the crawl
            while (page := self._parent[page]) and steps <= self.d:
                steps += 1
            return steps if steps <= self.d else None
        while page and page not in self._line and steps <= self.r + self.d:
            page, steps = self._parent[page], steps + 1
        if not page or page not in self._line or self._line[page] + steps > self.r + self.d:
            return None
        return max(0, self._line[page] + steps - self.r)

    # ---- rounds

    def refill(self) -> bool:
        """Start a round around the best page with waiting links inside its perimeter."""
        self._catch_up()
        store = self.crawl.store
        passed_over: list[int] = []
        while self._found or self._left:
            _, page = heappop(self._found or self._left)
            self._line = self._line_of(page)
            self._round += 1
            with store.transaction():
                if self._raise_links():
                    facts = {"around": page, "after": len(self._parent) - 1, "passed over": passed_over}
                    store.set_meta(f"round {self._round}", facts)
                    for entry in self._found:
                        heappush(self._left, entry)
                    self._found.clear()
                    return True
            self._round -= 1
            passed_over.append(page)
        return False

    def _line_of(self, page: int) -> dict[int, int]:
        """A page and its ancestors, as far up as their descendants can be seeds."""
        line: dict[int, int] = {}
        while page and len(line) < self.r:
            line[page] = len(line)
            page = self._parent[page]
        return line

    def _raise_links(self) -> int:
        """Raise the waiting links on pages inside the perimeter; return their number."""
        store, frontier = self.crawl.store, self.crawl.frontier
        raised: list[Candidate] = []
        reasons: list[tuple[float, dict[str, float], int | None]] = []
        for page, degree in self._pages_inside():
            distance = max(0, degree - self.r)
            score, why = score_at(distance), self._why(distance)
            for link in frontier.waiting_on(page):
                raised.append(link._replace(score=score))
                reasons.append((score, why, link.via))
        frontier.offer(raised)
        store.links.set_scores(reasons)
        return len(raised)

    def _pages_inside(self) -> Iterator[tuple[int, int]]:
        """The pages whose links are inside the perimeter, and the degree of these links."""
        for ancestor, up in self._line.items():
            level = [ancestor]
            for degree in range(up + 1, self.r + self.d + 1):
                yield from ((page, degree) for page in level)
                level = [child for page in level for child in self._children.get(page, ()) if child not in self._line]

    # ---- resuming

    def _catch_up(self) -> None:
        """Read the pages stored since the last call; in a resumed crawl, also the rounds."""
        known = len(self._parent) - 1
        store = self.crawl.store
        if store.pages.last_number() == known:
            return
        done: set[int] = set()
        begun = around = 0
        if not known:
            for key, facts in store.metas("round ").items():
                number = int(key)
                done.update((facts["around"], *facts["passed over"]))
                if number > self._round:
                    self._round, around, begun = number, facts["around"], facts["after"]
        for page in store.pages.arrivals(known):
            self._parent.extend([0] * (page.number - len(self._parent)))  # numbers of pages that could not be stored
            self._parent.append(page.parent)
            if page.parent:
                self._children.setdefault(page.parent, []).append(page.number)
            if page.number not in done:
                heappush(self._left if page.number <= begun else self._found, (-page.relevance, page.number))
        if around:
            self._line = self._line_of(around)
