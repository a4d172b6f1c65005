# SPDX-License-Identifier: Apache-2.0
"""Wait sets that are held by hand, not by an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, NamedTuple

from rclpy.guard_condition import GuardCondition
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.subscription import Subscription


class HotSubscription(NamedTuple):
    """A subscription that the loop reads."""

    subscription: Subscription
    callback: Callable[[bytes], None]
    wakes: Callable[[], bool]
    """Whether its messages wake the loop. Those of others are read when the loop is awake."""

    def take(self) -> bytes | None:
        """Return the oldest message that waits, if there is one."""
        taken = self.subscription.handle.take_message(self.subscription.msg_type, True)
        return None if taken is None else taken[0]


class HotWaitSet:
    """Waits for hot subscriptions: made once, and filled anew for each wait.

    It keeps its subscriptions and guard conditions alive while it is entered.
    """

    def __init__(self, context: Any, guards: Sequence[GuardCondition], hot: Sequence[HotSubscription]) -> None:
        self._context, self._guards, self._hot = context, guards, hot
        self._kept = ExitStack()
        self._set: Any = None

    def __enter__(self) -> HotWaitSet:
        with self._kept as kept:
            for entity in (self._context, *self._guards, *(entry.subscription for entry in self._hot)):
                kept.enter_context(entity.handle)
            sizes = len(self._hot), len(self._guards), 0, 0, 0, 0
            self._set = _rclpy.WaitSet(*sizes, self._context.handle)
            self._kept = kept.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._set = None
        self._kept.close()

    def wait(self, timeout: float) -> bool:
        """Wait for a message on a subscription that is to wake, or for a guard condition.

        Args:
            timeout: how long at most, s.

        Returns:
            Whether a guard condition was triggered.
        """
        wait_set = self._set
        wait_set.clear_entities()  # a wait leaves holes that the next one would fall into
        for entry in self._hot:
            if entry.wakes():
                wait_set.add_subscription(entry.subscription.handle)
        for guard in self._guards:
            wait_set.add_guard_condition(guard.handle)
        wait_set.wait(max(0, int(1e9 * timeout)))
        return any(wait_set.is_ready("guard_condition", i) for i in range(len(self._guards)))


def call_events(context: Any, subscriptions: Iterable[Subscription]) -> None:
    """Call back for what has happened on subscriptions, such as a publisher of incompatible quality of service.

    Args:
        context: rclpy's.
        subscriptions: which no executor waits for.
    """
    events = [event for subscription in subscriptions for event in subscription.event_handlers]
    with ExitStack() as kept:
        for entity in (context.handle, *events):
            kept.enter_context(entity)
        wait_set = _rclpy.WaitSet(0, 0, 0, 0, 0, len(events), context.handle)
        wait_set.clear_entities()
        for event in events:
            event.add_to_wait_set(wait_set)
        wait_set.wait(0)
        for event in events:
            if event.is_ready(wait_set):
                with suppress(StopIteration):
                    event.execute(event.take_data()).send(None)  # a coroutine that awaits nothing
