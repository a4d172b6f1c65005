# SPDX-License-Identifier: Apache-2.0
"""What is published of the external efforts: the efforts, the detector's state, the wrench at the tip, the stop."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from visualization_msgs.msg import Marker, MarkerArray

from ros2_dyn.ros.message_template import MessageTemplate, collision_template, effort_template, wrench_template
from ros2_dyn.ros.messages import time_message
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.ros.wrench_markers import FORCE_SCALE, WrenchMarkers
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.robot_dynamics import RobotDynamics

EXTERNAL_SCALE = 5.0
"""Arrows of the external wrench are longer by this factor than those of joint wrenches, which carry the weight."""


class CollisionOutputs:
    """The publishers of one robot's external efforts. A topic without subscribers costs next to nothing."""

    def __init__(self, node: Node, robot: RobotDynamics) -> None:
        self._node = node
        names, base = robot.model.joint_names, robot.model.base_link
        self._names, self._base = names, base
        self._effort = effort_template(names, base)
        self._wrench = wrench_template(robot.tip_link)
        self._states: dict[str, MessageTemplate] = {}
        """By contact link."""
        self._markers = WrenchMarkers([robot.tip_link], EXTERNAL_SCALE * FORCE_SCALE, "external_")
        self._effort_publisher = node.create_publisher(JointState, "~/external_effort", 10)
        self._state_publisher = node.create_publisher(CollisionState, "~/collision", 10)
        self._wrench_publisher = node.create_publisher(WrenchStamped, "~/external_wrench", 10)
        self._marker_publisher = node.create_publisher(MarkerArray, "~/wrench_markers", 10)
        self._stop_publisher = node.create_publisher(Bool, "~/collision_stop", LATCHED)
        self.refresh_subscribers()

    def refresh_subscribers(self) -> None:
        """See which topics have subscribers. To be called a few times a second."""
        self._used = [
            bool(publisher.get_subscription_count())
            for publisher in (
                self._effort_publisher,
                self._state_publisher,
                self._wrench_publisher,
                self._marker_publisher,
            )
        ]

    def publish_stop(self, collision: bool) -> None:
        """Publish whether the robot is to stop, also for subscribers that come later."""
        self._stop_publisher.publish(Bool(data=collision))

    def publish(self, seen: CollisionUpdate, now: float) -> None:
        """Publish what is subscribed to at a time, s; a collision that begins in any case."""
        efforts, states, wrenches, markers = self._used
        stamp = seen.state.stamp
        if seen.begins:
            self.publish_stop(True)
        if efforts:
            self._effort_publisher.publish(self._effort.render(stamp, seen.residual))
        if states or seen.begins:
            self._state_publisher.publish(self._state(seen))
        if wrenches and seen.wrench.wrench:
            self._wrench_publisher.publish(self._wrench.render(stamp, seen.wrench.wrench))
        if markers and self._markers.due(now):
            self._publish_marker(seen)

    def _state(self, seen: CollisionUpdate) -> Any:
        link = seen.contact.link if any(seen.exceeded) else ""
        if link not in self._states:
            self._states[link] = collision_template(self._names, self._base, link)
        flags = (*seen.exceeded, seen.collision)
        return self._states[link].render(seen.state.stamp, seen.residual, seen.threshold, flags)

    def _publish_marker(self, seen: CollisionUpdate) -> None:
        wrench = seen.wrench.wrench
        arrows = self._markers.of(time_message(seen.state.stamp), [wrench or (0.0,) * 6])
        for marker in arrows.markers:
            marker.action = Marker.ADD if wrench else Marker.DELETE
        self._marker_publisher.publish(arrows)

    def destroy(self) -> None:
        """Take the publishers down."""
        for publisher in (
            self._effort_publisher,
            self._state_publisher,
            self._wrench_publisher,
            self._marker_publisher,
            self._stop_publisher,
        ):
            self._node.destroy_publisher(publisher)
