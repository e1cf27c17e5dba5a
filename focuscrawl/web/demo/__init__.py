"""The embedded web: a small world of 12 topics to crawl with no network.

The articles are in `data/web/<topic>.txt`; this package lays them out as sites. Each topic has a handbook (the articles),
a club (notes on them, in the words of an enthusiast) and an archive that is linked from diaries only, so that one has
to pass through pages about other things to find it. Beside them stand a directory, a question-and-answer site, diaries
that mix topics, a mirror, a moved site, and what else the real web has: redirects, dead links, robots.txt rules, a
calendar without end, files that are not pages, and markup of every age. The same source always gives the same web.
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
    """The embedded web, built."""
    subjects = {topic: read_subject(resources.data("web", f"{topic}.txt").read_text("utf-8")) for topic in TOPICS}
    world = World(subjects)
    # the order matters: all sites draw from one source of random numbers
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
