# SPDX-License-Identifier: Apache-2.0
"""Timings of random paths of published arms: inside all limits, and at one of them all the time."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicHermiteSpline

from robots import example_robots, mock_arm
from ros2_dyn.dynamics import carried_load, friction, rnea
from ros2_dyn.model import JointDynamics, Payload, RobotModel
from ros2_dyn_tools.timing import JointTrajectory, MotionBounds, Retimed, retime

pytest.importorskip("toppra", reason="toppra, which finds the timing, is not installed")

ARMS = {
    "ur10": ("ur_description/urdf/ur10_robot.urdf", None),
    "panda": ("panda_description/urdf/panda.urdf", [f"panda_joint{i}" for i in range(1, 8)]),
}


@cache
def arm(name: str) -> RobotModel:
    """A published arm, as it is described."""
    path, joints = ARMS[name]
    if not (example_robots() / path).is_file():
        pytest.skip("example-robot-data is not installed")
    model = RobotModel.from_urdf_file(example_robots() / path)
    return model.reduced(joints) if joints else model


def random_path(model: RobotModel, seed: int) -> JointTrajectory:
    """Five random postures."""
    low, high = np.maximum(model.lower, -2) + 0.3, np.minimum(model.upper, 2) - 0.3
    q = np.random.default_rng(seed).uniform(low, high, size=(5, model.n))
    return JointTrajectory(model.joint_names, np.arange(5.0), q)


def rubbing(model: RobotModel) -> RobotModel:
    """The same arm with friction of 10 % of the efforts, of all kinds, as much viscous friction, and rotors."""
    return model.with_joint_dynamics(
        {
            name: JointDynamics(
                viscous=0.1 * tau / qd,
                coulomb=0.06 * tau,
                static=0.09 * tau,
                load=0.05,
                offset=-0.01 * tau,
                armature=0.1,
            )
            for name, tau, qd in zip(model.joint_names, model.effort_limit, model.velocity_limit)
        }
    )


def check(model: RobotModel, path: JointTrajectory, timed: Retimed) -> None:
    """Limits are kept, efforts are the model's, and the path is the given one."""
    q, qd, qdd = timed.trajectory.positions, timed.trajectory.velocities, timed.trajectory.accelerations
    effort = rnea(model, q, qd, qdd) + friction(model, qd, carried_load(model, q))
    assert_allclose(timed.trajectory.effort, effort, atol=1e-9)
    assert np.max(np.abs(effort) / model.effort_limit) <= 1.01
    assert np.max(np.abs(qd) / model.velocity_limit) <= 1.01
    t = timed.trajectory.times
    assert_allclose(q[1:] - q[:-1], (qd[1:] + qd[:-1]) / 2 * np.diff(t)[:, None], atol=2e-4)
    for posture in path.positions:  # points are some milliseconds apart, at speeds of some rad/s
        assert np.min(np.linalg.norm(q - posture, axis=-1)) < 0.01


@pytest.mark.parametrize("load", [None, Payload(3.0, (0.0, 0.0, 0.05))], ids=["empty", "3 kg"])
@pytest.mark.parametrize("name", ARMS)
def test_random_path_is_timed_within_its_limits_and_at_one_of_them(name, load):
    model = arm(name).carrying(load)
    path = random_path(model, 1 if load else 2)
    timed = retime(model, path, MotionBounds.of(model), rate=1000.0)
    check(model, path, timed)
    most = np.max([np.max(share, axis=-1) for share in timed.use.shares.values()], axis=0)
    assert np.mean(most > 0.98) > 0.97  # what is the fastest has no time without a limit
    assert timed.duration > timed.duration_by_velocity


@pytest.mark.parametrize("name", ARMS)
def test_friction_is_within_the_limits_which_are_used(name):
    model = rubbing(arm(name))
    path, bounds = random_path(model, 3), MotionBounds.of(model).scaled(1.0, 0.8)
    timed = retime(model, path, bounds, rate=1000.0)
    check(model, path, timed)
    most = np.max([np.max(share, axis=-1) for share in timed.use.shares.values()], axis=0)
    assert np.mean(most > 0.98) > 0.95


@pytest.mark.parametrize(("way", "points"), [(0.05, 2), (0.2, 3), (3.0, 2)])
def test_arm_whose_motors_are_strong_beside_its_links_is_timed(way, points):
    """The wrist of the mock arm has no rotors: it takes its speed within less than a piece of the grid."""
    model = mock_arm()
    start, end = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0]), way * np.array([0.5, 0.2, -0.2, 0.2, 0.17, 0.2])
    path = JointTrajectory(model.joint_names, np.arange(float(points)), start + np.linspace(0 * end, end, points))
    timed = retime(model, path, MotionBounds.of(model), rate=1000.0)
    check(model, path, timed)
    most = np.max([np.max(share, axis=-1) for share in timed.use.shares.values()], axis=0)
    assert np.mean(most > 0.98) > 0.9


def test_payload_and_friction_make_it_slower():
    model = arm("panda")
    path, bounds = random_path(model, 4), MotionBounds.of(model).scaled(1.0, 0.9)
    free = retime(model, path, bounds).duration
    assert retime(model.carrying(Payload(3.0)), path, bounds).duration > 1.02 * free
    assert retime(rubbing(model), path, bounds).duration > 1.005 * free


def test_acceleration_and_jerk_limits_are_kept():
    model = arm("ur10")
    bounds = MotionBounds.of(model, acceleration=8.0, jerk=80.0)
    timed = retime(model, random_path(model, 5), bounds, rate=1000.0)
    qdd, t = timed.trajectory.accelerations, timed.trajectory.times
    assert np.max(np.abs(qdd)) <= 1.01 * 8.0
    inner = slice(1, -2)  # the last point is set to rest
    assert np.max(np.abs(np.diff(qdd[inner], axis=0)) / np.diff(t[inner])[:, None]) <= 1.01 * 80.0
    assert max(np.max(share) for share in timed.use.shares.values()) == pytest.approx(1, abs=1e-6)


def test_order_of_the_joints_is_by_name():
    model, path = arm("ur10"), random_path(arm("ur10"), 6)
    turned = JointTrajectory(path.joint_names[::-1], path.times, path.positions[:, ::-1])
    first, second = (retime(model, each, MotionBounds.of(model)) for each in (path, turned))
    assert first.trajectory.joint_names == second.trajectory.joint_names == model.joint_names
    assert_allclose(first.trajectory.positions, second.trajectory.positions)


def test_path_follows_the_velocities_of_few_points():
    """Through the cubic Hermite segments, not the spline with continuous curvature, which is elsewhere."""
    model = arm("ur10")
    path, chance = random_path(model, 7), np.random.default_rng(7)
    given = replace(path, velocities=chance.uniform(-0.5, 0.5, path.positions.shape))
    curve = CubicHermiteSpline(given.times, given.positions, given.velocities)(np.linspace(0, 4, 2001))
    q = retime(model, given, MotionBounds.of(model)).trajectory.positions
    away = np.min(np.linalg.norm(q[:, None] - curve, axis=-1), axis=1)
    assert np.max(away) < 0.01  # the other spline is half a radian away


def test_dense_trajectory_with_velocities_and_rests_keeps_its_path():
    """A recording-like motion that begins and ends softly, stops in between, and goes back the way it came."""
    model = arm("ur10")
    t = np.linspace(0, 8, 801)
    swing = np.sin(np.pi * t / 8) ** 2  # there and back, at rest in the middle and at both ends
    rate = np.pi / 8 * np.sin(np.pi * t / 4)
    q = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0]) + swing[:, None] * np.array([1.0, 0.5, -0.7, 0.3, 0.2, 1.0])
    qd = rate[:, None] * np.array([1.0, 0.5, -0.7, 0.3, 0.2, 1.0])
    given = JointTrajectory(model.joint_names, t, q, qd)
    timed = retime(model, given, MotionBounds.of(model))
    assert timed.duration < 0.5 * 8
    along = (timed.trajectory.positions - q[0]) / np.array([1.0, 0.5, -0.7, 0.3, 0.2, 1.0])
    assert_allclose(along, along[:, :1] + 0 * along, atol=2e-3)  # a straight line in the space of joints
    assert_allclose([np.max(along), along[0, 0], along[-1, 0]], [1, 0, 0], atol=2e-3)
