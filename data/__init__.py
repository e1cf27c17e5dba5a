"""Data that ships with focuscrawl; installed as the package focuscrawl.data."""
