"""Judging again: all stored pages by other keywords, another threshold or other examples, without fetching anything.

The judge of a strategy is made in a copy of the crawl, where it may learn. The crawl itself changes in one transaction:
verdicts, topic and the arguments that later runs go on with; then its models and URLs.txt follow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scrapy.settings import BaseSettings

from focuscrawl.console.program import program
from focuscrawl.crawl import clock
from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.files import write_whole
from focuscrawl.crawl.marking import marks_of_pages, write_matched
from focuscrawl.crawl.runs import option
from focuscrawl.crawl.single_page import ThrowAway
from focuscrawl.crawl.verdict import NO, YES, Verdict, by_the_judge, overrule, own_verdict
from focuscrawl.errors import FocusError
from focuscrawl.options import options_of
from focuscrawl.store.marks import APPLIED
from focuscrawl.store.store import Store
from focuscrawl.store.verdicts import Judged
from focuscrawl.topic import Topic

if TYPE_CHECKING:
    from focuscrawl.spider import FocusedSpider

#: Pages whose relevance is this close to the threshold are borderline.
BORDER = 0.05
#: Options that decide about verdicts; a crawl has one value of each.
DECIDING = ("threshold", "dewey")
#: Arguments that say nothing about verdicts.
_OF_THE_CRAWL = ("seeds", "max_pages", "max_hours")


class Change(NamedTuple):
    """A page that was judged again: the judge's own verdict before and now."""

    page: Judged
    now: Verdict
    why: Mapping[str, float]
    #: The verdict in the end, with a person's mark.
    verdict: Verdict
    marked: bool

    @property
    def won(self) -> bool:
        """Whether the page counts as relevant now and did not before."""
        return bool(self.verdict.relevant) and not self.page.now.relevant

    @property
    def lost(self) -> bool:
        """Whether the page counted as relevant before and does not now."""
        return bool(self.page.now.relevant) and not self.verdict.relevant


def examples_of(topic: Topic) -> str:
    """A hash of the examples and counterexamples of a topic; empty if it has none."""
    facts: list[object] = []
    for sources in (topic.examples, topic.counterexamples):
        for source in sources:
            try:
                facts.append(sha256(source.read_bytes()).hexdigest() if isinstance(source, Path) else source)
            except OSError:
                facts.append(str(source))
        facts.append(None)
    return sha256(json.dumps(facts).encode()).hexdigest() if any(facts) else ""


def judge_pages(
    folder: Path,
    strategy: type[FocusedSpider],
    arguments: Mapping[str, Any],
    documents: frozenset[str],
    progress: Callable[[int, int], None] = lambda done, pages: None,
) -> tuple[FocusedSpider, list[Change], dict[str, bytes]]:
    """Judge the readable pages of a crawl by a strategy with these arguments, in a copy.

    Returns the spider, what it says of each page, and the models that it trained for this, by file name.
    """
    spider = strategy(**arguments)
    spider.judges_again = True
    throw_away = ThrowAway(BaseSettings({"FOCUS_DIR": str(folder)}))
    try:
        with throw_away.named():
            crawl = _open_copy(throw_away, spider)
            try:
                crawl.documents = documents
                before = _models(throw_away.folder)
                spider.prepare_to_judge()
                crawl.marks.teach()
                changes = list(_changes(spider, progress))
                models = {
                    name: model for name, model in _models(throw_away.folder).items() if before.get(name) != model
                }
            finally:
                crawl.close()
    finally:
        throw_away.remove()
    return spider, changes, models


def _open_copy(throw_away: ThrowAway, spider: FocusedSpider) -> Crawl:
    store = Store(throw_away.folder / "crawl.sqlite", check=False)
    try:
        with store.transaction():
            _set_topic(store, spider.topic)
        any_scheme = bool(store.meta("any_scheme"))
    finally:
        store.close()
    crawl = Crawl(throw_away.folder, spider.name, spider.topic, any_scheme=any_scheme)
    crawl.throw_away = throw_away
    crawl.strategy, spider.crawl = spider, crawl
    return crawl


def _models(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.json"))}


def _changes(spider: FocusedSpider, progress: Callable[[int, int], None]) -> Iterator[Change]:
    crawl = spider.crawl
    pages = crawl.store.pages.count()
    for done, judged in enumerate(list(crawl.store.verdicts.each()), 1):
        progress(done, pages)
        page = crawl.read_stored(judged.number) if judged.problem is None else None
        if page is None:
            continue
        spider.judged(page)
        page.wanted = by_the_judge(page, lambda page=page: spider.matches(page))  # type: ignore[misc]
        now, mark = own_verdict(page), crawl.marks.of(page)
        verdict = overrule(now, mark, readable=True, counts=judged.counts, findable=judged.findable)
        judgement = page.own_judgement if page.overruled else page.judgement
        yield Change(judged, now, judgement.why if judgement else {}, verdict, mark in (YES, NO))


# ---- writing


def write_verdicts(
    folder: Path, store: Store, spider: FocusedSpider, changes: Sequence[Change], models: Mapping[str, bytes]
) -> None:
    """Write verdicts that were made by `judge_pages`. The caller holds the lock of the directory since before that."""
    marks = marks_of_pages(store)  # somebody may have marked pages meanwhile
    with store.transaction():
        for change in changes:
            page = change.page
            mark = marks[page.number].verdict if page.number in marks else None
            verdict = overrule(change.now, mark, readable=True, counts=page.counts, findable=page.findable)
            store.verdicts.set(page, verdict, change.now if mark in (YES, NO) else None)
            if change.now.relevance != page.own.relevance:
                store.verdicts.set_why(page.number, change.why)
        _set_topic(store, spider.topic)
        store.set_meta(APPLIED, store.marks.last_number())
        _note(store, spider, changes)
    if not store.shared:  # a worker trains its models again
        for name, model in models.items():
            write_whole(folder / name, model)
        write_matched(folder, store)


def _set_topic(store: Store, topic: Topic) -> None:
    store.set_meta("topic", topic.name)
    store.set_meta("keywords", {**topic.keywords, **topic.keywords_in})


def _note(store: Store, spider: FocusedSpider, changes: Sequence[Change]) -> None:
    """Record by what the pages are judged now: the next run goes on with it."""
    runs = store.runs()
    kept = {name: value for name, value in runs[-1].get("arguments", {}).items() if name in _OF_THE_CRAWL}
    runs[-1] = {
        **runs[-1],
        "arguments": {**kept, **spider.arguments()},
        "options": {**runs[-1].get("options", {}), **deciding(spider)},
        "examples": examples_of(spider.topic),
    }
    store.set_meta("runs", runs)
    won, lost = sum(change.won for change in changes), sum(change.lost for change in changes)
    judged = {"at": clock.now(), "arguments": spider.arguments(), "won": won, "lost": lost}
    store.set_meta("judged", [*(store.meta("judged") or []), judged])


# ---- resuming


def deciding(spider: FocusedSpider) -> dict[str, Any]:
    """The options of a spider that decide about verdicts, with their values."""
    known = options_of(type(spider))
    return {name: getattr(spider, known[name].name) for name in DECIDING if name in known}


def command(folder: Path, spider: FocusedSpider) -> str:
    """The command that judges the pages of a crawl as a spider would."""
    given = {name: value for name, value in spider.arguments().items() if name in ("topic", "keywords", *DECIDING)}
    return " ".join([f"{program()} judge", str(folder), *(option("-a", name, value) for name, value in given.items())])


def check_judging(spider: FocusedSpider) -> None:
    """Refuse to resume a crawl by which other pages would match than before; say what would change, and the way out."""
    crawl = spider.crawl
    run = crawl.store.runs()[-1]
    options = run.get("options")
    if not crawl.resumed or not isinstance(options, dict):
        return
    for name, value in deciding(spider).items():
        if name in options and options[name] != value:
            told = f"{crawl.folder} was judged by {name}={options[name]}, not {value}"
            if name == "threshold":
                told += _effect(crawl.store, value)
            raise FocusError(
                f"{told}; `{_command_with(crawl.folder, spider, name, value)}` judges its pages anew without fetching"
                f" any, then run this again; or go on as before with {option('-a', name, options[name])}"
            )
    if run.get("examples", examples_of(spider.topic)) != examples_of(spider.topic):
        spider.logger.warning(
            "the examples of the topic have changed since this crawl began; a judge that is trained already stays as it"
            f" was: `{program()} judge %s` trains it again and judges all stored pages by it",
            crawl.folder,
        )


def _command_with(folder: Path, spider: FocusedSpider, name: str, value: object) -> str:
    text = command(folder, spider)
    return text if f"{name}=" in text else f"{text} {option('-a', name, value)}"


def _effect(store: Store, threshold: float) -> str:
    won = lost = 0
    for page in store.verdicts.each():
        relevance = page.own.relevance
        if page.problem is None and page.counts and relevance is not None:
            won += relevance >= threshold and not page.own.relevant
            lost += relevance < threshold and bool(page.own.relevant)
    return f": about {lost:,} stored pages would no longer be relevant, and {won:,} others would"
