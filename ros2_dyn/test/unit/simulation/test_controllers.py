# SPDX-License-Identifier: Apache-2.0
"""The controllers of the mock arm: switching, held efforts, and trajectories with feed-forward."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicHermiteSpline

from robots import CART, HOME, mock_arm
from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.controllers import DEMO, EFFORT, TRAJECTORY, Controllers, gains_of_inertia
from ros2_dyn.simulation.interpolated_trajectory import InterpolatedTrajectory, read_waypoints
from ros2_dyn.simulation.interpolated_trajectory import TrajectoryPoint as Point
from ros2_dyn.simulation.perturbed import with_armature, with_friction
from ros2_dyn.simulation.simulated_arm import HeldEffort, SimulatedArm

MODEL = mock_arm()
NAMES = MODEL.joint_names


def controlled(model: RobotModel = MODEL, q=HOME, gains=None) -> Controllers:
    """Return the controllers of an arm at rest under gravity compensation."""
    arm = SimulatedArm(model, HeldEffort(gravity(model, q), model.effort_limit), q)
    return Controllers(arm, *(gains or gains_of_inertia(model, q)))


# --- switching --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [DEMO, TRAJECTORY])
def test_activated_effort_controller_holds_the_current_efforts_until_a_command(before):
    controllers = controlled()
    arm = controllers.arm
    controllers.switch(before)
    arm.advance(300)
    applied = arm.motion().tau
    assert np.abs(applied).max() > 1.0
    controllers.switch(EFFORT)
    for _ in range(3):
        assert_allclose(arm.motion().tau, applied, rtol=1e-12)
        arm.advance(10)
    controllers.switch(EFFORT)
    assert_allclose(arm.motion().tau, applied, rtol=1e-12)
    controllers.command([0.5] * 6)
    assert_allclose(arm.motion().tau, 0.5)


def test_activated_trajectory_controller_sags_until_its_gain_carries_the_weight():
    """Without feed-forward there is no effort at zero error."""
    controllers = controlled()
    arm = controllers.arm
    controllers.switch(TRAJECTORY)
    assert_allclose(arm.motion().tau, 0.0)
    arm.advance(2000)
    p, _ = gains_of_inertia(MODEL, HOME)
    assert_allclose(arm.qd, 0.0, atol=1e-3)
    assert_allclose(HOME - arm.q, gravity(MODEL, arm.q) / p, rtol=0, atol=1e-4)
    assert np.abs(HOME - arm.q).max() > 0.005


def test_activated_demo_controller_starts_its_motion_at_the_current_position():
    controllers = controlled()
    arm = controllers.arm
    controllers.switch(TRAJECTORY)
    arm.advance(3000)
    q, qd = arm.q.copy(), arm.qd.copy()
    controllers.switch(DEMO)
    arm.advance(10)
    assert_allclose(arm.q, q + 0.01 * qd, rtol=0, atol=1e-3)
    arm.advance(1990)
    assert_allclose(arm.q, arm.law.trajectory.at(arm.t)[0], rtol=0, atol=1e-6)
    assert np.abs(arm.q - q).max() > 0.3


def test_restarted_controller_continues_from_the_new_position():
    for name in (DEMO, TRAJECTORY, EFFORT):
        controllers = controlled()
        arm = controllers.arm
        controllers.switch(DEMO)
        arm.advance(1000)
        controllers.switch(name)
        applied = arm.motion().tau
        arm.place(HOME)
        controllers.restart()
        if name == EFFORT:
            assert_allclose(arm.motion().tau, applied)
        else:
            arm.advance(1)
            assert_allclose(arm.q, HOME, rtol=0, atol=1e-3)
            assert_allclose(arm.law.trajectory.at(0.0)[0], HOME)


@pytest.mark.parametrize("name", [DEMO, TRAJECTORY])
def test_switch_to_the_active_controller_keeps_its_law(name):
    controllers = controlled()
    controllers.switch(name)
    controllers.arm.advance(100)
    law = controllers.arm.law
    controllers.switch(name)
    assert controllers.arm.law is law


# --- efforts ----------------------------------------------------------------------------------------------------


def test_invalid_commands_are_rejected_whole_and_large_ones_saturated():
    controllers = controlled()
    controllers.switch(EFFORT)
    controllers.command([1000.0, -1000.0, 3.0, 4.0, 5.0, -1000.0])
    expected = [150.0, -150.0, 3.0, 4.0, 5.0, -28.0]
    assert_allclose(controllers.arm.motion().tau, expected)
    for wrong, problem in (
        ([1.0], "expected 6 efforts, got 1"),
        ([], "expected 6 efforts, got 0"),
        ([0, 0, 0, 0, 0, np.nan], "not finite"),
        ([np.inf, 0, 0, 0, 0, 0], "not finite"),
    ):
        with pytest.raises(InputError, match=problem):
            controllers.command(wrong)
        assert_allclose(controllers.arm.motion().tau, expected)


def test_commands_for_an_inactive_controller_are_rejected_and_change_nothing():
    controllers = controlled()
    for active in (DEMO, TRAJECTORY):
        controllers.switch(active)
        law = controllers.arm.law
        with pytest.raises(InputError, match=f"effort_controller is not active, but {active}"):
            controllers.command([0.0] * 6)
        assert controllers.arm.law is law
    controllers.switch(EFFORT)
    law = controllers.arm.law
    with pytest.raises(InputError, match="trajectory_controller is not active, but effort_controller"):
        controllers.follow(read_waypoints(NAMES, NAMES, [Point(1.0, HOME)]))
    assert controllers.arm.law is law


# --- trajectories -----------------------------------------------------------------------------------------------


def random_points(seed: int, velocities: bool = True, effort: bool = True) -> list[Point]:
    """Return five points in the model's order, at rest at the end."""
    rng = np.random.default_rng(seed)
    q, qd, tau = rng.normal(size=(3, 5, 6))
    qd[-1] = 0
    times = np.cumsum(rng.uniform(0.2, 1.0, 5))
    return [Point(t, a, b if velocities else (), c if effort else ()) for t, a, b, c in zip(times, q, qd, tau)]


def test_trajectory_in_any_joint_order_matches_scipy_hermite_and_numpy_interpolation():
    points = random_points(1)
    times, q, qd, tau = (np.array([point[k] for point in points]) for k in range(4))
    order = [3, 1, 5, 0, 2, 4]
    shuffled = [Point(p.time, *(np.array(x)[order] for x in p[1:])) for p in points]
    trajectory = InterpolatedTrajectory(read_waypoints(NAMES, [NAMES[i] for i in order], shuffled))
    spline = CubicHermiteSpline(times, q, qd)
    for t in np.linspace(times[0], times[-1] - 1e-9, 101):
        positions, velocities, efforts = trajectory.at(t)
        assert_allclose(positions, spline(t), rtol=0, atol=1e-12)
        assert_allclose(velocities, spline(t, 1), rtol=0, atol=1e-11)
        assert_allclose(efforts, [np.interp(t, times, column) for column in tau.T], rtol=0, atol=1e-12)


def test_point_without_velocity_makes_its_two_segments_straight():
    points = random_points(3)
    points[1] = points[1]._replace(velocities=(), effort=())
    trajectory = InterpolatedTrajectory(read_waypoints(NAMES, NAMES, points))
    middle = [(a.time + b.time) / 2 for a, b in pairwise(points)]
    assert_allclose(trajectory.at(middle[0])[0], (points[0].positions + points[1].positions) / 2)
    assert_allclose(trajectory.at(middle[0])[2], points[0].effort / 2)
    assert_allclose(trajectory.at(middle[1])[2], points[2].effort / 2)
    assert np.abs(trajectory.at(middle[2])[0] - (points[2].positions + points[3].positions) / 2).max() > 1e-3


def test_trajectory_after_its_end_holds_the_last_position_and_effort():
    """joint_trajectory_controller does the same for trajectories received on its topic."""
    points = random_points(4)
    trajectory = InterpolatedTrajectory(read_waypoints(NAMES, NAMES, points))
    last = points[-1]
    assert_allclose(trajectory.at(last.time - 1e-9)[2], last.effort, rtol=1e-6)
    for t in (last.time, last.time + 100.0):
        q, qd, effort = trajectory.at(t)
        assert_allclose(q, last.positions)
        assert not qd.any()
        assert_allclose(effort, last.effort)


def test_inverse_dynamics_as_feed_forward_reduces_the_tracking_error_tenfold():
    times = np.linspace(0.0, 1.0, 101)
    phase = 2 * np.pi * times[:, None]
    q = HOME + 0.1 * (1 - np.cos(phase))
    qd = 0.1 * 2 * np.pi * np.sin(phase) * np.ones(6)
    qdd = 0.1 * (2 * np.pi) ** 2 * np.cos(phase) * np.ones(6)
    errors = []
    for effort in (rnea(MODEL, q, qd, qdd), np.zeros_like(q)):
        controllers = controlled()
        controllers.switch(TRAJECTORY)
        controllers.follow(read_waypoints(NAMES, NAMES, [Point(*row) for row in zip(times, q, qd, effort)]))
        worst = 0.0
        for k in range(1, 100):
            controllers.arm.advance(10)
            worst = max(worst, np.abs(controllers.arm.q - q[k]).max())
        errors.append(worst)
    assert errors[0] < 5e-3
    assert errors[1] > 10 * errors[0]


def test_tracking_effort_is_feed_forward_plus_feedback_and_saturates():
    """``effort + p (q_d - q) + d (qd_d - qd)`` with a gain of its own for each joint."""
    p, d = np.arange(1.0, 7.0), np.arange(2.0, 8.0)
    controllers = controlled(gains=(p, d))
    controllers.switch(TRAJECTORY)
    goal, effort = HOME + np.arange(6.0), np.arange(6.0)
    controllers.follow(read_waypoints(NAMES, NAMES, [Point(0.0, goal, (), effort), Point(2.0, goal + 1, (), effort)]))
    arm = controllers.arm
    arm.qd = np.linspace(-1, 1, 6)
    expected = effort + p * (goal - HOME) + d * (0.5 - arm.qd)
    assert expected[5] > 28.0
    assert_allclose(arm.motion().tau, np.minimum(expected, [150, 150, 150, 28, 28, 28]), rtol=1e-12)


def test_trajectory_starting_in_the_future_is_extended_back_to_the_current_state():
    controllers = controlled()
    arm = controllers.arm
    controllers.switch(TRAJECTORY)
    arm.advance(500)
    point = Point(2.0, np.add(HOME, 1), [0.0] * 6, [8.0] * 6)
    controllers.follow(read_waypoints(NAMES, NAMES, [point]))
    at = arm.law.trajectory.at
    assert_allclose(at(arm.t)[0], arm.q, rtol=0, atol=1e-15)
    assert_allclose(at(arm.t)[1], arm.qd, rtol=0, atol=1e-15)
    assert_allclose(at(arm.t + 0.5)[2], 2.0)
    assert_allclose(at(arm.t + 2.0)[0], np.add(HOME, 1))

    controllers.follow(read_waypoints(NAMES, NAMES, [point]), arm.t + 2.0)
    assert_allclose(arm.law.trajectory.at(arm.t + 1.0)[2], 2.0)
    controllers.follow(read_waypoints(NAMES, NAMES, [point._replace(time=0.0)]))
    assert_allclose(arm.law.trajectory.at(arm.t)[0], np.add(HOME, 1))
    law = arm.law
    with pytest.raises(InputError, match=r"header.stamp: the trajectory ended 1.000 s ago"):
        controllers.follow(read_waypoints(NAMES, NAMES, [point]), arm.t - 3.0)
    assert arm.law is law


@pytest.mark.parametrize(
    ("names", "points", "problem"),
    [
        (
            NAMES[:5],
            [Point(1.0, HOME)],
            "joint_names: expected shoulder_pan_joint, .* in any order, got shoulder",
        ),
        (NAMES, [], "points: expected one or more, got none"),
        (NAMES, [Point(1.0, ())], r"points\[0\].positions: expected 6 numbers, got none"),
        (
            NAMES,
            [Point(1.0, HOME), Point(2.0, HOME[:5])],
            r"points\[1\].positions: expected 6 finite numbers, got",
        ),
        (
            NAMES,
            [Point(1.0, HOME, (), [np.nan] * 6)],
            r"points\[0\].effort: expected 6 finite numbers, got \[nan",
        ),
        (
            NAMES,
            [Point(1.0, HOME), Point(1.0, HOME)],
            "time_from_start: expected times that increase, from 0",
        ),
        (
            NAMES,
            [Point(1.0, HOME, [0.1] * 6)],
            r"points\[0\].velocities: expected zeros at the end, got \[0.1",
        ),
    ],
)
def test_invalid_trajectory_is_rejected_with_field_and_expectation(names, points, problem):
    with pytest.raises(InputError, match=problem):
        read_waypoints(NAMES, names, points)


def test_strong_gains_on_a_light_joint_give_a_smooth_slow_approach():
    """The last joint has 1e-4 kg m^2: a damping of 10 N m s/rad acts within 10 us, and the step is 1 ms.

    The approach has the rate p/d = 2 1/s.
    """
    controllers = controlled(gains=([3000.0] * 3 + [20.0] * 3, [200.0] * 3 + [10.0] * 3))
    arm = controllers.arm
    controllers.switch(TRAJECTORY)
    goal = HOME + np.array([0, 0, 0, 0, 0, 0.5])
    controllers.follow(read_waypoints(NAMES, NAMES, [Point(0.0, goal)]))
    arm.advance(500)
    assert_allclose(goal[5] - arm.q[5], 0.5 * np.exp(-2.0 * 0.5), rtol=0.02)


@pytest.mark.parametrize("wrong", [[1.0], [-1.0] * 6, [np.nan] * 6])
def test_invalid_gains_are_rejected_by_name(wrong):
    for name, gains in (("trajectory_p", (wrong, [1.0] * 6)), ("trajectory_d", ([1.0] * 6, wrong))):
        with pytest.raises(InputError, match=f"{name}: expected 6 finite numbers, not negative"):
            controlled(gains=gains)


# --- rotors -----------------------------------------------------------------------------------------------------


def test_armature_adds_to_the_mass_of_a_cart():
    """``F = (m + armature) qdd``; friction is unchanged."""
    model = with_armature(with_friction(CART, [1.0]), [6.0])
    assert SimulatedArm(model, HeldEffort([5.0], [100.0]), [0.0]).motion().qdd[0] == pytest.approx(5.0 / 10.0)
    assert model.joints[0].dynamics.viscous == 1.0
    assert with_armature(model) == model
    with pytest.raises(InputError, match="armature: expected 1 numbers, got 2"):
        with_armature(CART, [1.0, 2.0])
