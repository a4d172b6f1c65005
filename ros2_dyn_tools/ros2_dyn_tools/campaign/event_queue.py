# SPDX-License-Identifier: Apache-2.0
"""Virtual time: events in the order of their times, without a clock."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count

Action = Callable[[], None]


class EventQueue:
    """Runs actions in the order of their times; actions of one time run in the order in which they were added.

    Times are integers, ns, so that periods add up without rounding.
    """

    def __init__(self) -> None:
        self.now_ns = 0
        """Virtual time, ns."""
        self._events: list[tuple[int, int, Action]] = []
        self._count = count()

    @property
    def now(self) -> float:
        """Virtual time, s."""
        return 1e-9 * self.now_ns

    def at(self, time_ns: int, action: Action) -> None:
        """Run an action at a time, ns; at once where that has passed."""
        heappush(self._events, (max(time_ns, self.now_ns), next(self._count), action))

    def after(self, delay: float, action: Action) -> None:
        """Run an action after a delay, s."""
        self.at(self.now_ns + round(1e9 * delay), action)

    def every(self, period: float, action: Action) -> None:
        """Run an action now and once a period, s."""
        period_ns = max(round(1e9 * period), 1)

        def repeat() -> None:
            self.at(self.now_ns + period_ns, repeat)
            action()

        self.at(self.now_ns, repeat)

    def run(self, until: float) -> None:
        """Run all actions up to and including a time, s, and stop there."""
        end = round(1e9 * until)
        while self._events and self._events[0][0] <= end:
            self.now_ns, _, action = heappop(self._events)
            action()
        self.now_ns = max(self.now_ns, end)
