"""What a frontier does for the other workers of its crawl: nothing, where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from focuscrawl.store.errors import StoreError


class Totals(NamedTuple):
    """The figures of all workers together."""

    pages: int
    relevant: int
    matched: int


class NoWorkers:
    """A frontier that is alone with its crawl. `focuscrawl.frontier.shared` has the other kind."""

    #: Whether what is in memory must be read again before a URL is handed out.
    stale = False
    #: The seconds until a host may be asked again, and its politeness delay.
    rests: Callable[[str], tuple[float, float]] = staticmethod(lambda name: (0.0, 0.0))

    def ready(self) -> bool:
        """Whether URLs can be handed out now; otherwise ask again in a second."""
        return True

    def totals(self) -> Totals | None:
        """The figures of all workers, if they were read since the last call."""
        return None

    def recover_from(self, error: StoreError) -> bool:
        """Whether the crawl goes on after a write has failed; what was not written is fetched again."""
        return False

    def put_back(self, url_id: int) -> None:
        """Forget that a URL is in flight: nothing of it was stored."""

    def may_fetch(self, host_name: str) -> bool:
        """Whether this worker may send requests to a host."""
        return True

    def fence(self, url_id: int) -> None:
        """Refuse to store the page of a URL in flight if its host was lost. Call first in its transaction."""

    def count_page(self, *, relevant: bool, matched: bool) -> None:
        """Count a page. Call inside the transaction that stores it."""

    def leave(self) -> None:
        """Let others have what this worker holds."""
