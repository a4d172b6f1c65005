"""The failsafe process: what is commanded when the node that commanded is gone, however it ended."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from std_msgs.msg import Float64MultiArray

from command_rules import STEP
from driver import HOME, MODEL, Driver, StandingArm, force
from ros2_dyn.control.failsafe_ramp import LastCommand
from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import FailsafeError
from ros2_dyn.ros.failsafe import FailsafeProcess, FailsafeTask
from ros2_dyn.runtime import FailsafeConfig

TIMEOUT = 2.0
"""State timeout, s, in which a busy machine can kill a node and discover who commands then."""
TASK = FailsafeTask("somebody", "/", "/command", FailsafeConfig((0,), (50.0,), (100.0,), TIMEOUT, "hold_gravity"))


@pytest.fixture
def begin(listener) -> Iterator[Callable[..., Driver]]:
    """Start a node, and let it command a force."""
    started: list[Driver] = []

    def begin(**parameters: Any) -> Driver:
        arm = StandingArm(speed=0.0)
        started.append(Driver.of(listener, arm, force_rate=1000.0, state_timeout=TIMEOUT, **parameters))
        enter_force(started[-1])
        return started[-1]

    yield begin
    for driver in started:
        driver.process.kill()


def enter_force(driver: Driver) -> None:
    """Enter mode force, with the failsafe process known to the controller."""
    driver.wrench = force(z=20.0)
    driver.play(5)
    before = known(driver)
    response = driver.set_mode("force")
    assert response.success, response.message
    driver.until(lambda: known(driver) > before, "no failsafe process")
    driver.play(30)


def known(driver: Driver) -> int:
    """Return how many failsafe processes are known."""
    return driver.listener.known_failsafes("dynamics/command")


def fallback(driver: Driver, end: Callable[[], object]) -> list[list[float]]:
    """End the node; return its last command and those that came afterwards, until the failsafe process has ended."""
    driver.barrier()
    count, before = len(driver.commands), known(driver)
    end()
    driver.listener.until(lambda: known(driver) < before, "it does not end")
    driver.listener.spin(0.1)  # what it sent last
    return driver.commands[count - 1 :]


def check_ramp(commands: list[list[float]], last: Any) -> None:
    """Check that the commands lead to the last one without a step."""
    assert len(commands) > 5
    assert np.max(np.abs(np.diff(commands, axis=0)) / STEP) <= 1
    assert_allclose(commands[-1], last, rtol=0, atol=1e-6)


def test_killed_node_leaves_zero_effort(begin):
    """With stop_behaviour zero_effort; without a step."""
    driver = begin(stop_behaviour="zero_effort")
    check_ramp(fallback(driver, driver.process.kill), np.zeros(6))


def test_failsafe_process_that_dies_stops_the_mode_and_a_new_one_serves_interrupted_nodes(begin):
    """The node begins a new one for the next mode; Ctrl-C ends the node like its death does."""
    driver = begin(stop_behaviour="hold_gravity")
    os.kill(child_of(driver.process.process.pid), signal.SIGKILL)
    driver.until(lambda: driver.mode == "stopped", "no stop")
    assert "stopped: failsafe lost: the process that would ramp to a safe effort has ended" in driver.process.printed
    enter_force(driver)
    check_ramp(fallback(driver, driver.close), gravity(MODEL, HOME))


def test_node_in_monitor_ends_without_a_command(begin):
    """Although the failsafe process runs."""
    driver = begin()
    assert driver.set_mode("monitor").success
    driver.play(40)
    assert driver.play(3) == []
    assert len(fallback(driver, driver.process.kill)) == 1


def child_of(process: int) -> int:
    """Return the only child of a process."""
    tasks = Path(f"/proc/{process}/task").iterdir()
    (child,) = [child for task in tasks for child in (task / "children").read_text().split()]
    return int(child)


def test_disarmed_process_is_silent_and_a_triggered_one_ramps(listener):
    """Whatever is stored; the ramp goes from the newest command to the effort that carries the arm."""
    commands = listener.listen("command", type=Float64MultiArray)
    for end in (FailsafeProcess.disarm, FailsafeProcess.trigger):
        assert commands == []
        failsafe = FailsafeProcess()
        failsafe.arm(TASK, 1)
        failsafe.update(LastCommand(time.monotonic(), np.array([0.5]), np.zeros(1)))
        end(failsafe)
        listener.until(lambda failsafe=failsafe: not failsafe.alive, "it does not end")
    listener.until(lambda: commands and commands[-1].data[0] == 0.0, "no ramp")
    assert commands[0].data[0] == 0.5


def test_process_that_cannot_start_is_an_error():
    """The mode is then refused with it."""
    with pytest.raises(FailsafeError, match="it ended at once"):
        FailsafeProcess().arm(TASK._replace(topic="no topic"), 1)


def test_process_is_ready_when_it_has_found_as_many_subscribers_as_the_node(listener):
    """A controller that it does not know yet would miss its commands."""
    listener.listen("command", type=Float64MultiArray)
    late = threading.Timer(1.0, listener.listen, ["command"], {"type": Float64MultiArray})
    late.start()
    failsafe = FailsafeProcess()
    failsafe.arm(TASK, 2)
    assert late.finished.is_set()
    failsafe.disarm()
