# SPDX-License-Identifier: Apache-2.0
"""The time of the mock arm: it follows the node's clock, or publishes a clock of its own."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable

from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.logging import get_logger
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from ros2_dyn.ros.executor import ServedNode
from ros2_dyn.ros.messages import time_message
from ros2_dyn.simulation.lockstep import Lockstep

CATCH_UP = 0.1
"""Longest time that one tick makes up for, s. After a longer pause or a clock jump the arm goes on where it stopped."""

Advance = Callable[[int], bool]
"""Simulates a number of integration steps and publishes that instant; returns whether a joint state was published."""


class ArmClock(ABC):
    """The relation between the arm's time (s since its start) and the time of the stamps (ns)."""

    epoch: int
    """Stamp of the arm's time 0, ns."""

    @abstractmethod
    def restart(self) -> None:
        """Set the arm's time back to 0; the stamps go on."""

    def stamped(self, nanoseconds: int) -> None:  # noqa: B027 (a clock that is followed knows)
        """Take the stamp of the instant that is about to be published, ns."""

    def proceed(self) -> None:  # noqa: B027 (a clock that is followed does not wait)
        """Go on if it is time to. To be called after an awaited command."""

    def close(self) -> None:  # noqa: B027
        """End."""


class FollowedClock(ArmClock):
    """The arm's time follows the node's clock: real time, or an external `/clock` where `use_sim_time` is set."""

    def __init__(self, node: Node, period: float, step: float, advance: Advance, on_jump: Callable[[], None]) -> None:
        """Start the ticks.

        Args:
            node: the node, whose clock is followed.
            period: time between two ticks, s.
            step: integration step, s.
            advance: called at each tick.
            on_jump: called before a tick where the clock has jumped.
        """
        self._clock = node.get_clock()
        self.epoch = self._clock.now().nanoseconds
        self._step, self._advance, self._on_jump = step, advance, on_jump
        self._done = 0
        node.create_timer(period, self._on_timer)

    def restart(self) -> None:
        """See `ArmClock`."""
        self.epoch, self._done = self._clock.now().nanoseconds, 0

    def _on_timer(self) -> None:
        now = self._clock.now().nanoseconds
        due = round((now - self.epoch) * 1e-9 / self._step) - self._done
        if abs(due) * self._step > CATCH_UP:
            self.epoch += round((due - 1) * self._step * 1e9)
            due = 1
            self._on_jump()
        steps = max(1, due)
        self._done += steps
        self._advance(steps)


class PublishedClock(ArmClock):
    """The arm's time is that of `/clock`, which is published before each state; `Lockstep` decides when it goes on.

    Each tick advances it by exactly one period. It starts at 0.
    """

    def __init__(self, node: ServedNode, steps: int, lockstep: Lockstep, advance: Advance) -> None:
        """Start the ticks.

        Args:
            node: the node.
            steps: integration steps of one tick.
            lockstep: decides when a tick is due.
            advance: called at each tick.
        """
        self.epoch = 0
        self.lockstep = lockstep
        self._newest = 0
        self._node, self._goes_on = node, False
        self._steps, self._advance = steps, advance
        self._out = node.create_publisher(Clock, "/clock", 10)
        node.create_timer(1e-3, self.proceed, clock=RosClock(clock_type=ClockType.STEADY_TIME))

    def stamped(self, nanoseconds: int) -> None:
        """See `ArmClock`: publish the clock."""
        self._newest = nanoseconds
        self._out.publish(Clock(clock=time_message(nanoseconds)))

    def restart(self) -> None:
        """See `ArmClock`."""
        self.epoch = self._newest

    def proceed(self) -> None:
        """See `ArmClock`: tick if it is time to; if the next tick is due at once, after what waits."""
        now = time.monotonic()
        if self.lockstep.delay(now) <= 0:
            published = self._advance(self._steps)
            self.lockstep.stepped(published, now)
            now = time.monotonic()
        if self.lockstep.delay(now) <= 0 and not self._goes_on:
            self._goes_on = True
            self._node.call_soon(self._go_on)

    def _go_on(self) -> None:
        self._goes_on = False
        self.proceed()

    def close(self) -> None:
        """See `ArmClock`: log how fast the simulation was."""
        lockstep = self.lockstep
        pace, unanswered = lockstep.real_pace(time.monotonic()), f"{lockstep.unanswered} states without a command"
        # The node's own logger would publish, which fails once the context is shut down.
        get_logger("ros2_dyn").info(f"simulated {lockstep.simulated():.3f} s at {pace:.3f} of real time, {unanswered}")
