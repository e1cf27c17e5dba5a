"""The frontier: all waiting URLs, and which of them is fetched next."""
