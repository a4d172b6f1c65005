"""What the collision monitor publishes: external efforts, the state of the detector, the wrench at the tip, a stop."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from visualization_msgs.msg import Marker, MarkerArray

from ros2_dyn.ros.collision_monitor import CollisionMonitor
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.ros.robot import Robot
from ros2_dyn.ros.wrench_markers import WrenchMarkers

EXTERNAL_SCALE = 5.0
"""Arrows of the external wrench are so much longer than those of joint wrenches, which carry the arm's weight."""


class CollisionOutputs:
    """The publishers of one robot's collision monitor; those that nobody subscribes to cost next to nothing."""

    def __init__(self, node: Node, robot: Robot) -> None:
        self._node = node
        names, base, settings = list(robot.model.joint_names), robot.model.base_link, robot.settings
        self._effort, self._state, self._wrench = (
            JointState(name=names),
            CollisionState(joint_names=names),
            WrenchStamped(),
        )
        self._effort.header.frame_id = self._state.header.frame_id = base
        self._wrench.header.frame_id = robot.tip_link
        scale = EXTERNAL_SCALE * settings.marker_scale
        self._markers = WrenchMarkers([robot.tip_link], scale, settings.marker_rate, "external_")
        self._efforts_out = node.create_publisher(JointState, "~/external_effort", 10)
        self._states_out = node.create_publisher(CollisionState, "~/collision", 10)
        self._wrenches_out = node.create_publisher(WrenchStamped, "~/external_wrench", 10)
        self._markers_out = node.create_publisher(MarkerArray, "~/wrench_markers", 10)
        self._stop_out = node.create_publisher(Bool, "~/collision_stop", LATCHED)
        self.look()
        self.stop(robot.monitor is not None and robot.monitor.detector.collision)

    def look(self) -> None:
        """See who listens. To be called a few times a second."""
        self._heard = [
            bool(out.get_subscription_count())
            for out in (self._efforts_out, self._states_out, self._wrenches_out, self._markers_out)
        ]

    def stop(self, collision: bool) -> None:
        """Say whether the robot is to stop, also to those who come later."""
        self._stop_out.publish(Bool(data=collision))

    def publish(self, monitor: CollisionMonitor, begins: bool, now: float) -> None:
        """Publish what somebody listens to; a collision that begins in any case.

        Args:
            monitor: which has just taken a state.
            begins: whether a collision begins.
            now: time of a steady clock, s.
        """
        if begins:
            self.stop(True)
        efforts, states, wrenches, markers = self._heard
        if efforts:
            _stamp(self._effort, monitor)
            self._effort.effort = array("d", monitor.residual)
            self._efforts_out.publish(self._effort)
        if states or begins:
            self._states_out.publish(self.state(monitor))
        markers = markers and self._markers.due(now)
        if wrenches or markers:
            self._publish_wrench(monitor, wrenches, markers)

    def state(self, monitor: CollisionMonitor) -> CollisionState:
        """The detector's latest view, in a message that is used again and again."""
        message, detector = self._state, monitor.detector
        _stamp(message, monitor)
        message.residual = array("d", monitor.residual)
        message.threshold = array("d", detector.threshold)
        message.exceeded = detector.exceeded
        message.collision = detector.collision
        message.contact_link = monitor.contact().link if any(detector.exceeded) else ""
        return message

    def _publish_wrench(self, monitor: CollisionMonitor, heard: bool, markers: bool) -> None:
        wrench = monitor.wrench().wrench
        _stamp(self._wrench, monitor)
        if heard and wrench:
            self._wrenches_out.publish(self.fill_wrench(self._wrench, wrench, monitor))
        if markers:
            arrows = self._markers.of(self._wrench.header.stamp, [wrench or (0.0,) * 6])
            for marker in arrows.markers:
                marker.action = Marker.ADD if wrench else Marker.DELETE
            self._markers_out.publish(arrows)

    def fill_wrench(self, message: WrenchStamped, wrench: Sequence[float], monitor: CollisionMonitor) -> WrenchStamped:
        """Put [force; moment] on the tip into a message."""
        _stamp(message, monitor)
        message.header.frame_id = self._wrench.header.frame_id
        force, torque = message.wrench.force, message.wrench.torque
        force.x, force.y, force.z, torque.x, torque.y, torque.z = wrench
        return message

    def destroy(self) -> None:
        """Take the publishers down."""
        for out in (self._efforts_out, self._states_out, self._wrenches_out, self._markers_out, self._stop_out):
            self._node.destroy_publisher(out)


def _stamp(message: JointState | CollisionState | WrenchStamped, monitor: CollisionMonitor) -> None:
    state = monitor.state
    assert state is not None  # it has just taken one
    message.header.stamp.sec, message.header.stamp.nanosec = state.stamp
