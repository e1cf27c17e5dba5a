"""trafilatura's focused_crawler: it stays on one site and takes what looks like navigation first; it knows no topic.

It begins at the page that lists the seeds, for it does not leave the folder that it begins in. It knows SOCKS proxies
only, so it is given a pool of connections to ours.
"""

from __future__ import annotations

import urllib3
from contract import told
from trafilatura import downloads
from trafilatura.settings import use_config
from trafilatura.spider import focused_crawler


def main() -> None:
    options = told()
    downloads.PROXY_URL, downloads.HTTP_POOL = None, urllib3.ProxyManager(options.proxy)
    config = use_config()
    config.set("DEFAULT", "SLEEP_TIME", "0")
    config.set("DEFAULT", "SSRF_PROTECTION", "off")  # it refuses a proxy on loopback
    # the page that lists the seeds is not one of the pages
    focused_crawler(options.start, max_seen_urls=options.pages + 1, config=config)


if __name__ == "__main__":
    main()
