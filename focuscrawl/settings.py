"""Settings of the project; each comment states Scrapy's default, or what the setting is for.

docs/settings.md describes the FOCUS_ settings in detail.
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

#: Directory of the crawl; None: JOBDIR, or crawls/<spider>-<topic>. Using the same directory again resumes the crawl.
FOCUS_DIR = None
#: Where the crawl is stored, if not in a file in FOCUS_DIR: the address of a PostgreSQL database, which several workers
#: share, such as postgresql://user@server/database.
FOCUS_STORE = None
#: How many hosts a worker of a shared crawl holds at most, and seconds after which others take the hosts of a worker
#: that is not heard of.
FOCUS_LEASES = 64
FOCUS_LEASE = 30.0
#: Where the bytes of pages are kept: store, with the pages; or warc:PATH, in WARC files in a folder that all workers of
#: a shared crawl see.
FOCUS_BODIES = "store"
#: Topic of spiders that are started without one: a file, the name of a shipped topic, or a table as in a file.
FOCUS_TOPIC = None
#: The strategy of `crawl` without a spider's name, and, by the add-on, of the spiders of other projects: a name or an
#: import path; and its options there.
FOCUS_STRATEGY = "adaptive"
FOCUS_STRATEGY_OPTIONS: dict[str, object] = {}
#: A web file that answers all requests, without a network.
FOCUS_WEB = None
#: Mean time in seconds that such a web takes to answer; each URL has its own, from half to one and a half of it.
FOCUS_WEB_LATENCY = 0.0
#: Maximum number of waiting URLs, beyond which the worst are dropped; 0: no limit.
FOCUS_FRONTIER_SIZE = 0
#: Spread N consecutive requests over N hosts, as far as the frontier has that many; 0: only the score decides.
FOCUS_HOSTS_PER_BATCH = 0
#: Maximum number of pages per host; 0: no limit.
FOCUS_PAGES_PER_HOST = 0
#: While a better link waits for its host, hold back links that are worth less than this share of the best ones.
#: 0: never, 1: always (strict order). With max_hours alone, only 1 holds links back.
FOCUS_PATIENCE = 0.35
#: Longest wait for a better link, in seconds.
FOCUS_PATIENCE_MAX = 5.0
#: Score that a waiting URL gains over newer ones with every page fetched; 0: none.
FOCUS_AGEING = 0.0
#: Treat http://… and https://… as the same page.
FOCUS_ANY_SCHEME = True
#: Do not follow links with rel=nofollow.
FOCUS_NOFOLLOW = False
#: Obey noindex (the page does not match) and nofollow in <meta name=robots> and X-Robots-Tag.
FOCUS_ROBOTS_META = True
#: Check whether the network is down after this many consecutive requests without any answer; 0: never.
FOCUS_OUTAGE = 100
#: Minimum similarity of near-duplicates, which are stored without their body and do not count as relevant; 0: off.
FOCUS_DUPLICATES = 0.9
#: Detect traps, and lower the priority of URLs in them.
FOCUS_TRAPS = True
#: Maximum number of pages per path pattern (numbers and the last segment are ignored); 0: no limit.
FOCUS_PAGES_PER_PATTERN = 0
#: Maximum number of pages with the same path and different queries; 0: no limit.
FOCUS_QUERIES_PER_PATH = 0
#: Read a host's sitemaps after its first page on the topic: "no", "robots" (those named in robots.txt) or "all" (also
#: /sitemap.xml).
FOCUS_SITEMAPS = "no"
#: Kinds of documents that are read besides HTML: "all", "off", or some of text, markdown, feed, pdf, word.
FOCUS_DOCUMENTS = "all"
#: Read pages with a browser: "off", "shells" (pages that scripts fill), "always", or a list of hosts.
FOCUS_BROWSER = "off"
#: The browser to start; None: the one that playwright has installed, else Chromium on the PATH.
FOCUS_BROWSER_EXECUTABLE = None
#: Maximum time in seconds that a page may take in the browser.
FOCUS_BROWSER_TIMEOUT = 20.0
#: Maximum number of requests that a page in the browser may make.
FOCUS_BROWSER_REQUESTS = 200
#: Languages whose pages are exported, by their codes: "de,fr"; empty: all. With "de,fr,follow=no", links on pages in
#: other languages, and links whose hreflang names another one, are not followed.
FOCUS_LANGUAGES: list[str] = []
#: Index pages for `scrapy search` as they arrive; otherwise the first search indexes them.
FOCUS_INDEX = False
#: Write all requests and responses to pages.warc.gz as they are sent and received: "yes" or "no".
FOCUS_WARC = "no"
#: Check disk space, memory and clock before the first request.
FOCUS_START_CHECKS = True
#: Live view of the crawl: True, False, or "auto" for terminals only.
FOCUS_PROGRESS = "auto"
#: Minutes between two versions of report.html while the crawl runs; 0: written at the end only.
FOCUS_REPORT_MINUTES = 5.0
#: Port on 127.0.0.1 that serves metrics for Prometheus, at /metrics; 0: none.
FOCUS_METRICS_PORT = 0
#: File to which the same metrics are written every few seconds, for the textfile collector of node_exporter.
FOCUS_METRICS_FILE = None

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
    "focuscrawl.middlewares.browser.BrowserMiddleware": 70,  # sees a page when it is unpacked and not redirected
    "focuscrawl.middlewares.scope.ScopeMiddleware": 80,
    "focuscrawl.middlewares.documents.DocumentsMiddleware": 90,  # sees responses that are unpacked and final
    "focuscrawl.middlewares.robots.RobotsMiddleware": 100,
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "focuscrawl.middlewares.backoff.BackoffMiddleware": 560,
    "focuscrawl.middlewares.redirects.RedirectMiddleware": 600,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "focuscrawl.middlewares.gate.GateMiddleware": 950,  # behind caches, so that their responses do not wait
    "focuscrawl.middlewares.signing.SigningMiddleware": 960,  # a signature is made when the request leaves
    "focuscrawl.middlewares.warc.WarcMiddleware": 970,  # the last one: sees what is sent and received
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
    "focuscrawl.extensions.wishes.Wishes": 0,
    "focuscrawl.extensions.activity.RecordActivity": 0,
    "focuscrawl.extensions.metrics.Metrics": 0,
    "focuscrawl.extensions.feeds.StoredPages": 10,  # after Scrapy's feeds, which must be open
    "scrapy.extensions.logstats.LogStats": None,  # Progress shows more
}
FEED_EXPORT_FIELDS = FIELDS
FEED_EXPORT_ENCODING = "utf-8"

# ---- politeness

#: What may be fetched: domains, domain/path, /path or re:EXPRESSION; empty: everything.
FOCUS_ALLOW: list[str] = []
#: What must not be fetched; overrides FOCUS_ALLOW.
FOCUS_DENY: list[str] = []
#: A file with lines `allow RULE` and `deny RULE`, reloaded when it changes.
FOCUS_SCOPE = None
#: Fraction of full speed by time of day: {"08:00-18:00": 0.25}; 0 pauses the crawl.
FOCUS_PACE: dict[str, float] = {}
#: Fewer requests in flight while this machine's load average per core is above this; 0: off.
FOCUS_LOAD_MAX = 0.0
#: Maximum KB of responses per second, 1 KB being 1,000 bytes; 0: no limit.
FOCUS_BANDWIDTH_MAX = 0.0
#: Purposes that a page may refuse (search, ai-input, ai-train, tdm) and reservations (noai, noimageai, rsl, unlicensed)
#: that keep it out of the exports.
FOCUS_RIGHTS: list[str] = []
#: A private key that signs requests (Web Bot Auth), and the site that publishes its public key; None: not signed.
FOCUS_SIGN_KEY = None
FOCUS_SIGN_AGENT = None
#: Allow connections to private networks and to this machine, even if no seed contains such an address.
FOCUS_PRIVATE_HOSTS = False
#: Maximum Crawl-delay that a robots.txt can demand, in seconds; longer ones are cut to it.
FOCUS_CRAWL_DELAY_MAX = 60.0
#: Maximum back-off for a host that answers 429 or 503, in seconds, even if its Retry-After is longer.
FOCUS_BACKOFF_MAX = 600.0
#: A URL or address where site owners can reach you; part of the User-Agent.
FOCUS_CONTACT = None
USER_AGENT = f"focuscrawl/{__version__}"
ROBOTSTXT_OBEY = True  # default False
CONCURRENT_REQUESTS_PER_DOMAIN = 1  # default 8
DOWNLOAD_DELAY = 1  # default 0; not applied to loopback hosts and web files
DOWNLOAD_DELAY_JITTER = 0  # default 0.5; the frontier hands out a request only when it can be sent
DOWNLOAD_TIMEOUT = 30  # default 180
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024  # default 1 GiB
DOWNLOAD_WARNSIZE = 0  # default 32 MiB
REDIRECT_MAX_TIMES = 10  # default 20
REDIRECT_PRIORITY_ADJUST = 0  # default 2; a redirect keeps the rank of its link
RETRY_PRIORITY_ADJUST = 0  # default -1
RETRY_GIVE_UP_LOG_LEVEL = "INFO"  # default ERROR; dead links are counted and stored
METAREFRESH_ENABLED = False  # default True; a refresh is treated as a link
COOKIES_ENABLED = False  # default True
HTTPERROR_ALLOW_ALL = True  # default False; error pages are stored, with their status

# ---- cost

CONCURRENT_ITEMS = 1  # default 100; a response yields one item, and Scrapy starts this many workers for each
REMOTE_CONTROL_ENABLED = False  # default True; it runs code for anyone with a token
TELNETCONSOLE_ENABLED = False  # default True
WARN_ON_GENERATOR_RETURN_VALUE = False  # default True
if find_spec("uvloop"):
    ASYNCIO_EVENT_LOOP = "focuscrawl.frontier.loop.EventLoop"  # uvloop's, unless another loop is already in use

LOG_LEVEL = "INFO"  # default DEBUG
LOG_VERSIONS: list[str] = []  # default: a line of versions
