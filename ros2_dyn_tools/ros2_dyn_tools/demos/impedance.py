# SPDX-License-Identifier: Apache-2.0
"""Mode impedance: a hand pushes the tip along a soft axis and along a stiff one; it gives way, and returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from rich.console import RenderableType

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.hand import Hand
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.hand_guiding import INERTIA_ERROR
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.status_table import Row, status_table

SOFT, STIFF, TURN = 200.0, 3000.0, 50.0
"""Stiffness along y, along x and z, N/m, and about all axes, N m/rad."""
DISTANCE, LEAD_TIME, HOLD = 0.1, 2.0, 1.5
"""How far the hand goes, m, how long that takes, and how long it stays there, s. The tip follows by less."""
SETTLING_TIME = 3.0
"""Time before the first push, s: the node forgets how late its loop was before the arm waited. A bent spring that was
softened for a late loop becomes stiff again only as far as the energy tank pays."""
STEADY_TIME = 0.3
"""The stiffness is measured over this last part of the hold, s."""
MAX_ERROR = 0.05
"""Required relative error of the stiffness along an axis."""
MAX_DISTANCE = 2e-3
"""Required distance from where the tip was before, after its release, m."""


class Push(NamedTuple):
    """What a push along an axis has shown."""

    force: float
    """Force of the hand at the end, N."""
    way: float
    """How far the tip gave way, m."""
    returned: float
    """Distance from where the tip was before, after its release, m."""

    @property
    def stiffness(self) -> float:
        """Measured stiffness, N/m."""
        return self.force / self.way


class ImpedanceDemo(ArmDemo):
    """The stiffness that a hand feels along two axes, and whether the tip returns."""

    mode = "impedance"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: time for the return after each push, s.
            pace: see `ArmDemo`.
        """
        super().__init__(pace)
        self._duration = duration
        self._start = np.zeros(3)
        self._pushes: dict[str, Push] = {}

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        node = {"impedance.stiffness": (STIFF, SOFT, STIFF, TURN, TURN, TURN)}
        return self.processes({"inertia_error": INERTIA_ERROR}, node)

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        self.hand_over(runner, "impedance")
        settled = self.arm.t + SETTLING_TIME
        runner.wait_until(lambda: self.arm.t >= settled, "states", simulated=2 * SETTLING_TIME)
        self._start = self.arm.tip(self.arm.state.q)
        for name, stiffness, axis in (("soft", SOFT, (0.0, 1.0, 0.0)), ("stiff", STIFF, (1.0, 0.0, 0.0))):
            self.status = f"A hand pushes the tip along the {name} axis, of {stiffness:g} N/m."
            self._pushes[name] = self._push(runner, np.array(axis))
        self.status = "Done."

    def _push(self, runner: DemoRunner, axis: Array) -> Push:
        """Push the tip along an axis, let go of it, and wait for its return."""
        self.lead(runner, "tool0", DISTANCE * axis, LEAD_TIME, HOLD)
        released = self.arm.contacts[-1] + LEAD_TIME + HOLD
        force = np.mean([f @ axis for t, f in self.arm.forces if released - STEADY_TIME < t < released - 0.02])
        held = [s.q for s in self.arm.states if released - STEADY_TIME < s.t < released - 0.02]
        way = np.mean((self.arm.tip(np.array(held)) - self._start) @ axis)
        end = released + self._duration
        runner.wait_until(lambda: self.arm.t >= end, "states", simulated=2 * self._duration)
        return Push(float(force), float(way), self._away())

    def _away(self) -> float:
        """Return the distance of the tip from where it was at first, m."""
        return float(np.linalg.norm(self.arm.tip(self.arm.state.q) - self._start))

    def table(self) -> RenderableType:
        """See `Demo`."""
        away = self._away() if self.arm.states and self._start.any() else 0.0
        force = float(np.linalg.norm(self.arm.force))
        rows = [
            Row("force of the hand", f"{force:.2f} N", force / Hand.max_force),
            Row("the tip gives way by", f"{1e3 * away:.1f} mm", away / DISTANCE),
        ]
        for name, push in self._pushes.items():
            rows.append(Row(f"stiffness, {name} axis", f"{push.stiffness:.0f} N/m", push.stiffness / STIFF))
            rows.append(Row("  after its release", f"{1e3 * push.returned:.2f} mm", push.returned / MAX_DISTANCE))
        return status_table("impedance: the tip on a spring that is soft along one axis", rows, self.status)

    def metrics(self) -> dict[str, object]:
        """See `ArmDemo`."""
        measured: dict[str, object] = {"states": len(self.arm.states)}
        for name, push in self._pushes.items():
            measured |= {
                f"{name}_stiffness": push.stiffness,
                f"{name}_force": push.force,
                f"{name}_way_mm": 1e3 * push.way,
                f"{name}_returned_mm": 1e3 * push.returned,
            }
        return measured

    def failure(self) -> str | None:
        """See `Demo`."""
        for name, wanted in (("soft", SOFT), ("stiff", STIFF)):
            push = self._pushes[name]
            if not abs(push.stiffness / wanted - 1) <= MAX_ERROR:
                return f"the {name} axis has {push.stiffness:.0f} N/m, {wanted:g} N/m within 5 % are required"
            if not push.returned <= MAX_DISTANCE:
                return f"the tip stays {1e3 * push.returned:.1f} mm away, at most {1e3 * MAX_DISTANCE:g} mm are allowed"
        return None
