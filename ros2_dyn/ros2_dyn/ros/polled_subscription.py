# SPDX-License-Identifier: Apache-2.0
"""Subscriptions that are read without the executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription


def take_all(subscription: Subscription) -> Iterator[Any]:
    """Take the messages that have come and were not read yet, oldest first."""
    with subscription.handle:
        while (taken := subscription.handle.take_message(subscription.msg_type, subscription.raw)) is not None:
            yield taken[0]


class PolledCallbackGroup(CallbackGroup):
    """Keeps its entities out of the executor's wait set while they are not wanted there.

    An executor wakes for each message of what is in its wait set. Messages of the others stay in the middleware's
    queue until they are taken. A subscription's events stay out with it, because Fast DDS wakes the events for
    messages, too.
    """

    def __init__(self, wanted: Callable[[], bool]) -> None:
        super().__init__()
        self._wanted = wanted

    def can_execute(self, entity: Any) -> bool:
        """Return whether the executor is to wait for an entity."""
        return self._wanted()

    def beginning_execution(self, entity: Any) -> bool:
        """Allow it always, once it has been waited for."""
        return True

    def ending_execution(self, entity: Any) -> None:
        """Undo nothing."""
