"""Models that are learned from pages and links, with no Scrapy in them. scikit-learn does the learning.

It takes more than a second to load, and every command of Scrapy imports every spider: so what learns imports it when it
learns.
"""
