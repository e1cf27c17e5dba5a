"""Property tests of everything that comes from outside: headers, robots.txt, redirects, sitemaps, crawl and web files.

Any input is read without an exception, in bounded time and memory, and twice the same. `make test` draws the same
examples each time; `make nightly` draws new ones for an hour.
"""
