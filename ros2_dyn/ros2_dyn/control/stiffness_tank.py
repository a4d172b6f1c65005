# SPDX-License-Identifier: Apache-2.0
"""Stiffness that changes without feeding energy into the arm: an energy tank (Ferraguti, Secchi and Fantuzzi 2013).

A stiffer spring at the same displacement holds more energy. The tank pays for it: with what the damper has taken, with
what softer springs gave back, and with what it holds at first. Where it is empty the stiffness waits, until the arm
moves or comes nearer to where the spring is at rest. Kinetic energy, spring and tank together therefore only grow by
the work of the surroundings and of the moving equilibrium.
"""

from __future__ import annotations

from ros2_dyn.control.cartesian_impedance import Displacement
from ros2_dyn.model.spatial import Array


class StiffnessTank:
    """A stiffness on its way to another one, and the energy that is left for it."""

    def __init__(self, K: Array, capacity: float) -> None:
        """Begin with a stiffness (6, 6), and a full tank of a capacity, J."""
        self.K = K
        """Stiffness in base axes, shape (6, 6)."""
        self.energy = capacity
        """What is left in the tank, J."""
        self.capacity = capacity

    def advance(self, target: Array, at: Displacement, dissipated: float) -> Array:
        """Return the next stiffness (6, 6): the target, or as much of the way as the tank pays for.

        Args:
            target: stiffness that is wanted, shape (6, 6).
            at: displacement of the tip.
            dissipated: energy that the damper has taken since the last call, J; negative if it came late, and gave.
        """
        available = min(self.capacity, max(0.0, self.energy + dissipated))
        cost = at.energy(target - self.K)
        share = 1.0 if cost <= available else available / cost
        self.K = self.K + share * (target - self.K)
        self.energy = min(self.capacity, max(0.0, available - share * cost))
        return self.K
