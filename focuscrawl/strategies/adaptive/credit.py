"""What pages have led to: a page that only leads on earns by the relevant pages that were found through it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from focuscrawl.strategies.adaptive.reading import Floats

#: What a page counts for one that led to it by way of another, beside one that links to it.
ONWARD = 0.9
#: Relevant pages found through a page that make it as good as half a relevant page.
HALF = 1.0


def worth_of_leading(p: Floats, fetched: Sequence[tuple[int, Sequence[int]]], usual: float) -> Floats:
    """What each page is worth by the pages found through it, from 0 to 1.

    *p*: the relevance of pages, by number. *fetched*: pages in the order in which they were fetched, each with those
    that were known to link to it by then: they share the credit, as one of them would have been enough. A page counts
    as far as it is more relevant than *usual*, since any page leads to many that are hardly relevant.
    """
    own = np.maximum(0.0, (p - usual) / (1 - usual)).tolist()
    found = [0.0] * len(own)
    for page, parents in reversed(fetched):
        share = (own[page] + ONWARD * found[page]) / max(1, len(parents))
        if share:
            for parent in parents:
                found[parent] += share
    total = np.array(found)
    return np.asarray(total / (total + HALF))
