# SPDX-License-Identifier: Apache-2.0
"""A payload that is set reaches the driver, by its own service.

Where the driver counts a payload from is tested in test/unit/estimation/test_flange_payload.py.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from geometry_msgs.msg import Inertia, Vector3
from ros2_dyn_interfaces.srv import SetPayload

from driven_arms import StandingArm
from driver import COMMANDED_NODE, Driver, driving
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.ros.payload_service import request_fields
from ros_harness import Listener, Process, words

SERVICE = "io_and_status_controller/set_payload"
BOX = Inertia(m=2.0, com=Vector3(x=0.02, y=-0.03, z=0.08), ixx=0.005, iyy=0.006, izz=0.007)


def told(listener: Listener) -> Driver:
    """Start a node that tells a driver what the arm carries; see `told_node`."""
    parameters = words(**COMMANDED_NODE, **{"outputs.payload_service": SERVICE})
    process = Process("told_node", *parameters, PYTHONPATH=os.pathsep.join(sys.path))
    driver = Driver(listener, process, arm=StandingArm(speed=0.0), simulated=True)
    driver.describe()
    driver.begin()
    driver.play(10)
    return driver


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    with driving(told) as driver:
        yield driver


def set_payload(driver: Driver, **request: Any) -> SetPayload.Response:
    return driver.listener.call(SetPayload, "dynamics/set_payload", **request)


def test_driver_is_told_what_is_set_and_what_it_answers_is_passed_on(driver):
    told: list[Any] = []
    accepts = True

    def answer(request: Any, response: Any) -> Any:
        told.append(request)
        response.success = accepts
        return response

    missing = set_payload(driver, inertia=BOX)
    assert not missing.success
    assert f"the driver is not told: /{SERVICE}: expected a service of type" in missing.message
    driver.listener.node.create_service(SetPayload, SERVICE, answer)
    driver.listener.until(lambda: set_payload(driver, inertia=BOX).success, "the driver's service is not found")
    assert (told[-1].inertia.m, told[-1].inertia.com) == (2.0, BOX.com)
    accepts = False
    refused = set_payload(driver, inertia=Inertia())
    assert not refused.success
    assert "it is set here, but the driver is not told: it refused" in refused.message
    assert told[-1].inertia.m == 0.0
    accepts = True
    elsewhere = set_payload(driver, link="forearm_link", inertia=BOX)
    assert not elsewhere.success
    assert "'forearm_link' moves against 'tool0'" in elsewhere.message
    assert set_payload(driver, link="forearm_link").success
    assert set_payload(driver).success
    count = len(told)
    assert driver.set_mode("gravity").success
    driver.play(10)
    amid = set_payload(driver, inertia=Inertia(m=0.1))
    assert not amid.success
    assert "its efforts would change at once while gravity commands" in amid.message
    assert len(told) == count


def test_name_that_no_service_can_have_is_answered_with_the_reason(driver):
    assert driver.set_mode("monitor").success
    driver.play(100)  # until commands have ended
    assert driver.set(**{"outputs.payload_service": "no name!"}).successful
    answer = set_payload(driver)
    assert not answer.success
    assert "outputs.payload_service: no name!: no service is called so" in answer.message


def test_each_version_of_a_drivers_service_gets_its_own_fields():
    payload = SpatialInertia.from_com(2.0, [0.02, -0.03, 0.08], [[5, 1, 2], [1, 6, 3], [2, 3, 7]])
    newest = request_fields({"payload": "geometry_msgs/Inertia", "transition_time": "double"}, payload)["payload"]
    assert (newest.m, newest.com.z) == pytest.approx((2.0, 0.08))
    moments = [newest.ixx, newest.ixy, newest.ixz, newest.iyy, newest.iyz, newest.izz]
    assert moments == pytest.approx([5, 1, 2, 6, 3, 7])
    franka = request_fields({"mass": "double", "center_of_mass": "double[3]", "load_inertia": "double[9]"}, payload)
    assert franka["mass"] == 2.0
    assert franka["center_of_mass"] == pytest.approx([0.02, -0.03, 0.08])
    assert franka["load_inertia"] == pytest.approx([5, 1, 2, 1, 6, 3, 2, 3, 7])
