"""What the runtime did and rejected: counted for the diagnostics, and logged without flooding the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_dyn.control.events import Event


class EventLog:
    """Counts and logs events."""

    def __init__(self, logger: RcutilsLogger) -> None:
        self.interventions: Counter[str] = Counter()
        """Number of interventions in commands by kind, since the start."""
        self._logger = logger
        self._rejected: Counter[tuple[str, str]] = Counter()
        self._total = 0

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
        """Return the number of rejected messages by topic and reason since the last call."""
        rejected, self._rejected = self._rejected, Counter()
        return rejected

    def _reject(self, event: Event) -> None:
        self._rejected[event.topic, event.kind] += 1
        if event.kind != "foreign":
            self._total += 1
            text = f"{event.text} ({self._total} rejected so far)"
            self._logger.warning(text, throttle_duration_sec=1.0)
        elif event.logged:
            self._logger.warning(event.text, throttle_duration_sec=5.0)

    def _log(self, event: Event) -> None:
        if event.level == "error":
            self._logger.error(event.text)
        else:
            self._logger.warning(event.text)
