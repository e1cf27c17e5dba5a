"""What is offered to the frontier, and how a strategy takes part in its decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

#: The factor for the score of a URL that has reached the top: 1 leaves it there, 0 removes it from the queue.
Damper = Callable[[str], float]
#: How a second sighting changes the score of a queued URL: (old, new) -> score.
Merge = Callable[[float, float], float]


#: A candidate without its names: one is made for every link of every page.
Offer = tuple[int, str, float, int, int | None, str | None]


class Candidate(NamedTuple):
    """A URL offered to the frontier."""

    url_id: int
    url: str
    score: float
    depth: int
    via: int | None = None
    request: str | None = None
