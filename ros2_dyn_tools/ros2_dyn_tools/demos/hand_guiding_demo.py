# SPDX-License-Identifier: Apache-2.0
"""Mode hand_guiding: a hand leads the tip, releases it, and then tries to push a joint into its stop."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.hand import BLEND, Hand
from ros2_dyn_tools.demos.arm_demo import HOME, ArmDemo
from ros2_dyn_tools.demos.demo import Metric

SPEED = 0.2
"""Speed of the hand, m/s."""
DISTANCE = 0.3
"""Distance by which the hand leads the tip, m."""
LEAD_TIME = DISTANCE / SPEED / (1 - BLEND)
"""Duration of that motion, s."""
INERTIA_ERROR = 0.02
"""Largest relative error of the node's inertias."""


class HandGuidingDemo(ArmDemo):
    """The force that an operator feels, the drift after the release, and the distance to a joint's stop."""

    mode = "hand_guiding"
    title = "hand_guiding: the arm gives way to a hand, and stays where it is left"

    def __init__(self, duration: float, pace: float) -> None:
        """See `ArmDemo`; the duration is that for which the drift is measured."""
        # The first joint begins near its upper limit of 2 pi.
        super().__init__(duration, pace, {"home": (5.9, *HOME[1:]), "inertia_error": INERTIA_ERROR})
        self._released: float | None = None
        self._watched = False

    def play(self) -> None:
        """See `ArmDemo`."""
        self.hand_over("hand_guiding")
        direction = np.array([0, 0, 0.6]) - 0.8 * self._sideways()  # upwards, and away from the stop
        self.status = f"A hand leads the tip by {DISTANCE:g} m at {SPEED:g} m/s."
        self.lead("tool0", DISTANCE * direction, LEAD_TIME, hold=1.0)
        self._released = self.arm.forces[-1][0]
        self.status = "The hand has released the tip: does the tip stay where it is?"
        self.wait_for(self._released + self.duration)
        self._watched = True
        self.status = f"The hand pushes the first joint towards its stop, with {Hand.max_force:g} N."
        self.lead("wrist_1_link", 0.5 * self._sideways(), 4.5, hold=0.5)  # on the tip it would turn the wrist away

    def _sideways(self) -> Array:
        """Return the direction in which the first joint moves the tip, shape (3,)."""
        x, y, _ = self.arm.tip(self.arm.state.q)
        return np.array([-y, x, 0.0]) / np.hypot(x, y)

    def _drift(self) -> float | None:
        """Return the largest distance of the tip from where it was released, mm."""
        start = self._released
        if start is None:
            return None
        after = [state.q for state in self.arm.states if start <= state.t <= start + self.duration]
        tip = self.arm.tip(np.array(after)) if after else np.zeros((1, 3))
        return 1e3 * float(np.max(np.linalg.norm(tip - tip[0], axis=1)))

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`; the distance to a stop is in rad."""
        arm, full = self.arm, Hand.max_force
        speed = float(np.linalg.norm(arm.tip_velocity(arm.state))) if arm.states else 0.0
        yield Metric(label="speed of the tip", value=speed, unit="m/s", form=".3f", full=0.5)
        yield Metric(label="force of the hand", value=float(np.linalg.norm(arm.force)), unit="N", full=full)
        touched = arm.contacts[0] if arm.contacts else np.inf
        begin, end = touched + BLEND * LEAD_TIME, touched + (1 - BLEND) * LEAD_TIME  # at constant speed
        forces = [float(np.linalg.norm(force)) for t, force in arm.forces if begin <= t <= end]
        mean = float(np.mean(forces)) if forces else None
        label = f"  at {SPEED:g} m/s"
        yield Metric(key="force_at_0.2_m_s", label=label, value=mean, unit="N", full=full, most=5.0)
        drift, label = self._drift(), "drift after the release"
        yield Metric(key="drift_mm", label=label, value=drift, unit="mm", form=".3f", full=1.0, most=1.0)
        pushed = [float(np.linalg.norm(force)) for t, force in arm.forces if self._watched and t > touched]
        yield Metric(key="force_towards_the_stop", value=max(pushed, default=None))
        nearest = None
        if arm.states:
            left = float(arm.model.upper[0] - arm.state.q[0])
            yield Metric(label="first joint to its stop", value=left, unit="rad", form=".3f", full=0.4)
            q = np.array([state.q for state in arm.states])
            nearest = float(np.min(np.minimum(q - arm.model.lower, arm.model.upper - q)))
        yield Metric(key="min_distance_to_a_stop", value=nearest, least=0.0)
