"""The keyword crawler.

Paper: D. H. Hameed, S. H. Hashem, "Web Pages Retrieval by Using Proposed Focused Crawler", algorithms 3 to 6.

A page matches if the weighted share of the keywords in its title and visible text, compared by stem, reaches `match`.
Its URL then goes into URLs.txt. As in the paper, links of unmatched pages are followed too, unless `follow=matched`.

The paper's lists, and where they are here:
- ToCrawl: the frontier (`focuscrawl.frontier`), table `frontier` in crawl.sqlite.
- Crawled: the URLs that are done, `url.done` in crawl.sqlite; their pages are in table `page` and in pages.jsonl. A URL
  that robots.txt disallows is done too; the paper leaves it out of Crawled and would check it again.
- Matched: `page.matched`, and URLs.txt, to which a URL is added when its page is stored, not at the end.
- LinksOfURL: `Page.links`, table `link`. Besides `<a href>`, the paper's only kind of link, these are `<area href>`,
  the `src` of frames and iframes, links inside `<noframes>`, and the target of a `<meta http-equiv=refresh>`
  (`focuscrawl.reading.html`). Here too, links to URLs in Crawled are not followed again.

Departures: the paper defines neither when a page is related to the keywords nor the order of ToCrawl; here links of
pages with a larger share come first. The paper's loop runs while ToCrawl is not empty *or* MaxURL is not reached; here
it ends at whichever comes first, which must be what is meant.
"""

from __future__ import annotations

from collections.abc import Sequence

from focuscrawl.options import Option
from focuscrawl.page import Judgement, Page
from focuscrawl.spider import FocusedSpider


def share(text: str) -> float:
    """The share of keywords that `match` requires."""
    if text in ("any", "all"):
        return 1.0 if text == "all" else 1e-6
    value = float(text)
    if not 0 < value <= 1:
        raise ValueError
    return value


class KeywordSpider(FocusedSpider):
    name = "keyword"
    links_follow_page = True

    match = Option(
        0.5,
        "minimum share of the keywords, by weight, on a matched page",
        expects="any, all or a share above 0 and up to 1",
        read=share,
    )
    follow = Option("all", "pages whose links are followed", choices=("all", "matched"))

    def judge(self, page: Page) -> Judgement:
        return self.keywords.share(page, self.match)

    def score(self, page: Page) -> Sequence[float | None]:
        if self.follow == "matched" and not self.matches(page):
            return [None] * len(page.links)
        relevance = self.relevance(page)
        return self.alike(page, relevance, {"share of keywords on its page": relevance})
