"""The crawl's file: its schema, and every query."""
