# SPDX-License-Identifier: Apache-2.0
"""The simulation's clock as the node follows it: what happens where it stands still or is set."""

import re
import time
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from diagnostic_msgs.msg import DiagnosticArray
from ros2_dyn_interfaces.srv import SetMode

from driven_arms import HOME, MODEL, StandingArm
from driver import Driver, driving, force
from ros2_dyn.dynamics import gravity
from ros_harness import PATIENCE


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """A node that notices after two seconds that the clock stands still."""
    with driving(Driver.of, StandingArm(speed=0.0), **{"states.timeout": 0.1, "gravity.damping": 0.0}) as driver:
        yield driver


def mode_status(driver: Driver) -> str:
    """Return the message of the next diagnostics of the mode."""
    reports = driver.listener.listen("/diagnostics", type=DiagnosticArray)
    driver.listener.until(lambda: reports, "no diagnostics")
    (status,) = [status for status in reports[-1].status if status.name == "dynamics: mode"]
    return status.message


def enter(driver: Driver, mode: str) -> None:
    """Enter a mode while the clock goes on, though a busy machine may hold it up for longer than its timeout."""
    deadline = time.monotonic() + PATIENCE
    while True:
        answer = driver.listener.call_async(SetMode, "dynamics/set_mode", mode=mode)
        driver.until(answer.done, "no answer")
        if answer.result().success and driver.mode == mode:
            return
        assert time.monotonic() < deadline, answer.result().message


def test_mode_ends_when_the_clock_stands_still(driver):
    """In the effort that carries the arm, by real time; no mode is entered until the clock goes on."""
    mode = "force"
    driver.wrench = force(z=0.5)
    driver.play(5)
    enter(driver, mode)
    driver.play(30)
    driver.listener.until(lambda: driver.mode == "stopped", "the mode goes on")
    weight = gravity(MODEL, HOME)
    driver.listener.until(
        lambda: np.allclose(driver.commands[-1], weight, rtol=0, atol=1e-6), "it does not carry the arm"
    )
    assert "stopped, since state stale" in mode_status(driver)
    rejected = driver.set_mode(mode)
    assert not rejected.success
    assert "behind this node's clock" in rejected.message
    driver.play(30)
    enter(driver, mode)
    assert driver.set_mode("monitor").success
    driver.play(90)


@pytest.mark.parametrize("seconds", [-0.5, 20.0])
def test_clock_that_is_set_stops_the_mode(driver, seconds):
    """Whether back or ahead; what was commanded goes over to the safe effort, and the mode can be entered again."""
    enter(driver, "hand_guiding")
    driver.time += round(1e9 * seconds)
    driver.offer()
    driver.listener.until(lambda: driver.mode != "hand_guiding", "the mode goes on")
    found = [float(jump) for jump in re.findall(r"clock jumped: /clock was set by (\S+) s", driver.process.printed)]
    # A message of the clock that the jump overtakes adds a period, or several.
    assert pytest.approx(seconds, abs=0.1) in found
    driver.offer(60)  # stamps that lie less than a second back are late messages
    assert driver.recovers()
    driver.play(30)
    enter(driver, "hand_guiding")
    assert driver.set_mode("monitor").success
    driver.play(90)
