"""The open crawl: its directory, files, lock and runs."""
