"""Perimeter search: everything around the best page, then everything around the best page found there.

Paper: P. Devi, R. Thakur, "Comprehensive Review of Web Focused Crawling", introduction.

The crawl goes in rounds. A round searches exhaustively, breadth-first, to depth `d` below its seeds; of the pages it
finds, the most relevant one and its relatives up to degree `r` are the seeds of the next round. A page that refers to
the topic is thus trusted to have something further down its lineage, even if what lies between scores low.

Relatives, in the tree of which page's link led to which: who is reached from the page by going up a ≥ 0 and then down
b ≥ 1 links is a relative of degree a + b; the paper does not define it. Degree 1 are its children; 2 also its siblings
and grandchildren; 3 also the siblings' children and the siblings of its parent; 4 also its cousins. Relatives that were
fetched before are seeds, too: the search goes through them to what waits below.

Nothing is queued but in the frontier. A link inside the perimeter has a score above one half, by its distance from the
seeds; one outside waits below, with the relevance of its page. When nothing is left inside, the next round begins:
links that wait on pages within its perimeter are raised. If nothing waits there, the next best page of the round is
taken, and after the last one the best page of earlier rounds. The file of the crawl keeps the rounds.
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
    """The score of a link so many links below the seeds."""
    return OPEN + OPEN / (1 + distance)


class PerimeterSpider(FocusedSpider):
    name = "perimeter"
    floor = OPEN

    d = Option(2, "how many links deep the search around the seeds goes", at_least=0)
    r = Option(1, "up to which degree relatives of the best page are seeds", at_least=1)

    def prepare(self) -> None:
        #: The number of the round, and the page it goes around with its ancestors, by how far up they are.
        self._round = 0
        self._line: dict[int, int] = {}
        #: (-relevance, number) of the pages found in this round, and of those that earlier rounds left.
        self._found: list[tuple[float, int]] = []
        self._left: list[tuple[float, int]] = []
        # the tree: by number of the page the one it was reached from (0: none), and the other way round
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
        """How far from the round's seeds that is which lies *steps* links below a page; None if outside."""
        if not self._round:  # around the seeds of the crawl
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
        """Go on around the best page below whose relatives something waits."""
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
        """A page and its ancestors, as far up as relatives are seeds."""
        line: dict[int, int] = {}
        while page and len(line) < self.r:
            line[page] = len(line)
            page = self._parent[page]
        return line

    def _raise_links(self) -> int:
        """Raise what waits on the pages inside the perimeter; returns how many links that are."""
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
        """The pages whose links are inside the perimeter, and of which degree these are."""
        for ancestor, up in self._line.items():
            level = [ancestor]
            for degree in range(up + 1, self.r + self.d + 1):
                yield from ((page, degree) for page in level)
                level = [child for page in level for child in self._children.get(page, ()) if child not in self._line]

    # ---- what is in the file

    def _catch_up(self) -> None:
        """Take up the pages stored since the last time, and in a resumed crawl its rounds."""
        known = len(self._parent) - 1
        if self.crawl.pages == known:
            return
        store = self.crawl.store
        done: set[int] = set()
        begun = around = 0
        if not known:
            for key, facts in store.metas("round ").items():
                number = int(key)
                done.update((facts["around"], *facts["passed over"]))
                if number > self._round:
                    self._round, around, begun = number, facts["around"], facts["after"]
        for page in store.pages.arrivals(known):
            self._parent.append(page.parent)
            if page.parent:
                self._children.setdefault(page.parent, []).append(page.number)
            if page.number not in done:
                heappush(self._left if page.number <= begun else self._found, (-page.relevance, page.number))
        if around:
            self._line = self._line_of(around)
