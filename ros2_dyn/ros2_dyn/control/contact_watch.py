# SPDX-License-Identifier: Apache-2.0
"""What the tip does under a commanded force: its travel, and whether it has lost what it pressed on."""

from __future__ import annotations

from math import hypot

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.model.spatial import Array


class ContactWatch:
    """Compares the motion of the tip with that of a free tip, which reaches the speed ``F / (damping m)``.

    Without a force sensor a joint that sticks looks like a contact. So does the end of its sticking like a loss, but
    only where the force stays the same.
    """

    def __init__(self) -> None:
        self.travel = 0.0
        """Distance of the tip from where the mode began, m."""
        self.lost = False
        """Whether the tip has lost its contact."""
        self._start: Array | None = None
        self._rests_since: float | None = None
        self._touched: tuple[Array, Array] | None = None

    def observe(
        self, state: ArmState, *, force: Array, target: Array, damping: float, max_speed: float, now: float
    ) -> None:
        """Take a state.

        Args:
            state: state of the arm.
            force: commanded force in base axes, N, shape (3,).
            target: desired force in base axes, N, shape (3,).
            damping: damping of motions of the tip, 1/s.
            max_speed: speed that a free tip does not exceed, m/s.
            now: time, s.
        """
        position, size = state.pose[:3, 3], hypot(*target)
        if self._start is None:
            self._start = position
        self.travel = hypot(*(position - self._start))
        if size < 2.0 or hypot(*(force - target)) > 0.05 * size:  # N; it does not press, or not as it is to yet
            self._rests_since = self._touched = None
            return
        if self._touched is not None and hypot(*(target - self._touched[1])) > 0.05 * size:
            self._rests_since = self._touched = None
        direction = target / size
        along = float(state.tip_velocity[:3] @ direction)
        if along < 0.2 * min(_free_speed(state, target, damping), max_speed):
            self._rests_since = now if self._rests_since is None else self._rests_since
            if self._touched is not None:
                self._touched = position, self._touched[1]
            elif now - self._rests_since >= 0.1:  # s for which the tip has to rest
                self._touched = position, target
            return
        self._rests_since = None
        if self._touched is not None:
            self.lost = float((position - self._touched[0]) @ direction) > 0.02  # m that it goes faster


def _free_speed(state: ArmState, force: Array, damping: float) -> float:
    """Return the speed along a force that a tip without contact and friction reaches, m/s."""
    power = float(force @ state.mobility[:3, :3] @ force)
    return power / (hypot(*force) * max(damping, 1e-3))
