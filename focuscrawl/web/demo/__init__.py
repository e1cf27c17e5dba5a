"""The embedded web: a small world of 12 topics to crawl without a network.

The articles are in `data/web/<topic>.txt`; this package lays them out as sites. Each topic has a handbook (the articles),
a club (an enthusiast's notes on them) and an archive that only diaries link to, so a crawler must pass through
off-topic pages to find it. There are also a directory, a question-and-answer site, diaries that mix topics, a mirror, a
moved site, and other features of the real web: redirects, dead links, robots.txt rules, an endless calendar, files that
are not pages, and markup of every age. The same source always gives the same web.
"""

from __future__ import annotations

from functools import cache

from focuscrawl import resources
from focuscrawl.web.demo import shared_sites, topic_sites
from focuscrawl.web.demo.world import TOPICS, World
from focuscrawl.web.source import read_subject
from focuscrawl.web.webs import MemoryWeb

__all__ = ["TOPICS", "demo_web"]


@cache
def demo_web() -> MemoryWeb:
    """Build the embedded web."""
    subjects = {topic: read_subject(resources.data("web", f"{topic}.txt").read_text("utf-8")) for topic in TOPICS}
    world = World(subjects)
    # the order matters: all sites share one random number generator
    for subject in subjects.values():
        topic_sites.build_handbook(world, subject)
        topic_sites.build_club(world, subject)
        topic_sites.build_archive(world, subject)
    shared_sites.build_answers(world)
    shared_sites.build_diaries(world)
    shared_sites.build_directory(world)
    shared_sites.build_mirror(world)
    shared_sites.build_calendar(world)
    shared_sites.build_office(world)
    return world.web
