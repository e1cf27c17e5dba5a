"""How a crawler behaves: robots.txt, scope, pace, rights, sitemaps, crawler traps."""
