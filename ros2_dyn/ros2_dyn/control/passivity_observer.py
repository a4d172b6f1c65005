# SPDX-License-Identifier: Apache-2.0
"""Energy that a control law feeds into the arm because its commands come late.

A law is a supply that is passive or wanted (gravity, the desired wrench, springs, compensated friction) and dampers.
Without delay its work beyond that of the supply is never positive. What the observer sums is this work: the measured
motion, times what was commanded when it was measured, less the supply at the measured states. Where it grows beyond a
budget, the law drives the arm: as late damping does at a stiff wall, where it meets an oscillation at the wrong phase.

No bound of gains excludes this, because the frequency of a contact is not known. A bound suffices in free space, see
`SampledLoop.rate`; therefore there are both (Hannaford and Ryu 2002).
"""

from __future__ import annotations

from math import exp

import numpy as np

from ros2_dyn.model.spatial import Array

ENERGY_BUDGET = 0.02
"""Energy that late commands may feed into the arm, J: from a tenth of it on damping is reduced; beyond it a mode ends.
"""


class PassivityObserver:
    """Sums what a law feeds into the arm, from its least value on."""

    def __init__(self) -> None:
        self.energy = 0.0
        """Energy that was fed into the arm, J; zero where the law took more than it gave."""
        self._q: Array | None = None
        self._supply: Array | None = None

    def restart(self) -> None:
        """Forget all."""
        self.energy, self._q, self._supply = 0.0, None, None

    def on_state(self, q: Array, applied: Array | None, supply: Array | None, since: float) -> None:
        """Add the work since the state before.

        Args:
            q: joint positions, rad or m, shape (n,).
            applied: what was commanded in between, N m or N, shape (n,); None: nothing was.
            supply: what the law gives that is passive or wanted, N m or N, shape (n,); None: it is not known.
            since: time since the state before, s.
        """
        if applied is not None and self._q is not None and self._supply is not None and supply is not None:
            effort = applied - (self._supply + supply) / 2
            motion = np.minimum(np.maximum(q - self._q, -1.0), 1.0)  # rad or m: more is not believed
            work = float(effort @ motion)
            left = exp(-max(since, 0.0) / 5.0)  # s: friction takes it
            self.energy = max(0.0, self.energy * left + work)
        self._q, self._supply = q, supply

    def gain(self) -> float:
        """Return the factor of the dampers with which the law stays within the budget: from 1 to 0.

        They fade out from a tenth of the budget to a half. What drives the arm beyond that is no damper.
        """
        return min(max((0.5 - self.energy / ENERGY_BUDGET) / 0.4, 0.0), 1.0)
