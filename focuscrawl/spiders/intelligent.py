"""Intelligent crawling: it learns during the crawl which evidence leads to relevant pages.

Paper: C. C. Aggarwal, F. Al-Garawi, P. S. Yu, "Intelligent Crawling on the World Wide Web with Arbitrary Predicates";
reviewed in: S. Rajesh, D. Raju, P. A. Kumar, P. Srikanth, "A Frame Work for Topical Collections Make with Focused and
Accelerated Focused Crawlers".

It needs no examples, only a predicate: here, that a page is judged relevant. For each kind of evidence E about an
unfetched URL, the interest ratio I(E) = P(relevant | E) / P(relevant) is estimated from the pages fetched so far:

* content: the words of the linking page that precede relevant pages significantly more often than others;
* url: the words of the URL;
* links: how many of the linking pages are relevant, and how many are not;
* siblings: the share of relevant pages among the fetched pages that the linking pages also link to.

The priority is the weighted sum of the logarithms of the ratios.

Priorities change as the crawl learns. The content factor is computed when the link is found, and stored with it. The
other factors are recomputed from the links between pages (a few bytes of memory each) when a link reaches the top of
the frontier, and for all waiting links whenever the crawl has doubled in size. Everything learned follows from the
pages and links in the crawl's file, in their order, so a resumed crawl relearns it. Only the word counts are stored
there, every thousand pages, because recomputing them would mean reading all bodies again.

Departures: ratios are smoothed with `CAUTION` average cases; only the last `PARENTS` linking pages and the `WORDS` most
interesting words of a page are used.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from math import log
from operator import itemgetter
from urllib.parse import unquote

from focuscrawl.learning.table import squash
from focuscrawl.options import Option
from focuscrawl.page import Link, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.spider import FocusedSpider
from focuscrawl.store.pages import Arrival, StoredPage
from focuscrawl.words import tokenize

#: Standard deviations above chance at which a word counts as significantly more frequent before relevant pages.
SIGNIFICANT = 2.0
#: Average cases added to the observed ones when a ratio is estimated: two or three observations alone prove nothing.
CAUTION = 2.0
#: Maximum number of linking pages used per URL, the last first.
PARENTS = 8
#: Words used per page, the most interesting first. Words are not independent, so the product over all of them would
#: drown out the other factors.
WORDS = 10

#: Maximum number of words counted; above it, the rarest are dropped.
VOCABULARY = 200_000
#: Number of pages whose words are cached; those of other pages are read from the crawl's file.
REMEMBERED = 2_000
#: Pages between two checkpoints of the word counts in the crawl's file.
RHYTHM = 1_000
#: With more waiting links than this, only those that reach the top are rescored: in a long crawl little changes.
RESCORE_LIMIT = 10_000

_UNKNOWN, _IRRELEVANT, _RELEVANT = range(3)


class Ratios:
    """How often each piece of evidence was seen, and how often the page was relevant."""

    def __init__(self) -> None:
        self.cases: Counter[str] = Counter()
        self.hits: Counter[str] = Counter()

    def count(self, evidence: Collection[str], relevant: bool) -> None:
        self.cases.update(evidence)
        if relevant:
            self.hits.update(evidence)

    def turn(self, evidence: Collection[str], step: int) -> None:
        """Count evidence of a page, seen before, for the other verdict."""
        for name in evidence:
            if name in self.cases:
                self.hits[name] = max(0, self.hits[name] + step)

    def log_interest(self, name: str, share: float) -> float:
        """The logarithm of the interest ratio; 0 for unseen evidence."""
        return log_ratio(self.cases.get(name, 0), self.hits.get(name, 0), share)

    def significant(self, evidence: set[str], share: float) -> list[float]:
        """The logarithms of the interest ratios that are significantly above 1."""
        cases, hits, chance = self.cases, self.hits, SIGNIFICANT**2 * share * (1 - share)
        found = []
        for name in hits.keys() & evidence:
            seen, hit = cases[name], hits[name]
            if (more := hit - seen * share) > 0 and more * more > seen * chance:
                found.append(log_ratio(seen, hit, share))
        return found

    def forget_rare(self, limit: int) -> None:
        """Drop the rarest words until at most *limit* are left."""
        least = 2
        while len(self.cases) > limit:
            self.cases = Counter({name: cases for name, cases in self.cases.items() if cases >= least})
            self.hits = Counter({name: hits for name, hits in self.hits.items() if name in self.cases})
            least *= 2


def log_ratio(cases: int, relevant: int, share: float) -> float:
    """log I = log(P(relevant | evidence) / P(relevant)), smoothed."""
    return log((relevant + CAUTION * share) / ((cases + CAUTION) * share))


class IntelligentSpider(FocusedSpider):
    name = "intelligent"

    content = Option(1.0, "weight of the words of the linking page", at_least=0.0, at_most=100.0)
    url = Option(1.0, "weight of the words of the URL", at_least=0.0, at_most=100.0)
    links = Option(1.0, "weight of the relevance of the linking pages", at_least=0.0, at_most=100.0)
    siblings = Option(1.0, "weight of the relevance of the linking pages' other links", at_least=0.0, at_most=100.0)

    def prepare(self) -> None:
        self._words, self._url_words = Ratios(), Ratios()
        #: Links between fetched pages, and those to relevant pages, as [from irrelevant pages, from relevant pages].
        self._cases, self._hits = [0, 0], [0, 0]
        self._pages = self._relevant_pages = self._last_link = 0
        #: Current P(relevant), never 0 or 1; current log I of a link from either kind of page, and of words of URLs.
        self._share, self._from_page = 0.5, [0.0, 0.0]
        self._url_interest: dict[str, float] = {}
        #: The word counts include the pages up to this number.
        self._words_known = 0
        #: Bit length of the number of pages at the last rescoring of all waiting links.
        self._scored_at = 1
        self._words_of: OrderedDict[int, set[str]] = OrderedDict()
        # by page number: whether it is relevant; how many of its link targets were fetched, and how many are relevant
        self._relevant = bytearray(1)
        self._fetched, self._good = array("I", [0]), array("I", [0])
        # by URL id: its fate, and the latest link that leads there; each link points to the previous one
        self._fate = bytearray()
        self._newest = array("I")
        self._from, self._older = array("I", [0]), array("I", [0])

    # ---- learning

    async def before_crawl(self) -> None:
        await super().before_crawl()
        if self.crawl.resumed:
            self._scored_at = self.crawl.store.number("scored_at") or 1
            self._catch_up()
            self._rescore_all()  # the previous run may have been killed before this step

    def _catch_up(self) -> None:
        """Learn from the pages stored since the last call."""
        if self.crawl.pages == self._pages:
            return
        store = self.crawl.store
        if self._pages == 0 and (kept := store.meta("words")):
            self._words_known = kept["page"]
            self._words.cases, self._words.hits = Counter(kept["cases"]), Counter(kept["hits"])
        pages = list(store.pages.arrivals(len(self._relevant) - 1))
        links = groupby(store.links.each(self._last_link), key=itemgetter(0))
        self._make_room()
        linking, found = next(links, (0, iter(())))
        for page in pages:
            self._learn_page(page)
            while 0 < linking < page.number:  # of another worker, stored a moment later: see `catch_up`
                linking, found = next(links, (0, iter(())))
            if linking == page.number:
                self._learn_links(page.number, found)
                linking, found = next(links, (0, iter(())))
        self._weigh_anew()

    def catch_up(self, numbers: Sequence[int]) -> None:
        """Learn from pages of other workers that became visible after pages with higher numbers."""
        self._catch_up()
        self._make_room()
        store = self.crawl.store
        for number in numbers:
            for page in store.pages.arrivals(number - 1, number):
                if not self._fate[page.url_id]:
                    self._learn_page(page)
                    links = store.links.between(number - 1, number)
                    self._learn_links(number, ((number, url_id, 0) for _, url_id in links))
        self._weigh_anew()

    def _make_room(self) -> None:
        known = self.crawl.store.urls.last_id() + 1 - len(self._fate)
        self._fate.extend(bytes(known))
        self._newest.extend(array("I", bytes(known * self._newest.itemsize)))

    def _weigh_anew(self) -> None:
        self._words.forget_rare(VOCABULARY)
        self._url_words.forget_rare(VOCABULARY)
        self._weigh_evidence()

    def _weigh_evidence(self) -> None:
        self._share = (self._relevant_pages + 1) / (self._pages + 2)
        self._from_page = [log_ratio(*counts, self._share) for counts in zip(self._cases, self._hits, strict=True)]
        self._url_interest.clear()

    def _learn_page(self, page: Arrival) -> None:
        """Count the evidence for a URL, now that its page is known."""
        number, url_id, relevant = page.number, page.url_id, page.relevant
        self._pages += 1
        self._relevant_pages += relevant
        missing = max(0, number + 1 - len(self._relevant))
        self._relevant.extend(bytes(missing))
        self._relevant[number] = relevant
        self._fetched.extend([0] * missing)
        self._good.extend([0] * missing)
        self._fate[url_id] = _RELEVANT if relevant else _IRRELEVANT
        self._url_words.count(url_words(page.asked), relevant)
        for linking in self._parents(url_id):
            self._learn_link(linking, relevant)
        if number > self._words_known and page.parent_url_id is not None and not page.parent_is_copy:
            words = self._words_on(page.parent_url_id, page.parent_url or "", page.parent_content_type or "")
            self._words.count(words, relevant)

    def _learn_links(self, number: int, found: Iterator[tuple[int, int, int]]) -> None:
        """Record the links of a new page."""
        for _, url_id, link_id in found:
            self._last_link = max(self._last_link, link_id)
            newest = self._newest[url_id]
            if newest and self._from[newest] == number:
                continue  # a duplicate link on the page
            self._newest[url_id] = len(self._from)
            self._from.append(number)
            self._older.append(newest)
            if self._fate[url_id]:
                self._learn_link(number, self._fate[url_id] == _RELEVANT)

    def _learn_link(self, number: int, relevant: bool) -> None:
        """Count a link between two fetched pages."""
        self._fetched[number] += 1
        self._good[number] += relevant
        kind = self._relevant[number]
        self._cases[kind] += 1
        self._hits[kind] += relevant

    def _parents(self, url_id: int) -> Iterator[int]:
        """The pages that link to a URL, the latest first."""
        link = self._newest[url_id] if url_id < len(self._newest) else 0
        for _ in range(PARENTS):
            if not link:
                return
            yield self._from[link]
            link = self._older[link]

    def _words_on(self, url_id: int, url: str, content_type: str) -> set[str]:
        """The words of a stored page."""
        words = self._words_of.get(url_id)
        if words is None:
            body = self.crawl.store.pages.body(url)
            words = set(read_page(Page(url), body, content_type).words) if body else set()
        self._remember(url_id, words)
        return words

    def _remember(self, url_id: int, words: set[str]) -> None:
        self._words_of[url_id] = words
        self._words_of.move_to_end(url_id)
        if len(self._words_of) > REMEMBERED:
            self._words_of.popitem(last=False)

    def _keep_words(self) -> None:
        self._catch_up()
        self._words_known = len(self._relevant) - 1
        counts = {"page": self._words_known, "cases": self._words.cases, "hits": self._words.hits}
        with self.crawl.store.batch():
            self.crawl.store.set_meta("words", counts)

    def closed(self, reason: str) -> None:
        """Store the word counts, so that a resumed crawl need not recompute them."""
        if self.crawl.pages and not self.crawl.fatal:
            self._keep_words()

    def marked(self, verdicts: Mapping[int, bool], new: Sequence[int]) -> str:
        """Count the pages whose verdicts have changed as what they are now."""
        self._catch_up()
        if not new:
            return ""
        store = self.crawl.store
        for judged in filter(None, map(store.verdicts.get, new)):
            page, relevant = store.pages.get(judged.number), bool(judged.now.relevant)
            if page is None or page.number >= len(self._relevant):
                continue
            if bool(self._relevant[page.number]) != relevant:
                self._turn(page, relevant)
            elif page.number <= self._words_known and bool(judged.own.relevant) != relevant:
                # marked between two runs: all but the stored word counts were learned by the new verdict
                self._turn_words(page, 1 if relevant else -1)
        self._weigh_evidence()
        self._keep_words()
        if len(self.crawl.frontier) <= RESCORE_LIMIT:
            self.crawl.frontier.rescore(self._rescore)
        return "evidence counted again, waiting links re-scored"

    def _turn(self, page: StoredPage, relevant: bool) -> None:
        """Move all evidence that a page has counted for to the other verdict."""
        number, step = page.number, 1 if relevant else -1
        self._relevant_pages += step
        for kind, sign in ((not relevant, -1), (relevant, 1)):  # its links are now those of a page of the other kind
            self._cases[kind] += sign * self._fetched[number]
            self._hits[kind] += sign * self._good[number]
        self._relevant[number] = relevant
        self._fate[page.url_id] = _RELEVANT if relevant else _IRRELEVANT
        for linking in self._parents(page.url_id):
            if self._good[linking] + step >= 0:
                self._good[linking] += step
                self._hits[self._relevant[linking]] += step
        self._url_words.turn(url_words(self.crawl.store.urls.url(page.url_id)), step)
        self._turn_words(page, step)

    def _turn_words(self, page: StoredPage, step: int) -> None:
        source = self.crawl.store.links.page_of(page.via)
        parent = self.crawl.store.pages.get(source) if source is not None else None
        if parent is not None and parent.duplicate_of is None:
            self._words.turn(self._words_on(parent.url_id, parent.url, parent.content_type), step)

    # ---- scoring

    def learn(self, page: Page, via: Link) -> None:
        """Learn from the pages before this one."""
        self._catch_up()
        if self._pages - self._words_known >= RHYTHM:
            self._keep_words()
        self._rescore_all()

    def _rescore_all(self) -> None:
        """Rescore all waiting links whenever the number of pages has doubled."""
        digits = self._pages.bit_length()
        if digits > self._scored_at:
            if len(self.crawl.frontier) <= RESCORE_LIMIT:
                self.crawl.frontier.rescore(self._rescore)
            self._scored_at = digits
            self.crawl.store.set_meta("scored_at", digits)

    def score(self, page: Page) -> Sequence[float]:
        self._catch_up()
        words = set(page.words)
        if page.url_id:
            self._remember(page.url_id, words)
        content = self.content * self._content(words)
        judgement = self.judged(page)
        relevant = judgement is not None and judgement.relevant
        find = self.crawl.frontier.find
        ids = [find(link.url) or 0 for link in page.links]
        fates = [self._fate[url_id] if url_id < len(self._fate) else _UNKNOWN for url_id in ids]
        fetched = {url_id for url_id, fate in zip(ids, fates, strict=True) if fate}
        good = sum(self._fate[url_id] == _RELEVANT for url_id in fetched)
        scores = []
        for link, url_id, fate in zip(page.links, ids, fates, strict=True):
            if fate:  # already fetched
                scores.append(0.5)
                continue
            link.why = {"content": content, **self._learned(link.url, url_id, (relevant, len(fetched), good))}
            scores.append(squash(sum(link.why.values())))
        return scores

    def rescore(self, link: Link) -> float:
        self._catch_up()
        content = (link.why or {}).get("content", 0.0)
        return squash(content + sum(self._learned(link.url, self.crawl.frontier.find(link.url) or 0).values()))

    def _content(self, words: set[str]) -> float:
        """Evidence from the linking page's words."""
        best = sorted(self._words.significant(words, self._share), reverse=True)
        return sum(best[:WORDS]) / WORDS

    def _learned(self, url: str, url_id: int, also: tuple[bool, int, int] | None = None) -> dict[str, float]:
        """Evidence from the URL's words, from the pages that link to it, and from their other links.

        *also* describes a linking page that is not stored yet: whether it is relevant, how many of its links were
        fetched, and how many of these are relevant.
        """
        interest = 0.0
        for word in sorted(url_words(url)):  # floating-point sums depend on the order
            known = self._url_interest.get(word)
            if known is None:
                known = self._url_interest[word] = self._url_words.log_interest(word, self._share)
            interest += known
        links, fetched, good = 0.0, 0, 0
        if also is not None:
            links, fetched, good = self._from_page[also[0]], also[1], also[2]
        for number in self._parents(url_id):
            links += self._from_page[self._relevant[number]]
            fetched += self._fetched[number]
            good += self._good[number]
        return {
            "url": self.url * interest,
            "links": self.links * links,
            "siblings": self.siblings * log_ratio(fetched, good, self._share),
        }


def url_words(url: str) -> set[str]:
    """The words of a URL, including its host."""
    text = url.partition("://")[2]
    return set(tokenize(unquote(text) if "%" in text else text))
