"""Scrapy middlewares: robots.txt on the way out, scoring on the way back."""
