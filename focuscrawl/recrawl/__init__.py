"""Visiting stored pages again."""
