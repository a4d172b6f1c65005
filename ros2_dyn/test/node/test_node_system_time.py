# SPDX-License-Identifier: Apache-2.0
"""The node in system time: what needs a real clock, and real ages."""

import time
from collections.abc import Iterator

import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from ros2_dyn_interfaces.srv import SetMode

from driven_arms import HOME, MODEL, StandingArm
from driver import Driver, driving
from ros2_dyn.dynamics import gravity

TIMEOUT = 1.0
"""State timeout, s."""


class SystemDriver(Driver):
    """A driver whose stamps are of the system's clock."""

    def pass_time(self) -> None:
        """Go on to now."""
        self.time = time.time_ns()

    def enter_when_possible(self, mode: str) -> None:
        """Enter a mode, as often as it takes: a busy machine may hold up the states."""

        def entered() -> bool:
            answer = self.listener.call_async(SetMode, "dynamics/set_mode", mode=mode)
            self.until(answer.done, "no answer")
            return answer.result().success and self.mode == mode

        self.until(entered, f"mode {mode} is not entered")


@pytest.fixture(scope="module")
def driver() -> Iterator[SystemDriver]:
    """A node in system time."""
    parameters = {"use_sim_time": False, "states.timeout": TIMEOUT, "gravity.damping": 0.0}
    with driving(SystemDriver.of, StandingArm(speed=0.0), **parameters) as driver:
        yield driver


def is_silent(driver: SystemDriver) -> bool:
    """Return whether nothing is commanded for a while."""
    count = len(driver.commands)
    driver.listener.spin(0.2)
    return len(driver.commands) == count


def test_states_that_stop_end_the_mode(driver):
    """By the node's own timer, in the effort that carries the arm, until the mode is left."""
    driver.enter_when_possible("gravity")
    count = len(driver.commands)
    driver.listener.until(lambda: driver.mode == "stopped", "the mode goes on")
    driver.listener.until(lambda: len(driver.commands) > count + 10, "no commands")
    assert_allclose(driver.commands[-1], gravity(MODEL, HOME), rtol=0, atol=1e-6)
    assert driver.set_mode("monitor").success
    driver.listener.until(lambda: is_silent(driver), "commands go on")
    driver.play(5)
    assert driver.mode == "monitor"
