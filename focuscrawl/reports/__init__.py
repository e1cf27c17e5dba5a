"""Reports about a crawl."""
