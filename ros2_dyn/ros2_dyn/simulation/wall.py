# SPDX-License-Identifier: Apache-2.0
"""A flat obstacle that the simulated arm can press against."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.contact import Contact


@dataclass(frozen=True)
class Wall(Contact):
    """A frictionless plane that pushes one point of a link outwards and never pulls.

    The force along the normal is ``stiffness depth (1 + damping depth_rate)`` (Hunt and Crossley 1975). It starts at
    zero, and the loss of energy grows with the speed of the impact.
    """

    kind = "wall"
    link: str
    origin: ArrayLike
    """Any point of the plane in the base frame, m, shape (3,)."""
    normal: ArrayLike
    """Outward normal, towards the free space, in the axes of the base frame, shape (3,). It is normalised."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: float = 5e4
    """Stiffness, N/m."""
    damping: float = 1.0
    """Damping, s/m. A body that arrives at a small speed v leaves at about ``v - 2/3 damping v^2``."""

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: a number is not finite, the normal is zero, or a constant makes no sense.
        """
        for field in ("origin", "normal", "point"):
            object.__setattr__(self, field, self._triple(field))
        length = np.linalg.norm(self.normal)
        if length == 0:
            raise self._invalid("normal", "a direction")
        object.__setattr__(self, "normal", tuple((np.array(self.normal) / length).tolist()))
        if not 0 < self.stiffness < inf:
            raise self._invalid("stiffness", "a positive, finite number of N/m")
        if not 0 <= self.damping < inf:
            raise self._invalid("damping", "a finite number of s/m, not negative")

    def reaches(self, position: Array) -> bool:
        """Return whether the point is inside the wall."""
        return self._depth(position) > 0

    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """Return the force of the wall; zero where the point is outside."""
        normal = np.array(self.normal)
        depth, depth_rate = self._depth(position), float(-normal @ velocity)
        return normal * (self.stiffness * max(0.0, depth) * max(0.0, 1 + self.damping * depth_rate))

    def _depth(self, position: Array) -> float:
        normal, origin = cast("tuple[float, ...]", self.normal), cast("tuple[float, ...]", self.origin)
        return sum(n * (o - x) for n, o, x in zip(normal, origin, position.tolist()))
