"""The experiments of the papers behind the strategies, as far as a web file allows: their figures next to ours.

An experiment names the crawls it needs, lists the claims of its paper, and tabulates what the crawls found. The papers
crawled the live web years ago, so only the pattern of the figures can be compared, not the figures themselves.
"""

from __future__ import annotations

from focuscrawl.lab.experiment import Experiment
from focuscrawl.lab.papers.apprentice import Apprentice
from focuscrawl.lab.papers.keyword import KeywordCrawler
from focuscrawl.lab.papers.link_classifier import LinkClassifier
from focuscrawl.lab.papers.niche_genetic import NicheGenetic
from focuscrawl.lab.papers.treasure import Treasure

EXPERIMENTS: tuple[Experiment, ...] = (KeywordCrawler(), Apprentice(), LinkClassifier(), NicheGenetic(), Treasure())
