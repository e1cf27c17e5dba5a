"""Webs in a file: to be crawled with no network, or served on loopback."""
