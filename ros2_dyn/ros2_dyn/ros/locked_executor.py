# SPDX-License-Identifier: Apache-2.0
"""An executor beside the hot loop: it calls back under a lock, and an error does not end it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from rclpy.executors import ExternalShutdownException, ShutdownException, SingleThreadedExecutor, TimeoutException


class LockedExecutor(SingleThreadedExecutor):
    """Serves a node's parameters, services, timers and subscriptions, one at a time.

    Attributes:
        waiting: Whether it waits for the lock, which Python does not grant in turn.
    """

    def __init__(
        self, lock: threading.RLock, called: Callable[[], None], failed: Callable[[], None], context: Any
    ) -> None:
        """Make it.

        Args:
            lock: held while something is called back.
            called: called after each callback, without the lock.
            failed: called where a callback raised, amid the exception.
            context: rclpy's.
        """
        super().__init__(context=context)
        self.waiting = False
        self._lock, self._called, self._failed = lock, called, failed

    def serve(self) -> None:
        """Call back until the context is shut down."""
        while self.context.ok():
            try:
                self.spin_once()
            except ExternalShutdownException:
                return
            except Exception:
                self._failed()

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for something that is to be called back, and do that."""
        try:
            task, _, _ = self.wait_for_ready_callbacks(timeout_sec=timeout_sec)
        except (ShutdownException, TimeoutException):
            return
        self.waiting = True
        with self._lock:
            self.waiting = False
            task()
        self._called()
        if (error := task.exception()) is not None:
            raise error
