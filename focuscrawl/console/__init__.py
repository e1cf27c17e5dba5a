"""The command `focuscrawl`: the same commands as `scrapy`, from any directory. Nothing here imports Scrapy early."""
