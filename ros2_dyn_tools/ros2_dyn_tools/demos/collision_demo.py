# SPDX-License-Identifier: Apache-2.0
"""Mode feed_forward with a contact: the detector stops the mode, and the mode is entered again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from geometry_msgs.msg import Point, Vector3
from ros2_dyn_interfaces.msg import CollisionState
from ros2_dyn_interfaces.srv import ApplyContact
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from ros2_dyn.control.modes import STOPPED
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn_tools.demos.arm_demo import ArmDemo
from ros2_dyn_tools.demos.arm_recorder import QUEUE, seconds
from ros2_dyn_tools.demos.demo import Metric
from ros2_dyn_tools.demos.feed_forward_demo import DAMPING, STIFFNESS
from ros2_dyn_tools.demos.laps import Lap, resting

LINK = "forearm_link"
"""Link that is pushed."""


class CollisionDemo(ArmDemo):
    """A push on the forearm in the middle of a motion."""

    mode = "collision"
    title = "collision: the arm detects a push, and gives way"

    def __init__(self, duration: float, pace: float) -> None:
        """See `ArmDemo`; the duration is that of the motion."""
        node = {
            "feed_forward.stiffness": STIFFNESS,
            "feed_forward.damping": DAMPING,
            "commands.stop_behaviour": "hold_gravity",
        }
        super().__init__(duration, pace, node=node | {"collision.threshold": (12.0, 12.0, 5.0, 4.0, 4.0, 4.0)})
        self._newest: CollisionState | None = None
        self._detected: CollisionState | None = None
        """The first message with a collision after the push."""
        self._link, self._stop, self._pushed = "", False, False
        self._false_alarms = 0
        """Messages with a collision before the push."""
        self._stopped_at: float | None = None
        self._mode_after, self._entered_again = "", False
        self.node.create_subscription(CollisionState, "dynamics/collision", self._on_collision, QUEUE)
        self.node.create_subscription(Bool, "dynamics/collision_stop", self._on_stop, LATCHED)

    def _on_stop(self, message: Bool) -> None:
        self._stop = message.data

    def _on_collision(self, message: CollisionState) -> None:
        self._newest = message
        if not self._pushed:
            self._false_alarms += message.collision
        elif message.collision:
            self._detected = self._detected or message
            self._link = message.contact_link or self._link

    def play(self) -> None:
        """See `ArmDemo`."""
        arm = self.arm
        self.hand_over("feed_forward")
        self.runner.wait_until(lambda: self._newest is not None and bool(arm.forces), "dynamics/collision")
        lap = Lap(arm.model, arm.state.q, self.answered_at + 0.1, self.duration)
        self.desired = lap.at
        self.status = "The arm follows a motion, and nothing touches it."
        self.wait_for(lap.start + 0.4 * self.duration)
        self._push()
        self.status = f"{arm.mode}: the arm carries its own weight, and comes to rest."
        self.runner.wait_until(lambda: arm.at_rest and not arm.force.any(), "rest after the stop")
        self._begin_again()

    def _push(self) -> None:
        """Push, and wait until the collision has stopped the mode."""
        arm, runner = self.arm, self.runner
        self.status = f"A push on {LINK}."
        self._pushed, runner.check = True, lambda: None  # from now on the mode is expected to end
        where = {"link": LINK, "point": Point(x=-0.35, y=0.0, z=0.03), "force": Vector3(x=30.0, y=30.0, z=-60.0)}
        runner.call_checked(ApplyContact, "mock_arm/apply_contact", profile="step", duration=0.3, **where)
        runner.wait_until(lambda: bool(arm.contacts), "mock_arm/contact_wrench")
        runner.wait_until(lambda: self._stop and arm.mode == STOPPED, "stop by the collision")
        runner.wait_until(lambda: self._detected is not None, "dynamics/collision with a collision")
        self._mode_after, self._stopped_at = arm.mode, arm.mode_at

    def _begin_again(self) -> None:
        arm, runner = self.arm, self.runner
        self.status = "~/reset_collision, and feed_forward again from where the arm is."
        self.desired = resting(arm.state.q)
        self.wait_for(self.answered_at + 0.1)  # the node has received the new target by then
        runner.call_checked(Trigger, "dynamics/reset_collision")
        runner.wait_until(
            lambda: not self._stop and self._newest is not None and not self._newest.collision, "end of the collision"
        )
        self.enter("feed_forward")
        lap = Lap(arm.model, arm.state.q, self.answered_at + 0.1, self.duration / 2)
        self.desired = lap.at
        self.wait_for(lap.end)
        self._entered_again = True

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`; joint, threshold and residual are those of the detection."""
        newest, detected, contacts = self._newest, self._detected, self.arm.contacts
        touched = contacts[0] if contacts else None
        yield Metric(label="mode", value=self.arm.mode)
        yield Metric(label="~/collision_stop", value=str(self._stop).lower())
        yield Metric(label="force of the contact", value=float(np.linalg.norm(self.arm.force)), unit="N", form=".1f")
        if newest is not None:
            for name, residual, threshold in zip(newest.joint_names, newest.residual, newest.threshold):
                yield Metric(label=f"  {name}", value=abs(residual), unit="N m", full=threshold)
        yield Metric(key="false_alarms", value=self._false_alarms, most=0)
        delay = 1e3 * (seconds(detected.header.stamp) - touched) if detected and touched else None
        stopped = 1e3 * (self._stopped_at - touched) if self._stopped_at and touched else None
        yield Metric(key="delay_ms", label="detected after", value=delay, unit="ms", form=".0f")
        yield Metric(key="delay_until_stopped_ms", value=stopped, least=0.0)
        yield Metric(key="link_pushed", value=LINK)
        yield Metric(key="link_named", label="on", value=self._link)
        i = int(np.argmax(np.abs(detected.residual) / np.array(detected.threshold))) if detected else 0
        yield Metric(key="joint", value=detected.joint_names[i] if detected else None)
        yield Metric(key="threshold", value=detected.threshold[i] if detected else None)
        yield Metric(key="residual", value=detected.residual[i] if detected else None)
        yield Metric(key="mode_after", value=self._mode_after)
        yield Metric(key="entered_again", value=self._entered_again)

    def failure(self) -> str | None:
        """See `Demo`."""
        stopped = self._mode_after == "stopped"
        return super().failure() or (None if stopped else f"the mode after the collision is {self._mode_after}")
