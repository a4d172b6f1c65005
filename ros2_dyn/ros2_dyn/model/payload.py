# SPDX-License-Identifier: Apache-2.0
"""Payload: a rigid body fixed to one of the robot's links."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.errors import InputError
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Payload:
    """A rigid body fixed to a link, given in that link's frame."""

    mass: float
    """Mass, kg."""
    com: ArrayLike = (0.0, 0.0, 0.0)
    """Centre of mass, m, shape (3,)."""
    I_com: ArrayLike | None = None
    """Rotational inertia about the centre of mass, kg m^2, shape (3, 3); None for a point mass."""
    link: str | None = None
    """Link that carries the payload; the model's `default_tip` for None."""

    @property
    def parameters(self) -> Array:
        """Inertial parameters about the link's origin, shape (10,), as in `SpatialInertia.parameters`.

        The kernel input `payload` takes these numbers.

        Raises:
            InputError: see `inertia`.
        """
        return self.inertia.parameters

    @property
    def inertia(self) -> SpatialInertia:
        """Spatial inertia in the link's frame.

        Raises:
            InputError: a shape is wrong, a number is not finite, or no body has them: mass is negative somewhere, or
                farther from the centre than 1 m on average.
        """
        com: Array = np.asarray(self.com, dtype=float)
        I_com: Array = np.zeros((3, 3)) if self.I_com is None else np.asarray(self.I_com, dtype=float)
        if not (np.isfinite(self.mass) and self.mass >= 0):
            raise InputError("payload.mass", f"expected a finite number of kg, not negative, got {self.mass}")
        for name, array, shape in (("com", com, (3,)), ("I_com", I_com, (3, 3))):
            if array.shape != shape or not np.all(np.isfinite(array)):
                raise InputError(f"payload.{name}", f"expected finite numbers of shape {shape}, got {array}")
        total = np.trace(I_com) / 2  # of the second moments of the mass
        least = np.linalg.eigvalsh(total * np.eye(3) - I_com)[0]
        if not (0 <= total <= self.mass and least >= -1e-3 * total):
            raise InputError("payload.I_com", f"no body of {self.mass:g} kg has the inertia {I_com.tolist()} kg m^2")
        return SpatialInertia.from_com(self.mass, com, I_com)
