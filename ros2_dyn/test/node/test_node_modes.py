# SPDX-License-Identifier: Apache-2.0
"""The modes through the node: ~/command, ~/mode and ~/set_mode, and what the node knows of the controller.

What each mode decides is tested in virtual time, in test/unit/runtime.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

import rclpy
from ros2_dyn_interfaces.srv import TakeOver
from std_msgs.msg import Float64MultiArray, String

from driven_arms import HOME, MODEL, StandingArm
from driver import NAMES, STEP, Driver, driving, force, point
from ros2_dyn.dynamics import gravity, rnea, static_torque
from ros2_dyn.ros.node_base import LATCHED

G = gravity(MODEL, HOME)
ORDER = [3, 2, 1, 0, 4, 5]
"""Of the controller's joints, unlike that of the model."""


@pytest.fixture(scope="module")
def node() -> Iterator[Driver]:
    """One node for all tests."""
    dampings = {f"{mode}.damping": 0.0 for mode in ("gravity", "hand_guiding", "force")}
    others = {
        "robot.joints": [NAMES[i] for i in ORDER],
        "commands.max_force": 1000.0,
        "commands.stop_service": "/controller/brake",
    }
    with driving(Driver.of, StandingArm(speed=0.0), **dampings, **others) as driver:
        driver.brakes = driver.listener.serve("/controller/brake")
        yield driver


@pytest.fixture
def driver(node) -> Iterator[Driver]:
    """The node in monitor, without targets."""
    yield node
    node.desired = node.wrench = None
    node.pressed = True
    assert node.set_mode("monitor").success
    node.play(100)  # commands end, and then no longer count as exerted
    assert node.play(5) == []


@pytest.fixture
def moving(driver) -> Iterator[Driver]:
    """The node beside an arm that a test may move: it is home again in the end."""
    yield driver
    driver.arm.q = HOME
    assert driver.set_mode("monitor").success
    driver.play(260)  # the jump home is forgiven


def test_each_mode_commands_its_effort(driver):
    """Once for each state, in the order of robot.joints, without a step above the slew limit; monitor ends it."""
    driver.desired = lambda: point(HOME, np.zeros(6), np.ones(6))
    driver.wrench = force("wrist_3_link", x=0.15, z=-0.5)
    push = static_torque(MODEL, HOME, [0.15, 0, -0.5, 0, 0, 0], frame="wrist_3_link")
    expected = {
        "gravity": G,
        "hand_guiding": G,
        "feed_forward": rnea(MODEL, HOME, np.zeros(6), np.ones(6)),
        "force": G + push,
    }
    assert driver.play(10) == []
    everything, modes = [], len(driver.modes)
    for mode, effort in expected.items():
        commands = driver.enter(mode)
        assert len(commands) == 30
        assert_allclose(commands[-1], effort[ORDER], rtol=0, atol=1e-9)
        everything += commands
    assert np.linalg.norm(push) > 0.05
    assert driver.set_mode("monitor").success
    everything += driver.play(70)
    assert np.max(np.abs(np.diff(everything, axis=0)) / STEP[ORDER]) <= 1
    assert driver.play(10) == []
    assert driver.modes[modes:] == [*expected, "monitor"]
    assert_allclose(everything[-1], G[ORDER], rtol=0, atol=1e-9)  # what the controller goes on with


def test_the_mode_is_published_for_late_subscribers(driver):
    """It is latched."""
    driver.enter("gravity")
    late = driver.listener.listen("dynamics/mode", type=String, qos=LATCHED)
    driver.listener.until(lambda: late, "no mode")
    assert [message.data for message in late] == ["gravity"]


def test_echo_is_no_controller(driver):
    """Commands end without a controller, and no mode begins; when it comes back, one does."""
    driver.enter("gravity")
    echo = rclpy.create_node("_ros2cli_77", context=driver.listener.context)
    echo.create_subscription(Float64MultiArray, "dynamics/command", print, 1)
    driver.switch_controller(False)
    driver.listener.until(lambda: driver.mode == "monitor", "commands go on")
    driver.play(100)
    response = driver.set_mode("gravity")
    assert "there is no subscriber on /dynamics/command: remap ~/command" in response.message
    driver.switch_controller(True)
    driver.until(lambda: driver.set_mode("gravity").success, "it is not entered")
    echo.destroy_node()


def test_arm_is_not_taken_over_where_commands_go_to_no_controller(driver):
    refusal = driver.listener.call(TakeOver, "dynamics/take_over")
    assert not refusal.success
    assert "remap it to <controller>/commands" in refusal.message


def test_hand_guiding_needs_the_enabling_signal(driver):
    """Its release stops the mode, and without it the mode is refused."""
    driver.enter("hand_guiding")
    driver.release_button()
    driver.until(lambda: driver.mode == "stopped", "no stop")
    driver.play(50)  # until the arm counts as one that rests
    assert "it has to be true on ~/enable" in driver.set_mode("hand_guiding").message


def test_stop_service_is_called_once_where_the_arm_goes_on_after_a_stop(moving):
    """Whatever is commanded. At 100 Hz a stop has up to a second for its speed to fall."""
    driver = moving
    driver.enter("gravity")
    for k in range(80):
        driver.arm.q = HOME + 0.005 * k
        driver.play(1)
        if k == 1:  # before its speed stops the mode
            assert driver.set_mode("monitor").success
    driver.until(lambda: driver.brakes, "the service is not called")
    driver.play(30)
    assert len(driver.brakes) == 1
    assert driver.mode == "stopped"
