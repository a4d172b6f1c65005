# SPDX-License-Identifier: Apache-2.0
"""Mode force: the tip moves down to a wall and presses on it, without a force sensor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.demos.arm_demo import HOME, ArmDemo
from ros2_dyn_tools.demos.demo import Metric

FORCE = 20.0
"""Desired downward force, N."""
DISTANCE = 0.08
"""Distance of the wall at the start, m."""


class ForceDemo(ArmDemo):
    """A force of 20 N on a wall below the tip, as the simulated wall measures it."""

    mode = "force"
    title = "force: 20 N on a wall, without a force sensor"

    def __init__(self, duration: float, pace: float) -> None:
        """See `ArmDemo`; the duration is that for which the tip presses."""
        super().__init__(duration, pace)
        x, y, z = self._tip = self.arm.tip(np.array(HOME))
        wall = {"wall_point": (x, y, z - DISTANCE), "wall_normal": (0.0, 0.0, 1.0), "wall_stiffness": 2e4}
        self.arm_parameters |= wall
        self._done, self._answered = False, 0
        self._out = self.node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        self._wrench = WrenchStamped()
        self._wrench.wrench.force.z = -FORCE

    def answer(self, stamp: Time) -> None:
        """See `ArmDemo`; the wrench is published first, so that the node has it when it goes on."""
        self._answered += 1
        if self._answered % 5 == 0:
            self._wrench.header.stamp = stamp  # at 50 Hz
            self._out.publish(self._wrench)
        super().answer(stamp)

    def play(self) -> None:
        """See `ArmDemo`."""
        self.hand_over("force")
        self.status = "In free space the tip moves down, slowed by force.damping."
        self.runner.wait_until(lambda: bool(self.arm.contacts), "contact")
        self.status = f"It presses with {FORCE:g} N, by the arm's statics: nothing measures the force but the wall."
        self.wait_for(self.arm.contacts[0] + self.duration)
        self._done = True

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`; a rebound is a contact that was lost again."""
        arm, force = self.arm, float(self.arm.force[2])
        touched = arm.contacts[0] if arm.contacts else np.inf
        pressed = np.array([(t - touched, each[2]) for t, each in arm.forces if t >= touched]).reshape(-1, 2)
        times, forces = pressed.T
        height = self._height(arm.state.q) if arm.states else DISTANCE
        speed = -float(arm.tip_velocity(arm.state)[2]) if arm.states else 0.0
        yield Metric(label="above the wall", value=1e3 * height, unit="mm", form=".1f", full=1e3 * DISTANCE)
        yield Metric(label="speed downwards", value=speed, unit="m/s", form=".3f", full=0.15)
        yield Metric(label="force on the wall", value=force, unit="N", full=2 * FORCE)
        yield Metric(key="desired_force", label="force desired", value=FORCE, unit="N", full=2 * FORCE)
        steady = error = None
        if self._done:
            steady = float(np.mean(forces[times >= self.duration - min(1.0, self.duration / 2)]))  # the last second
            error = abs(steady / FORCE - 1)
        before = [state for state in arm.states if state.t < touched] if arm.contacts else []
        if forces.size:
            yield Metric(key="peak_force", label="  its peak", value=float(np.max(forces)), unit="N", full=2 * FORCE)
        yield Metric(key="steady_force", value=steady)
        yield Metric(key="relative_error", value=error, most=0.02)
        yield Metric(key="contact_speed", value=-float(arm.tip_velocity(before[-1])[2]) if before else None)
        yield Metric(key="rebounds", value=int(np.sum((forces[:-1] > 0) & (forces[1:] == 0))))

    def _height(self, q: Array) -> Array:
        """Return the height of the tip above the wall, m, shape (...,), at joint positions of shape (..., 6)."""
        return self.arm.tip(q)[..., 2] - self._tip[2] + DISTANCE
