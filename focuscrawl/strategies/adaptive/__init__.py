"""The logic of the strategy `adaptive`, without Scrapy.

`reading` turns a page and its links into numbers, `judge` says how relevant a page is, `evidence` holds all in-links of
the waiting URLs in columns, `rates` counts how links of a kind have paid and `below` where relevant pages lie,
`learner` ties them together and learns, `telling` puts into words what was learned, and `checkpoint` keeps it.
"""
