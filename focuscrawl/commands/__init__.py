"""Commands added to `scrapy`."""
