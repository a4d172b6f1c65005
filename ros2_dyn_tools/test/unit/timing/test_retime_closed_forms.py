# SPDX-License-Identifier: Apache-2.0
"""The fastest timing of one joint, against what can be computed by hand: it is pushed as hard as can be and braked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.optimize import brentq

from robots import joint, link, robot
from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn_tools.timing import JointTrajectory, MotionBounds, retime

pytest.importorskip("toppra", reason="toppra, which finds the timing, is not installed")

MASS, FORCE, DISTANCE = 2.0, 10.0, 1.5
ARM, TORQUE = 0.5, 12.0


def slider(axis=(1, 0, 0), **dynamics) -> RobotModel:
    """A mass on a rail."""
    cube = link("cube", MASS, inertia=(0.01, 0, 0, 0.01, 0, 0.01))
    model = RobotModel.from_urdf(robot(link("base"), cube, joint("rail", "prismatic", "base", "cube", axis=axis)))
    return model.with_joint_dynamics({"rail": JointDynamics(**dynamics)})


def pendulum() -> RobotModel:
    """A point mass at the end of an arm that turns about y; at 0 the arm is level, and its weight turns it forwards."""
    bob = link("bob", MASS, com=(ARM, 0, 0), inertia=(0, 0, 0, 0, 0, 0))
    return RobotModel.from_urdf(robot(link("base"), bob, joint("hinge", "revolute", "base", "bob", axis=(0, 1, 0))))


def line(model: RobotModel, start: float = 0.0, end: float = DISTANCE, given: float = 9.0) -> JointTrajectory:
    return JointTrajectory(model.joint_names, np.array([0.0, given]), np.array([[start], [end]]))


def bounds(model: RobotModel, **limits) -> MotionBounds:
    return MotionBounds.of(model, **{"velocity": np.inf, "effort": np.inf, **limits})


def pushed_and_braked(faster: float, slower: float) -> float:
    """Time over the distance from rest to rest, with these accelerations."""
    return np.sqrt(2 * DISTANCE * (1 / faster + 1 / slower))


@pytest.mark.parametrize(("limits", "acceleration"), [({"acceleration": 3.0}, 3.0), ({"effort": FORCE}, FORCE / MASS)])
def test_one_limit_alone_gives_a_triangle_of_speed(limits, acceleration):
    timed = retime(slider(), line(slider()), bounds(slider(), **limits))
    assert_allclose(timed.duration, 2 * np.sqrt(DISTANCE / acceleration), rtol=2e-3)


def test_velocity_limit_cuts_the_triangle():
    v, a = 1.2, FORCE / MASS
    timed = retime(slider(), line(slider()), bounds(slider(), effort=FORCE, velocity=v))
    assert_allclose(timed.duration, DISTANCE / v + v / a, rtol=2e-3)
    assert_allclose(timed.duration_by_velocity, DISTANCE / v, rtol=1e-6)
    assert timed.duration_before == 9.0


def test_weight_slows_the_start_and_helps_the_braking():
    model, weight = slider((0, 0, 1)), MASS * 9.81
    timed = retime(model, line(model), bounds(model, effort=weight + FORCE))
    assert_allclose(timed.duration, pushed_and_braked(FORCE / MASS, (2 * weight + FORCE) / MASS), rtol=2e-3)


def test_coulomb_friction_slows_the_start_more_than_it_helps_the_braking():
    friction = 4.0
    model = slider(coulomb=friction, transition_velocity=1e-3)
    timed = retime(model, line(model), bounds(model, effort=FORCE))
    exact = pushed_and_braked((FORCE - friction) / MASS, (FORCE + friction) / MASS)
    assert_allclose(timed.duration, exact, rtol=4e-3)
    assert timed.duration > 1.05 * retime(slider(), line(slider()), bounds(slider(), effort=FORCE)).duration


def test_viscous_friction_is_exact_though_it_is_no_linear_constraint():
    """Here m v' = F - b v, then m v' = -F - b v."""
    b = 5.0
    model = slider(viscous=b)

    def way(v):
        k = MASS * FORCE / b**2
        return -k * np.log(1 - b * v / FORCE) - k * np.log(1 + b * v / FORCE)

    v = brentq(lambda v: way(v) - DISTANCE, 1e-3, (1 - 1e-9) * FORCE / b)
    exact = MASS / b * (np.log(1 + b * v / FORCE) - np.log(1 - b * v / FORCE))
    timed = retime(model, line(model), bounds(model, effort=FORCE))
    assert_allclose(timed.duration, exact, rtol=5e-3)
    assert np.max(np.abs(timed.trajectory.effort)) <= 1.01 * FORCE


def test_pendulum_is_swung_as_energy_says():
    """The speed at each angle follows from the work of the limit torque and the weight."""
    model, (start, end) = pendulum(), (-1.4, 1.0)
    I, weight = MASS * ARM**2, MASS * 9.81 * ARM

    def fallen(q):
        return weight * (np.sin(q) - np.sin(start))

    def brakes_from(q):  # the energy at q that the torque and the weight take until the end
        return TORQUE * (end - q) - (fallen(end) - fallen(q))

    switch = brentq(lambda q: TORQUE * (q - start) + fallen(q) - brakes_from(q), start, end)
    # dq / speed, with the root at the ends taken out by q = start + z^2 and q = end - z^2
    first = quad(lambda z: 2 * z / np.sqrt(2 / I * (TORQUE * z**2 + fallen(start + z**2))), 0, np.sqrt(switch - start))
    last = quad(lambda z: 2 * z / np.sqrt(2 / I * brakes_from(end - z**2)), 0, np.sqrt(end - switch))
    timed = retime(model, line(model, start, end), bounds(model, effort=TORQUE))
    assert_allclose(timed.duration, first[0] + last[0], rtol=3e-3)


def test_last_point_rests_with_the_effort_that_holds_the_weight():
    """A controller repeats it; the effort that brakes would push the arm on."""
    model = pendulum()
    last = retime(model, line(model, -1.4, 1.0), bounds(model, effort=TORQUE)).trajectory
    assert_allclose([last.velocities[-1, 0], last.accelerations[-1, 0]], 0)
    assert_allclose(last.positions[[0, -1], 0], [-1.4, 1.0], atol=1e-9)
    assert_allclose(last.effort[-1, 0], -MASS * 9.81 * ARM * np.cos(1.0), rtol=1e-9)


def test_posture_that_the_motor_cannot_hold_is_refused_with_joint_and_place():
    model = pendulum()  # 9.81 N m at the level, which is passed after 14 of 24 parts of 9 s
    with pytest.raises(InputError, match=r"joint 'hinge' at 5\.2\d s .*stand still it needs 9\.81 of 9 N m"):
        retime(model, line(model, -1.4, 1.0), bounds(model, effort=9.0))
    assert retime(model, line(model, -1.4, 1.0), bounds(model, effort=10.0)).duration > 0


def test_motion_that_friction_prevents_is_refused_with_joint_and_place():
    model = slider((0, 0, 1), coulomb=5.0)
    weight = MASS * 9.81
    with pytest.raises(InputError, match=r"joint 'rail' at .* to move slowly it needs 24\.6\d? of 22 N"):
        retime(model, line(model), bounds(model, effort=22.0))
    assert retime(model, line(model, DISTANCE, 0.0), bounds(model, effort=weight + 2)).duration > 0  # downwards


def test_jerk_limit_alone_is_kept_at_the_optimum_which_has_four_pieces_of_constant_jerk():
    jerk = 20.0
    timed = retime(slider(), line(slider()), bounds(slider(), effort=1e3, jerk=jerk), rate=1000.0)
    optimum = (32 * DISTANCE / jerk) ** (1 / 3)
    assert_allclose(timed.duration, optimum, rtol=1e-3)
    qdd, t = timed.trajectory.accelerations[:, 0], timed.trajectory.times
    assert np.max(np.abs(np.diff(qdd) / np.diff(t))) <= 1.01 * jerk
    assert_allclose(timed.trajectory.positions[-1, 0], DISTANCE, atol=1e-9)


def test_jerk_and_acceleration_limits_are_kept_near_the_optimum():
    """The optimum ramps the acceleration up and down, at both ends and in the middle."""
    a, jerk = 3.0, 20.0
    timed = retime(slider(), line(slider()), bounds(slider(), effort=1e3, acceleration=a, jerk=jerk), rate=1000.0)
    optimum = a / jerk + np.sqrt((a / jerk) ** 2 + 4 * DISTANCE / a)
    assert optimum <= timed.duration < 1.15 * optimum
    qdd, t = timed.trajectory.accelerations[:, 0], timed.trajectory.times
    assert np.max(np.abs(qdd)) <= 1.01 * a
    assert np.max(np.abs(np.diff(qdd) / np.diff(t))) <= 1.01 * jerk


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "no effort or acceleration limit bounds the motion"),
        ({"effort": 0.0}, "joint 'rail': its effort limit is 0: give a positive one"),
        ({"acceleration": [1.0, 2.0]}, "acceleration: expected one limit or 1"),
    ],
)
def test_limits_that_are_none_are_refused(limits, message):
    with pytest.raises(InputError, match=message):
        retime(slider(), line(slider()), bounds(slider(), **limits))


def test_path_beyond_a_position_limit_is_refused():
    with pytest.raises(InputError, match=r"joint 'rail' at 9 s .*outside its limits -3 to 3"):
        retime(slider(), line(slider(), 0.0, 3.5), bounds(slider(), effort=FORCE))


def test_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "toppra", None)
    with pytest.raises(InputError, match="pip install toppra"):
        retime(slider(), line(slider()), bounds(slider(), effort=FORCE))


def test_path_that_is_too_short_for_the_numbers_is_said_to_be():
    assert retime(slider(), line(slider(), 0.0, 1e-4), bounds(slider(), effort=FORCE)).duration > 0
    with pytest.raises(InputError, match=r"no limit is in the way: is it shorter than 0\.1 mm"):
        retime(slider(), line(slider(), 0.0, 1e-7), bounds(slider(), effort=FORCE))


def test_trajectory_that_stands_still_is_refused():
    with pytest.raises(InputError, match="it does not move"):
        retime(slider(), line(slider(), 1.0, 1.0), bounds(slider(), effort=FORCE))


@pytest.mark.parametrize("velocities", [None, np.array([[0.0], [1e300], [0.0]])])
def test_path_that_no_number_can_measure_is_said_to_be(velocities):
    far = np.array([[0.0], [0.5 if velocities is not None else 1e300], [-1.5]])
    trajectory = JointTrajectory(("rail",), np.array([0.0, 4.0, 8.0]), far, velocities)
    with pytest.raises(InputError, match="goes farther than can be measured"):
        retime(slider(), trajectory, bounds(slider(), acceleration=3.0))


@pytest.mark.parametrize(("acceleration", "rate"), [(3.0, 1e6), (1e-12, 100.0)])
def test_motion_of_more_points_than_a_message_may_have_is_refused_before_they_are_made(acceleration, rate):
    with pytest.raises(InputError, match="points are too many: the motion takes"):
        retime(slider(), line(slider()), bounds(slider(), acceleration=acceleration), rate=rate)
