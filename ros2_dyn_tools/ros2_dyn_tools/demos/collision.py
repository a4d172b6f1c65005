# SPDX-License-Identifier: Apache-2.0
"""Mode feed_forward with a contact: the detector stops the mode, and the mode is entered again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from geometry_msgs.msg import Point, Vector3
from rich.console import RenderableType
from ros2_dyn_interfaces.srv import ApplyContact
from std_srvs.srv import Trigger

from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.collision_recorder import CollisionRecorder, shares
from ros2_dyn_tools.demos.desired_publisher import Lap, resting
from ros2_dyn_tools.demos.feed_forward import DAMPING, STIFFNESS
from ros2_dyn_tools.demos.runner import DemoRunner
from ros2_dyn_tools.demos.status_table import Row, status_table

THRESHOLD = (12.0, 12.0, 5.0, 4.0, 4.0, 4.0)
"""Thresholds of the external efforts, N m."""
LINK = "forearm_link"
"""Link that is pushed."""
POINT = (-0.35, 0.0, 0.03)
"""Point of the push in the link's frame, m."""
PUSH = (30.0, 30.0, -60.0)
"""Force of the push in the base frame, N."""
PUSH_TIME = 0.3
"""Duration of the push, s."""
PUSH_AFTER = 0.4
"""Fraction of the motion after which the push comes."""


class CollisionDemo(ArmDemo):
    """A push on the forearm in the middle of a motion."""

    mode = "collision"

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: duration of the motion, s.
            pace: see `ArmDemo`.
        """
        super().__init__(pace)
        self._collision = CollisionRecorder(self.node)
        self._duration = duration
        self._stopped_at: float | None = None
        self._mode_after = ""
        self._entered_again = False

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        gains = {"feed_forward.stiffness": STIFFNESS, "feed_forward.damping": DAMPING}
        return self.processes({}, gains | {"collision.threshold": THRESHOLD, "commands.stop_behaviour": "hold_gravity"})

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`."""
        arm, collision = self.arm, self._collision
        self.hand_over(runner, "feed_forward")
        runner.wait_until(lambda: collision.newest is not None and bool(arm.forces), "dynamics/collision")
        lap = Lap(arm.model, arm.state.q, self.answered_at + 0.1, self._duration)
        self.target.desired = lap.at
        self.status = "The arm follows a motion, and nothing touches it."
        push_at = lap.start + PUSH_AFTER * self._duration
        runner.wait_until(lambda: arm.t >= push_at, "states", simulated=2 * self._duration)
        self._push(runner)
        self.status = f"{arm.mode}: the arm carries its own weight, and comes to rest."
        runner.wait_until(lambda: arm.at_rest and not arm.force.any(), "rest after the stop")
        self._begin_again(runner)

    def _push(self, runner: DemoRunner) -> None:
        """Push, and wait until the collision has stopped the mode."""
        arm, collision = self.arm, self._collision
        self.status = f"A push on {LINK}."
        collision.contact_expected, runner.check = True, lambda: None  # from now on the mode is expected to end
        (fx, fy, fz), (x, y, z) = PUSH, POINT
        where = {"link": LINK, "point": Point(x=x, y=y, z=z), "force": Vector3(x=fx, y=fy, z=fz)}
        runner.call_checked(ApplyContact, "mock_arm/apply_contact", profile="step", duration=PUSH_TIME, **where)
        runner.wait_until(lambda: bool(arm.contacts), "mock_arm/contact_wrench")
        runner.wait_until(lambda: collision.stop and arm.mode != "feed_forward", "stop by the collision")
        runner.wait_until(lambda: collision.detected is not None, "dynamics/collision with a collision")
        self._mode_after, self._stopped_at = arm.mode, arm.mode_at

    def _begin_again(self, runner: DemoRunner) -> None:
        arm = self.arm
        self.status = "~/reset_collision, and feed_forward again from where the arm is."
        self.target.desired = resting(arm.state.q)
        received_at = self.answered_at + 0.1  # the node has received the new target by then
        runner.wait_until(lambda: arm.t >= received_at, "states")
        runner.call_checked(Trigger, "dynamics/reset_collision")
        runner.wait_until(self._collision.is_over, "end of the collision")
        self.enter(runner, "feed_forward")
        lap = Lap(arm.model, arm.state.q, self.answered_at + 0.1, self._duration / 2)
        self.target.desired = lap.at
        runner.wait_until(lambda: arm.t >= lap.end, "states", simulated=2 * self._duration)
        self._entered_again = True
        self.status = "Done."

    def table(self) -> RenderableType:
        """See `Demo`."""
        arm, collision = self.arm, self._collision
        rows = [Row("mode", arm.mode), Row("~/collision_stop", str(collision.stop).lower())]
        rows.append(Row("force of the contact", f"{np.linalg.norm(arm.force):.1f} N"))
        rows.append(Row("effort, of threshold", "N m"))
        if (message := collision.newest) is not None:
            for name, residual, share in zip(message.joint_names, message.residual, shares(message)):
                rows.append(Row(f"  {name}", f"{residual:+.2f}", share))
        if arm.contacts and (delay := collision.delay(arm.contacts[0])) is not None:
            rows.append(Row("detected after", f"{1e3 * delay:.0f} ms"))
            rows.append(Row("on", collision.link or "?"))
        return status_table("collision: the arm detects a push, and gives way", rows, self.status)

    def metrics(self) -> dict[str, object]:
        """See `ArmDemo`; joint, threshold and residual are those of the detection."""
        collision, touched = self._collision, self.arm.contacts[0] if self.arm.contacts else float("nan")
        delay, stopped = collision.delay(touched), self._stopped_at
        return {
            "false_alarms": collision.false_alarms,
            "max_share_of_threshold_before": collision.max_share,
            "delay_ms": None if delay is None else 1e3 * delay,
            "delay_until_stopped_ms": None if stopped is None else 1e3 * (stopped - touched),
            "link_pushed": LINK,
            "link_named": collision.link,
            **collision.detection(),
            "mode_after": self._mode_after,
            "entered_again": self._entered_again,
        }

    def failure(self) -> str | None:
        """See `Demo`."""
        if self._collision.false_alarms:
            return "there was an alarm before anything touched the arm"
        if self._stopped_at is None or self._stopped_at < self.arm.contacts[0]:
            return "the mode ended before anything touched the arm"
        return None if self._mode_after == "stopped" else f"the mode after the collision is {self._mode_after}"
