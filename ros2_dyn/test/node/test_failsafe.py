# SPDX-License-Identifier: Apache-2.0
"""The failsafe process: what is commanded when the node is killed, stopped, terminated or held up; and who commands.

Time is simulated and passes with the states of the test, so that nothing depends on the speed of the machine.
"""

import io
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

import rclpy
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

from driven_arms import HOME, MODEL, StandingArm
from driver import STEP, Driver, force
from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import FailsafeError
from ros2_dyn.ros import failsafe_node
from ros2_dyn.ros.failsafe import FailsafeProcess, FailsafeTask
from ros2_dyn.ros.failsafe_node import FailsafeNode
from ros2_dyn.ros.shared_command import SharedCommand
from ros2_dyn.runtime import FailsafeConfig, Settings
from ros2_dyn.runtime.update import LastCommand
from ros_harness import PATIENCE, failsafe_of

WEIGHT = gravity(MODEL, HOME)
STATE_TIMEOUT = 0.5
PAUSE = 0.01
"""Wall time for which a state is given to those who read it, s."""


@pytest.fixture
def begin(listener) -> Iterator[Callable[..., Driver]]:
    """Start a node, and let it command a force."""
    started: list[Driver] = []

    def begin(**parameters: Any) -> Driver:
        arm = StandingArm(speed=0.0)
        started.append(
            Driver.of(listener, arm, **{"commands.max_force": 1000.0, "states.timeout": STATE_TIMEOUT}, **parameters)
        )
        enter_force(started[-1])
        return started[-1]

    yield begin
    for driver in started:
        driver.process.kill()


def enter_force(driver: Driver) -> None:
    """Enter mode force."""
    driver.wrench = force(z=1.0)
    driver.play(5)
    deadline = time.monotonic() + PATIENCE
    while not (response := driver.set_mode("force")).success:
        assert time.monotonic() < deadline, (response.message, driver.process.printed)
        driver.step()
    driver.play(30)


def known(driver: Driver) -> int:
    """Return how many failsafe processes are known."""
    return driver.listener.known_failsafes("dynamics/command")


def feed(driver: Driver, condition: Callable[[], Any], problem: str) -> None:
    """Let time pass, with states, whether or not the node answers, until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, f"{problem}: {driver.process.printed}"
        driver.pass_time()
        driver.send()
        driver.listener.spin(PAUSE)


def check_ramp(commands: list[list[float]], last: Any) -> None:
    """Check that the commands lead to the last one without a step."""
    assert len(commands) > 5
    assert np.max(np.abs(np.diff(commands, axis=0)) / STEP) <= 1
    assert_allclose(commands[-1], last, rtol=0, atol=1e-6)


def carries(driver: Driver, count: int) -> bool:
    """Return whether the newest of many commands after the first ones carries the arm."""
    return len(driver.commands) > count + 30 and np.allclose(driver.commands[-1], WEIGHT, rtol=0, atol=1e-7)


def release(driver: Driver) -> None:
    """End the commands of the failsafe process."""
    future = driver.listener.call_async(Trigger, "dynamics_failsafe/release")
    feed(driver, future.done, "no answer")
    assert future.result().success
    feed(driver, lambda: known(driver) == 0, "it does not end")


# --- the node is gone, or held up


def test_killed_node_is_replaced_as_long_as_states_come(begin):
    """Until it is released; a new node is refused meanwhile. The arm's weight is carried."""
    driver = begin()
    driver.barrier()
    count = len(driver.commands)
    driver.process.kill()
    feed(driver, lambda: carries(driver, count), "it does not carry the arm")
    check_ramp(driver.commands[count - 1 :], WEIGHT)
    release(driver)
    check_ramp(driver.commands[count - 1 :], WEIGHT)


def test_stopped_node_is_replaced_and_is_silent_when_it_goes_on(begin):
    """SIGSTOP, then SIGCONT. It can command again when the process was released."""
    driver = begin()
    driver.barrier()
    count, node = len(driver.commands), driver.process.process.pid
    os.kill(node, signal.SIGSTOP)
    feed(driver, lambda: carries(driver, count), "it does not carry the arm")
    assert "takes over: the node was held up" in driver.process.printed
    check_ramp(driver.commands[count - 1 :], WEIGHT)
    os.kill(node, signal.SIGCONT)
    feed(driver, lambda: driver.mode == "monitor", "it goes on")
    assert "commands end: failsafe took over" in driver.process.printed
    assert_allclose(driver.commands[-1], WEIGHT, rtol=0, atol=1e-6)

    def refusal() -> str:
        response = driver.set_mode("force")
        assert not response.success
        return response.message

    took_over = "'/dynamics_failsafe' commands on /dynamics/command: it took over"
    feed(driver, lambda: took_over in refusal(), "it is refused for something else")  # a stale target, at first
    release(driver)
    enter_force(driver)


def test_node_is_silent_when_the_process_dies_that_replaced_it_and_commands_again_when_it_is_asked(begin):
    """The process hangs first, until a user kills it."""
    driver = begin()
    node = driver.process.process.pid
    failsafe = failsafe_of(node)
    os.kill(node, signal.SIGSTOP)
    feed(driver, lambda: "takes over" in driver.process.printed, "it is not replaced")
    os.kill(node, signal.SIGCONT)
    feed(driver, lambda: driver.mode == "monitor", "it goes on")
    os.kill(failsafe, signal.SIGSTOP)
    driver.play(30)
    assert "'/dynamics_failsafe' commands on /dynamics/command: it took over" in driver.set_mode("force").message
    os.kill(failsafe, signal.SIGKILL)
    feed(driver, lambda: has_ended(failsafe), "it is not killed")
    driver.play(30)
    assert driver.play(30) == []
    assert driver.mode == "monitor"
    enter_force(driver)
    assert driver.play(5)
    assert failsafe_of(node) != failsafe


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, and its files are closed."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_terminated_group_leaves_a_resting_arm(begin):
    """As a service manager does it: SIGTERM to node and failsafe process at once. Both end."""
    driver = begin()
    driver.barrier()
    count, node = len(driver.commands), driver.process.process.pid
    for process in (failsafe_of(node), node):
        os.kill(process, signal.SIGTERM)
    feed(driver, lambda: known(driver) == 0 and not driver.process.alive, "they do not end")
    assert driver.process.process.returncode == 0
    assert "Traceback" not in driver.process.printed
    check_ramp(driver.commands[count - 1 :], WEIGHT)


# --- one commander


def test_another_publisher_of_the_same_node_name_stops_the_mode_and_refuses_the_next(begin, listener):
    """The arm is braked for a second; then the other has it alone. When it is gone a mode can be entered."""
    driver = begin()
    twin = rclpy.create_node("dynamics", context=listener.context)
    try:
        twin.create_publisher(Float64MultiArray, "dynamics/command", 1)
        driver.until(lambda: driver.mode == "stopped", "no stop")
        assert "stopped: second commander: '/dynamics' publishes on /dynamics/command" in driver.process.printed
        driver.until(lambda: driver.mode == "monitor", "it does not give way")
        assert_allclose(driver.commands[-1], WEIGHT, rtol=0, atol=1e-6)
        assert driver.play(5) == []
        response = driver.set_mode("force")
        assert "'/dynamics' publishes on /dynamics/command, too" in response.message
    finally:
        twin.destroy_node()
    driver.until(lambda: driver.set_mode("force").success, "it is not entered")


# --- the process by itself


CONFIG = FailsafeConfig(MODEL, Settings().of_a_stop(), MODEL.default_tip)
TASK = FailsafeTask("somebody", "/", "/command", "/joint_states", False, CONFIG)


def test_disarmed_process_is_silent_and_a_triggered_one_ramps(listener, monkeypatch):
    """Whatever is stored, on a disk that is full, too; the ramp ends at the effort that carries the arm."""
    monkeypatch.setattr(tempfile, "tempdir", "no folder")
    commands = listener.listen("command", type=Float64MultiArray)
    for end in (FailsafeProcess.disarm, FailsafeProcess.trigger):
        assert commands == []
        failsafe = FailsafeProcess()
        failsafe.arm(TASK, 1)
        failsafe.update(LastCommand(0.0, np.full(6, 0.5), np.zeros(6)))
        end(failsafe)
        if end is FailsafeProcess.trigger:
            listener.until(lambda: commands and commands[-1].data[0] == 0.0, "no ramp")
            assert listener.call(Trigger, "somebody_failsafe/release").success
        listener.until(lambda failsafe=failsafe: not failsafe.alive, "it does not end")
    assert commands[0].data[0] == 0.5


STUCK = """
from ros2_dyn.ros.failsafe_node import leave

class Stuck:
    def destroy_node(self):
        while True:
            pass

leave(Stuck())
"""
"""A process whose middleware spins for ever, as Fast DDS may while it takes a participant away."""


def test_process_ends_although_its_middleware_does_not():
    assert subprocess.run([sys.executable, "-c", STUCK], timeout=PATIENCE, check=False).returncode == -signal.SIGALRM


def test_process_ends_although_the_simulation_has_ended_with_the_node(own_domain, monkeypatch):
    """Its clock stands still. The node's own patience with the clock is minutes here."""
    steady = count(100.0, 0.1)
    monkeypatch.setattr(failsafe_node, "time", SimpleNamespace(monotonic=lambda: next(steady)))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO()))  # the node has ended
    settings = Settings.from_values({"states.timeout": 10.0}).of_a_stop()
    task = TASK._replace(use_sim_time=True, config=CONFIG._replace(settings=settings))
    rclpy.init()
    with tempfile.TemporaryFile() as shared:
        SharedCommand(shared.fileno(), 6).update(LastCommand(0.0, np.full(6, 0.5), np.zeros(6)))
        node = FailsafeNode(task, SharedCommand(shared.fileno(), 6))
        node.spin()
        node.destroy_node()
        rclpy.try_shutdown()
    assert 10.0 < next(steady) - 100.0 < 20.0


def test_process_that_cannot_start_is_an_error():
    """The mode is then refused with it."""
    with pytest.raises(FailsafeError, match="it ended at once"):
        FailsafeProcess().arm(TASK._replace(topic="no topic"), 1)


def test_process_that_has_taken_over_is_not_replaced(listener):
    """A node that hangs while it arms another one would forget that it must be silent."""
    commands = listener.listen("command", type=Float64MultiArray)
    failsafe = FailsafeProcess()
    failsafe.arm(TASK, 1)
    failsafe.update(LastCommand(0.0, np.full(6, 0.5), np.zeros(6)))
    listener.until(lambda: failsafe.commands, "it does not take over from a node without a heartbeat")
    with pytest.raises(FailsafeError, match="the one before has taken over meanwhile"):
        failsafe.arm(TASK._replace(states_topic="/others"), 1)
    assert failsafe.commands
    count = len(commands)
    listener.until(lambda: len(commands) > count, "it commands no more")
    failsafe.trigger()


def test_process_is_ready_when_it_has_found_as_many_subscribers_as_the_node(listener):
    """A controller that it does not know yet would miss its commands."""
    listener.listen("command", type=Float64MultiArray)
    begun = time.monotonic()
    late = threading.Timer(1.0, listener.listen, ["command"], {"type": Float64MultiArray})
    late.start()
    failsafe = FailsafeProcess()
    failsafe.arm(TASK, 2)
    assert time.monotonic() - begun >= 1.0, "it was ready before there was a second subscriber"
    failsafe.disarm()
