"""Base classes and building blocks of the spiders."""
