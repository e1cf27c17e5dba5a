"""Full-text search in a crawl."""
