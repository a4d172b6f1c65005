# SPDX-License-Identifier: Apache-2.0
"""Dynamics of one joint apart from the rigid bodies: friction, a spring, and the inertia of its motor."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

from ros2_dyn.errors import InputError


@dataclass(frozen=True)
class JointDynamics:
    """Friction, spring and motor of one joint, at the output side of the gear.

    Units are those of a revolute joint; read N for N m and m for rad where the joint is prismatic. A URDF gives two of
    these numbers: <dynamics damping="viscous" friction="coulomb"/>.
    """

    viscous: float = 0.0
    """Viscous friction, N m s/rad."""
    coulomb: float = 0.0
    """Coulomb friction, independent of the speed, N m."""
    static: float | None = None
    """Static (breakaway) friction, N m; None for the value of `coulomb`, without a Stribeck effect."""
    stribeck_velocity: float = 0.1
    """Speed at which the excess of static over Coulomb friction has decayed by a factor e, rad/s."""
    transition_velocity: float = 0.01
    """Speed over which dry friction changes its sign, as tanh(qd / transition_velocity), rad/s; zero at rest."""
    stiffness: float = 0.0
    """Stiffness of a spring that pulls the joint to `rest`, N m/rad."""
    rest: float = 0.0
    """Position at which the spring is relaxed, rad."""
    load: float = 0.0
    """Coulomb friction that the gear's load adds, as a share of the effort that gravity needs in the joint."""
    offset: float = 0.0
    """Effort that is always there, of either sign: of friction that differs by direction, for example, N m."""
    presliding: tuple[tuple[float, float], ...] = ()
    """Maxwell-slip elements: springs that slip. Displacement from which on each slips, rad, and its effort then, N m.

    Observers and the simulated arm follow them. Commanded efforts do not include them.
    """
    armature: float = 0.0
    """Rotor inertia times the gear ratio squared, kg m^2. The gyroscopic effect of the rotor is neglected."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: a number is not finite, or negative where it must not be.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None or field.name == "presliding":
                continue
            minimum = -float("inf") if field.name in ("rest", "offset") else 0.0
            if not (isfinite(value) and value >= minimum):
                raise InputError(field.name, f"expected a finite number, not negative, got {value}")
        if not (self.stribeck_velocity > 0 and self.transition_velocity > 0):
            raise InputError("stribeck_velocity, transition_velocity", "expected positive numbers, got 0")
        for distance, effort in self.presliding:
            if not (isfinite(distance) and isfinite(effort) and distance > 0 and effort >= 0):
                raise InputError("presliding", f"expected distances above 0 and efforts, got {self.presliding}")

    @property
    def breakaway(self) -> float:
        """Breakaway friction, N m: `static`, or `coulomb` where that is None."""
        return self.coulomb if self.static is None else self.static
