"""Settings of the project; each says how it departs from Scrapy's default, or what it is for.

docs/settings.md describes the FOCUS_ settings at length.
"""

from __future__ import annotations

from importlib.util import find_spec

from focuscrawl import __version__
from focuscrawl.page import FIELDS

BOT_NAME = "focuscrawl"
SPIDER_MODULES = ["focuscrawl.spiders"]
NEWSPIDER_MODULE = "focuscrawl.spiders"
COMMANDS_MODULE = "focuscrawl.commands"

# ---- the crawl

#: Directory of the crawl; None: JOBDIR, or crawls/<spider>-<topic>. Running again with the same one resumes it.
FOCUS_DIR = None
#: The topic where a spider is given none: a file, the name of one that ships with focuscrawl, or a table as in a file.
FOCUS_TOPIC = None
#: For spiders of other projects: the strategy that scores their links, by name or as an import path, and its options.
FOCUS_STRATEGY = "shark_search"
FOCUS_STRATEGY_OPTIONS: dict[str, object] = {}
#: A web file that answers all requests, with no network.
FOCUS_WEB = None
#: Most URLs that may wait, the worst fall off; 0: no limit.
FOCUS_FRONTIER_SIZE = 0
#: Each run of so many requests goes to that many hosts, as far as there are so many; 0: score alone decides.
FOCUS_HOSTS_PER_BATCH = 0
#: Most pages fetched from one host; 0: no limit.
FOCUS_PAGES_PER_HOST = 0
#: Score that a waiting URL gains on those that come later, per page fetched meanwhile; 0: none.
FOCUS_AGEING = 0.0
#: Whether http://… and https://… are the same page.
FOCUS_ANY_SCHEME = True
#: Whether links marked rel=nofollow are left alone.
FOCUS_NOFOLLOW = False
#: Whether pages are obeyed that ask, by <meta name=robots> or X-Robots-Tag, not to be indexed (they do not match) or
#: that their links not be followed.
FOCUS_ROBOTS_META = True
#: Stop when so many requests in a row got no answer at all: the network is down, not the hosts; 0: never.
FOCUS_OUTAGE = 100
#: Similarity from which a page is taken for a copy of one stored before: it is kept without its body and not counted as
#: relevant; 0: never.
FOCUS_DUPLICATES = 0.9
#: Whether traps are noticed, and URLs in them put back.
FOCUS_TRAPS = True
#: Most pages fetched of one path pattern (numbers and the last name of a path do not matter); 0: no limit.
FOCUS_PAGES_PER_PATTERN = 0
#: Most pages fetched of one path with different queries; 0: no limit.
FOCUS_QUERIES_PER_PATH = 0
#: Whether a host's sitemaps are read once it has given a page on the topic: "no", "robots" (those that robots.txt
#: names) or "all" (/sitemap.xml too).
FOCUS_SITEMAPS = "no"
#: Whether pages can be searched (`scrapy search`) as they arrive; otherwise they are indexed at the first search.
FOCUS_INDEX = False
#: Live progress on the terminal: "auto" (if there is one), True or False.
FOCUS_PROGRESS = "auto"

# ---- components

SCHEDULER = "focuscrawl.frontier.scheduler.FrontierScheduler"
SPIDER_MIDDLEWARES = {
    "focuscrawl.middlewares.sitemaps.SitemapMiddleware": 450,
    "focuscrawl.middlewares.scoring.ScoringMiddleware": 500,
    # the frontier knows depth and parent, the scoring middleware the limits
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
}
DOWNLOADER_MIDDLEWARES = {
    "focuscrawl.middlewares.scope.ScopeMiddleware": 80,
    "focuscrawl.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "focuscrawl.middlewares.backoff.BackoffMiddleware": 560,
    "focuscrawl.middlewares.redirects.RedirectMiddleware": 600,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "focuscrawl.middlewares.gate.GateMiddleware": 950,  # the last one: what a cache answers does not wait
}
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "focuscrawl.web.download.DownloadHandler")
ITEM_PIPELINES = {
    "focuscrawl.pipelines.classify.ClassifyPipeline": 100,
    "focuscrawl.pipelines.rights.RightsPipeline": 150,
    "focuscrawl.pipelines.store.StorePipeline": 200,
    "focuscrawl.pipelines.matched.MatchedUrlsPipeline": 300,
    "focuscrawl.pipelines.pages.PagesFilePipeline": 400,
    "focuscrawl.pipelines.rights.LeaveOutPipeline": 900,
}
EXTENSIONS = {
    "focuscrawl.extensions.progress.Progress": 0,
    "focuscrawl.extensions.report.Report": 0,
    "scrapy.extensions.logstats.LogStats": None,  # Progress says more
}
FEED_EXPORT_FIELDS = FIELDS
FEED_EXPORT_ENCODING = "utf-8"

# ---- manners

#: What may be asked for: domains, domain/path, /path or re:EXPRESSION; empty: everything.
FOCUS_ALLOW: list[str] = []
#: What may not, whatever FOCUS_ALLOW says.
FOCUS_DENY: list[str] = []
#: A file with lines `allow RULE` and `deny RULE`, read again when it changes.
FOCUS_SCOPE = None
#: Shares of the full speed by time of day: {"08:00-18:00": 0.25}; 0 is a rest.
FOCUS_PACE: dict[str, float] = {}
#: Reservations that keep a page out of the exports: noai, noimageai, tdm, unlicensed.
FOCUS_RIGHTS: list[str] = []
#: Whether the crawl may connect to private networks and to this machine, even if no seed names them outright.
FOCUS_PRIVATE_HOSTS = False
#: Longest Crawl-delay of a robots.txt that is kept to, in seconds; a longer one is cut to it.
FOCUS_CRAWL_DELAY_MAX = 60.0
#: Longest rest given to a host that answers 429 or 503, in seconds, whatever its Retry-After says.
FOCUS_BACKOFF_MAX = 600.0
#: A URL or address where the owner of a site can reach you; part of the User-Agent.
FOCUS_CONTACT = None
USER_AGENT = f"focuscrawl/{__version__}"
ROBOTSTXT_OBEY = True  # default False
CONCURRENT_REQUESTS_PER_DOMAIN = 1  # default 8
DOWNLOAD_DELAY = 1  # default 0; hosts on loopback and webs in a file are not spared
DOWNLOAD_DELAY_JITTER = 0  # default 0.5; the frontier hands a request over when it can be sent, not before
DOWNLOAD_TIMEOUT = 30  # default 180
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024  # default 1 GiB
DOWNLOAD_WARNSIZE = 0  # default 32 MiB
REDIRECT_MAX_TIMES = 10  # default 20
REDIRECT_PRIORITY_ADJUST = 0  # default 2; a redirect keeps the rank of its link
RETRY_PRIORITY_ADJUST = 0  # default -1
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # default ERROR; dead links are counted and stored, not shouted about
METAREFRESH_ENABLED = False  # default True; a refresh is a link like others
COOKIES_ENABLED = False  # default True
HTTPERROR_ALLOW_ALL = True  # default False; failures are pages too, with their status

# ---- cost

CONCURRENT_ITEMS = 2  # default 100; a response makes one item, and Scrapy starts as many workers for each
REMOTE_CONTROL_ENABLED = False  # default True; it runs code for whoever holds a token
TELNETCONSOLE_ENABLED = False  # default True
WARN_ON_GENERATOR_RETURN_VALUE = False  # default True
if find_spec("uvloop"):
    ASYNCIO_EVENT_LOOP = "focuscrawl.frontier.loop.EventLoop"  # uvloop's, unless a loop is in use already

LOG_LEVEL = "INFO"  # default DEBUG
LOG_VERSIONS: list[str] = []  # default: a line of versions
