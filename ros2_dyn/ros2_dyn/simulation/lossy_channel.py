# SPDX-License-Identifier: Apache-2.0
"""A network that delays, reorders and drops messages."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class LossyChannel(Generic[T]):
    """A queue whose messages arrive after a random delay, or never."""

    def __init__(
        self, rng: np.random.Generator, drop_rate: float = 0.0, delay: float = 0.0, jitter: float = 0.0
    ) -> None:
        """Set the losses and delays, which may be changed at any time.

        Args:
            rng: source of the random numbers.
            drop_rate: probability that a message is lost.
            delay: smallest delay of a message, s.
            jitter: largest additional delay, s; the additional delay is uniform.
        """
        self.drop_rate, self.delay, self.jitter = drop_rate, delay, jitter
        self._chances = _uniform(rng)
        self._under_way: list[tuple[float, int, T]] = []
        self._count = count()

    def draw_delay(self) -> float | None:
        """Return the delay of the next message, s; None: it is lost."""
        lost, extra = next(self._chances), next(self._chances)
        return None if lost < self.drop_rate else self.delay + self.jitter * extra

    def send(self, now: float, message: T) -> None:
        """Send a message at time `now`, s."""
        delay = self.draw_delay()
        if delay is not None:
            heapq.heappush(self._under_way, (now + delay, next(self._count), message))

    def due(self, now: float) -> Iterator[T]:
        """Yield and remove the messages that have arrived by `now`, s, in order of arrival."""
        while self._under_way and self._under_way[0][0] <= now:
            yield heapq.heappop(self._under_way)[2]

    def clear(self) -> None:
        """Drop all messages under way."""
        self._under_way.clear()


def _uniform(rng: np.random.Generator) -> Iterator[float]:
    """Yield the numbers that `rng.random()` would give, drawn many at a time."""
    while True:
        yield from rng.random(256).tolist()
