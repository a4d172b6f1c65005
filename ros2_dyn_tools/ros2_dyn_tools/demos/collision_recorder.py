# SPDX-License-Identifier: Apache-2.0
"""Records what the node publishes about collisions."""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from ros2_dyn_interfaces.msg import CollisionState
from std_msgs.msg import Bool

from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn_tools.demos.arm_recorder import QUEUE, seconds


class CollisionRecorder:
    """The collision states before an expected contact, and the detection after it."""

    def __init__(self, node: Node) -> None:
        """Subscribe."""
        self.newest: CollisionState | None = None
        """The newest message."""
        self.detected: CollisionState | None = None
        """The first message with a collision."""
        self.link = ""
        """The link that was named while the contact lasted."""
        self.stop = False
        """Whether the node asks to stop, on `~/collision_stop`."""
        self.contact_expected = False
        """Whether a collision is no longer a false alarm."""
        self.false_alarms = 0
        """Number of messages with a collision before the contact."""
        self.max_share = 0.0
        """Largest residual over its threshold before the contact."""
        node.create_subscription(CollisionState, "dynamics/collision", self._on_collision, QUEUE)
        node.create_subscription(Bool, "dynamics/collision_stop", self._on_stop, LATCHED)

    def delay(self, touched_at: float) -> float | None:
        """Return the time from the first state with a contact to the first with a collision, s."""
        return None if self.detected is None else seconds(self.detected.header.stamp) - touched_at

    def is_over(self) -> bool:
        """Return whether neither a stop nor a collision is published any more."""
        return not self.stop and self.newest is not None and not self.newest.collision

    def detection(self) -> dict[str, object]:
        """Return the joint with the largest share of its threshold at the detection, with its numbers, N m."""
        message = self.detected
        if message is None:
            return {"joint": None, "threshold": None, "residual": None}
        i = int(np.argmax(shares(message)))
        return {"joint": message.joint_names[i], "threshold": message.threshold[i], "residual": message.residual[i]}

    def _on_stop(self, message: Bool) -> None:
        self.stop = message.data

    def _on_collision(self, message: CollisionState) -> None:
        self.newest = message
        if not self.contact_expected:
            self.max_share = max(self.max_share, *shares(message))
            self.false_alarms += message.collision
        elif message.collision:
            self.detected = self.detected or message
            self.link = message.contact_link or self.link


def shares(message: CollisionState) -> list[float]:
    """Return the residuals over their thresholds."""
    return [abs(residual) / threshold for residual, threshold in zip(message.residual, message.threshold)]
