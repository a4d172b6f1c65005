# SPDX-License-Identifier: Apache-2.0
"""What is published for each state: efforts, joint wrenches, external efforts, collisions, and markers of wrenches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, WrenchStamped
from rclpy.node import Node
from ros2_dyn_interfaces.msg import CollisionState
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ros2_dyn.ros.message_template import MessageTemplate, collision_template, effort_template, wrench_template
from ros2_dyn.ros.messages import time_message
from ros2_dyn.ros.node_base import LATCHED
from ros2_dyn.runtime.collision_monitor import CollisionUpdate
from ros2_dyn.runtime.robot_dynamics import RobotDynamics
from ros2_dyn.runtime.update import Step

EFFORT_TOPICS = ("inverse_dynamics", "gravity", "coriolis", "friction")
"""Their order is that of the fields of `Terms`."""
ORANGE = ColorRGBA(r=1.0, g=0.5, b=0.0, a=0.9)
RED = ColorRGBA(r=0.9, g=0.15, b=0.15, a=0.9)
BLUE = ColorRGBA(r=0.1, g=0.4, b=1.0, a=0.9)
"""Colours of forces through joints, of the external force, and of moments."""


def wrench_topic(joint: str) -> str:
    """Return the topic of the wrench through a joint: characters that no topic may have are ``_`` in it."""
    return "joint_wrench/" + re.sub(r"^(?=\d)|\W", "_", joint, flags=re.ASCII)


class Output:
    """A topic on which nothing is published, and so nothing computed, while nobody subscribes.

    Attributes:
        used: Whether somebody subscribed when it was looked.
    """

    def __init__(self, node: Node, kind: Any, topic: str) -> None:
        self._node = node
        self._publisher = node.create_publisher(kind, f"~/{topic}", 10)
        self.publish = self._publisher.publish
        self.look()

    def look(self) -> None:
        """See whether somebody subscribes. To be called a few times a second."""
        self.used = bool(self._publisher.get_subscription_count())

    def destroy(self) -> None:
        """Take it down."""
        self._node.destroy_publisher(self._publisher)


class Outputs:
    """The topics of one robot."""

    def __init__(self, node: Node, robot: RobotDynamics) -> None:
        self._key = _key(robot)
        model = robot.model
        # RViz waits until it knows where the frame of a message is, and draws then at all joints: not the base's frame.
        self._effort = effort_template(model.joint_names, robot.tip_link)
        self._wrenches = [wrench_template(link) for link in model.child_links]
        self._markers = WrenchMarkers([joint.name for joint in model.joints], model.child_links)
        self._effort_outputs = [Output(node, JointState, topic) for topic in EFFORT_TOPICS]
        self._wrench_outputs = [Output(node, WrenchStamped, wrench_topic(joint.name)) for joint in model.joints]
        self._marker_output = Output(node, MarkerArray, "wrench_markers")
        self.collision = CollisionOutputs(node, robot) if robot.settings.collision.observes else None
        self._all = [*self._effort_outputs, *self._wrench_outputs, self._marker_output]
        self._all += [] if self.collision is None else self.collision.outputs

    def matches(self, robot: RobotDynamics) -> bool:
        """Return whether they are right for a robot: if not, new ones have to be made."""
        return self._key == _key(robot)

    def refresh_subscribers(self) -> None:
        """See which topics have subscribers. To be called a few times a second."""
        for output in self._all:
            output.look()

    def publish(self, step: Step, now: float) -> None:
        """Publish what is subscribed to of one state, at a time, s."""
        stamp, terms = step.state.stamp, step.terms
        for output, effort in zip(self._effort_outputs, terms):
            if output.used:
                output.publish(self._effort.render(stamp, effort))
        for output, template, wrench in zip(self._wrench_outputs, self._wrenches, terms.joint_wrenches):
            if output.used:
                output.publish(template.render(stamp, wrench))
        if self._marker_output.used and self._markers.due(now):
            self._marker_output.publish(self._markers.of(time_message(stamp), terms.joint_wrenches))
        if self.collision is not None and step.collision is not None:
            self.collision.publish(step.collision, now)

    def destroy(self) -> None:
        """Take the topics down."""
        for output in self._all:
            output.destroy()
        if self.collision is not None:
            self.collision.destroy()


class CollisionOutputs:
    """The topics of one robot's external efforts.

    Attributes:
        outputs: those without subscribers of which nothing is computed.
    """

    def __init__(self, node: Node, robot: RobotDynamics) -> None:
        self._node = node
        self._names, self._base = robot.model.joint_names, robot.model.base_link
        self._effort = effort_template(self._names, robot.tip_link)
        self._wrench = wrench_template(robot.tip_link)
        self._states: dict[str, MessageTemplate] = {}
        """By contact link."""
        # Longer arrows than those of joint wrenches, which carry the weight.
        self._markers = WrenchMarkers(["external"], [robot.tip_link], scale=0.01, color=RED)
        self._effort_output = Output(node, JointState, "external_effort")
        self._state_output = Output(node, CollisionState, "collision")
        self._wrench_output = Output(node, WrenchStamped, "external_wrench")
        self._marker_output = Output(node, MarkerArray, "wrench_markers")
        self._stop_publisher = node.create_publisher(Bool, "~/collision_stop", LATCHED)
        self.outputs = [self._effort_output, self._state_output, self._wrench_output, self._marker_output]

    def publish_stop(self, collision: bool) -> None:
        """Publish whether the robot is to stop, also for subscribers that come later."""
        self._stop_publisher.publish(Bool(data=collision))

    def publish(self, seen: CollisionUpdate, now: float) -> None:
        """Publish what is subscribed to at a time, s; a collision that begins in any case."""
        stamp, wrench = seen.state.stamp, seen.wrench.wrench
        if seen.begins:
            self.publish_stop(True)
        if self._effort_output.used:
            self._effort_output.publish(self._effort.render(stamp, seen.residual))
        if self._state_output.used or seen.begins:
            self._state_output.publish(self._state(seen))
        if self._wrench_output.used and wrench:
            self._wrench_output.publish(self._wrench.render(stamp, wrench))
        if self._marker_output.used and self._markers.due(now):
            arrows = self._markers.of(time_message(stamp), [wrench or (0.0,) * 6])
            for marker in arrows.markers:
                marker.action = Marker.ADD if wrench else Marker.DELETE
            self._marker_output.publish(arrows)

    def _state(self, seen: CollisionUpdate) -> Any:
        link = seen.contact.link if any(seen.exceeded) else ""
        if link not in self._states:
            self._states[link] = collision_template(self._names, self._base, link)
        flags = (*seen.exceeded, seen.collision)
        return self._states[link].render(seen.state.stamp, seen.residual, seen.threshold, flags)

    def destroy(self) -> None:
        """Take down the topic that is not among `outputs`."""
        self._node.destroy_publisher(self._stop_publisher)


class WrenchMarkers:
    """Wrenches as arrows in RViz, at the origin of the link: a force and a blue moment each; one message for all."""

    def __init__(
        self, names: Sequence[str], links: Sequence[str], scale: float = 0.002, color: ColorRGBA = ORANGE
    ) -> None:
        """Make the arrows.

        Args:
            names: namespaces of the wrenches, which RViz shows and hides one by one.
            links: frames of the wrenches.
            scale: length of the arrows of forces, m/N.
            color: of the arrows of forces.
        """
        self._scales = (scale, 5.0 * scale)  # of forces and moments
        self._message = MarkerArray()
        self._next = 0.0
        for name, link in zip(names, links):
            for i, each in enumerate((color, BLUE)):
                marker = Marker(
                    ns=name, id=i, type=Marker.ARROW, action=Marker.ADD, color=each, points=[Point(), Point()]
                )
                marker.header.frame_id = link
                marker.frame_locked = True  # drawn at the newest transform, which is older than the stamp
                marker.pose.orientation.w = 1.0
                marker.scale.x, marker.scale.y, marker.scale.z = 0.012, 0.024, 0.03  # shaft, head, and its length
                self._message.markers.append(marker)

    def due(self, now: float) -> bool:
        """Whether they are to be published at a time of a steady clock, s: at 20 Hz at most."""
        if now < self._next:
            return False
        self._next = now + 0.05
        return True

    def of(self, stamp: Time, wrenches: Sequence[Sequence[float]]) -> MarkerArray:
        """The arrows of [force; moment] for each link, N and N m."""
        vectors = ((wrench[3 * k : 3 * k + 3], self._scales[k]) for wrench in wrenches for k in (0, 1))
        for marker, (vector, scale) in zip(self._message.markers, vectors):
            marker.header.stamp = stamp
            tip = marker.points[1]
            tip.x, tip.y, tip.z = (scale * value for value in vector)
        return self._message


def _key(robot: RobotDynamics) -> tuple[object, ...]:
    model = robot.model
    names = model.link_names, tuple(joint.name for joint in model.joints), robot.tip_link
    return *names, robot.settings.collision.observes
