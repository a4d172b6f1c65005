# SPDX-License-Identifier: Apache-2.0
"""What the runtime did, rejected and doubted: counted for the diagnostics, and logged without flooding the log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable

from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_dyn.control.events import Event


class EventLog:
    """Counts and logs events."""

    def __init__(self, logger: RcutilsLogger) -> None:
        self.interventions: Counter[str] = Counter()
        """Number of warnings and errors by kind since the start, as of interventions in commands; no rejections."""
        self._logger = logger
        self._rejected: Counter[tuple[str, str]] = Counter()
        self._total = 0
        self._logged_at: dict[float, float] = {}

    def add(self, events: Iterable[Event]) -> None:
        """Take what happened."""
        for event in events:
            if event.topic:
                self._reject(event)
            elif event.level == "info":
                self._logger.info(event.text)
            else:
                self.interventions[event.kind] += 1
                if event.logged:
                    self._log(event)

    def take_rejected(self) -> Counter[tuple[str, str]]:
        """Return the number of messages rejected or doubted by topic and reason since the last call."""
        rejected, self._rejected = self._rejected, Counter()
        return rejected

    def _reject(self, event: Event) -> None:
        self._rejected[event.topic, event.kind] += 1
        if event.kind != "foreign":
            self._total += 1
            if self._is_due(1.0):
                self._logger.warning(f"{event.text} ({self._total} rejected or doubted so far)")
        elif event.logged and self._is_due(5.0):  # other robots' joints
            self._logger.warning(event.text)

    def _is_due(self, period: float) -> bool:
        """Return whether nothing was logged for a period. rclpy's throttle takes longer than all else for a message."""
        now = time.monotonic()
        if now < self._logged_at.get(period, -period) + period:
            return False
        self._logged_at[period] = now
        return True

    def _log(self, event: Event) -> None:
        if event.level == "error":
            self._logger.error(event.text)
        else:
            self._logger.warning(event.text)
