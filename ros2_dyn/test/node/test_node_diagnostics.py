# SPDX-License-Identifier: Apache-2.0
"""The node's diagnostics: one status for each concern, once a second, in each condition of the node."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ros2_dyn.dynamics import gravity

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from trajectory_msgs.msg import JointTrajectory

from driven_arms import HOME, MODEL
from driver import Driver, driving
from ros2_dyn.control.command_history import CommandHistory
from ros2_dyn.control.loop_delay import LoopDelay
from ros2_dyn.ros.diagnostics import Window, loop_status, singularity_status, states_status
from ros2_dyn.runtime import MeasuredState, Settings
from ros2_dyn.runtime.robot_dynamics import RobotDynamics


class Reports:
    """The node's diagnostics."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.received = driver.listener.listen("/diagnostics", type=DiagnosticArray)

    def status(self, name: str) -> DiagnosticStatus:
        """Return the newest status of a concern."""
        found = [status for status in self.received[-1].status if status.name == f"dynamics: {name}"]
        return found[0] if found else DiagnosticStatus()

    def until(self, concern: str, level: bytes, text: str, **state: Any) -> dict[str, str]:
        """Publish states until a concern has a level and a message; return its values."""

        def reported() -> bool:
            self.driver.offer(**state)
            return bool(self.received) and self.status(concern).level == level and text in self.status(concern).message

        self.driver.listener.until(reported, f"{concern} never has the level {level!r} and '{text}'")
        return {pair.key: pair.value for pair in self.status(concern).values}


@pytest.fixture(scope="module")
def reports() -> Iterator[Reports]:
    """Reports of a node that has got no state yet."""
    with driving(Driver.with_robot) as driver:
        yield Reports(driver)


def test_latency_model_and_mode_are_reported(reports):
    """With the robot's name as the hardware, as soon as there are states."""
    reports.driver.listener.until(lambda: reports.received, "no diagnostics")
    assert "no usable state yet" in reports.status("joint_states").message
    values = reports.until("tick", DiagnosticStatus.OK, "acceleration: zero")
    assert {"latency p50 (ms)", "latency p99 (ms)"} <= set(values)
    assert reports.until("model", DiagnosticStatus.OK, "fine")["tip link"] == "tool0"
    assert reports.until("mode", DiagnosticStatus.OK, "monitor")["commands"] == "False"
    assert "delay (ms)" in reports.until("loop", DiagnosticStatus.OK, "fine")
    assert {status.hardware_id for status in reports.received[-1].status} == {"mock_arm"}


def test_efforts_that_the_model_does_not_expect_are_reported_with_the_joint(reports):
    """Half of what refuses a mode is a warning."""
    expected = gravity(MODEL, HOME).tolist()
    values = reports.until("effort", DiagnosticStatus.OK, "as the model expects", effort=expected)
    assert float(values["allowed, shoulder_lift_joint (N m or N)"]) == pytest.approx(22.5, rel=0.01)
    wrong = [tau + (15.0 if i == 1 else 0.0) for i, tau in enumerate(expected)]
    values = reports.until(
        "effort", DiagnosticStatus.WARN, "'shoulder_lift_joint' differs from the model", effort=wrong
    )
    assert float(values["measured effort minus model's, shoulder_lift_joint (N m or N)"]) == pytest.approx(15, abs=0.1)


def test_rejected_messages_are_reported(reports):
    """By topic and reason, states apart from the others."""
    publisher = reports.driver.listener.publisher(JointTrajectory, "dynamics/desired")

    def reported() -> bool:
        publisher.publish(JointTrajectory())
        reports.driver.offer()
        reports.driver.offer(position=[np.nan] * 6)
        return all("messages rejected" in reports.status(name).message for name in ("inputs", "joint_states"))

    reports.driver.listener.until(reported, "they are not reported")
    assert [pair.key for pair in reports.status("inputs").values] == ["~/desired: empty"]
    assert "rejected or doubted: not finite" in [pair.key for pair in reports.status("joint_states").values]


def test_states_are_reported_from_none_to_fine():
    """No state, foreign ones, rejected ones, good ones, two publishers, and none any more."""
    window = Window()

    def said(now: float = 0.1, publishers: int = 1, **rejected: int) -> tuple[bytes, str]:
        found = states_status(window, now, publishers, rejected)
        return found.level, found.message

    assert said() == (DiagnosticStatus.STALE, "no usable state yet")
    assert "messages arrive, but hold none of the joints" in said(foreign=3)[1]
    assert said(late=2) == (DiagnosticStatus.STALE, "no usable state yet; 2 messages rejected or doubted")
    window.last_state_at = 0.0
    assert said(foreign=3) == (DiagnosticStatus.OK, "fine")
    assert said(late=2) == (DiagnosticStatus.WARN, "2 messages rejected or doubted")
    assert said(publishers=2) == (DiagnosticStatus.WARN, "2 publishers on one topic")
    assert said(now=1.2) == (DiagnosticStatus.ERROR, "no usable state for 1.2 s")


def test_singularity_is_told():
    robot = RobotDynamics(MODEL, Settings())
    for q, level in (([0.0] * 6, DiagnosticStatus.WARN), (HOME.tolist(), DiagnosticStatus.OK)):
        assert singularity_status(robot, MeasuredState(1, q, [0.0] * 6)).level == level


def test_arm_that_has_swung_is_told():
    loop = LoopDelay(CommandHistory(1.0))
    runtime: Any = SimpleNamespace(loop=loop)
    assert loop_status(runtime).level == DiagnosticStatus.OK
    for k in range(100):
        loop.swing.on_state(np.sin([0.25 * k]), 0.004 * k)
    assert loop_status(runtime).level == DiagnosticStatus.WARN
    assert "commands.delay" in loop_status(runtime).message
