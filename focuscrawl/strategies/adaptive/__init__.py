"""The logic of the strategy `adaptive`, without Scrapy.

`reading` turns a page and its links into numbers, `judge` says how relevant a page is, `evidence` holds all in-links of
the waiting URLs in columns, `rates` counts how links of a kind have paid, `link_model` weighs all that, and `learner`
ties them together.
"""
