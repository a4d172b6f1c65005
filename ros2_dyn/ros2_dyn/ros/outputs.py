"""What one tick publishes: efforts, joint wrenches and their markers, on messages that are made once."""

from __future__ import annotations

from array import array

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from ros2_dyn.ros.collision_outputs import CollisionOutputs
from ros2_dyn.ros.robot import Efforts, Robot
from ros2_dyn.ros.wrench_markers import WrenchMarkers

EFFORTS = ("inverse_dynamics", "gravity", "coriolis", "friction")


class Outputs:
    """The publishers of one robot. Those that nobody subscribes to cost nothing but a look now and then."""

    def __init__(self, node: Node, robot: Robot) -> None:
        self._node = node
        self._made_for = _key(robot)
        model, settings = robot.model, robot.settings
        self._effort = JointState(name=list(model.joint_names))
        self._effort.header.frame_id = model.base_link  # RViz drops messages without a frame
        self._wrenches = [WrenchStamped() for _ in model.joints]
        for message, link in zip(self._wrenches, model.child_links):
            message.header.frame_id = link
        self._markers = WrenchMarkers(model.child_links, settings.marker_scale, settings.marker_rate)
        self._effort_publishers = [node.create_publisher(JointState, f"~/{topic}", 10) for topic in EFFORTS]
        self._wrench_publishers = [
            node.create_publisher(WrenchStamped, f"~/joint_wrench/{joint.name}", 10) for joint in model.joints
        ]
        self._marker_publisher = node.create_publisher(MarkerArray, "~/wrench_markers", 10)
        self.collision = CollisionOutputs(node, robot) if settings.detect_collisions else None
        self.look()

    def serve(self, robot: Robot) -> bool:
        """Whether they are right for a robot: if not, new ones have to be made."""
        return self._made_for == _key(robot)

    def look(self) -> None:
        """See who listens. To be called a few times a second."""
        self._efforts_heard, self._wrenches_heard = (
            [i for i, publisher in enumerate(publishers) if publisher.get_subscription_count()]
            for publishers in (self._effort_publishers, self._wrench_publishers)
        )
        self._markers_heard = bool(self._marker_publisher.get_subscription_count())
        if self.collision is not None:
            self.collision.look()

    def publish(self, stamp: tuple[int, int], efforts: Efforts, now: float) -> None:
        """Publish what somebody listens to.

        Args:
            stamp: of the measured state, s and ns.
            efforts: of the tick.
            now: time of a steady clock, s.
        """
        effort = self._effort
        effort.header.stamp.sec, effort.header.stamp.nanosec = stamp
        for i in self._efforts_heard:
            effort.effort = array("d", efforts[i])
            self._effort_publishers[i].publish(effort)
        for i in self._wrenches_heard:
            message = self._wrenches[i]
            message.header.stamp = effort.header.stamp
            force, torque = message.wrench.force, message.wrench.torque
            force.x, force.y, force.z, torque.x, torque.y, torque.z = efforts.joint_wrenches[i]
            self._wrench_publishers[i].publish(message)
        if self._markers_heard and self._markers.due(now):
            self._marker_publisher.publish(self._markers.of(effort.header.stamp, efforts.joint_wrenches))

    def destroy(self) -> None:
        """Take the publishers down."""
        for publisher in (*self._effort_publishers, *self._wrench_publishers, self._marker_publisher):
            self._node.destroy_publisher(publisher)
        if self.collision is not None:
            self.collision.destroy()


def _key(robot: Robot) -> tuple[object, ...]:
    model, settings = robot.model, robot.settings
    names = model.link_names, tuple(joint.name for joint in model.joints), robot.tip_link
    return *names, settings.detect_collisions, settings.marker_scale, settings.marker_rate
