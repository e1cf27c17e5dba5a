"""The frontier: every URL that waits, and which of them is fetched next."""
