"""The dashboard: a crawl, or a folder of crawls, in a web browser. Needs the extra `dashboard`."""
