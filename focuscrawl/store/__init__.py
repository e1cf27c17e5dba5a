"""The crawl's file: its schema and all queries."""
