"""A network that delivers late, out of order, or not at all."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class LossyChannel(Generic[T]):
    """Messages go in at one time and come out at a later one."""

    def __init__(
        self, rng: np.random.Generator, drop_rate: float = 0.0, delay: float = 0.0, jitter: float = 0.0
    ) -> None:
        """Set how bad it is.

        Args:
            rng: source of chance.
            drop_rate: probability that a message is lost.
            delay: how late every message is at least, s.
            jitter: how much later than that it may be, s; the additional delay is uniform.
        """
        self._rng = rng
        self._drop_rate, self._delay, self._jitter = drop_rate, delay, jitter
        self._under_way: list[tuple[float, int, T]] = []
        self._count = count()

    def send(self, now: float, message: T) -> None:
        """Put a message in at a time, s."""
        lost, later = self._rng.random(2)
        if lost >= self._drop_rate:
            due = now + self._delay + self._jitter * later
            heapq.heappush(self._under_way, (due, next(self._count), message))

    def due(self, now: float) -> Iterator[T]:
        """Take out what has arrived at a time, s, in the order of arrival."""
        while self._under_way and self._under_way[0][0] <= now:
            yield heapq.heappop(self._under_way)[2]

    def clear(self) -> None:
        """Lose what is under way."""
        self._under_way.clear()
