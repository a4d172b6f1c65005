# SPDX-License-Identifier: Apache-2.0
"""The interface of everything that exerts a force on the simulated arm."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf, isfinite
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array


class Contact(ABC):
    """A force on one point of one link, from `start` until `end`."""

    kind: ClassVar[str]
    """Name of the class in messages."""

    link: str
    """The link that the force acts on."""
    point: ArrayLike
    """The point of application in the link's frame, m, shape (3,)."""
    start: float = -inf
    """Time at which the force may begin, s."""

    @property
    def end(self) -> float:
        """Time at which the force ends, s."""
        return inf

    def reaches(self, position: Array) -> bool:
        """Return whether the force may be other than zero with the point at a position in the base frame, m, (3,)."""
        return True

    @abstractmethod
    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """Return the force on the arm at a time between `start` and `end`.

        Args:
            t: time, s.
            position: position of the point in the base frame, m, shape (3,).
            velocity: velocity of the point in the axes of the base frame, m/s, shape (3,).

        Returns:
            The force in the axes of the base frame, N, shape (3,).
        """

    def _triple(self, field: str) -> tuple[float, ...]:
        try:
            triple = tuple(float(x) for x in np.asarray(getattr(self, field), dtype=float))
        except (TypeError, ValueError):
            triple = ()
        if len(triple) != 3 or not all(map(isfinite, triple)):
            raise self._invalid(field, "3 finite numbers")
        return triple

    def _invalid(self, field: str, expected: str) -> InputError:
        where = f"{field} of the {self.kind} on '{self.link}'"
        return InputError(where, f"expected {expected}, got {getattr(self, field)}")
