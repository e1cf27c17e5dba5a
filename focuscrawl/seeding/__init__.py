"""Finding seeds."""
