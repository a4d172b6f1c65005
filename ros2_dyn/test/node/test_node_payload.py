# SPDX-License-Identifier: Apache-2.0
"""A payload that the node estimates, publishes and sets.

What is estimated from which motion is tested in virtual time, in test/unit.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import Inertia
from ros2_dyn_interfaces.msg import Payload as PayloadMessage
from ros2_dyn_interfaces.srv import EstimatePayload, SetPayload

from driven_arms import MODEL, SwingingArm
from driver import LOCKSTEP, Driver, driving
from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.model import Payload
from ros2_dyn.ros.node_base import LATCHED
from ros_harness import Listener

BOX = Payload(2.0, (0.02, -0.03, 0.08), 0.005 * np.eye(3))
CARRYING = MODEL.carrying(BOX)


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """A node in simulated time that observes an arm in motion, which carries the box."""
    arm = SwingingArm(lambda q, qd, qdd: rnea(CARRYING, q, qd, qdd))
    with driving(Driver.with_robot, arm, period=0.02, **LOCKSTEP) as driver:
        driver.listener.listen("dynamics/payload", type=PayloadMessage, qos=LATCHED)
        driver.begin()
        yield driver


def estimate(driver: Driver, **request) -> EstimatePayload.Response:
    """Play states until an estimate is answered; others are computed meanwhile."""
    answer = driver.listener.call_async(EstimatePayload, "dynamics/estimate_payload", **request)
    driver.until(answer.done, "no answer")
    return answer.result()


def gravity_error(driver: Driver) -> float:
    """Return the largest difference of the gravity that the node computes from that of the loaded arm, N m."""
    driver.step()
    return float(np.max(np.abs(np.array(driver.answers[-1].effort) - gravity(MODEL.carrying(BOX), driver.arm.q))))


def test_payload_is_estimated_published_and_set_if_that_is_asked_for(driver):
    """Only looked at, it is published, and the efforts stay; applied, they become those of the loaded arm."""
    published = driver.listener.received["dynamics/payload"]
    before = gravity_error(driver)
    found = estimate(driver, duration=2.0)
    assert found.success, found.message
    assert found.payload.header.frame_id == "tool0"
    assert found.payload.inertia.m == pytest.approx(BOX.mass, abs=0.1)
    com = found.payload.inertia.com
    assert_allclose([com.x, com.y, com.z], BOX.com, atol=0.01)
    assert 0 < found.payload.standard_deviation[0] < 0.5
    assert "compared with the model" in found.message
    driver.until(lambda: published, "nothing on ~/payload")
    assert published[-1] == found.payload
    assert gravity_error(driver) > before / 2
    applied = estimate(driver, duration=2.0, apply=True)
    assert applied.success, applied.message
    driver.play(30)  # the ramp
    assert gravity_error(driver) < 0.1 * before
    late = Listener()
    latched = late.listen("dynamics/payload", type=PayloadMessage, qos=LATCHED)
    late.until(lambda: latched, "a driver that comes later is not told")
    assert latched[-1] == applied.payload
    late.close()
    assert driver.listener.call(SetPayload, "dynamics/set_payload").success


def test_estimate_that_set_payload_refuses_is_given_all_the_same(driver):
    """Here, because another link was given a payload meanwhile."""
    name = "dynamics/estimate_payload"
    answer = driver.listener.call_async(EstimatePayload, name, duration=1.5, apply=True)
    driver.play(10)
    request = {"link": "forearm_link", "inertia": Inertia(m=1.0)}
    assert driver.listener.call(SetPayload, "dynamics/set_payload", **request).success
    driver.until(answer.done, "no answer")
    refused = answer.result()
    assert not refused.success
    assert "it is not set: link: 'forearm_link' carries a payload; remove it first" in refused.message
    assert refused.payload.inertia.m == pytest.approx(BOX.mass, abs=0.1)
    assert driver.listener.call(SetPayload, "dynamics/set_payload", link="forearm_link").success


def test_motion_without_payload_is_taken_and_a_wrong_request_is_refused(driver):
    inverse_dynamics = driver.arm.inverse_dynamics
    driver.arm.inverse_dynamics = lambda q, qd, qdd: rnea(MODEL, q, qd, qdd)
    tared = estimate(driver, duration=2.0, tare=True)
    assert tared.success, tared.message
    driver.arm.inverse_dynamics = inverse_dynamics
    found = estimate(driver, duration=2.0)
    assert found.success, found.message
    assert "compared with a motion without payload" in found.message
    refused = driver.listener.call(EstimatePayload, "dynamics/estimate_payload", link="hand")
    assert not refused.success
    assert "no link 'hand'" in refused.message
    assert refused.payload.inertia.m == 0
