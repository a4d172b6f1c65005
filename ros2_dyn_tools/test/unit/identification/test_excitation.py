# SPDX-License-Identifier: Apache-2.0
"""Exciting trajectories: at rest at both ends, within all limits, and told what they tell."""

import doctest
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import coupled, general_tree, joint, link, mock_arm, planar_2r, robot
from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.simulation.perturbed import with_armature, with_friction
from ros2_dyn_tools.identification.base_parameters import random_states
from ros2_dyn_tools.identification.excitation import FourierBasis, FourierTrajectory
from ros2_dyn_tools.identification.excitation_cost import ExcitationCost
from ros2_dyn_tools.identification.excitation_design import excite
from ros2_dyn_tools.identification.excitation_information import Information, standard_parameters
from ros2_dyn_tools.identification.excitation_limits import MotionLimits, whole_effort
from ros2_dyn_tools.identification.excitation_options import ExcitationOptions, start_posture

POSTURE = [0.0, -1.2, 1.4, -1.8, -1.57, 0.3]
QUICK = ExcitationOptions(duration=10.0, posture=POSTURE, starts=1, iterations=12)


def rubbing_arm() -> RobotModel:
    """Return the mock arm with friction."""
    return with_friction(mock_arm(), [8.0, 8.0, 5.0, 1.0, 1.0, 1.0], [6.0, 8.0, 5.0, 1.0, 1.0, 1.0])


@pytest.fixture(scope="module")
def found():
    """A quickly found trajectory of the mock arm."""
    return excite(rubbing_arm(), QUICK)


def test_series_is_periodic_and_rests_in_its_posture_at_both_ends():
    rng = np.random.default_rng(1)
    trajectory = FourierTrajectory(rng.normal(size=3), rng.normal(size=(8, 3)), 0.25, 8.0)
    for t in (0.0, 4.0, 8.0, 9.0):
        q, qd, qdd = trajectory.at(t)
        assert_allclose(q, trajectory.posture, atol=1e-12)
        assert_allclose([qd, qdd], 0.0, atol=1e-11)
    t = rng.uniform(0, 4, 20)
    for first, second in zip(trajectory.at(t), trajectory.at(t + 4.0)):
        assert_allclose(first, second, atol=1e-11)
        assert np.max(np.abs(first)) > 0.1


def test_velocities_and_accelerations_are_derivatives():
    trajectory = FourierTrajectory(np.zeros(2), np.random.default_rng(2).normal(size=(8, 2)), 0.1, 10.0)
    t, h = np.linspace(0.5, 9.5, 30), 1e-4
    (before, v0, _), (_, qd, qdd), (after, v1, _) = (trajectory.at(t + s) for s in (-h, 0, h))
    assert_allclose((after - before) / (2 * h), qd, atol=1e-6)
    assert_allclose((v1 - v0) / (2 * h), qdd, atol=1e-6)


def test_limits_hold_between_the_points_in_ten_times_as_many_samples(found):
    """By inverse dynamics with friction, and the limits of the description, not those of the design."""
    model = rubbing_arm()
    q, qd, qdd = found.trajectory.at(np.linspace(0, 10.0, 10 * 10 * 100 + 7))
    assert np.all(q > model.lower + 0.1)
    assert np.all(q < model.upper - 0.1)
    assert np.all(np.abs(qd) < 0.7 * model.velocity_limit)
    assert np.all(np.abs(qdd) < 10.0)
    friction = np.array([8.0, 8, 5, 1, 1, 1]) * qd + np.array([6.0, 8, 5, 1, 1, 1]) * np.tanh(qd / 0.01)
    assert np.all(np.abs(rnea(model, q, qd, qdd) + friction) < 0.7 * model.effort_limit)
    used = np.max(np.abs(qd), axis=0) / model.velocity_limit
    assert np.all(used > 0.4), "a limit that is not used tells little"


def test_narrow_effort_limits_are_kept():
    """Of weak motors: little more than what gravity needs."""
    model, posture = rubbing_arm(), np.array(POSTURE)
    need = np.max(np.abs(gravity(model, posture)) / model.effort_limit) + 0.05
    options = ExcitationOptions(duration=10.0, posture=POSTURE, starts=1, iterations=8, share=float(need))
    trajectory = excite(model, options).trajectory
    motion = trajectory.at(np.linspace(0, 10.0, 20011))
    use = np.max(np.abs(whole_effort(model, *motion)) / model.effort_limit, axis=0)
    assert 0.8 * need < np.max(use) < need


def test_search_is_better_than_its_start_and_the_same_for_a_seed(found):
    again = excite(rubbing_arm(), QUICK)
    assert_allclose(again.trajectory.weights, found.trajectory.weights, rtol=1e-12)
    first = excite(rubbing_arm(), ExcitationOptions(duration=10.0, posture=POSTURE, starts=1, iterations=1))
    errors, worse = found.quality.standard_errors, first.quality.standard_errors
    assert np.mean(np.log(errors)) < np.mean(np.log(worse)) - 0.3
    assert found.quality.condition < first.quality.condition


def test_gradient_of_the_cost_is_that_of_differences():
    """Where limits of all kinds are exceeded, and something is near."""
    model, posture = rubbing_arm(), np.array(POSTURE)
    limits = MotionLimits.of(model, posture, 0.45, 0.1, 2.0)

    def closeness(q):
        excess = np.maximum(q[:, 1] - q[:, 2] + 2.0, 0)
        return excess**2, np.stack([0 * excess, 2 * excess, -2 * excess, *3 * [0 * excess]], axis=1)

    basis, times = FourierBasis(0.1, 3), np.arange(40) / 4
    cost = ExcitationCost(Information(model), limits, posture, basis=basis, times=times, closeness=closeness)
    x = np.random.default_rng(3).normal(size=4 * 6)
    slopes = [(cost(x + e)[0] - cost(x - e)[0]) / 2e-5 for e in 1e-5 * np.eye(len(x))]
    assert_allclose(cost(x)[1], slopes, rtol=1e-5, atol=1e-5 * np.max(np.abs(slopes)))


def test_columns_times_base_parameters_are_the_efforts():
    """Friction and rotors included; at speeds where Coulomb friction is full."""
    model = with_armature(rubbing_arm(), [1.0, 2.0, 0.5, 0.1, 0.1, 0.1])
    information = Information(model, 2.0)
    q, qd, qdd = random_states(model, 200, seed=5)
    qd += np.sign(qd)
    A = information.columns(q, qd, qdd)
    efforts = 2.0 * A @ (information.scale * information.beta)
    assert_allclose(efforts, whole_effort(model, q, qd, qdd), rtol=1e-6, atol=1e-6)


def test_standard_errors_are_the_spread_of_estimates_from_noisy_efforts(found):
    """Monte Carlo: least squares of many noisy efforts."""
    model = rubbing_arm()
    noise = np.array([1.0, 2.0, 1.0, 0.3, 0.2, 0.1])
    information = Information(model, noise)
    motion = found.trajectory.at(np.arange(0, 10.0, 0.1))
    A = information.columns(*motion).reshape(-1, len(information.base))
    white = np.random.default_rng(6).normal(size=(len(A), 2000))
    estimates = np.linalg.lstsq(A, white, rcond=None)[0] / information.scale[:, None]
    assert_allclose(np.std(estimates, axis=1), information.quality(*motion).standard_errors, rtol=0.1)


def test_motion_of_one_joint_does_not_tell_all():
    model = mock_arm()
    one = np.zeros((100, 6))
    one[:, 2] = np.sin(np.linspace(0, 6, 100))
    quality = Information(model).quality(one, one, one)
    assert quality.condition == np.inf
    assert np.all(quality.standard_errors == np.inf)


def test_base_parameters_with_drives_of_a_planar_arm():
    """The first rotor turns with the first link: it cannot be told from it. The second one can."""
    model = RobotModel.from_urdf(planar_2r(0.7, 0.4, {"mass": 2.0, "com": (0.3, 0, 0)}, {"mass": 1.5}))
    base = Information(model).base
    assert len(base) == 4 + 2 * 2 + 1
    assert "first.Izz + 0.49 second.m + theta1.armature" in base.combinations()
    assert "theta2.armature" in base.combinations()
    assert len(standard_parameters(model)) == len(base.names)


def test_rotor_that_turns_with_the_second_link_cannot_be_told_from_it():
    plain = RobotModel.from_urdf(planar_2r(0.7, 0.4, {"mass": 2.0, "com": (0.3, 0, 0)}, {"mass": 1.5}))
    model = coupled(plain, theta2={"theta1": 1.0})
    assert len(Information(model).base) == len(Information(plain).base) - 1


def test_joints_without_limits_swing_by_half_a_turn_at_most():
    xml = robot(
        link("base"),
        link("arm", 1.0, (0.2, 0, 0), (0.1, 0, 0.1, 0, 0, 0.1)),
        joint("turn", "continuous", "base", "arm"),
    )
    trajectory = excite(RobotModel.from_urdf(xml), ExcitationOptions(starts=1, iterations=5)).trajectory
    assert 0.5 < np.max(np.abs(trajectory.at(np.linspace(0, 20, 3000))[0])) < np.pi


def test_start_is_in_the_middle_of_the_limits_and_at_zero_without():
    model = mock_arm()
    assert_allclose(start_posture(model), (model.lower + model.upper) / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"duration": float("nan")}, "duration: expected a finite number above 0"),
        ({"harmonics": 1}, "harmonics: expected a finite number above 1"),
        ({"share": 1.2}, "share: expected a number above 0, at most 1"),
        ({"margin": -1.0}, "margin: expected a finite number, not negative"),
        ({"base_frequency": 0.07}, r"base_frequency: expected a multiple of 1 / duration \(0.05 Hz\)"),
        ({"base_frequency": 0.0}, "base_frequency: expected a multiple"),
        ({"noise": [1.0, 2.0]}, "noise: expected positive numbers, one or 6"),
        ({"posture": [0.0]}, "posture: expected 6 finite positions"),
        ({"posture": [9.0, 0, 0, 0, 0, 0]}, "posture: joint 'shoulder_pan_joint': expected a position between"),
        ({"margin": 10.0}, "margin: joint 'shoulder_pan_joint': 10 at both ends leaves nothing of its range"),
        ({"posture": [0.0] * 6, "share": 0.1}, "posture: joint 'shoulder_lift_joint': gravity alone needs"),
        ({"acceleration": 0.0}, "acceleration: expected positive numbers"),
    ],
)
def test_wrong_options_are_refused_by_name(options, message):
    with pytest.raises(InputError, match=message):
        excite(mock_arm(), ExcitationOptions(**options))


def test_joint_of_several_degrees_of_freedom_is_refused_by_name():
    with pytest.raises(InputError, match=r"joints: joint 'base_joint' is floating"):
        excite(general_tree(1))


def test_examples_of_the_page(monkeypatch):
    page = Path(__file__).parents[4] / "docs" / "excitation.md"
    if not page.is_file():
        pytest.skip("the package is tested outside of a checkout")
    monkeypatch.chdir(page.parents[1])
    result = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 3
    assert result.failed == 0
