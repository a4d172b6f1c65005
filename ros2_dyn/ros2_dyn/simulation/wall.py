"""A flat obstacle that the simulated arm can press on."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.touch import Touch


@dataclass(frozen=True)
class Wall(Touch):
    """A plane without friction that holds one point of a link back, for ever: it pushes outwards, and never pulls.

    The force is that of Hunt and Crossley (1975): ``stiffness depth (1 + damping depth_rate)`` along the normal. It
    begins at zero, and the wall takes the more energy the faster it is hit.
    """

    link: str
    origin: ArrayLike
    """A point of the plane, m, in the base frame, shape (3,)."""
    normal: ArrayLike
    """Outwards, where the arm is free, in the axes of the base frame, shape (3,); of any length, which becomes 1."""
    point: ArrayLike = (0.0, 0.0, 0.0)
    stiffness: float = 5e4
    """N/m."""
    damping: float = 1.0
    """s/m: for small speeds v, what hits it at v comes back at about ``v - 2/3 damping v^2``."""

    def __post_init__(self) -> None:
        """Check the fields.

        Raises:
            InputError: a number is not finite, the normal is zero, or a constant makes no sense.
        """
        for field in ("origin", "normal", "point"):
            object.__setattr__(self, field, self._triple(field))
        length = np.linalg.norm(self.normal)
        if length == 0:
            raise self._wrong("normal", "a direction")
        object.__setattr__(self, "normal", tuple((np.array(self.normal) / length).tolist()))
        if not 0 < self.stiffness < inf:
            raise self._wrong("stiffness", "a positive, finite number of N/m")
        if not 0 <= self.damping < inf:
            raise self._wrong("damping", "a finite number of s/m, not negative")

    def force_at(self, t: float, position: Array, velocity: Array) -> Array:
        """See `Touch.force_at`."""
        normal = np.array(self.normal)
        depth, depth_rate = float(normal @ (self.origin - position)), float(-normal @ velocity)
        return normal * (self.stiffness * max(0.0, depth) * max(0.0, 1 + self.damping * depth_rate))
