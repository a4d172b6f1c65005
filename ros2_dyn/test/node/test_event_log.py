# SPDX-License-Identifier: Apache-2.0
"""What is rejected is counted, and logged without flooding the log or costing time at each message."""

from collections import Counter

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn.control.events import Event
from ros2_dyn.ros import event_log
from ros2_dyn.ros.event_log import EventLog

BAD = Event("implausible", "joint_states: it jumped", topic="joint_states")
FOREIGN = Event("foreign", "joint_states: other joints", topic="joint_states")


class Logger:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, text: str) -> None:
        """Keep a text."""
        self.warnings.append(text)


@pytest.fixture
def clock(monkeypatch):
    """The steady clock, which the test sets."""
    now = [100.0]
    monkeypatch.setattr(event_log.time, "monotonic", lambda: now[0])
    return now


def test_a_flood_of_rejected_messages_is_logged_once_a_second_and_counted(clock):
    log = EventLog(logger := Logger())
    for k in range(1000):
        clock[0] = 100.0 + 0.0025 * k
        log.add([BAD])
    assert logger.warnings == [f"{BAD.text} ({count} rejected or doubted so far)" for count in (1, 401, 801)]
    assert log.take_rejected() == Counter({("joint_states", "implausible"): 1000})
    assert not log.take_rejected()


def test_other_joints_do_not_hide_what_is_rejected(clock):
    log = EventLog(logger := Logger())
    log.add([FOREIGN, BAD, FOREIGN, BAD])
    assert logger.warnings == [FOREIGN.text, f"{BAD.text} (1 rejected or doubted so far)"]
    clock[0] += 4.9
    log.add([FOREIGN])
    assert len(logger.warnings) == 2
    clock[0] += 0.2
    log.add([FOREIGN])
    assert logger.warnings[2:] == [FOREIGN.text]
