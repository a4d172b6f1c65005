"""What a joint does by itself, beside moving rigid bodies: friction, a spring, and the inertia of its motor."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite

from ros2_dyn.errors import InputError


@dataclass(frozen=True)
class JointDynamics:
    """Friction, spring and motor of one joint, referred to the joint (behind the gear); N m where it turns, else N.

    A URDF gives two of these numbers: <dynamics damping="viscous" friction="coulomb"/>.
    """

    viscous: float = 0.0
    """Friction that grows with speed, N m s/rad."""
    coulomb: float = 0.0
    """Friction of a fast joint that does not depend on its speed, N m."""
    static: float | None = None
    """Friction that a joint at rest breaks away from, N m; as `coulomb` for None (no Stribeck effect)."""
    stribeck_velocity: float = 0.1
    """Where friction has come down from static to Coulomb by a factor e, rad/s."""
    transition_velocity: float = 0.01
    """Dry friction changes its sign over this range, as tanh(qd / transition_velocity), rad/s: none at rest."""
    stiffness: float = 0.0
    """Of a spring that pulls the joint to `rest`, N m/rad."""
    rest: float = 0.0
    """Where that spring is relaxed, rad."""
    armature: float = 0.0
    """Inertia of the rotor, times the gear ratio squared, kg m^2. Its gyroscopic effect is neglected."""

    def __post_init__(self) -> None:
        """Check the numbers.

        Raises:
            InputError: one is not finite, or one that cannot be negative is.
        """
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            least = -float("inf") if field.name == "rest" else 0.0
            if not (isfinite(value) and value >= least):
                raise InputError(field.name, f"expected a finite number, not negative, got {value}")
        if not (self.stribeck_velocity > 0 and self.transition_velocity > 0):
            raise InputError("stribeck_velocity, transition_velocity", "expected positive numbers, got 0")

    @property
    def breakaway(self) -> float:
        """`static`, or `coulomb` where that is not given."""
        return self.coulomb if self.static is None else self.static
