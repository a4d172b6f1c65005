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
        """Set the losses and delays.

        Args:
            rng: source of the random numbers.
            drop_rate: probability that a message is lost.
            delay: smallest delay of a message, s.
            jitter: largest additional delay, s; the additional delay is uniform.
        """
        self._rng = rng
        self._drop_rate, self._delay, self._jitter = drop_rate, delay, jitter
        self._under_way: list[tuple[float, int, T]] = []
        self._count = count()

    def send(self, now: float, message: T) -> None:
        """Send a message at time `now`, s."""
        lost, extra = self._rng.random(2)
        if lost >= self._drop_rate:
            due = now + self._delay + self._jitter * extra
            heapq.heappush(self._under_way, (due, next(self._count), message))

    def due(self, now: float) -> Iterator[T]:
        """Yield and remove the messages that have arrived by `now`, s, in order of arrival."""
        while self._under_way and self._under_way[0][0] <= now:
            yield heapq.heappop(self._under_way)[2]

    def clear(self) -> None:
        """Drop all messages under way."""
        self._under_way.clear()
