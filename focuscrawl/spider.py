"""FocusedSpider: the base of every strategy.

A strategy is a subclass with a `name` and one method, `score`, which says how promising each link of a page is. It may
also define `judge` (is a page on topic?), `matches` (does it go into URLs.txt?), `before_crawl` (before the first
request), `learn` (feedback: a page has arrived by this link), `stored` (the page is in the file), `merge` (a queued
link was found again), `rescore` (what is a waiting link worth now?) and `refill` (everything above the `floor` has been
fetched).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner, Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings

from focuscrawl import urls
from focuscrawl.crawl import clock, single_page
from focuscrawl.crawl.checks import check_settings, check_values
from focuscrawl.crawl.crawl import Crawl, directory
from focuscrawl.crawl.focus import KEY, Focus
from focuscrawl.crawl.introduction import introduce
from focuscrawl.crawl.judging import check_judging, command, examples_of
from focuscrawl.crawl.responses import content_type, headers, note_signals, soft_404, validators
from focuscrawl.crawl.runs import given_settings, versions
from focuscrawl.errors import FocusError
from focuscrawl.judge import KeywordJudge
from focuscrawl.manners.robots import product_token
from focuscrawl.manners.robots_tags import robots_directives
from focuscrawl.manners.sitemap import read_sitemap
from focuscrawl.options import Option, options_of, set_options
from focuscrawl.page import CONTEXT_WORDS, Judgement, Link, Page
from focuscrawl.reading.documents import read_page
from focuscrawl.reading.shells import mark_shell
from focuscrawl.spiders import with_our_spiders
from focuscrawl.store.examples import Example
from focuscrawl.strategies.rescoring import rescore_links_on, rescore_waiting
from focuscrawl.topic import make_topic
from focuscrawl.web import webs

if TYPE_CHECKING:
    from typing import Self

#: For strategies with a floor: links that score OPEN or more are fetched, those up to HELD are held back.
OPEN, HELD = 0.5, 0.49

#: The judgement of a page that cannot be judged.
NOTHING = Judgement(0.0, False, {})


class FocusedSpider(Spider):
    """Base class of the strategies; see the module docstring."""

    #: Parts of the topic that the strategy requires.
    needs: tuple[str, ...] = ("keywords",)
    #: False for a strategy that guides another spider, which has its own start URLs.
    needs_seeds = True

    max_pages = Option(0, "stop when this many pages are stored, earlier runs included; 0: no limit", at_least=0)
    max_hours = Option(0.0, "stop after this many hours of crawling, earlier runs included; 0: no limit", at_least=0.0)
    stop_below = Option(
        0.0,
        "stop when the next 500 pages are expected to hold a smaller share of relevant pages; 0: never",
        at_least=0.0,
        at_most=1.0,
    )
    threshold = Option(0.3, "relevance from which a page counts as on topic", at_least=0.0, at_most=1.0)

    def __init__(
        self,
        topic: str | Mapping[str, Any] | None = None,
        seeds: str | None = None,
        keywords: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        #: What was given on the command line.
        self.given = {"topic": topic, "seeds": seeds, "keywords": keywords}
        self._options = options
        set_options(self, options, ("topic", "seeds", "keywords"))
        self.topic = make_topic(topic, seeds, keywords)
        self.topic.seeds = self.topic.seeds or list(self.start_urls)
        for part in self.needs:
            if not getattr(self.topic, "all_keywords" if part == "keywords" else part):
                raise FocusError(self._lacks(part))
        self.start_urls = [urls.check(seed) for seed in self.topic.seeds if _wrong(seed) is None]
        #: The topic's example pages, for strategies that need them; read before the first seed is fetched.
        self.examples: list[Page] = []
        self.counterexamples: list[Page] = []
        self.prepare()

    def _lacks(self, part: str) -> str:
        """The error message for a missing part of the topic."""
        return self.topic.lacks(part, in_settings=not self.needs_seeds)

    def _check_seeds(self) -> None:
        """A crawl needs seeds; a command for a single page does not."""
        wrong = [message for seed in self.topic.seeds if (message := _wrong(seed)) is not None]
        if self.needs_seeds and not self.topic.seeds:
            raise FocusError(self._lacks("seeds"))
        if self.needs_seeds and not self.start_urls:
            raise FocusError(f"no valid seed: {'; '.join(wrong)}; give another with -a seeds=http://…")
        for message in wrong:
            self.logger.error("seed skipped: %s", message)

    @classmethod
    def update_settings(cls, settings: BaseSettings) -> None:
        super().update_settings(settings)
        check_values(settings)
        if single_page.started_by_command(cls):
            single_page.configure(settings)
        introduce(settings)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        check_settings(crawler.settings)
        if "FOCUS_FRONTIER_SIZE" not in crawler.settings:
            raise FocusError(
                "focuscrawl's settings are not loaded; add ADDONS = {'focuscrawl.addon.FocusAddon': 500} to"
                " settings.py, or crawl with `focuscrawl crawl` outside this project"
            )
        if crawler.settings.get("FOCUS_WEB"):
            webs.open_web(crawler.settings["FOCUS_WEB"])  # reports a wrong name now, not at the first request
        if single_page.is_looked_at(crawler):
            return cls._for_single_pages(crawler, *args, **kwargs)
        spider = cls._on_topic(crawler, *args, **kwargs)
        spider._check_seeds()
        named = "+" in crawler.settings["USER_AGENT"] or crawler.settings.get("FOCUS_WEB")
        if not named and not all(urls.is_local(seed) for seed in spider.start_urls):
            spider.logger.warning("identify your crawler: -s FOCUS_CONTACT=https://… is added to the User-Agent")
        spider._open_crawl()
        try:
            check_judging(spider)
        except FocusError:
            spider.crawl.close()
            raise
        spider.crawl.note_run(
            began=clock.now(),
            job=spider._options.get("_job"),  # Scrapyd's id of this run and of its log
            **versions(),
            description=spider.topic.description,
            user_agent=crawler.settings["USER_AGENT"],
            seeds=spider.start_urls,
            options={name: getattr(spider, option.name) for name, option in options_of(cls).items()},
            arguments=spider.arguments(),
            examples=examples_of(spider.topic),
            settings=given_settings(crawler.settings),
        )
        return spider

    @classmethod
    def _on_topic(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """The spider, with FOCUS_TOPIC unless it is given a topic."""
        if not args and kwargs.get("topic") is None:
            kwargs["topic"] = crawler.settings.get("FOCUS_TOPIC")
        return super().from_crawler(crawler, *args, **kwargs)

    @classmethod
    def _for_single_pages(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:
        """The spider without seeds, in a temporary crawl, with what the crawl in FOCUS_DIR has learned."""
        throw_away = single_page.ThrowAway(crawler.settings)
        try:
            with throw_away.named():
                spider = cls._on_topic(crawler, *args, **throw_away.arguments(cls, kwargs))
                spider._open_crawl(throw_away)
                spider.prepare_to_judge()
        except FocusError:
            throw_away.remove()
            raise
        return spider

    def _open_crawl(self, throw_away: single_page.ThrowAway | None = None) -> None:
        merge = max if type(self).merge is FocusedSpider.merge else self.merge
        order: dict[str, Any] = {"merge": merge, "batch": self.batch}
        if self.floor > -inf:  # ageing must not lift links over the floor
            order |= {"floor": self.floor, "ageing": 0.0}
        folder = directory(self.crawler.settings, self.name, self.topic)
        offer = command(folder, self) if throw_away is None else ""
        self.crawl = Crawl.open(self.crawler, self.name, self.topic, throw_away, offer, **order)
        self.crawl.strategy = self
        self.crawl.store.links.context_words = self.context_words
        if type(self).rescore is not FocusedSpider.rescore:
            self.crawl.frontier.rescorer = self._rescore

    crawl: Crawl
    #: How many of the best links are taken before newly found ones are considered.
    batch = 1
    #: How many words before and after each link are stored with it.
    context_words = CONTEXT_WORDS
    #: Whether it judges stored pages again, by another topic perhaps, instead of crawling.
    judges_again = False
    #: Whether the scores of links depend on nothing but them and their page: they are then computed again when somebody
    #: marks the page.
    links_follow_page = False
    #: Whether the scores of links are the relevance that their pages can be expected to have.
    calibrated = False
    #: Links that score less are held back until something raises them.
    floor = -inf

    def arguments(self) -> dict[str, str]:
        """Arguments that recreate this spider from any directory."""
        given = {
            name: str(value)
            for name, value in (self.given | self._options).items()
            if value is not None and not isinstance(value, Mapping)  # tables come from the settings
        }
        given = {name: value for name, value in given.items() if not name.startswith("_")}  # Scrapyd's own
        if Path(given.get("topic", "")).is_file():
            given["topic"] = str(Path(given["topic"]).resolve())
        if given.get("seeds", "").startswith("@"):
            given["seeds"] = f"@{Path(given['seeds'][1:]).resolve()}"
        return given

    # ---- what a strategy is made of

    @classmethod
    def options_for(cls, pages: int) -> dict[str, str]:
        """The default options for a crawl of *pages* pages in the lab."""
        return {}

    def prepare(self) -> None:
        """Called once, when topic and options are set and before the crawl is opened."""

    def score(self, page: Page) -> Sequence[float | None]:
        """How promising each link of *page* is, in [0, 1] and in the order of `page.links`; None refuses a link."""
        raise NotImplementedError(f"{type(self).__name__}.score is not defined")

    def judge(self, page: Page) -> Judgement | None:
        """How relevant a page is; None if the topic has nothing to judge by."""
        return self.keywords.coverage(page, self.threshold) if self.topic.all_keywords else None

    def matches(self, page: Page) -> bool:
        """Whether a page belongs in URLs.txt, unless it is withheld."""
        return page.judgement is not None and page.judgement.relevant

    def learn(self, page: Page, via: Link) -> None:
        """Feedback: *page* has arrived by the link *via*, which this strategy scored, and is stored.

        Called once per page, in the order of their numbers (`page.number`). If the crawl is killed between storing a
        page and this call, the call is not repeated: a model records up to which page it has learned, and catches up.
        """

    def stored(self, page: Page) -> None:
        """Called when *page* is stored, after `learn` and before the next link is taken.

        Re-score waiting links here, not earlier: a crawl killed before the page is stored would resume in another
        order.
        """

    def catch_up(self, numbers: Sequence[int]) -> None:
        """Learn from stored pages that this process has not stored: of other workers, every few pages.

        A strategy that learns calls `crawl.catch_up.resume` in `before_crawl`, which calls this with the pages of
        earlier runs. Re-score waiting links as in `learn` and `stored`. *numbers* are in no strict order.
        """

    def finished(self) -> None:
        """Called when the last page of a run is stored, before URLs.txt is closed."""

    def marked(self, verdicts: Mapping[int, bool], new: Sequence[int]) -> str:
        """People have marked pages: learn from it, and re-score what waits. Returns what was done, for the log.

        *verdicts* says of every stored page that has a mark, by its number, whether it is relevant. *new* are the pages
        that were marked, or whose marks were taken back, since the last call. `crawl.read_stored` reads a page again.
        Called at most every 25 pages, and before the first request of every run of a crawl with marks.
        """
        if not self.links_follow_page or not new:
            return ""
        return f"{rescore_links_on(self, new):,} links on them re-scored"

    def merge(self, old: float, new: float) -> float:
        """The score of a waiting link that was found again."""
        return max(old, new)

    def rescore(self, link: Link) -> float:
        """The current score of a waiting link. Defined only by strategies whose model changes."""
        raise NotImplementedError

    def refill(self) -> bool:
        """Called when nothing above the floor is left: raise links, and return whether there are any."""
        return False

    def _rescore(self, entry: Any) -> float:
        link = self.crawl.store.links.get(entry.via)
        return float(self.rescore(link)) if link else float(entry.score)

    # ---- what a strategy may ask

    @cached_property
    def keywords(self) -> KeywordJudge:
        """Compares pages and pieces of text with the topic's keywords."""
        return KeywordJudge(self.topic.keywords, self.topic.keywords_in)

    def judged(self, page: Page) -> Judgement | None:
        """The judgement of a page, made on first use and kept on the page; None for one that is left to scripts."""
        if page.judgement is None and page.shell is None:
            page.judgement = NOTHING if page.problem else self._judge_with_lists(page)
            if page.judgement is not None:
                page.relevance = page.judgement.relevance
                self.crawl.settle(page)
        return page.judgement

    def _judge_with_lists(self, page: Page) -> Judgement | None:
        """The judgement of a page. A directory is as relevant as its links, but on topic only by what else it says."""
        judgement = self.judge(page)
        if judgement is not None and judgement.relevant and (rest := page.without_lists()) is not None:
            again = self.judge(rest)
            judgement = judgement._replace(relevant=again is not None and again.relevant)
        return judgement

    def relevance(self, page: Page) -> float:
        """The relevance of a page in [0, 1]."""
        judgement = self.judged(page)
        return judgement.relevance if judgement else 0.0

    def rescore_waiting(self, worth: Callable[[Sequence[Link]], Sequence[float]]) -> None:
        """Re-score all waiting links, many per call, after the model has changed."""
        rescore_waiting(self.crawl, worth)

    def alike(self, page: Page, score: float, why: dict[str, float]) -> Sequence[float]:
        """Give every link of a page the same score for the same reason."""
        for link in page.links:
            link.why = why
        return [score] * len(page.links)

    # ---- the way of a page

    async def start(self) -> AsyncIterator[Any]:
        """The seeds, after `before_crawl`."""
        if await self.prepared():
            for url in self.start_urls:
                yield Request(url)

    async def prepared(self) -> bool:
        """Run `before_crawl`; if the strategy cannot learn what it needs, the crawl stops."""
        try:
            await self.before_crawl()
            self.crawl.marks.teach()
        except FocusError as error:
            self.crawl.stop(str(error), "cannot_learn")
            return False
        return True

    async def before_crawl(self) -> None:
        """Called before the first request; reads the topic's examples if the strategy needs them and is not trained."""
        if "examples" in self.needs and not self.is_trained():
            self.examples = [page async for page in self._read_examples(self.topic.examples)]
            self.counterexamples = [page async for page in self._read_examples(self.topic.counterexamples)]
            self.train_on_examples()

    def prepare_to_judge(self) -> None:
        """Run `before_crawl` without fetching anything: to judge a single page must not fetch others."""
        preparing = self.before_crawl()
        try:
            preparing.send(None)
        except StopIteration:
            return
        preparing.close()
        raise FocusError(self._lacks_crawl())

    def _lacks_crawl(self) -> str:
        if self.judges_again:
            return (
                f"spider '{self.name}' must fetch pages before it can judge by this topic, and judging fetches none;"
                " give its examples as files, or crawl the topic into another directory"
            )
        return (
            f"spider '{self.name}' must learn from other pages before it can judge a single one; name one of its crawls"
            " with -s FOCUS_DIR=DIR"
        )

    async def crawl_before(self, spider: str, folder: str, **options: Any) -> Path:
        """Have another spider crawl the same topic first, in a folder of this crawl; resumes if it was interrupted."""
        if self.crawl.throw_away is not None:
            raise FocusError(self._lacks_crawl())
        place = self.crawl.folder / folder
        settings = with_our_spiders(self.settings)
        settings.update(
            {"FOCUS_DIR": str(place), "FOCUS_STORE": None, "FOCUS_PROGRESS": False, "FEEDS": {}}, priority="cmdline"
        )
        given = {name: value for name, value in self.given.items() if value}
        self.logger.info("Running spider '%s' first, in %s", spider, place)
        await AsyncCrawlerRunner(settings).crawl(spider, **given, **options)
        return place

    def is_trained(self) -> bool:
        """Whether an earlier run has left the trained model."""
        return False

    def train_on_examples(self) -> None:
        """Called before the crawl, once `examples` and `counterexamples` are read."""

    def known_examples(self, sources: Sequence[Path | str]) -> Iterator[Page]:
        """The example pages among *sources* that are files or were fetched before."""
        for source in sources:
            if isinstance(source, Path):
                try:
                    yield read_page(Page(urls.of_file(source)), source.read_bytes())
                except OSError as error:
                    raise FocusError(f"example {source} cannot be read: {error.strerror}") from None
            elif (example := self.crawl.store.examples.get(source)) is not None:
                yield read_page(Page(source), example.body, example.content_type)

    async def _read_examples(self, sources: Sequence[Path | str]) -> AsyncIterator[Page]:
        store = self.crawl.store
        for source in sources:
            if isinstance(source, Path):
                yield read_page(Page(urls.of_file(source)), source.read_bytes())
                continue
            example = store.examples.get(source)
            if example is None and self.crawl.throw_away is not None:
                raise FocusError(self._lacks_crawl())
            if example is None:
                try:
                    response = await self.crawler.engine.download_async(Request(source))
                except Exception as error:  # the crawl can do without one example
                    self.logger.warning("example %s skipped: %s", source, error or type(error).__name__)
                    continue
                if response.status != 200:
                    self.logger.warning("example %s skipped: HTTP %d", source, response.status)
                    continue
                example = Example(content_type(response), response.body)
                store.examples.add(source, example, clock.now())
            yield read_page(Page(source), example.body, example.content_type)

    @cached_property
    def _agent(self) -> str:
        """The product token by which robots.txt, headers and meta tags address this crawl."""
        return product_token(str(self.settings.get("ROBOTSTXT_USER_AGENT") or self.settings["USER_AGENT"]))

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        """One response, one Page."""
        yield self.read(response)

    def parse_sitemap(self, response: Response, **kwargs: Any) -> Iterator[Any]:
        """One sitemap, one Page with its links; for a sitemap index, requests for the sitemaps it lists.

        These come before the page: if the crawl is killed in between, it fetches the page again and finds them again.
        """
        page = self._page(response)
        listed = [] if page.problem else self.read_sitemap(page, response.body)
        for url in listed:
            focus = Focus(page.score, page.depth, page.url)
            yield Request(url, callback=self.parse_sitemap, meta={KEY: focus})
        yield page

    def read_sitemap(self, page: Page, body: bytes) -> list[str]:
        """Fill a page with the links of a sitemap; returns the sitemaps that it lists if it is an index."""
        return read_sitemap(page, body, self.settings.getint("DOWNLOAD_MAXSIZE"), self.crawl.documents)

    def read(self, response: Response) -> Page:
        """The Page of a response."""
        page = self._page(response)
        if not page.problem:
            read_page(page, response.body, page.content_type, agent=self._agent, documents=self.crawl.documents)
            if not page.problem and soft_404(page):
                page.problem = "soft 404"
            if why := response.meta.get("focus_shell"):  # it stays empty in a browser
                mark_shell(page, why)
            self.crawl.repeated.mark(page)
            if page.shell or response.meta.get("focus_rendered"):  # the server knows the version of the shell only
                page.etag = page.last_modified = None
        for reservation in headers(response, "TDM-Reservation"):
            page.rights.tdm(reservation, next(iter(headers(response, "TDM-Policy")), ""), "header")
        return page

    def _page(self, response: Response) -> Page:
        """The Page of a response before its body is read."""
        focus = Focus.of(response) or Focus()
        page = Page(response.url, response.status, focus.depth, focus.parent, focus.score, fetched_at=clock.now())
        page.url_id = focus.url_id
        page.redirects = list(response.meta.get("redirect_urls", []))
        page.body, page.content_type = response.body, content_type(response)
        page.etag, page.last_modified = validators(response)
        page.declared_language = next(iter(headers(response, "Content-Language")), "").partition(",")[0]
        page.expected_languages = self.topic.languages
        tags = headers(response, "X-Robots-Tag")
        for tag in tags:
            page.robots |= robots_directives(tag, self._agent)
        page.rights.x_robots_tag = ", ".join(tags)
        page.rights.robots_txt = response.meta.get("robots_txt", "ignored")
        note_signals(page, response)
        if response.status >= 300:
            page.problem = f"HTTP {response.status}"
        return page


def _wrong(seed: str) -> str | None:
    """What is wrong with a seed; None if it is valid."""
    try:
        urls.check(seed)
    except ValueError as error:
        return str(error)
    return None
