# SPDX-License-Identifier: Apache-2.0
"""The loop that reads a node's hot topics without rclpy's executor, which costs more than all that the node computes.

A wait set is held by hand for the hot subscriptions, and their messages are taken as bytes. An ordinary executor serves
parameters, services, timers and other subscriptions in a second thread. One lock keeps the callbacks of both apart.
Where rclpy lacks what the wait set needs, the executor serves the hot subscriptions like any other.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from traceback import format_exc
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.exceptions import InvalidHandle
from rclpy.guard_condition import GuardCondition
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerGuardCondition
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock as ClockMessage

from ros2_dyn.ros.hot_wait_set import HotSubscription, HotWaitSet, call_events
from ros2_dyn.ros.locked_executor import LockedExecutor
from ros2_dyn.ros.periodic import Periodic
from ros2_dyn.ros.polled_subscription import PolledCallbackGroup

VARIABLE = "ROS2_DYN_HOT_LOOP"
"""Environment variable; 0 leaves the hot subscriptions to the executor."""
SWITCH_INTERVAL = 2e-4
"""Time, s, for which another thread may compute while a message waits. Python's default is 5 ms."""
MAX_WAIT = 1.0
"""Longest wait, s. It bounds what a wake-up that got lost can cost."""
GRACE = 0.02
"""Time, s, for which a context that goes down may make calls fail before it is known to be down."""
TURN = 5e-5
"""Pause, s, in which the executor gets the lock that it waits for."""
EVENT_PERIOD = 1.0
"""Time, s, between two looks at the events of the hot subscriptions."""
MAX_TAKEN = 64
"""Messages of a topic that are read in one turn at most."""

Guards = tuple[GuardCondition, ...]


class HotLoop:
    """Calls back for each message of the hot topics, and periodically.

    Topics are read in the order in which they were subscribed to. The last one's messages are read one by one. Before
    each of them, all that waits on the other topics is read.
    """

    def __init__(self, node: Node, by_hand: bool | None = None) -> None:
        """Make it; `spin` starts it.

        Args:
            node: whose topics are read.
            by_hand: whether a wait set is held by hand; None: unless the environment variable ROS2_DYN_HOT_LOOP is 0.
        """
        self.lock = threading.RLock()
        """Held by whoever calls back."""
        self.reads = False
        """Whether the loop reads the hot topics; otherwise the executor does."""
        self._node, self._context = node, node.context
        self._by_hand = os.environ.get(VARIABLE) != "0" if by_hand is None else by_hand
        self._hot: list[HotSubscription] = []
        self._guard = GuardCondition(None, None, context=self._context)
        self._periodic: Periodic | None = None
        self._executors = PolledCallbackGroup(lambda: not self.reads)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)

    def subscribe(
        self,
        message_type: Any,
        topic: str,
        qos: QoSProfile | int,
        callback: Callable[[bytes], None],
        wakes: Callable[[], bool] = lambda: True,
    ) -> Subscription:
        """Subscribe to a hot topic.

        Args:
            message_type: the type of its messages.
            topic: its name.
            qos: quality of service; depth.
            callback: takes a serialised message.
            wakes: tells whether messages are to be read as soon as they come, or when another topic's are.
        """
        group = PolledCallbackGroup(lambda: not self.reads and wakes())
        on_executor = partial(self._read_on_executor, len(self._hot))
        made = self._node.create_subscription(message_type, topic, on_executor, qos, callback_group=group, raw=True)
        self._hot.append(HotSubscription(made, callback, wakes))
        return made

    def call_periodically(
        self,
        period: float,
        callback: Callable[[], None],
        when: Callable[[], bool],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Have something called whenever a period has passed, in real time or by a clock, whichever comes first.

        Args:
            period: the period, s.
            callback: what is called.
            when: tells whether it is to be called.
            now: the clock, s, read under the lock. It may be a simulation's, which stands still or jumps.
        """
        self._periodic = Periodic(period, callback, when, now)
        group = PolledCallbackGroup(lambda: not self.reads and when())
        self._node.create_timer(period, partial(self._call, callback), callback_group=group, clock=self._steady)

    def wake(self) -> None:
        """Have the loop see what has changed: its topics, whether it is to call periodically, or its end."""
        with suppress(InvalidHandle):  # the loop has ended
            self._guard.trigger()

    def spin(self) -> None:
        """Serve the node until its context is shut down. Interrupts arrive in the main thread: call it there."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        executor = LockedExecutor(self.lock, self.wake, self._report, self._context)
        executor.add_node(self._node)
        interrupted = SignalHandlerGuardCondition(self._context)
        guards = self._guard, interrupted
        try:
            if self._by_hand and self._has_wait_set(guards):
                self._spin_by_hand(guards, executor)
            else:
                executor.serve()
        finally:
            interrupted.destroy()

    def _spin_by_hand(self, guards: Guards, executor: LockedExecutor) -> None:
        self._context.on_shutdown(self.wake)
        self._node.create_timer(EVENT_PERIOD, self._call_events, clock=self._steady)
        self.reads = True
        beside = threading.Thread(target=executor.serve, name="executor", daemon=True)
        beside.start()
        while self._context.ok():
            try:
                self._read(guards, executor)
            except InvalidHandle:
                pass  # a subscription was destroyed just now
            except Exception:
                self._report()
        beside.join()  # its callback comes to an end

    def _has_wait_set(self, guards: Guards) -> bool:
        """Return whether this rclpy has a wait set as it is used here, which is tried: it is no public interface."""
        try:
            with HotWaitSet(self._context, guards, self._present()) as wait_set:
                wait_set.wait(0.0)
        except Exception as error:
            self._node.get_logger().warning(f"no wait set can be held by hand, the executor reads all topics: {error}")
            return False
        return True

    def _call_events(self) -> None:
        call_events(self._context, [entry.subscription for entry in self._present()])

    def _read(self, guards: Guards, executor: LockedExecutor) -> None:
        """Read messages until something has changed."""
        hot = self._present()
        with HotWaitSet(self._context, guards, hot) as wait_set:
            changed = False
            while not changed and self._context.ok():
                left = MAX_WAIT if self._periodic is None else min(MAX_WAIT, self._periodic.left())
                changed = wait_set.wait(left)
                self._take(hot)
                if self._periodic is not None:
                    self._call(self._periodic.call_if_due)
                if executor.waiting:
                    time.sleep(TURN)

    def _present(self) -> list[HotSubscription]:
        """Return what is to be read. The simulation's clock comes first, for what comes later is judged by it."""
        present = list(self._node.subscriptions)
        clocks = [subscription for subscription in present if subscription.msg_type is ClockMessage]
        for clock in clocks:
            for entity in (clock, *clock.event_handlers):
                entity.callback_group = self._executors
        read = [HotSubscription(clock, partial(_set_clock, clock.callback), lambda: True) for clock in clocks]
        return read + [entry for entry in self._hot if entry.subscription in present]

    def _take(self, hot: list[HotSubscription]) -> None:
        """Read all that waits, and one message of the last topic."""
        for entry in hot[:-1]:
            for _ in range(MAX_TAKEN):
                if (raw := entry.take()) is None:
                    break
                self._call(entry.callback, raw)
        for entry in hot[-1:]:
            if (raw := entry.take()) is not None:
                self._call(entry.callback, raw)

    def _read_on_executor(self, place: int, raw: bytes) -> None:
        """Read a message that the executor has taken, and before it what waits on the topics before."""
        for entry in self._hot[:place]:
            with suppress(InvalidHandle), entry.subscription.handle:  # it may have been destroyed
                while (earlier := entry.take()) is not None:
                    self._call(entry.callback, earlier)
        self._call(self._hot[place].callback, raw)

    def _call(self, callback: Callable[..., None], *arguments: Any) -> None:
        """Call back. An error is logged, for it must not end what others rely on."""
        try:
            with self.lock:
                callback(*arguments)
        except Exception:
            self._report()

    def _report(self) -> None:
        """Log the exception that is handled, unless it comes from the end of the context."""
        time.sleep(GRACE)
        if self._context.ok():
            self._node.get_logger().error(f"please report this fault:\n{format_exc()}", throttle_duration_sec=1.0)


def _set_clock(callback: Callable[[ClockMessage], None], raw: bytes) -> None:
    callback(deserialize_message(raw, ClockMessage))
