# SPDX-License-Identifier: Apache-2.0
"""What serves the nodes: rclpy's EventsExecutor, or its ordinary executor where there is no other.

The ordinary executor builds a wait set anew for each message, which costs more than all that the node computes. The
EventsExecutor takes messages in the order in which they came, so what was sent before a joint state is read before it.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Callable
from traceback import format_exc
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.timer import Timer

VARIABLE = "ROS2_DYN_EVENTS_EXECUTOR"
"""Environment variable; with 0 the ordinary executor serves, for example to compare."""


class ServedNode(Node):
    """A node of which an error in a callback ends nothing: it is logged, unless the context has gone down meanwhile.

    The EventsExecutor has one queue for all, and an event in it for each message: where messages come faster than they
    are read, services and timers would wait ever longer. So messages wait in queues of the node's own while it is busy.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        self._soon: deque[Callable[[], None]] = deque()
        self._began, self._ended, self._pauses = 0.0, 0.0, 0
        super().__init__(*arguments, **keywords)

    def create_timer(self, period: float, callback: Callable[[], object], *arguments: Any, **keywords: Any) -> Timer:
        """See `Node`."""
        return super().create_timer(period, lambda: self._guard(callback), *arguments, **keywords)

    def create_subscription(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], object],
        qos: QoSProfile | int,
        *,
        newest: Callable[[], bool] = lambda: False,
        **keywords: Any,
    ) -> Subscription:
        """See `Node`; the callback takes the message alone.

        Args:
            kind: type of the message.
            topic: name of the topic.
            callback: takes a message.
            qos: quality of service, or the depth of the queue.
            newest: whether the newest message of those that wait is all that matters now.
            **keywords: see `Node`.
        """
        waiting: deque[Any] = deque(maxlen=qos.depth if isinstance(qos, QoSProfile) else qos)
        read_in = -1  # after how many pauses

        def read() -> None:
            nonlocal read_in
            read_in = self._pauses
            message = waiting.popleft()
            if newest():
                while waiting:
                    message = waiting.popleft()
            if waiting:
                self.call_soon(read)
            self._read(callback, message)

        def on_message(message: Any) -> None:
            first = not waiting
            waiting.append(message)
            if not first:
                return
            self._note_pause()
            if self._is_busy(read_in):
                self.call_soon(read)
            else:
                read()

        return super().create_subscription(kind, topic, on_message, qos, **keywords)

    def _note_pause(self) -> None:
        """Count a pause since the last message, if there was one: of at least half the time that the message took."""
        pause, work = time.perf_counter() - self._ended, self._ended - self._began
        self._pauses += 2 * pause >= work

    def _is_busy(self, read_in: int) -> bool:
        """Return whether something waits, or the node has not paused since it read a message of this topic.

        The ordinary executor turns to one message of each topic at a time, and needs no queue.
        """
        return bool(self._soon) or (read_in == self._pauses and not isinstance(self.executor, SingleThreadedExecutor))

    def _read(self, callback: Callable[[Any], object], message: Any) -> None:
        self._began = time.perf_counter()
        self._guard(callback, message)
        self._ended = time.perf_counter()

    def call_soon(self, callback: Callable[[], None]) -> None:
        """Have something called by the thread that serves the node, in turn. May be called in any thread."""
        self._soon.append(callback)
        if (executor := self.executor) is not None:
            executor.create_task(self.call_what_waits)

    def call_what_waits(self) -> None:
        """Call what `call_soon` was given, oldest first: the ordinary executor runs its newest task first."""
        for _ in range(len(self._soon)):  # what they add waits for its turn
            self._guard(self._soon.popleft())

    def _guard(self, callback: Callable[..., object], *arguments: Any) -> None:
        try:
            callback(*arguments)
        except Exception:
            report(self)


def report(node: Node) -> None:
    """Log the exception that is handled, unless it comes from the end of the context."""
    time.sleep(0.02)  # for which calls may fail before it is known that the context goes down
    if node.context.ok():
        node.get_logger().error(f"please report this fault:\n{format_exc()}", throttle_duration_sec=1.0)


def make_executor(node: Node) -> Executor:
    """Return the executor for a node."""
    if os.environ.get(VARIABLE) != "0":
        try:
            from rclpy.experimental import EventsExecutor

            return EventsExecutor(context=node.context)
        except ImportError:  # Humble
            pass
    return SingleThreadedExecutor(context=node.context)


def spin(node: Node) -> None:
    """Serve a node until its context is shut down. Interrupts arrive in the main thread: call it there."""
    sys.setswitchinterval(2e-4)  # s for which another thread computes while a message waits; 5 ms by default
    executor = make_executor(node)
    executor.add_node(node)
    if isinstance(node, ServedNode):
        executor.create_task(node.call_what_waits)
    try:
        while node.context.ok():
            try:
                # Jazzy's EventsExecutor calls nothing back where it may wait for ever.
                # Another future each time: the ordinary one leaves two callbacks in it at each call.
                executor.spin_until_future_complete(Future(), timeout_sec=1.0)
            except ExternalShutdownException:
                return
            except Exception:  # of rclpy's own callbacks
                report(node)
    finally:
        executor.shutdown()


class Ticks:
    """Calls back periodically in real time, and with `use_sim_time` in simulated time, too, which may be faster."""

    def __init__(self, node: Node, period: float, callback: Callable[[], None]) -> None:
        """Begin.

        Args:
            node: the node.
            period: the period, s.
            callback: called whenever it has passed.
        """
        self._node, self._callback = node, callback
        self._timers = (
            node.create_timer(period, callback, clock=Clock(clock_type=ClockType.STEADY_TIME)),
            node.create_timer(period, self._on_simulated_time),
        )
        self._runs = True

    def run(self, wanted: bool) -> None:
        """Go on, or pause."""
        if wanted != self._runs:
            self._runs = wanted
            for timer in self._timers:
                if wanted:
                    timer.reset()
                else:
                    timer.cancel()

    def _on_simulated_time(self) -> None:
        if self._node.get_clock().ros_time_is_active:
            self._callback()
