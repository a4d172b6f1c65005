# SPDX-License-Identifier: Apache-2.0
"""Mode hand_guiding: a hand leads the tip, releases it, and then tries to push a joint into its stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import RenderableType

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.hand import BLEND, Hand
from ros2_dyn_tools.demos.arm_demo import HOME, ArmDemo
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.status_table import Row, status_table

NEAR_A_STOP = (5.9, *HOME[1:])
"""Joint positions at the start, rad; the upper limit of the first joint is 2 pi."""
SPEED = 0.2
"""Speed of the hand, m/s."""
DISTANCE = 0.3
"""Distance by which the hand leads the tip, m."""
LEAD_TIME = DISTANCE / SPEED / (1 - BLEND)
"""Duration of that motion, s."""
UPWARDS = 0.6
"""Upward part of the direction; the rest is sideways, away from the stop."""
HOLD = 1.0
"""Time for which the hand holds the tip at the end, s: until the arm is at rest."""
INERTIA_ERROR = 0.02
"""Largest relative error of the node's inertias."""
PUSH, PUSH_TIME, PUSH_HOLD = 0.5, 4.5, 0.5
"""Second gesture: the hand's displacement, m, its duration and its hold, s."""
PUSHED_LINK = "wrist_1_link"
"""Link of the second gesture: a hand on the tip would turn the wrist away."""
MAX_GUIDING_FORCE = 5.0
"""Required mean force at that speed, N."""
MAX_DRIFT = 1e-3
"""Required drift of the tip after its release, m."""


class HandGuidingDemo(ArmDemo):
    """The force that an operator feels, the drift after the release, and the distance to a joint's stop."""

    mode = "hand_guiding"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: time for which the drift is measured, s.
            pace: see `ArmDemo`.
        """
        super().__init__(pace)
        self._duration = duration
        self._released: float | None = None
        self._watched = False

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        return self.processes({"home": NEAR_A_STOP, "inertia_error": INERTIA_ERROR}, {})

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        self.hand_over(runner, "hand_guiding")
        direction = np.array([0, 0, UPWARDS]) - np.sqrt(1 - UPWARDS**2) * self._sideways()
        self.status = f"A hand leads the tip by {DISTANCE:g} m at {SPEED:g} m/s."
        self.lead(runner, "tool0", DISTANCE * direction, LEAD_TIME, HOLD)
        self._released = self.arm.forces[-1][0]
        self.status = "The hand has released the tip: does the tip stay where it is?"
        end = self._released + self._duration
        runner.wait_until(lambda: self.arm.t >= end, "states", simulated=2 * self._duration)
        self._watched = True
        self.status = f"The hand pushes the first joint towards its stop, with {Hand.max_force:g} N."
        self.lead(runner, PUSHED_LINK, PUSH * self._sideways(), PUSH_TIME, PUSH_HOLD)
        self.status = "Done."

    def _sideways(self) -> Array:
        """Return the direction in which the first joint moves the tip, shape (3,)."""
        x, y, _ = self.arm.tip(self.arm.state.q)
        return np.array([-y, x, 0.0]) / np.hypot(x, y)

    def _guiding_forces(self) -> Array:
        """Return the hand's forces while it moved at constant speed, N."""
        if not self.arm.contacts:
            return np.zeros(0)
        start = self.arm.contacts[0]
        first, last = start + BLEND * LEAD_TIME, start + (1 - BLEND) * LEAD_TIME
        return np.array([np.linalg.norm(force) for t, force in self.arm.forces if first <= t <= last])

    def _drift(self) -> float | None:
        """Return the largest distance of the tip from where it was released, m."""
        start = self._released
        if start is None:
            return None
        after = [state.q for state in self.arm.states if start <= state.t <= start + self._duration]
        tip = self.arm.tip(np.array(after)) if after else np.zeros((1, 3))
        return float(np.max(np.linalg.norm(tip - tip[0], axis=1)))

    def _stop_distance(self) -> float | None:
        """Return the smallest distance of a joint to one of its stops, rad."""
        if not self.arm.states:
            return None
        q = np.array([state.q for state in self.arm.states])
        return float(np.min(np.minimum(q - self.arm.model.lower, self.arm.model.upper - q)))

    def table(self) -> RenderableType:
        """See `Demo`."""
        arm = self.arm
        speed = float(np.linalg.norm(arm.tip_velocity(arm.state))) if arm.states else 0.0
        force = float(np.linalg.norm(arm.force))
        rows = [
            Row("speed of the tip", f"{speed:.3f} m/s", speed / 0.5),
            Row("force of the hand", f"{force:.2f} N", force / Hand.max_force),
        ]
        if (forces := self._guiding_forces()).size:
            mean = float(np.mean(forces))
            rows.append(Row(f"  at {SPEED:g} m/s", f"{mean:.2f} N", mean / Hand.max_force))
        if (drift := self._drift()) is not None:
            rows.append(Row("drift after the release", f"{1e3 * drift:.3f} mm", drift / MAX_DRIFT))
        if arm.states:
            left = float(arm.model.upper[0] - arm.state.q[0])
            rows.append(Row("first joint to its stop", f"{left:.3f} rad", left / 0.4))
        return status_table("hand_guiding: the arm gives way to a hand, and stays where it is left", rows, self.status)

    def metrics(self) -> dict[str, object]:
        """See `ArmDemo`; the distance to a stop is in rad."""
        forces, drift = self._guiding_forces(), self._drift()
        pushed = [np.linalg.norm(force) for t, force in self.arm.forces if self._watched and t > self.arm.contacts[0]]
        return {
            "force_at_0.2_m_s": float(np.mean(forces)) if forces.size else None,
            "max_force_at_0.2_m_s": float(np.max(forces)) if forces.size else None,
            "drift_mm": None if drift is None else 1e3 * drift,
            "watched": self._duration if self._watched else 0.0,
            "force_towards_the_stop": float(np.max(pushed)) if pushed else None,
            "min_distance_to_a_stop": self._stop_distance(),
            "states": len(self.arm.states),
        }

    def failure(self) -> str | None:
        """See `Demo`."""
        force, drift, distance = float(np.mean(self._guiding_forces())), self._drift(), self._stop_distance()
        assert drift is not None  # the demo has ended
        assert distance is not None
        if not force <= MAX_GUIDING_FORCE:
            return f"the hand needs {force:.1f} N at {SPEED:g} m/s, at most {MAX_GUIDING_FORCE:g} N is required"
        if not drift <= MAX_DRIFT:
            return f"the tip drifted by {1e3 * drift:.2f} mm, at most {1e3 * MAX_DRIFT:g} mm is required"
        return None if distance > 0 else "a joint met its stop"
