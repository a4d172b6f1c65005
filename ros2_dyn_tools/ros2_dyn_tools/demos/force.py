# SPDX-License-Identifier: Apache-2.0
"""Mode force: the tip moves down to a wall and presses on it, without a force sensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rich.console import RenderableType

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.arm_demo import HOME, ArmDemo
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.status_table import Row, status_table

FORCE = 20.0
"""Desired downward force, N."""
DISTANCE = 0.08
"""Distance of the wall at the start, m."""
STIFFNESS = 2e4
"""Stiffness of the wall, N/m."""
STATES_PER_TARGET = 5
"""Number of states per message on `~/desired_wrench`: 50 Hz."""
STEADY_TIME = 1.0
"""The steady force is the mean over this last part of the time, s, or over its second half."""
MAX_ERROR = 0.02
"""Required relative error of the steady force."""


class ForceDemo(ArmDemo):
    """A force of 20 N on a wall below the tip, as the simulated wall measures it."""

    mode = "force"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: time for which the tip presses, s.
            pace: see `ArmDemo`.
        """
        super().__init__(pace)
        self._duration = duration
        self._tip = self.arm.tip(np.array(HOME))
        self._done = False
        self._out = self.node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        self._wrench = WrenchStamped()
        self._wrench.wrench.force.z = -FORCE
        self._answered = 0

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        x, y, z = self._tip
        wall = {"wall_point": (x, y, z - DISTANCE), "wall_normal": (0.0, 0.0, 1.0), "wall_stiffness": STIFFNESS}
        return self.processes(wall, {})

    def answer(self, stamp: Time) -> None:
        """See `ArmDemo`; the wrench is published first, so that the node has it when it goes on."""
        self._answered += 1
        if self._answered % STATES_PER_TARGET == 0:
            self._wrench.header.stamp = stamp
            self._out.publish(self._wrench)
        super().answer(stamp)

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        self.hand_over(runner, "force")
        self.status = "In free space the tip moves down, slowed by force_damping."
        runner.wait_until(lambda: bool(self.arm.contacts), "contact")
        self.status = f"It presses with {FORCE:g} N, by the arm's statics: nothing measures the force but the wall."
        end = self.arm.contacts[0] + self._duration
        runner.wait_until(lambda: self.arm.t >= end, "states", simulated=2 * self._duration)
        self._done = True
        self.status = "Done."

    def _pressed(self) -> tuple[Array, Array]:
        """Return the times since the first contact, s, and the wall's forces, N."""
        if not self.arm.contacts:
            return np.zeros(0), np.zeros(0)
        touched = self.arm.contacts[0]
        pairs = [(t - touched, force[2]) for t, force in self.arm.forces if t >= touched]
        return np.array([t for t, _ in pairs]), np.array([force for _, force in pairs])

    def _contact_speed(self) -> float | None:
        """Return the downward speed of the tip at the last state before the first contact, m/s."""
        before = [state for state in self.arm.states if self.arm.contacts and state.t < self.arm.contacts[0]]
        return -float(self.arm.tip_velocity(before[-1])[2]) if before else None

    def _steady(self) -> float | None:
        """Return the steady force, N; None before the end."""
        if not self._done:
            return None
        times, forces = self._pressed()
        return float(np.mean(forces[times >= self._duration - min(STEADY_TIME, self._duration / 2)]))

    def table(self) -> RenderableType:
        """See `Demo`."""
        arm = self.arm
        height, speed = DISTANCE, 0.0
        if arm.states:
            height = float(arm.tip(arm.state.q)[2] - self._tip[2]) + DISTANCE
            speed = -float(arm.tip_velocity(arm.state)[2])
        _, forces = self._pressed()
        rows = [
            Row("above the wall", f"{1e3 * height:.1f} mm", height / DISTANCE),
            Row("speed downwards", f"{speed:.3f} m/s", speed / 0.15),
            Row("force on the wall", f"{arm.force[2]:.2f} N", arm.force[2] / (2 * FORCE)),
        ]
        if forces.size:
            rows.append(Row("  its peak", f"{max(forces):.2f} N", max(forces) / (2 * FORCE)))
        rows.append(Row("force desired", f"{FORCE:.2f} N", 0.5))
        return status_table("force: 20 N on a wall, without a force sensor", rows, self.status)

    def metrics(self) -> dict[str, object]:
        """See `ArmDemo`; a rebound is a contact that was lost again, and its height how far the tip came away."""
        times, forces = self._pressed()
        steady, peak = self._steady(), float(np.max(forces)) if forces.size else None
        lost = np.flatnonzero((forces[:-1] > 0) & (forces[1:] == 0))
        return {
            "desired_force": FORCE,
            "steady_force": steady,
            "relative_error": None if steady is None else abs(steady / FORCE - 1),
            "contact_speed": self._contact_speed(),
            "peak_force": peak,
            "overshoot_percent": None if peak is None else 100 * (peak / FORCE - 1),
            "rebounds": len(lost),
            "rebound_mm": 1e3 * self._rebound(),
            "settled_after": self._settled(times, forces),
            "states": len(self.arm.states),
        }

    def _rebound(self) -> float:
        """Return how far the tip came away from the wall after the contact, m."""
        after = [state.q for state in self.arm.states if self.arm.contacts and state.t >= self.arm.contacts[0]]
        heights = self.arm.tip(np.array(after))[:, 2] - self._tip[2] + DISTANCE if after else np.zeros(1)
        return max(0.0, float(np.max(heights)))

    def _settled(self, times: Array, forces: Array) -> float | None:
        """Return the time from the contact until the force stayed within 5 %, s."""
        outside = np.flatnonzero(np.abs(forces / FORCE - 1) > 0.05)
        if not self._done or not outside.size or outside[-1] + 1 == len(times):
            return None
        return float(times[outside[-1] + 1])

    def failure(self) -> str | None:
        """See `Demo`."""
        steady = self._steady()
        assert steady is not None  # the demo has ended
        error = abs(steady / FORCE - 1)
        required = f"at most {100 * MAX_ERROR:g} % is required"
        return None if error <= MAX_ERROR else f"the force is wrong by {100 * error:.1f} %, {required}"
