"""Messages that cannot be used: counted by topic and reason, and warned about once a second at most."""

from __future__ import annotations

from collections import Counter

from rclpy.impl.rcutils_logger import RcutilsLogger

from ros2_dyn.errors import MessageError


class Refusals:
    """What was refused, and why."""

    def __init__(self, logger: RcutilsLogger) -> None:
        self.count: Counter[tuple[str, str]] = Counter()
        """Number of refused messages by topic and reason."""
        self._logger = logger
        self._reported: Counter[tuple[str, str]] = Counter()

    def refuse(self, topic: str, error: MessageError) -> None:
        """Count a message that is not used."""
        self.count[topic, error.reason] += 1
        self._logger.warning(
            f"refused a message on {topic}: {error} ({self.count.total()} refused so far)", throttle_duration_sec=1.0
        )

    def since_last_time(self) -> Counter[tuple[str, str]]:
        """What was refused since this was last asked."""
        new = self.count - self._reported
        self._reported = self.count.copy()
        return new
