"""Web files: webs that can be crawled without a network, or served on loopback."""
