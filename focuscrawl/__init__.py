"""focuscrawl: crawl the pages about a topic instead of the whole web."""

__version__ = "0.1.0"
