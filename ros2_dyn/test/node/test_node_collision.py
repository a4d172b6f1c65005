# SPDX-License-Identifier: Apache-2.0
"""Collisions through the node: topics, services, the latched stop, the service that is called, and calibration.

When a collision is detected, and what the observers compute, is tested in virtual time, in test/unit.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import WrenchStamped
from ros2_dyn_interfaces.msg import CollisionState
from ros2_dyn_interfaces.srv import GetCollisionResiduals
from std_msgs.msg import Bool
from std_srvs.srv import Trigger
from visualization_msgs.msg import MarkerArray

from driven_arms import MODEL, SwingingArm
from driver import NAMES, Driver, driving
from ros2_dyn.dynamics import forward_kinematics, jacobian, rnea
from ros2_dyn.ros.messages import nanoseconds
from ros2_dyn.ros.node_base import LATCHED

THRESHOLD = [5.0, 5.0, 5.0, 1.0, 1.0, 1.0]
BANDWIDTH = 25.0
PERIOD = 0.002
FORCE = np.array([10.0, -20.0, 15.0])
DETECTOR: dict[str, Any] = {
    "robot.joints": NAMES,
    "collision.threshold": THRESHOLD,
    "collision.bandwidth": BANDWIDTH,
    "collision.service": "/controller/stop",
    "collision.calibration_time": 1.0,
    "use_sim_time": True,
    "states.timeout": 1.0,
}
SETTLED = round(8 / BANDWIDTH / PERIOD)
"""Number of states in which the observer settles."""


def tip_push(q: np.ndarray) -> np.ndarray:
    """Return the efforts of a force at the tip, in the axes of the base, N m."""
    return jacobian(MODEL, q)[:3].T @ FORCE


def free(q: np.ndarray) -> np.ndarray:
    """Return no external effort."""
    return np.zeros(6)


@pytest.fixture(scope="module")
def node() -> Iterator[Driver]:
    """A node that observes an arm in motion, with all that it publishes of collisions."""
    arm = SwingingArm(lambda q, qd, qdd: rnea(MODEL, q, qd, qdd))
    states = {"period": PERIOD, "answers": "dynamics/external_effort"}
    with driving(Driver.with_robot, arm, **states, **DETECTOR) as driver:
        listener = driver.listener
        listener.listen("dynamics/collision", type=CollisionState)
        listener.listen("dynamics/external_wrench", type=WrenchStamped)
        listener.listen("dynamics/wrench_markers", type=MarkerArray)
        listener.listen("dynamics/collision_stop", type=Bool, qos=LATCHED)
        driver.calls = listener.serve("/controller/stop")
        driver.begin()
        driver.until(lambda: listener.received["dynamics/collision"], "no states of the detector")
        yield driver


@pytest.fixture
def driver(node) -> Iterator[Driver]:
    """The node without a collision, beside an arm that nobody touches."""
    node.arm.push = free
    node.play(SETTLED)
    assert node.listener.call(Trigger, "dynamics/reset_collision").success
    node.play(5)
    assert not seen(node).collision
    return node


def seen(driver: Driver) -> CollisionState:
    """Return what the detector publishes for the next state."""
    return driver.newest(driver.step(), "dynamics/collision")[0]


def stops(driver: Driver) -> list[bool]:
    """Return what was published on ~/collision_stop."""
    return [message.data for message in driver.listener.received["dynamics/collision_stop"]]


def test_push_at_the_tip_is_estimated_published_and_latched(driver):
    """The effort, a collision, the wrench, its marker and the stop; reset ends it when nobody pushes any more.

    A late subscriber gets the stop.
    """
    driver.step()
    assert_allclose(driver.answers[-1].effort, np.zeros(6), atol=0.05)
    before = len(stops(driver))
    driver.arm.push = tip_push
    driver.play(SETTLED)
    state = seen(driver)
    assert_allclose(state.residual, tip_push(driver.arm.q), rtol=0.02, atol=0.3)
    assert tuple(state.joint_names) == MODEL.joint_names
    assert state.collision
    assert list(state.threshold) == THRESHOLD
    assert list(state.exceeded) == [abs(r) > e for r, e in zip(state.residual, THRESHOLD)]
    driver.listener.until(lambda: stops(driver)[before:] == [True], "no stop")
    driver.listener.until(lambda: driver.calls, "the service is not called")
    late: list[Bool] = []
    driver.listener.node.create_subscription(Bool, "dynamics/collision_stop", late.append, LATCHED)
    driver.listener.until(lambda: late, "nothing for the late subscriber")
    assert late[0].data
    wrenches = driver.listener.received["dynamics/external_wrench"]
    wrenches.clear()
    driver.until(lambda: wrenches, "no wrench")  # it is withheld where another link seems to be touched
    wrench = wrenches[-1]
    assert wrench.header.frame_id == MODEL.default_tip
    R = forward_kinematics(MODEL, driver.arm.measure(1e-9 * nanoseconds(wrench.header.stamp))[0])[:3, :3]
    f = wrench.wrench.force
    assert_allclose([f.x, f.y, f.z], R.T @ FORCE, rtol=0, atol=3.0)  # damped, and a little late
    markers = driver.listener.received["dynamics/wrench_markers"]
    shown = lambda: any(marker.ns == "external" for array in markers for marker in array.markers)  # noqa: E731
    driver.until(shown, "no marker of the external wrench")
    residuals = lambda: driver.listener.call(GetCollisionResiduals, "dynamics/get_collision_residuals")  # noqa: E731
    driver.until(lambda: residuals().external_wrench.header.frame_id == MODEL.default_tip, "no wrench in the answer")
    answer = residuals()
    assert answer.success
    assert answer.collision
    assert_allclose(answer.residual, tip_push(driver.arm.q), rtol=0.02, atol=0.3)
    driver.arm.push = free
    driver.play(SETTLED)
    assert seen(driver).collision  # until it is reset
    assert driver.listener.call(Trigger, "dynamics/reset_collision").success
    assert not seen(driver).collision
    driver.listener.until(lambda: stops(driver)[-1] is False, "the stop does not end")
    assert len(driver.calls) == 1  # however long the collision lasted


def test_calibration_sets_the_thresholds_as_parameters(driver):
    """Its time is that of the node's clock."""
    error = np.array([2.0, 3.0, 1.0, 0.5, 0.3, 0.1])
    driver.arm.push = lambda q: error * np.sin(25.0 * 1e-9 * driver.time)  # as of a model that is not right
    answer = driver.listener.call_async(Trigger, "dynamics/calibrate_collision")
    driver.until(answer.done, "no answer")
    done = answer.result()
    assert done.success, done.message
    assert 'robot.joints: ["shoulder_pan_joint"' in done.message
    thresholds = np.array(seen(driver).threshold)
    assert np.all(thresholds > error / np.sqrt(2))  # what an observer of as many 1/s makes of it
    assert np.all(thresholds < 20 * error)
    assert driver.set(**{"collision.threshold": THRESHOLD}).successful
