"""What everything that touches the simulated arm has in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, isfinite

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array


class Touch(ABC):
    """Something of the surroundings that exerts a force on a point of a link from `start` until `end`."""

    link: str
    """The link that is touched."""
    point: ArrayLike
    """Where, m, in the link's frame, shape (3,)."""
    start: float = -inf
    """s."""

    @property
    def end(self) -> float:
        """When it is over, s."""
        return inf

    @abstractmethod
    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """The force on the arm at a time from `start` until `end`.

        Args:
            t: s.
            position: of the point, m, in the base frame, shape (3,).
            velocity: of the point, m/s, in the axes of the base frame, shape (3,).

        Returns:
            N, in the axes of the base frame, shape (3,).
        """

    def _triple(self, field: str) -> tuple[float, ...]:
        try:
            triple = tuple(float(x) for x in np.asarray(getattr(self, field), dtype=float))
        except (TypeError, ValueError):
            triple = ()
        if len(triple) != 3 or not all(map(isfinite, triple)):
            raise self._wrong(field, "3 finite numbers")
        return triple

    def _wrong(self, field: str, expected: str) -> InputError:
        kind = type(self).__name__.lower()
        return InputError(f"{field} of the {kind} on '{self.link}'", f"expected {expected}, got {getattr(self, field)}")
