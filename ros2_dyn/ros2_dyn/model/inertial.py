# SPDX-License-Identifier: Apache-2.0
"""Inertia of one link in plain numbers, as people write it: mass, centre of mass, and moments about that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.model.inertia import SpatialInertia

DIGITS = 6
"""Significant digits of numbers that are written for people."""
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""Names of the moments of inertia, in URDF's order."""
ROUNDING = 1e-5
"""Share of the trace of the inertia by which rounding to `DIGITS` may make a body impossible."""


def rounded(x: float) -> float:
    """Return a number with `DIGITS` significant digits; without a sign where it is zero."""
    return float(f"{x:.{DIGITS}g}") + 0.0


class Inertial(NamedTuple):
    """Inertia of a link in its own frame."""

    mass: float = 0.0
    """kg."""
    com: tuple[float, ...] = (0.0,) * 3
    """Centre of mass, m."""
    inertia: tuple[float, ...] = (0.0,) * 6
    """`MOMENTS` about the centre of mass in the axes of the link, kg m^2."""

    @classmethod
    def of(cls, inertia: SpatialInertia) -> Inertial:
        """Return that of a link, rounded to `DIGITS`."""
        numbers = [float(inertia.mass), *inertia.com, *inertia.I_com[np.triu_indices(3)]]
        mass, *rest = (rounded(x) for x in numbers)
        return cls(mass, tuple(rest[:3]), tuple(rest[3:]))

    def spatial(self) -> SpatialInertia:
        """Return it as the algorithms take it."""
        return SpatialInertia.from_com(self.mass, np.array(self.com), self._tensor())

    def problem(self) -> str:
        """Return why no body is like this, or an empty text; a body without mass and inertia is one.

        The density of a body is nowhere negative. So its mass is positive, and its moments of inertia about principal
        axes are such that none exceeds the sum of the others: ``tr(I)/2 E - I`` is positive semidefinite (Wensing, Kim
        and Slotine 2018).
        """
        I = self._tensor()
        if self.mass < 0 or (self.mass == 0 and np.any(I)):
            return f"its mass is {self.mass:g} kg"
        half_trace = np.trace(I) / 2
        least = float(np.linalg.eigvalsh(half_trace * np.eye(3) - I)[0])
        if least < -2 * ROUNDING * abs(half_trace):
            return f"no body has its moments of inertia: one exceeds the sum of the others by {-2 * least:.3g} kg m^2"
        return ""

    def _tensor(self) -> np.ndarray:
        xx, xy, xz, yy, yz, zz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
