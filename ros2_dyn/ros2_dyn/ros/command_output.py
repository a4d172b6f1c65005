"""What leaves on ~/command, and what goes on there if this process dies."""

from __future__ import annotations

import time
from array import array
from math import inf

from rclpy.node import Node
from std_msgs.msg import Float64MultiArray

from ros2_dyn.control.effort_guard import EffortGuard
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.last_will import Duty, LastWill
from ros2_dyn.ros.preconditions import why_nobody

HELD = 0.5
"""Time, s, for which the last command is what a controller holds, whatever the measured efforts say as yet."""


class CommandOutput:
    """Publishes commands in the controller's order, each noted in the last will before it leaves."""

    def __init__(self, node: Node) -> None:
        """Create the publisher."""
        self.order: list[int] = []
        """Of the controller's joints among the robot's."""
        self._node = node
        self._out = node.create_publisher(Float64MultiArray, "~/command", 1)
        self._message = Float64MultiArray()
        self._will = LastWill()
        self._sent: Array | None = None
        self._sent_at = -inf

    @property
    def topic(self) -> str:
        """Its whole name."""
        return self._out.topic_name

    @property
    def heard(self) -> bool:
        """Whether anybody listens."""
        return self._out.get_subscription_count() > 0

    def why_nobody(self) -> str:
        """What is wrong with the other side; empty: nothing."""
        return why_nobody(self._node, self._out)

    def send(self, effort: Array, guard: EffortGuard, held: Array) -> None:
        """Publish a command of the guard's.

        Args:
            effort: N m or N, shape (n,).
            guard: that made it.
            held: effort that the last will passes to, as `EffortGuard.ease`.
        """
        self._will.note(guard, held)
        self._message.data = array("d", effort[self.order])
        self._out.publish(self._message)
        self._sent, self._sent_at = effort, time.monotonic()

    def applied(self) -> Array | None:
        """What was sent so lately that a controller holds it, N m or N, shape (n,); None: nothing."""
        return self._sent if time.monotonic() - self._sent_at < HELD else None

    def forget(self) -> None:
        """The robot has become another."""
        self._sent = None

    # ---- the last will

    def duty(self, guard: EffortGuard) -> Duty | None:
        """What is to be done if this process dies while a guard commands; None: nothing."""
        policy, node = guard.policy, self._node
        if policy.stop_behaviour == "cease":
            return None
        names = node.get_name(), node.get_namespace(), self.topic
        return Duty(*names, self.order, guard.limits.slew.tolist(), policy.state_timeout, policy.stop_behaviour)

    def entrust(self, duty: Duty | None) -> str:
        """Have a process for a duty, if there is one, which may take seconds; what went wrong, if anything did."""
        trouble = "" if duty is None else self._will.entrust(duty, self._out.get_subscription_count())
        return trouble and f"the process that takes over if this one dies did not start: {trouble}"

    def entrusted(self, guard: EffortGuard) -> bool:
        """Whether somebody would do just that."""
        duty = self.duty(guard)
        return duty is None or self._will.bound_to(duty)

    def forsaken(self, guard: EffortGuard) -> bool:
        """Whether there is a duty and nobody who would do it."""
        return self.duty(guard) is not None and not self._will.alive

    def rest(self) -> None:
        """Nothing is commanded: the last will has nothing to do."""
        self._will.clear()

    def close(self) -> None:
        """The node ends: what it commands passes to its last will."""
        self._will.hand_over()
