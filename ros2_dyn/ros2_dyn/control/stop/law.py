# SPDX-License-Identifier: Apache-2.0
"""What brakes an arm and then holds it: springs to where damping brings it to rest, and the sum of their efforts."""

from __future__ import annotations

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array

MAX_TRAVEL = 0.3
"""Distance that a stopped joint may go from where it rested, rad or m. Springs reach half as far."""
MAX_STRETCH = MAX_TRAVEL / 2


def position_hold(state: ArmState, anchor: Array, damping: float) -> Array:
    """Return the efforts of springs that hold the joints at positions, N m or N, shape (n,).

    With a damping by momentum of the given rate, motions are damped with a ratio of 0.75. A joint that is farther away
    than `MAX_STRETCH` is drawn no harder: a longer spring would throw it back.

    Args:
        state: state of the arm.
        anchor: the positions, rad or m, shape (n,).
        damping: rate of the damping, 1/s.
    """
    return -((damping / 1.5) ** 2) * (state.M @ np.clip(state.q - anchor, -MAX_STRETCH, MAX_STRETCH))


class Hold:
    """Springs that hold the joints, and an effort that makes up for the error of the model.

    Damping d, springs ``(d / 1.5)^2`` and the sum of the springs' efforts at ``d / 6`` have the poles
    ``s^3 + d s^2 + (d / 1.5)^2 s + (2 / 27) d^3 = 0``, all at ``-d / 3`` or with that real part: a constant error of
    the model decays like that, and the delay that the damping bears is borne by all of them.
    """

    def __init__(self) -> None:
        self.anchor: Array | None = None
        """Where springs hold the joints, rad or m, shape (n,); None: where damping will bring them to rest."""
        self.correction: Array | None = None
        """What carries the arm beyond the model's gravity, N m or N, shape (n,); None: nothing."""
        self._spring: Array | None = None

    def let_go(self, joints: Array, q: Array) -> None:
        """Let the springs of some joints, shape (n,), bool, begin anew at positions, rad or m, shape (n,)."""
        if self.anchor is not None:
            self.anchor = np.where(joints, q, self.anchor)

    def spring(self, arm: ArmState, rate: float, slew_rate: Array) -> Array:
        """Return the efforts of the springs at a state, N m or N, shape (n,); a joint drags its spring along.

        Args:
            arm: state of the arm.
            rate: of the damping, 1/s.
            slew_rate: largest rate of the efforts, N m/s or N/s, shape (n,): a spring is as strong as can be built up
                while it turns an arm around. A stronger one would act late, and make the arm swing.
        """
        if rate <= 0:  # nothing is known of the delay
            return np.zeros_like(arm.q)
        anchor = arm.q + arm.qd / rate if self.anchor is None else self.anchor
        self.anchor = np.clip(anchor, arm.q - MAX_STRETCH, arm.q + MAX_STRETCH)
        most = slew_rate * 1.5 / rate
        self._spring = np.clip(position_hold(arm, self.anchor, rate), -most, most)
        return self._spring

    def forget(self, rested: bool) -> None:
        """Hold the joints where they are when they are seen next, with what has held them until now if they rested."""
        if rested and self._spring is not None:
            self.correction = self.carrying(self._spring)
        self.anchor = self._spring = None

    def learn(self, spring: Array, rate: float, dt: float) -> None:
        """Add the springs' efforts of a time, s, to what carries the arm; damped with a rate, 1/s."""
        self.correction = self.carrying(np.zeros_like(spring)) + spring * rate / 6 * dt

    def carrying(self, gravity: Array) -> Array:
        """Return what carries the arm where the model says `gravity`; each N m or N, shape (n,)."""
        return gravity if self.correction is None else gravity + self.correction
