# SPDX-License-Identifier: Apache-2.0
"""What is published for each state: efforts, joint wrenches and their markers."""

from __future__ import annotations

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from ros2_dyn.ros.collision_outputs import CollisionOutputs
from ros2_dyn.ros.message_template import effort_template, wrench_template
from ros2_dyn.ros.messages import time_message
from ros2_dyn.ros.wrench_markers import WrenchMarkers
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.update import Step

EFFORT_TOPICS = ("inverse_dynamics", "gravity", "coriolis", "friction")
"""Their order is that of the fields of `Terms`."""


class Outputs:
    """The publishers of one robot. A topic without subscribers costs nothing but a look now and then."""

    def __init__(self, node: Node, robot: RobotDynamics) -> None:
        self._node = node
        self._key = _key(robot)
        model = robot.model
        self._effort = effort_template(model.joint_names, model.base_link)  # RViz drops messages without a frame
        self._wrenches = [wrench_template(link) for link in model.child_links]
        self._markers = WrenchMarkers(model.child_links)
        self._effort_publishers = [node.create_publisher(JointState, f"~/{topic}", 10) for topic in EFFORT_TOPICS]
        self._wrench_publishers = [
            node.create_publisher(WrenchStamped, f"~/joint_wrench/{joint.name}", 10) for joint in model.joints
        ]
        self._marker_publisher = node.create_publisher(MarkerArray, "~/wrench_markers", 10)
        self.collision = CollisionOutputs(node, robot) if robot.settings.collision.enabled else None
        self.refresh_subscribers()

    def matches(self, robot: RobotDynamics) -> bool:
        """Return whether they are right for a robot: if not, new ones have to be made."""
        return self._key == _key(robot)

    def refresh_subscribers(self) -> None:
        """See which topics have subscribers. To be called a few times a second."""
        self._used_efforts, self._used_wrenches = (
            [i for i, publisher in enumerate(publishers) if publisher.get_subscription_count()]
            for publishers in (self._effort_publishers, self._wrench_publishers)
        )
        self._markers_used = bool(self._marker_publisher.get_subscription_count())
        if self.collision is not None:
            self.collision.refresh_subscribers()

    def publish(self, step: Step, now: float) -> None:
        """Publish what is subscribed to of one state, at a time, s."""
        stamp, terms = step.state.stamp, step.terms
        for i in self._used_efforts:
            self._effort_publishers[i].publish(self._effort.render(stamp, terms[i]))
        for i in self._used_wrenches:
            self._wrench_publishers[i].publish(self._wrenches[i].render(stamp, terms.joint_wrenches[i]))
        if self._markers_used and self._markers.due(now):
            self._marker_publisher.publish(self._markers.of(time_message(stamp), terms.joint_wrenches))
        if self.collision is not None and step.collision is not None:
            self.collision.publish(step.collision, now)

    def destroy(self) -> None:
        """Take the publishers down."""
        for publisher in (*self._effort_publishers, *self._wrench_publishers, self._marker_publisher):
            self._node.destroy_publisher(publisher)
        if self.collision is not None:
            self.collision.destroy()


def _key(robot: RobotDynamics) -> tuple[object, ...]:
    model = robot.model
    names = model.link_names, tuple(joint.name for joint in model.joints), robot.tip_link
    return *names, robot.settings.collision.enabled
