# SPDX-License-Identifier: Apache-2.0
"""What is published on ~/command, who else is there, and the failsafe process that goes on without this process."""

from __future__ import annotations

from array import array

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from ros2_dyn.ros.endpoints import count_controllers, identified_publisher, other_publishers
from ros2_dyn.ros.failsafe import FailsafeProcess, FailsafeTask
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.mode_entry_checks import FAILSAFE_SUFFIX
from ros2_dyn.runtime.update import Command, FailsafeConfig


class CommandOutput:
    """Publishes commands in the controller's order, each stored for the failsafe process before it leaves."""

    def __init__(self, node: Node) -> None:
        """Create the publisher."""
        self._node = node
        self._publisher, self._gid = identified_publisher(node, Float64MultiArray, "~/command", 1)
        self._message = Float64MultiArray()
        self._failsafe = FailsafeProcess()
        self._gids = {self._gid}
        self._armed = self._arming = False

    @property
    def overruled(self) -> bool:
        """Whether the failsafe process has taken over, so that nothing may be published."""
        return self._failsafe.commands

    def link(self) -> CommandLink:
        """Return what is known of the other side."""
        node, topic = self._node, self._publisher.topic_name
        failsafe = node.get_fully_qualified_name() + FAILSAFE_SUFFIX
        subscribers = self._publisher.get_subscription_count()
        if subscribers:
            subscribers = min(subscribers, count_controllers(node, topic))
        alive = not self._armed or self._failsafe.alive
        others = other_publishers(node, topic, self._gids)
        if self._arming:  # its endpoint is not known yet
            others = tuple(name for name in others if name != failsafe)
        if self.overruled and self._failsafe.runs:  # whether or not the middleware shows one that hangs
            others += (failsafe,)
        return CommandLink(subscribers, others, topic, alive, self.overruled)

    def send(self, command: Command, now: float) -> None:
        """Publish a command, at a time of the runtime, s."""
        self._failsafe.update(command.as_last(now))
        self._message.data = array("d", command.data.tolist())
        self._publisher.publish(self._message)

    def beat(self) -> None:
        """Show the failsafe process that this one works."""
        self._failsafe.beat()

    def arm(self, config: FailsafeConfig) -> None:
        """Arm the failsafe process, which may take seconds.

        Raises:
            FailsafeError: it is not ready.
        """
        node = self._node
        task = FailsafeTask(
            node.get_name(),
            node.get_namespace(),
            self._publisher.topic_name,
            node.resolve_topic_name("joint_states"),
            node.get_clock().ros_time_is_active,
            config,
        )
        self._arming = True
        try:
            self._failsafe.arm(task, self._publisher.get_subscription_count())
            self._gids.add(self._failsafe.gid)
            self._armed = True
        finally:
            self._arming = False

    def rest(self) -> None:
        """Take notice that nothing is commanded: the failsafe process has nothing to do."""
        self._failsafe.clear()

    def close(self) -> None:
        """End: what is commanded passes to the failsafe process."""
        self._failsafe.trigger()
