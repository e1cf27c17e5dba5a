"""Load: how fast a crawl may go, by the load of its own machine and line. It is given numbers, and reads no clock."""

from __future__ import annotations

from math import inf

#: The crawl speeds up again below this share of the load that slowed it down, so that it does not swing.
EASE = 0.8
#: Seconds of bandwidth that may be saved up while nothing is fetched.
WINDOW = 5.0
#: Bytes of a response, until some have arrived, and the least weight of a new response in their mean.
GUESS, WEIGHT = 30_000.0, 0.1


class Load:
    """The requests that may be in flight, and the time until the next one.

    *load_max* is the load average per core above which the requests in flight are halved, step by step, down to one.
    *bandwidth_max* is the bytes of responses per second. 0 is no limit.
    """

    def __init__(self, load_max: float = 0.0, bandwidth_max: float = 0.0) -> None:
        self.load_max = load_max
        self.bandwidth_max = bandwidth_max
        #: Most requests in flight.
        self.room = inf
        #: The requests that were in flight before the crawl was slowed down.
        self._full = inf
        #: Until when the bytes received so far use up the bandwidth.
        self._paid: float | None = None
        self._mean = GUESS
        self._responses = 0

    # ---- the machine

    def look(self, load: float, in_flight: int) -> bool:
        """Take one step by the machine's current load; returns whether anything has changed."""
        before = self.room
        if load > self.load_max:
            if before == inf:
                self._full = max(1, in_flight)
            self.room = max(1, min(self.room, max(1, in_flight)) // 2)
        elif load < EASE * self.load_max and self.room < inf:
            self.room = self.room * 2 if self.room * 2 < self._full else inf
        return self.room != before

    # ---- the line

    def received(self, count: int, moment: float) -> None:
        """Record bytes that have arrived."""
        self._paid = self._spent(moment) + count / self.bandwidth_max

    def ended(self, count: int) -> None:
        """Record the size of a response that is complete."""
        self._responses += 1
        self._mean += max(WEIGHT, 1 / self._responses) * (count - self._mean)

    def rest(self, moment: float, in_flight: int) -> float:
        """Seconds until the next request may be sent, with as many in flight; 0 if it may be sent now."""
        if not self.bandwidth_max:
            return 0.0
        self._paid = self._spent(moment)
        to_come = in_flight * self._mean / self.bandwidth_max
        return max(0.0, self._paid + to_come - moment)

    def _spent(self, moment: float) -> float:
        return moment if self._paid is None else max(self._paid, moment - WINDOW)
