"""Mode force: the tip goes down to a wall and presses on it, without a force sensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rich.console import RenderableType

from ros2_dyn.demos.arm_demo import HOME, ArmDemo
from ros2_dyn.demos.pictures import Row, picture
from ros2_dyn.demos.stage import Stage
from ros2_dyn.model.spatial import Array

FORCE = 20.0
"""Downwards, N."""
WAY = 0.08
"""To the wall, m."""
STIFFNESS = 2e4
"""Of the wall, N/m."""
DESIRED_RATE = 50.0
"""Of ~/desired_wrench, Hz."""
STEADY = 1.0
"""The last seconds, or half of the time, of which the steady force is the mean."""
MAX_ERROR = 0.02
"""That is required of the steady force, relative."""


class ForceDemo(ArmDemo):
    """A force of 20 N on a wall below the tip, as the simulated wall measures it."""

    mode = "force"

    def __init__(self, duration: float) -> None:
        """Pressing for so many seconds."""
        super().__init__()
        self._duration = duration
        self._tip = self.arm.tip(np.array(HOME))
        self._done = False
        out = self.node.create_publisher(WrenchStamped, "dynamics/desired_wrench", 10)
        self._desired = WrenchStamped()
        self._desired.wrench.force.z = -FORCE
        self.node.create_timer(1 / DESIRED_RATE, lambda: out.publish(self._desired))

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Scenario`."""
        x, y, z = self._tip
        wall = {"wall_point": (x, y, z - WAY), "wall_normal": (0.0, 0.0, 1.0), "wall_stiffness": STIFFNESS}
        return self.processes(wall, {})

    def run(self, stage: Stage) -> None:
        """See `Scenario`."""
        self.hand_over(stage, "force")
        self.now = "In free space the tip goes down, braked by force_damping."
        stage.until(lambda: bool(self.arm.contacts), "contact")
        self.now = f"It presses with {FORCE:g} N, by the arm's statics: nothing measures the force but the wall."
        end = self.arm.contacts[0] + self._duration
        stage.until(lambda: self.arm.state.t >= end, "states", patience=2 * self._duration + 30)
        self._done = True
        self.now = "Done."

    def _pressed(self) -> tuple[Array, Array]:
        """Times since the first contact, s, and the wall's force then, N."""
        if not self.arm.contacts:
            return np.zeros(0), np.zeros(0)
        touched = self.arm.contacts[0]
        pairs = [(t - touched, force[2]) for t, force in self.arm.forces if t >= touched]
        return np.array([t for t, _ in pairs]), np.array([force for _, force in pairs])

    def _contact_speed(self) -> float | None:
        """That of the tip at the last state before the first contact, m/s."""
        before = [state for state in self.arm.states if self.arm.contacts and state.t < self.arm.contacts[0]]
        return -float(self.arm.tip_velocity(before[-1])[2]) if before else None

    def _steady(self) -> float | None:
        times, forces = self._pressed()
        return float(np.mean(forces[times >= self._duration - min(STEADY, self._duration / 2)])) if self._done else None

    def picture(self) -> RenderableType:
        """See `Scenario`."""
        arm = self.arm
        height, speed = WAY, 0.0
        if arm.states:
            height = float(arm.tip(arm.state.q)[2] - self._tip[2]) + WAY
            speed = -float(arm.tip_velocity(arm.state)[2])
        _, forces = self._pressed()
        rows = [
            Row("above the wall", f"{1e3 * height:.1f} mm", height / WAY),
            Row("speed downwards", f"{speed:.3f} m/s", speed / 0.15),
            Row("force on the wall", f"{arm.force[2]:.2f} N", arm.force[2] / (2 * FORCE)),
        ]
        if forces.size:
            rows.append(Row("  its peak", f"{max(forces):.2f} N", max(forces) / (2 * FORCE)))
        rows.append(Row("force desired", f"{FORCE:.2f} N", 0.5))
        return picture("force: 20 N on a wall, without a force sensor", rows, self.now)

    def seen(self) -> dict[str, object]:
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
        """How far the tip came away from the wall after the contact, m."""
        after = [state.q for state in self.arm.states if self.arm.contacts and state.t >= self.arm.contacts[0]]
        heights = self.arm.tip(np.array(after))[:, 2] - self._tip[2] + WAY if after else np.zeros(1)
        return max(0.0, float(np.max(heights)))

    def _settled(self, times: Array, forces: Array) -> float | None:
        """Time from the contact until the force stayed within 5 %, s."""
        outside = np.flatnonzero(np.abs(forces / FORCE - 1) > 0.05)
        if not self._done or not outside.size or outside[-1] + 1 == len(times):
            return None
        return float(times[outside[-1] + 1])

    def problem(self) -> str:
        """See `ArmDemo`."""
        steady = self._steady()
        assert steady is not None  # it is done
        error = abs(steady / FORCE - 1)
        wanted = f"{100 * MAX_ERROR:g} % at most are required"
        return "" if error <= MAX_ERROR else f"the force is wrong by {100 * error:.1f} %, {wanted}"
