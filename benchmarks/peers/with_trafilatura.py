"""trafilatura's focused_crawler: it stays on one site, takes navigation pages first, and has no topics.

It starts from the page that lists the seeds, because it does not leave its start folder. It supports SOCKS proxies
only, so it is given a pool of connections to our HTTP proxy.
"""

from __future__ import annotations

import urllib3
from contract import parse_options
from trafilatura import downloads
from trafilatura.settings import use_config
from trafilatura.spider import focused_crawler


def main() -> None:
    options = parse_options()
    downloads.PROXY_URL, downloads.HTTP_POOL = None, urllib3.ProxyManager(options.proxy)
    config = use_config()
    config.set("DEFAULT", "SLEEP_TIME", "0")
    config.set("DEFAULT", "SSRF_PROTECTION", "off")  # it refuses a proxy on loopback
    # the page that lists the seeds does not count
    focused_crawler(options.start, max_seen_urls=options.pages + 1, config=config)


if __name__ == "__main__":
    main()
