# SPDX-License-Identifier: Apache-2.0
"""The node's services: their fields, at a given state and at the measured one, and their answers to wrong requests."""

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from builtin_interfaces.msg import Duration
from geometry_msgs.msg import Inertia, Point, Vector3, Wrench, WrenchStamped
from ros2_dyn_interfaces.srv import GetDynamics, GetJacobian, SetPayload, WrenchToTorque
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from driven_arms import HOME, MODEL
from driver import LOCKSTEP, NAMES, Driver, driving
from ros2_dyn.dynamics import (
    coriolis,
    gravity,
    jacobian,
    jacobian_dot,
    kinetic_energy,
    mass_matrix,
    potential_energy,
    rnea,
    static_torque,
)
from ros2_dyn.model import Payload
from ros2_dyn.ros.trajectory_process import MAX_BYTES

Q = [0.1, -1.2, 1.4, -1.8, -1.5, 0.3]
QD = [0.5, -0.4, 0.3, -0.2, 0.1, 0.6]
QDD = [1.0, 2.0, -1.0, 0.5, -0.5, 3.0]
BOX = Inertia(m=2.0, com=Vector3(z=0.1), ixx=0.1, iyy=0.1, izz=0.1)
LOADED = MODEL.carrying(Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3)))


@pytest.fixture(scope="module")
def driver() -> Iterator[Driver]:
    """A node in simulated time that has not got any state yet."""
    with driving(Driver.with_robot, **LOCKSTEP) as driver:
        yield driver


def state(names=NAMES, position=Q, velocity=QD) -> JointState:
    """Return a state for a request."""
    return JointState(name=list(names), position=position, velocity=velocity)


def test_request_without_a_state_needs_a_measured_one(driver):
    """Before the first state it is rejected; then it is answered at the newest state."""
    name = "dynamics/get_jacobian"
    nothing = driver.listener.call(GetJacobian, name)
    assert not nothing.success
    assert "no usable message has been received on joint_states" in nothing.message
    driver.begin()
    measured = driver.listener.call(GetJacobian, name)
    J = jacobian(MODEL, HOME)
    assert_allclose(np.reshape(measured.jacobian, (6, 6)), J, rtol=0, atol=1e-12)
    assert_allclose(measured.singular_values, np.linalg.svd(J)[1], rtol=0, atol=1e-12)
    assert_allclose(measured.manipulability, abs(np.linalg.det(J)), rtol=1e-9)
    assert not measured.near_singularity


def test_get_jacobian(driver):
    """At a given state, of a point on any link, in any frame; near a singularity it says so."""
    where = {"link": "forearm_link", "point": [0.1, -0.2, 0.3], "frame": "tool0"}
    point = Point(x=0.1, y=-0.2, z=0.3)
    request = {"state": state(), **where, "point": point}
    given = driver.listener.call(GetJacobian, "dynamics/get_jacobian", **request)
    assert given.success, given.message
    assert list(given.joint_names) == NAMES
    assert_allclose(np.reshape(given.jacobian, (6, 6)), jacobian(MODEL, Q, **where), rtol=0, atol=1e-12)
    assert_allclose(np.reshape(given.jacobian_dot, (6, 6)), jacobian_dot(MODEL, Q, QD, **where), rtol=0, atol=1e-12)
    stretched = state(position=[0.0] * 6, velocity=[])
    singular = driver.listener.call(GetJacobian, "dynamics/get_jacobian", state=stretched)
    assert singular.success
    assert singular.near_singularity
    assert not np.any(singular.jacobian_dot)


@pytest.mark.parametrize(
    ("request_fields", "problem"),
    [
        ({"link": "hand"}, "no link 'hand'"),
        ({"state": state(position=Q[:3])}, "position: wrong length"),
    ],
)
def test_wrong_request_is_answered_with_the_problem(driver, request_fields, problem):
    """And with nothing else."""
    rejected = driver.listener.call(GetJacobian, "dynamics/get_jacobian", **({"state": state()} | request_fields))
    assert not rejected.success
    assert problem in rejected.message
    assert len(rejected.jacobian) == 0


def test_wrench_to_torque(driver):
    """J^T F in any frame, with the weight of the arm if asked for."""
    wrench = WrenchStamped(
        header=Header(frame_id="tool0"),
        wrench=Wrench(force=Vector3(x=1.0, y=2.0, z=3.0), torque=Vector3(x=0.1, y=0.2, z=0.3)),
    )
    request = {"state": state(), "wrench": wrench, "point": Point(z=0.1)}
    plain = driver.listener.call(WrenchToTorque, "dynamics/wrench_to_torque", **request)
    tau = static_torque(MODEL, Q, [1.0, 2.0, 3.0, 0.1, 0.2, 0.3], point=[0, 0, 0.1], frame="tool0")
    assert plain.success, plain.message
    assert list(plain.joint_names) == NAMES
    assert_allclose(plain.effort, tau, rtol=0, atol=1e-12)
    held = driver.listener.call(WrenchToTorque, "dynamics/wrench_to_torque", include_gravity=True, **request)
    assert_allclose(held.effort, tau + gravity(MODEL, Q), rtol=0, atol=1e-12)
    wrench.wrench.force.x = np.inf
    rejected = driver.listener.call(WrenchToTorque, "dynamics/wrench_to_torque", **request)
    assert not rejected.success
    assert "wrench: expected finite numbers" in rejected.message


def test_get_dynamics(driver):
    """Every term; joints and accelerations in the order of the request's state."""
    given = driver.listener.call(GetDynamics, "dynamics/get_dynamics", state=state(), acceleration=QDD)
    assert given.success, given.message
    assert_allclose(np.reshape(given.mass_matrix, (6, 6)), mass_matrix(MODEL, Q), rtol=0, atol=1e-12)
    assert_allclose(given.coriolis, coriolis(MODEL, Q, QD), rtol=0, atol=1e-10)
    assert_allclose(given.gravity, gravity(MODEL, Q), rtol=0, atol=1e-10)
    assert_allclose(given.friction, np.zeros(6), rtol=0, atol=1e-10)
    assert_allclose(given.effort, rnea(MODEL, Q, QD, QDD), rtol=0, atol=1e-10)
    assert_allclose(given.kinetic_energy, kinetic_energy(MODEL, Q, QD), rtol=1e-12)
    assert_allclose(given.potential_energy, potential_energy(MODEL, Q), rtol=0, atol=1e-10)
    turned = state(names=NAMES[::-1], position=Q[::-1], velocity=QD[::-1])
    other = driver.listener.call(GetDynamics, "dynamics/get_dynamics", state=turned, acceleration=QDD[::-1])
    assert_allclose(other.effort, given.effort, rtol=0, atol=1e-12)
    rejected = driver.listener.call(GetDynamics, "dynamics/get_dynamics", state=state(), acceleration=[1.0])
    assert not rejected.success
    assert "acceleration: wrong: expected 6 finite numbers" in rejected.message


def weight(driver: Driver) -> np.ndarray:
    """Return the gravity of the next state."""
    driver.step()
    return np.array(driver.answers[-1].effort)


def test_payload_is_ramped_in_and_removed(driver):
    """By the node's clock; mass 0 takes it off; what is wrong changes nothing."""
    driver.begin()
    bare, loaded = gravity(MODEL, HOME), gravity(LOADED, HOME)

    def ask(**request) -> SetPayload.Response:
        return driver.listener.call(SetPayload, "dynamics/set_payload", **request)

    assert ask(inertia=BOX, ramp_time=0.5).success
    shares = [(weight(driver) - bare)[1] / (loaded - bare)[1] for _ in range(60)]
    assert_allclose(shares[:49], np.arange(1, 50) / 50, rtol=0, atol=1e-6)
    assert_allclose(weight(driver), loaded, rtol=0, atol=1e-10)
    assert "'tool0' carries a payload; remove it first" in ask(inertia=BOX, link="forearm_link").message
    for wrong in ({"inertia": Inertia(m=-1.0)}, {"inertia": BOX, "ramp_time": -1.0}, {"inertia": BOX, "link": "hand"}):
        assert not ask(**wrong).success
    assert_allclose(weight(driver), loaded, rtol=0, atol=1e-10)
    assert ask().success
    assert_allclose(weight(driver), bare, rtol=0, atol=1e-10)


def test_trajectory_is_answered_with_the_effort_of_every_point(driver):
    """Joints of others get zeros; a wrong trajectory is rejected, and the next one answered."""
    answers = driver.listener.listen("dynamics/trajectory_with_effort", type=JointTrajectory)
    publisher = driver.listener.publisher(JointTrajectory, "dynamics/desired_trajectory")
    times = np.linspace(0.5, 2.5, 5)
    message = JointTrajectory(joint_names=["extra", *NAMES[::-1]])
    for t in times:
        point = JointTrajectoryPoint(time_from_start=Duration(sec=int(t), nanosec=round(t % 1 * 1e9)))
        point.positions = [9.0, *(np.array(Q)[::-1] + t**3)]
        point.velocities, point.accelerations = [0.0, *np.full(6, 3 * t**2)], [0.0, *np.full(6, 6 * t)]
        message.points.append(point)
    publisher.publish(JointTrajectory())
    publisher.publish(message)
    driver.listener.until(lambda: answers, "no answer")
    efforts = np.array([point.effort for point in answers[-1].points])
    assert not np.any(efforts[:, 0])
    ones = np.ones(6)
    expected = rnea(MODEL, np.array(Q) + times[:, None] ** 3, 3 * times[:, None] ** 2 * ones, 6 * times[:, None] * ones)
    assert_allclose(efforts[:, :0:-1], expected, rtol=0, atol=1e-9)
    assert len(answers) == 1
    assert "rejected a message on ~/desired_trajectory" in driver.process.printed


def test_trajectory_that_is_too_long_is_refused_before_it_is_read(driver):
    """Its bytes are counted. The next one is answered."""
    answers = driver.listener.listen("dynamics/trajectory_with_effort", type=JointTrajectory)
    publisher = driver.listener.publisher(JointTrajectory, "dynamics/desired_trajectory")
    message = JointTrajectory(joint_names=NAMES, points=[JointTrajectoryPoint(positions=[0.0] * 6)])
    many = JointTrajectory(joint_names=["x" * 1000] * (MAX_BYTES // 1000), points=message.points)

    def refused() -> bool:
        publisher.publish(many)  # again: the log of rejections is throttled
        driver.listener.spin(0.3)
        return "points: too many: " in driver.process.printed

    driver.listener.until(refused, "it is not refused")
    publisher.publish(message)
    driver.listener.until(lambda: answers, "no answer")
    assert_allclose(answers[-1].points[0].effort, gravity(MODEL, np.zeros(6)), rtol=0, atol=1e-9)
