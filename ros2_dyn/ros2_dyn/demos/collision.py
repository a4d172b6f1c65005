"""Mode feed_forward, and somebody who is in the way: the detector stops the mode, and it is entered again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from geometry_msgs.msg import Point, Vector3
from rclpy.qos import qos_profile_sensor_data
from rich.console import RenderableType
from ros2_dyn_interfaces.msg import CollisionState
from ros2_dyn_interfaces.srv import ApplyContact
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from ros2_dyn.demos.arm import seconds
from ros2_dyn.demos.arm_demo import ArmDemo
from ros2_dyn.demos.feed_forward import DAMPING, STIFFNESS
from ros2_dyn.demos.follower import Follower, Lap, resting
from ros2_dyn.demos.pictures import Row, picture
from ros2_dyn.demos.stage import Stage
from ros2_dyn.ros.node_base import LATCHED

THRESHOLD = (12.0, 12.0, 5.0, 4.0, 4.0, 4.0)
"""External efforts that stand out, N m."""
LINK = "forearm_link"
POINT = (-0.35, 0.0, 0.03)
"""Where it is pushed, m, in its axes."""
PUSH = (30.0, 30.0, -60.0)
"""With which force, N, in the base's axes."""
PUSH_TIME = 0.3
"""For how long, s."""
FREE = 0.4
"""Part of the motion after which the push comes."""


class CollisionDemo(ArmDemo):
    """A push on the forearm in the middle of a motion."""

    mode = "collision"

    def __init__(self, duration: float) -> None:
        """In a motion of so many seconds."""
        super().__init__()
        self._follower = Follower(self.node, self.arm.model)
        self._duration = duration
        self._newest: CollisionState | None = None
        self._detected: CollisionState | None = None
        """The first with a collision."""
        self._link = ""
        """The one that was named while the contact lasted."""
        self._free_share = 0.0
        """Greatest share of a threshold that a residual was before the push."""
        self._false_alarms = 0
        self._pushing = False
        self._stopped_at: float | None = None
        self._stop = False
        self._mode_after = ""
        self._entered_again = False
        node = self.node
        node.create_subscription(CollisionState, "dynamics/collision", self._on_collision, qos_profile_sensor_data)
        node.create_subscription(Bool, "dynamics/collision_stop", self._on_stop, LATCHED)

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Scenario`."""
        gains = {"tracking_stiffness": STIFFNESS, "tracking_damping": DAMPING}
        return self.processes({}, gains | {"collision_threshold": THRESHOLD, "stop_behaviour": "gravity"})

    def run(self, stage: Stage) -> None:
        """See `Scenario`."""
        arm = self.arm
        stage.until(lambda: arm.at_rest, "joint_states of an arm at rest")
        self._follower.desired = resting(arm.state.q)
        self.hand_over(stage, "feed_forward")
        stage.until(lambda: self._newest is not None and bool(arm.forces), "dynamics/collision")
        lap = Lap(arm.model, arm.state.q, arm.state.t + 0.1, self._duration)
        self._follower.desired = lap.at
        self.now = "The arm follows a motion, and nothing touches it."
        push_at = lap.start + FREE * self._duration
        stage.until(lambda: arm.state.t >= push_at, "states", patience=self._duration + 30)
        self._push(stage)
        self.now = f"{arm.mode}: the arm carries itself, and comes to rest."
        stage.until(lambda: arm.at_rest and not arm.force.any(), "rest after the stop")
        self._begin_again(stage)

    def _push(self, stage: Stage) -> None:
        """Let somebody push, and wait until the mode has stopped."""
        arm = self.arm
        self.now = f"Somebody pushes {LINK}."
        self._pushing, stage.check = True, lambda: None  # from now on the mode is to end
        (fx, fy, fz), (x, y, z) = PUSH, POINT
        where = {"link": LINK, "point": Point(x=x, y=y, z=z), "force": Vector3(x=fx, y=fy, z=fz)}
        stage.demand(ApplyContact, "mock_arm/apply_contact", profile="step", duration=PUSH_TIME, **where)
        stage.until(lambda: bool(arm.contacts), "mock_arm/contact_wrench")
        stage.until(lambda: self._stop and arm.mode != "feed_forward", "stop by the collision")
        stage.until(lambda: self._detected is not None, "dynamics/collision with a collision")
        self._mode_after, self._stopped_at = arm.mode, arm.mode_at

    def _begin_again(self, stage: Stage) -> None:
        arm = self.arm
        self.now = "~/reset_collision, and feed_forward again from where the arm is."
        self._follower.desired = resting(arm.state.q)
        heard_at = arm.state.t + 0.1  # by then the node knows that it is to rest
        stage.until(lambda: arm.state.t >= heard_at, "states")
        stage.demand(Trigger, "dynamics/reset_collision")
        stage.until(lambda: not self._stop, "end of the collision")
        self.enter(stage, "feed_forward")
        lap = Lap(arm.model, arm.state.q, arm.state.t + 0.1, self._duration / 2)
        self._follower.desired = lap.at
        stage.until(lambda: arm.state.t >= lap.end, "states", patience=self._duration + 30)
        self._entered_again = True
        self.now = "Done."

    def on_state(self) -> None:
        """See `ArmDemo`."""
        self._follower.publish()

    def _on_stop(self, message: Bool) -> None:
        self._stop = message.data

    def _on_collision(self, message: CollisionState) -> None:
        self._newest = message
        if not self._pushing:
            self._free_share = max(self._free_share, max(_shares(message)))
            self._false_alarms += message.collision
        elif message.collision:
            self._detected = self._detected or message
            self._link = message.contact_link or self._link

    def _delay(self) -> float | None:
        """Between the stamps of the first state with a contact and of the first with a collision, s."""
        if self._detected is None or not self.arm.contacts:
            return None
        return seconds(self._detected.header.stamp) - self.arm.contacts[0]

    def picture(self) -> RenderableType:
        """See `Scenario`."""
        rows = [Row("mode", self.arm.mode), Row("~/collision_stop", str(self._stop).lower())]
        rows.append(Row("force of the contact", f"{np.linalg.norm(self.arm.force):.1f} N"))
        rows.append(Row("effort, of threshold", "N m"))
        if self._newest is not None:
            message = self._newest
            for name, residual, share in zip(message.joint_names, message.residual, _shares(message)):
                rows.append(Row(f"  {name}", f"{residual:+.2f}", share))
        if (delay := self._delay()) is not None and self._detected is not None:
            rows.append(Row("seen after", f"{1e3 * delay:.0f} ms"))
            rows.append(Row("on", self._link or "?"))
        return picture("collision: the arm notices that it is pushed, and gives way", rows, self.now)

    def seen(self) -> dict[str, object]:
        """See `ArmDemo`; efforts of the joint that stands out most, at the detection."""
        delay, detected = self._delay(), self._detected
        joint = int(np.argmax(_shares(detected))) if detected is not None else 0
        stopped = self._stopped_at
        return {
            "false_alarms": self._false_alarms,
            "max_share_of_threshold_before": self._free_share,
            "delay_ms": None if delay is None else 1e3 * delay,
            "delay_until_stopped_ms": None if stopped is None else 1e3 * (stopped - self.arm.contacts[0]),
            "link_pushed": LINK,
            "link_named": self._link,
            "joint": None if detected is None else detected.joint_names[joint],
            "threshold": None if detected is None else detected.threshold[joint],
            "residual": None if detected is None else detected.residual[joint],
            "mode_after": self._mode_after,
            "entered_again": self._entered_again,
        }

    def problem(self) -> str:
        """See `ArmDemo`."""
        if self._false_alarms:
            return "there was an alarm before anything touched the arm"
        return "" if self._mode_after == "stopped" else f"the collision led to mode {self._mode_after}, not to stopped"


def _shares(message: CollisionState) -> list[float]:
    """Of the thresholds, that the residuals are."""
    return [abs(residual) / threshold for residual, threshold in zip(message.residual, message.threshold)]
