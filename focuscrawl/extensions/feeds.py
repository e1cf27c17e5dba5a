"""Stored pages in feeds: a feed of a resumed crawl (`-o`, `-O`, FEEDS) begins with what earlier runs have stored."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import Spider, signals
from scrapy.extensions.feedexport import FeedExporter, FeedSlot, FileFeedStorage, StdoutFeedStorage

from focuscrawl.crawl.crawl import Crawl
from focuscrawl.crawl.verdict import LANGUAGE

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: Parts of a feed's address that differ from run to run: such a feed is of one run.
_OF_ONE_RUN = re.compile(r"%\((?:time|batch_time|batch_id)\)")


class StoredPages:
    """Writes the stored pages of a resumed crawl to each feed that begins anew.

    That is a feed that is overwritten (`-O`, or an object store), standard output, or a file that is missing or empty.
    A file with content gets new pages only: earlier runs have written theirs. So does a feed whose address has the
    time, the number of a batch or the name of Scrapyd's job, and every feed of a recrawl or of another project's
    spider.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.crawl = Crawl.of(crawler)
        crawler.signals.connect(self.opened, signals.spider_opened)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def opened(self, spider: Spider) -> None:
        feeds, crawl = self.crawler.get_extension(FeedExporter), self.crawl
        if feeds is None or not crawl.resumed or crawl.to_visit is not None or crawl.strategy is not spider:
            return
        job = crawl.store.runs()[-1].get("job")
        slots = [slot for slot in feeds.slots if not _is_of_one_run(slot, job)]
        begin = [slot for slot in slots if _begins(slot)]
        for slot in slots:
            if slot not in begin:
                logger.info("%s has content: only new pages are added; -O writes all pages of the crawl", slot.uri)
        if not begin:
            return
        for record in crawl.store.pages.records(withheld=LANGUAGE):
            for slot in begin:
                if slot.filter.accepts(record):
                    slot.start_exporting()
                    assert slot.exporter is not None
                    slot.exporter.export_item(record)
                    slot.itemcount += 1


def _is_of_one_run(slot: FeedSlot, job: object) -> bool:
    """Whether the address of a feed differs from run to run; Scrapyd's has the name of the job."""
    return bool(_OF_ONE_RUN.search(slot.uri_template) or (job and str(job) in slot.uri))


def _begins(slot: FeedSlot) -> bool:
    """Whether a feed has nothing of earlier runs in it."""
    storage = slot.storage
    if isinstance(storage, FileFeedStorage):
        path = Path(storage.path)
        return storage.write_mode == "wb" or not path.exists() or not path.stat().st_size
    return isinstance(storage, StdoutFeedStorage) or slot.feed_options.get("overwrite", True) is not False
