"""Subscriptions that the executor leaves alone until somebody waits for their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.subscription import Subscription


def waiting(subscription: Subscription) -> Iterator[Any]:
    """The messages that have come on it and that the executor has not read, oldest first."""
    with subscription.handle:
        while (taken := subscription.handle.take_message(subscription.msg_type, False)) is not None:
            yield taken[0]


class OnDemand(CallbackGroup):
    """Keeps its entities out of the executor's wait set, which would wake for each message, unless they are wanted.

    What comes meanwhile waits in the middleware's queue, for whoever takes it from there.
    """

    def __init__(self, wanted: Callable[[], bool]) -> None:
        super().__init__()
        self._wanted = wanted

    def can_execute(self, entity: Any) -> bool:
        """Whether the executor is to wait for it."""
        return self._wanted()

    def beginning_execution(self, entity: Any) -> bool:
        """Always allowed, once it has been waited for."""
        return True

    def ending_execution(self, entity: Any) -> None:
        """Nothing is to be undone."""
