# SPDX-License-Identifier: Apache-2.0
"""Mode impedance: a hand pushes the tip along a soft axis and along a stiff one; it gives way, and returns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.hand import Hand
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.demo import Metric
from ros2_dyn_tools.demos.hand_guiding_demo import INERTIA_ERROR

SOFT, STIFF, TURN = 200.0, 3000.0, 50.0
"""Stiffness along y, along x and z, N/m, and about all axes, N m/rad."""
DISTANCE, LEAD_TIME, HOLD = 0.1, 2.0, 1.5
"""How far the hand goes, m, how long that takes, and how long it stays there, s. The tip follows by less."""


class Push(NamedTuple):
    """What a push along an axis has shown."""

    wanted: float
    """Stiffness that the spring is to have, N/m."""
    force: float
    """Force of the hand at the end, N."""
    way: float
    """How far the tip gave way, m."""
    returned: float
    """Distance from where the tip was before, after its release, mm."""


class ImpedanceDemo(ArmDemo):
    """The stiffness that a hand feels along two axes, and whether the tip returns."""

    mode = "impedance"
    title = "impedance: the tip on a spring that is soft along one axis"

    def __init__(self, duration: float, pace: float) -> None:
        """See `ArmDemo`; the duration is that of the return after each push."""
        node = {"impedance.stiffness": (STIFF, SOFT, STIFF, TURN, TURN, TURN)}
        super().__init__(duration, pace, {"inertia_error": INERTIA_ERROR}, node)
        self._start = np.zeros(3)
        self._pushes: dict[str, Push] = {}

    def play(self) -> None:
        """See `ArmDemo`."""
        self.hand_over("impedance")
        # The node forgets how late its loop was before the arm waited. A bent spring that was softened for a late loop
        # becomes stiff again only as far as the energy tank pays.
        self.wait_for(self.arm.t + 3.0)
        self._start = self.arm.tip(self.arm.state.q)
        for name, stiffness, axis in (("soft", SOFT, (0.0, 1.0, 0.0)), ("stiff", STIFF, (1.0, 0.0, 0.0))):
            self.status = f"A hand pushes the tip along the {name} axis, of {stiffness:g} N/m."
            self._pushes[name] = self._push(np.array(axis), stiffness)

    def _push(self, axis: Array, wanted: float) -> Push:
        """Push the tip along an axis, let go of it, and wait for its return."""
        self.lead("tool0", DISTANCE * axis, LEAD_TIME, HOLD)
        released = self.arm.contacts[-1] + LEAD_TIME + HOLD
        begin, end = released - 0.3, released - 0.02  # the last part of the hold, in which the arm is at rest
        force = np.mean([f @ axis for t, f in self.arm.forces if begin < t < end])
        held = [s.q for s in self.arm.states if begin < s.t < end]
        way = np.mean((self.arm.tip(np.array(held)) - self._start) @ axis)
        self.wait_for(released + self.duration)
        return Push(wanted, float(force), float(way), 1e3 * self._away())

    def _away(self) -> float:
        """Return the distance of the tip from where it was at first, m."""
        return float(np.linalg.norm(self.arm.tip(self.arm.state.q) - self._start))

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`."""
        away = self._away() if self.arm.states and self._start.any() else 0.0
        force = float(np.linalg.norm(self.arm.force))
        yield Metric(label="force of the hand", value=force, unit="N", full=Hand.max_force)
        yield Metric(label="the tip gives way by", value=1e3 * away, unit="mm", form=".1f", full=1e3 * DISTANCE)
        for name, push in self._pushes.items():
            stiffness, limits = push.force / push.way, {"least": 0.95 * push.wanted, "most": 1.05 * push.wanted}
            key, label = f"{name}_stiffness", f"stiffness, {name} axis"
            yield Metric(key=key, label=label, value=stiffness, unit="N/m", form=".0f", full=STIFF, **limits)
            yield Metric(key=f"{name}_way_mm", value=1e3 * push.way)
            key, label = f"{name}_returned_mm", "  after its release"
            yield Metric(key=key, label=label, value=push.returned, unit="mm", full=2.0, most=2.0)
