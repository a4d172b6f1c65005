# SPDX-License-Identifier: Apache-2.0
"""What is published on ~/command, who else is there, and the failsafe process that goes on without this process."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from ros2_dyn.ros.endpoints import count_controllers, identified_publisher, other_publishers
from ros2_dyn.ros.failsafe import FailsafeProcess, FailsafeTask
from ros2_dyn.ros.message_template import command_template
from ros2_dyn.runtime.inputs import CommandLink
from ros2_dyn.runtime.mode_entry_checks import FAILSAFE_SUFFIX
from ros2_dyn.runtime.update import Command, FailsafeConfig


class CommandOutput:
    """Publishes commands in the controller's order, each stored for the failsafe process before it leaves."""

    def __init__(self, node: Node) -> None:
        """Create the publisher."""
        self._node = node
        self._publisher, gid = identified_publisher(node, Float64MultiArray, "~/command", 1)
        self._template, self._size = command_template(1), 1
        self.failsafe = FailsafeProcess()
        self._gids = {gid}
        self._armed = self._arming = False

    def link(self) -> CommandLink:
        """Return what is known of the other side."""
        node, topic = self._node, self._publisher.topic_name
        failsafe = node.get_fully_qualified_name() + FAILSAFE_SUFFIX
        subscribers = self._publisher.get_subscription_count()
        if subscribers:
            subscribers = min(subscribers, count_controllers(node, topic))
        alive = not self._armed or self.failsafe.alive
        others = other_publishers(node, topic, self._gids)
        if self._arming:  # its endpoint is not known yet
            others = tuple(name for name in others if name != failsafe)
        if self.failsafe.commands and self.failsafe.runs:  # whether or not the middleware shows one that hangs
            others += (failsafe,)
        return CommandLink(subscribers, others, topic, alive, self.failsafe.commands)

    def send(self, command: Command, now: float) -> None:
        """Publish a command, at a time of the runtime, s."""
        self.failsafe.update(command.as_last(now))
        if len(command.data) != self._size:
            self._size = len(command.data)
            self._template = command_template(self._size)
        self._publisher.publish(self._template.render(0, command.data.tolist()))

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
            self.failsafe.arm(task, self._publisher.get_subscription_count())
            self._gids.add(self.failsafe.gid)
            self._armed = True
        finally:
            self._arming = False
