"""focuscrawl: the variant is a spider's name. The settings are the project's, except for the delay between requests."""

from __future__ import annotations

from contract import parse_options
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings


def main() -> None:
    options = parse_options()
    settings = Settings()
    settings.setmodule("focuscrawl.settings", priority="project")
    ours = {"DOWNLOAD_DELAY": 0, "CONCURRENT_REQUESTS": 1, "FOCUS_DIR": "crawl", "LOG_LEVEL": "ERROR"}
    settings.update(ours, priority="cmdline")
    process = AsyncCrawlerProcess(settings)
    keywords = ",".join(f'"{word}"' for word in options.keywords)
    topic = {"seeds": ",".join(options.seeds), "keywords": keywords, "max_pages": str(options.pages)}
    process.crawl(options.variant, **topic)
    process.start()


if __name__ == "__main__":
    main()
