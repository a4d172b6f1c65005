# SPDX-License-Identifier: Apache-2.0
"""The floor: a node with the subscriptions and publishers of `dynamics` that computes nothing."""

from __future__ import annotations

import sys
import time
from array import array

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory
from visualization_msgs.msg import MarkerArray

from ros2_dyn.model import RobotModel
from ros2_dyn.ros.node_base import run_node
from ros2_dyn.ros.outputs import EFFORT_TOPICS, WrenchMarkers
from ros2_dyn.runtime.state_synchronizer import QUEUE_SIZE

MARKER_RATE = 20.0


class Floor(Node):
    """Publishes as much for each state as `dynamics` does: the same messages, of the same size, always alike."""

    def __init__(self) -> None:
        super().__init__("dynamics")
        model = RobotModel.from_urdf_file(self.declare_parameter("urdf_file", "").value)
        links = model.child_links
        self._numbers = array("d", [0.1] * model.n)
        self._wrench = (0.1,) * 6
        self._effort = JointState(name=list(model.joint_names))
        self._wrenches = [WrenchStamped() for _ in links]
        for message, link in zip(self._wrenches, links):
            message.header.frame_id = link
        self._markers = WrenchMarkers([joint.name for joint in model.joints], links)
        self._efforts = [self.create_publisher(JointState, f"~/{topic}", 10) for topic in EFFORT_TOPICS]
        self._out = [self.create_publisher(WrenchStamped, f"~/joint_wrench/{name}", 10) for name in model.joint_names]
        self._marker_out = self.create_publisher(MarkerArray, "~/wrench_markers", 10)
        self._desired = self.create_subscription(JointTrajectory, "~/desired", lambda _: None, QUEUE_SIZE)
        self.create_subscription(JointTrajectory, "~/desired_trajectory", lambda _: None, 10)
        self.create_subscription(WrenchStamped, "~/desired_wrench", lambda _: None, 1)
        self.create_subscription(JointState, "joint_states", self._on_state, qos_profile_sensor_data)

    def _on_state(self, message: JointState) -> None:
        stamp = message.header.stamp
        effort = self._effort
        effort.header.stamp.sec, effort.header.stamp.nanosec = stamp.sec, stamp.nanosec
        for publisher in self._efforts:
            effort.effort = self._numbers
            publisher.publish(effort)
        for wrench, publisher in zip(self._wrenches, self._out):
            wrench.header.stamp = effort.header.stamp
            force, torque = wrench.wrench.force, wrench.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = self._wrench
            publisher.publish(wrench)
        if self._markers.due(time.monotonic()):
            self._marker_out.publish(self._markers.of(effort.header.stamp, [self._wrench] * len(self._wrenches)))


if __name__ == "__main__":
    sys.exit(run_node(Floor))
