"""Mode hand_guiding: a hand leads the tip, lets go, and then tries to push a joint into its stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from geometry_msgs.msg import Vector3
from rich.console import RenderableType
from ros2_dyn_interfaces.srv import LeadHand

from ros2_dyn.demos.arm_demo import HOME, ArmDemo
from ros2_dyn.demos.pictures import Row, picture
from ros2_dyn.demos.stage import Stage
from ros2_dyn.model.spatial import Array
from ros2_dyn.simulation.hand import BLEND, Hand

NEAR_A_STOP = (5.9, *HOME[1:])
"""Where the arm begins, rad: the first joint turns up to 2 pi."""
SPEED = 0.2
"""At which the hand leads, m/s."""
WAY = 0.3
"""How far, m."""
UPWARDS = 0.6
"""Share of it; the rest is sideways, away from that stop."""
HOLD = 1.0
"""How long the hand stays there, s: until the arm is at rest."""
INERTIA_ERROR = 0.02
"""How far the arm's inertias may be from what the node thinks they are, relative."""
PUSH, PUSH_TIME, PUSH_HOLD = 0.5, 2.5, 0.5
"""The second gesture: how far the hand would go, m, and how long it takes and stays there, s."""
PUSHED = "wrist_1_link"
"""The wrist: a hand on the tip would turn it away."""
GREATEST_FORCE = 5.0
"""That is required of the force at that speed, N."""
GREATEST_DRIFT = 1e-3
"""That is required of the tip after the hand has let go, m."""


class HandGuidingDemo(ArmDemo):
    """What an operator would feel, and where the arm is afterwards."""

    mode = "hand_guiding"

    def __init__(self, duration: float) -> None:
        """Watching for drift for so many seconds."""
        super().__init__()
        self._duration = duration
        self._released: float | None = None
        self._watched = False

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Scenario`."""
        return self.processes({"home": NEAR_A_STOP, "inertia_error": INERTIA_ERROR}, {})

    def run(self, stage: Stage) -> None:
        """See `Scenario`."""
        self.hand_over(stage, "hand_guiding")
        way = WAY * (np.array([0, 0, UPWARDS]) - np.sqrt(1 - UPWARDS**2) * self._sideways())
        self.now = f"A hand leads the tip by {WAY:g} m at {SPEED:g} m/s."
        self._gesture(stage, "tool0", way, WAY / SPEED / (1 - BLEND), HOLD)
        self._released = self.arm.forces[-1][0]
        self.now = "It has let go: does the tip stay where it is?"
        end = self._released + self._duration
        stage.until(lambda: self.arm.state.t >= end, "states", patience=2 * self._duration + 30)
        self._watched = True
        self.now = f"It pushes the first joint towards its stop, with {Hand.max_force:g} N."
        self._gesture(stage, PUSHED, PUSH * self._sideways(), PUSH_TIME, PUSH_HOLD)
        self.now = "Done."

    def _sideways(self) -> Array:
        """The direction in which the first joint moves the tip."""
        x, y, _ = self.arm.tip(self.arm.state.q)
        return np.array([-y, x, 0.0]) / np.hypot(x, y)

    def _gesture(self, stage: Stage, link: str, way: Array, duration: float, hold: float) -> None:
        """Lead a link along a way, m, until the hand has let go."""
        x, y, z = way.tolist()
        where = {"link": link, "displacement": Vector3(x=x, y=y, z=z)}
        stage.until(lambda: bool(self.arm.forces), "mock_arm/contact_wrench")
        before = len(self.arm.contacts)
        stage.demand(LeadHand, "mock_arm/lead_hand", duration=duration, hold=hold, **where)
        stage.until(lambda: len(self.arm.contacts) > before, "force of the hand")
        stage.until(lambda: not self.arm.force.any(), "end of the gesture")

    def _while_led(self) -> Array:
        """Sizes of the hand's force while it moved at constant speed, N."""
        if not self.arm.contacts:
            return np.zeros(0)
        duration, start = WAY / SPEED / (1 - BLEND), self.arm.contacts[0]
        first, last = start + BLEND * duration, start + (1 - BLEND) * duration
        return np.array([np.linalg.norm(force) for t, force in self.arm.forces if first <= t <= last])

    def _drift(self) -> float | None:
        """How far the tip has been from where it was let go, m."""
        start = self._released
        if start is None:
            return None
        after = [state.q for state in self.arm.states if start <= state.t <= start + self._duration]
        tip = self.arm.tip(np.array(after)) if after else np.zeros((1, 3))
        return float(np.max(np.linalg.norm(tip - tip[0], axis=1)))

    def _distance(self) -> Array:
        """Of every state and joint: to the nearest stop, rad, shape (states, 6)."""
        q = np.array([state.q for state in self.arm.states]).reshape(-1, 6)
        return np.minimum(q - self.arm.model.lower, self.arm.model.upper - q)

    def picture(self) -> RenderableType:
        """See `Scenario`."""
        arm = self.arm
        speed = float(np.linalg.norm(arm.tip_velocity(arm.state))) if arm.states else 0.0
        force = float(np.linalg.norm(arm.force))
        rows = [
            Row("speed of the tip", f"{speed:.3f} m/s", speed / 0.5),
            Row("force of the hand", f"{force:.2f} N", force / Hand.max_force),
        ]
        if (led := self._while_led()).size:
            mean = float(np.mean(led))
            rows.append(Row(f"  at {SPEED:g} m/s", f"{mean:.2f} N", mean / Hand.max_force))
        if (drift := self._drift()) is not None:
            rows.append(Row("drift after it let go", f"{1e3 * drift:.3f} mm", drift / GREATEST_DRIFT))
        if arm.states:
            left = float(arm.model.upper[0] - arm.state.q[0])
            rows.append(Row("first joint to its stop", f"{left:.3f} rad", left / 0.4))
        return picture("hand_guiding: the arm gives way to a hand, and stays where it is left", rows, self.now)

    def seen(self) -> dict[str, object]:
        """See `ArmDemo`; the distance to a hard stop is in rad."""
        led, drift = self._while_led(), self._drift()
        pushed = [np.linalg.norm(force) for t, force in self.arm.forces if self._watched and t > self.arm.contacts[0]]
        return {
            "force_at_0.2_m_s": float(np.mean(led)) if led.size else None,
            "greatest_force_at_0.2_m_s": float(np.max(led)) if led.size else None,
            "drift_mm": None if drift is None else 1e3 * drift,
            "watched": self._duration if self._watched else 0.0,
            "force_towards_the_stop": float(np.max(pushed)) if pushed else None,
            "least_distance_to_a_stop": float(np.min(self._distance())) if self.arm.states else None,
            "states": len(self.arm.states),
        }

    def problem(self) -> str:
        """See `ArmDemo`."""
        force, drift, distance = float(np.mean(self._while_led())), self._drift(), float(np.min(self._distance()))
        if not force <= GREATEST_FORCE:
            return f"the hand needs {force:.1f} N at {SPEED:g} m/s, {GREATEST_FORCE:g} N at most are required"
        if drift is None or not drift <= GREATEST_DRIFT:
            return f"the tip drifted by {1e3 * (drift or 0.0):.2f} mm, {1e3 * GREATEST_DRIFT:g} mm at most are required"
        return "" if distance > 0 else "a joint met its stop"
