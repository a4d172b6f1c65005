"""What is published on ~/command, and the failsafe process that goes on if this process dies."""

from __future__ import annotations

import time

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from ros2_dyn.control.failsafe_ramp import LastCommand
from ros2_dyn.ros.failsafe import NODE_SUFFIX, FailsafeProcess, FailsafeTask
from ros2_dyn.ros.message_template import command_template
from ros2_dyn.runtime.samples import CommandLink
from ros2_dyn.runtime.update import Command, FailsafeConfig

UNKNOWN_NODE = "_NODE_NAME_UNKNOWN_"
"""Node name of an endpoint whose node is gone, for example after SIGKILL. Such publishers are ignored."""


class CommandOutput:
    """Publishes commands in the controller's order, each stored for the failsafe process before it leaves."""

    def __init__(self, node: Node) -> None:
        """Create the publisher."""
        self._node = node
        self._publisher = node.create_publisher(Float64MultiArray, "~/command", 1)
        self._template = command_template(1)
        self._size = 1
        self._failsafe = FailsafeProcess()
        self._armed = False

    def link(self) -> CommandLink:
        """Return what is known of the other side."""
        publisher, node = self._publisher, self._node
        own = [(name, node.get_namespace()) for name in (node.get_name(), node.get_name() + NODE_SUFFIX)]
        others = tuple(
            info.node_name
            for info in node.get_publishers_info_by_topic(publisher.topic_name)
            if (info.node_name, info.node_namespace) not in own and info.node_name != UNKNOWN_NODE
        )
        alive = not self._armed or self._failsafe.alive
        return CommandLink(publisher.get_subscription_count(), others, publisher.topic_name, alive)

    def send(self, command: Command, now: float) -> None:
        """Publish a command, at a time of the runtime, s.

        The failsafe process measures the age of the state by the steady clock.
        """
        state_at = time.monotonic() - (now - command.state_at)
        self._failsafe.update(LastCommand(state_at, command.effort, command.hold))
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
        task = FailsafeTask(node.get_name(), node.get_namespace(), self._publisher.topic_name, config)
        self._failsafe.arm(task, self._publisher.get_subscription_count())
        self._armed = True

    def rest(self) -> None:
        """Take notice that nothing is commanded: the failsafe process has nothing to do."""
        self._failsafe.clear()

    def close(self) -> None:
        """End: what is commanded passes to the failsafe process."""
        self._failsafe.trigger()
