# SPDX-License-Identifier: Apache-2.0
"""The linear model against the dynamics, filters and elements against closed forms, and parts of a motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from recordings import efforts, exciting_motion
from robots import mock_arm
from ros2_dyn.dynamics import friction, inertial_parameters, rnea
from ros2_dyn.dynamics.presliding import stretches
from ros2_dyn.errors import InputError
from ros2_dyn.model import JointDynamics
from ros2_dyn_tools.identification import normal_equations as module
from ros2_dyn_tools.identification.columns import (
    DISTANCES,
    TERMS,
    Term,
    body_columns,
    check,
    friction_columns,
    parameter_columns,
    supported,
)
from ros2_dyn_tools.identification.normal_equations import normal_equations
from ros2_dyn_tools.identification.parts import FOLDS, GAP, NONE, TEST, Split, excerpts, parts_of
from ros2_dyn_tools.identification.retracing import retraced
from ros2_dyn_tools.recording.effort_filter import EffortFilter, candidates
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion, even_motion, unbroken

DOWN = np.array([0.0, 0.0, -9.81])


def rigid(model):
    return model.with_joint_dynamics({joint.name: JointDynamics() for joint in model.joints})


def test_columns_of_the_bodies_times_their_parameters_are_the_efforts_of_rigid_bodies():
    model = rigid(mock_arm())
    motion = exciting_motion(model, 2.0, 50.0)
    Y = body_columns(model, motion, DOWN)[..., :-2]
    assert_allclose(Y @ inertial_parameters(model), rnea(model, motion.q, motion.qd, motion.qdd), atol=1e-10)


def test_columns_of_the_tilt_are_the_change_of_the_efforts():
    model = rigid(mock_arm())
    motion = exciting_motion(model, 2.0, 50.0)
    tilted = rnea(model, motion.q, motion.qd, motion.qdd, [0.3, -0.2, -9.81])
    change = tilted - rnea(model, motion.q, motion.qd, motion.qdd, DOWN)
    assert_allclose(body_columns(model, motion, DOWN)[..., -2:] @ [0.3, -0.2], change, atol=1e-10)


def test_columns_of_friction_times_its_parameters_are_the_efforts_of_friction():
    told = mock_arm()
    same = JointDynamics(viscous=2.0, coulomb=3.0, static=4.5, stribeck_velocity=0.3, transition_velocity=0.05)
    model = told.with_joint_dynamics({joint.name: same for joint in told.joints})
    motion = exciting_motion(model, 2.0, 50.0)
    columns = friction_columns(model, motion, stretches(motion.q, DISTANCES), DOWN)
    x = np.zeros(len(TERMS))
    for term, value in ((Term("viscous"), 2.0), (Term("coulomb", 0.05), 3.0), (Term("stribeck", 0.05, 0.3), 1.5)):
        x[TERMS.index(term)] = value
    assert_allclose(columns @ x, friction(model, motion.qd), atol=1e-10)


def test_effort_of_a_joint_depends_on_the_bodies_that_it_moves_only():
    model = mock_arm()
    Y = body_columns(model, exciting_motion(model, 2.0, 50.0), DOWN)
    for joint in range(model.n):
        others = np.setdiff1d(np.arange(60), parameter_columns(supported(model, joint)))
        assert_allclose(Y[:, joint, others], 0.0, atol=1e-12)


def test_presliding_element_is_a_spring_until_it_slips_and_again_after_a_reversal():
    there = np.linspace(0.0, 0.05, 501)
    q = np.concatenate([there, there[::-1]])[:, None]
    z = stretches(q, [0.02])[:, 0, 0]
    assert_allclose(z[:501], np.minimum(there / 0.02, 1.0), atol=1e-9)
    assert_allclose(z[501:], np.maximum(1.0 - there / 0.02, -1.0), atol=1e-9)


def test_filter_without_phase_attenuates_a_sine_as_butterworth_says():
    t = np.arange(0, 20, 0.004)
    for f in (0.5, 2.0, 4.0):
        out = EffortFilter("zero_phase", 2.0).apply(np.sin(2 * np.pi * f * t), 0.004)
        inside = slice(1000, -1000)
        expected = np.sin(2 * np.pi * f * t) / (1 + (f / 2.0) ** 4)
        assert_allclose(out[inside], expected[inside], atol=2e-3)


def test_filter_of_first_order_answers_a_step_with_an_exponential():
    t = np.arange(0, 1, 0.001)
    values = np.where(t < 0.1, 0.0, 1.0)
    out = EffortFilter("first_order", 2.0).apply(values, 0.001)
    assert_allclose(out[100:], 1 - np.exp(-2 * np.pi * 2.0 * (t[100:] - 0.1 + 0.001)), atol=1e-9)


def test_filters_to_choose_from_stay_below_the_highest_frequency():
    assert all(each.kind == "none" or each.cutoff <= 3.0 for each in candidates(3.0))
    assert EffortFilter() in candidates(3.0)


def test_equations_do_not_depend_on_the_size_of_the_blocks(monkeypatch):
    model = mock_arm()
    motion = exciting_motion(model, 12.0, 100.0)
    motion = motion._replace(effort=efforts(model, motion))
    parts = parts_of([motion], Split())
    arguments = (model, [motion], parts, [EffortFilter(), EffortFilter("zero_phase", 4.0)])
    whole = normal_equations(*arguments, gravity=DOWN)
    monkeypatch.setattr(module, "BLOCK", 170)
    pieces = normal_equations(*arguments, gravity=DOWN)
    for a, b in zip(whole, pieces):
        for of_a, of_b in zip(a, b):
            for one, other in zip(of_a, of_b):
                assert one.states == other.states
                assert_allclose(other.gram, one.gram, rtol=1e-5, atol=1e-5 * np.max(np.abs(one.gram)))


def test_mean_square_of_a_gram_matrix_is_that_of_the_residual():
    rng = np.random.default_rng(1)
    A, b, x = rng.normal(size=(50, 3)), rng.normal(size=50), rng.normal(size=3)
    columns = np.column_stack([A, b])
    equations = module.JointEquations(columns.T @ columns, 50)
    assert equations.mean_square([0, 1, 2], x) == pytest.approx(np.mean((b - A @ x) ** 2))


def motion_of(seconds: float, rate: float = 100.0) -> EvenMotion:
    t = np.arange(int(seconds * rate)) / rate
    return EvenMotion(t, *np.zeros((4, len(t), 1)))


def test_folds_are_contiguous_apart_and_no_part_of_the_test():
    (part,) = parts_of([motion_of(60.0)], Split())
    t = motion_of(60.0).t
    assert_array_equal(np.unique(part), [NONE, *range(FOLDS), GAP, TEST])
    assert t[part == TEST].min() == pytest.approx(2 / 3 * t[-1], abs=0.02)
    assert_array_equal(part[(t < 0.5) | (t > t[-1] - 0.5)], NONE)
    for k in range(1, FOLDS):
        before, after = t[part == k - 1].max(), t[part == k].min()
        assert after - before == pytest.approx(1.0, abs=0.03)


def test_test_part_in_the_middle_leaves_the_outer_thirds():
    (part,) = parts_of([motion_of(30.0)], Split(1 / 3, 2 / 3))
    t = motion_of(30.0).t
    assert_array_equal(part == TEST, (t >= t[-1] / 3) & (t < 2 * t[-1] / 3))


def test_several_motions_are_split_as_one_after_the_other():
    first, second = parts_of([motion_of(20.0), motion_of(10.0)], Split())
    assert not np.any(first == TEST)
    assert np.all(second[51:-51] == TEST)


def test_too_short_motion_is_refused():
    with pytest.raises(InputError, match="at least 100 states to fit"):
        parts_of([motion_of(1.5)], Split())


def test_excerpts_have_the_length_asked_for_and_all_folds():
    motion = motion_of(1000.0)
    parts = parts_of([motion], Split())
    (kept,) = excerpts([motion], parts, 200.0)
    assert 0.8 * 200 < 0.01 * np.sum(kept != NONE) <= 1.2 * 200
    assert set(range(FOLDS)) <= set(kept)
    assert excerpts([motion], parts, 1000.0)[0] is parts[0]


def test_test_part_that_repeats_the_fit_part_is_recognised():
    model = mock_arm()
    once = exciting_motion(model, 20.0, 50.0)
    other = exciting_motion(model, 20.0, 50.0, seed=2)
    parts = [np.zeros(len(once.t), int), np.full(len(once.t), TEST)]
    assert retraced([once, once], parts) == 1.0
    assert retraced([once, other], parts) < 0.1
    assert np.isnan(retraced([once], parts[:1]))


def test_motion_at_a_high_rate_is_thinned_out_and_differentiated():
    t = np.arange(0, 20, 0.001)
    q = np.sin(2 * np.pi * t)[:, None]
    qd = 2 * np.pi * np.cos(2 * np.pi * t)[:, None]
    motion = even_motion(Recording(t, q, qd, 3 * q))
    assert motion.step == pytest.approx(0.008)
    inside = slice(125, -125)
    assert_allclose(motion.effort[inside, 0], 3 * np.sin(2 * np.pi * motion.t[inside]), atol=1e-3)
    assert_allclose(motion.qdd[inside, 0], -((2 * np.pi) ** 2) * np.sin(2 * np.pi * motion.t[inside]), atol=2e-2)


def test_recording_is_split_where_states_are_missing():
    t = np.concatenate([np.arange(0, 2, 0.01), np.arange(5, 7, 0.01), [9.0]])
    pieces = unbroken(Recording(t, *np.zeros((3, len(t), 1))))
    assert [len(piece.t) for piece in pieces] == [200, 200]


def test_joints_that_are_not_identified_are_named():
    model = mock_arm()
    check(model)
    from robots import joint, link, robot
    from ros2_dyn.model import RobotModel

    ball = robot(link("base"), link("body", 1.0, inertia=(1, 0, 0, 1, 0, 1)), joint("free", "floating", "base", "body"))
    with pytest.raises(InputError, match="joint 'free' has several degrees of freedom"):
        check(RobotModel.from_urdf(ball))
