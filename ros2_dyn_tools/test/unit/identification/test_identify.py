# SPDX-License-Identifier: Apache-2.0
"""Simulated arms whose parameters are known are identified, from exact and from noisy motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recordings import efforts, exciting_motion, recording
from robots import coupled, mock_arm
from ros2_dyn.dynamics import inertial_parameters, rnea
from ros2_dyn.dynamics.presliding import friction_along
from ros2_dyn.model import JointDynamics
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import is_consistent
from ros2_dyn_tools.identification.base_parameters import base_of, base_parameters, inertial_names
from ros2_dyn_tools.identification.columns import TERMS, TILT, body_columns
from ros2_dyn_tools.identification.cross_validation import together
from ros2_dyn_tools.identification.identification import Estimate, Options
from ros2_dyn_tools.identification.identify import identify
from ros2_dyn_tools.identification.normal_equations import normal_equations
from ros2_dyn_tools.identification.outcome import joint_dynamics
from ros2_dyn_tools.identification.parts import GAP, Split, parts_of
from ros2_dyn_tools.identification.report import report
from ros2_dyn_tools.identification.settings import FitSettings, JointTerms
from ros2_dyn_tools.identification.standard_errors import standard_errors
from ros2_dyn_tools.identification.weighted_fit import Problem
from ros2_dyn_tools.recording.effort_filter import EffortFilter

DOWN = np.array([0.0, 0.0, -9.81])
WRIST = {"wrist_2_joint": {"wrist_1_joint": -0.4}, "wrist_3_joint": {"wrist_2_joint": 0.7}}
"""Drives of the arm that turn with two joints and three."""
TERMS_OF_ALL = JointTerms(0.05, (0.03,), load=True, stribeck_velocity=0.3)


def true_arm(told, seed=3):
    """Return an arm that is not what its description says."""
    rng = np.random.default_rng(seed)
    bodies = []
    for body in told.inertia:
        point = SpatialInertia.from_com(rng.uniform(0.3, 1.0), rng.uniform(-0.1, 0.1, 3), 0.01 * np.eye(3))
        bodies.append(body + point)
    dynamics = {
        joint.name: JointDynamics(
            viscous=rng.uniform(1, 3),
            coulomb=(coulomb := rng.uniform(1, 4)),
            static=coulomb + 0.8,
            stribeck_velocity=0.3,
            transition_velocity=0.05,
            load=0.04,
            offset=rng.uniform(-0.5, 0.5),
            presliding=((0.03, rng.uniform(0.5, 1.0)),),
            armature=rng.uniform(0.1, 0.3),
        )
        for joint in told.joints
    }
    return told.with_inertia(bodies).with_joint_dynamics(dynamics)


def exact_problem(told, motion, gravity=DOWN, loaded=None, terms=TERMS_OF_ALL):
    """Return a problem in which the description weighs next to nothing, its settings and its equations."""
    (equations,) = normal_equations(
        told, [motion], parts_of([motion], Split(1.0, 1.0)), [EffortFilter()], gravity=gravity, loaded=loaded
    )
    problem = Problem(told, inertial_parameters(told).reshape(-1, 10), np.ones((told.n, len(TERMS))))
    settings = FitSettings((terms,) * told.n, EffortFilter(), 1e-16, 1e-16)
    return problem, settings, together(equations[: GAP + 1])


@pytest.mark.parametrize("coupled_wrist", [False, True])
def test_exact_motion_gives_the_base_parameters_and_the_friction(coupled_wrist):
    told = coupled(mock_arm(), **WRIST) if coupled_wrist else mock_arm()
    true = true_arm(told)
    motion = exciting_motion(told, 40.0, 100.0)
    motion = motion._replace(effort=efforts(true, motion))
    problem, settings, equations = exact_problem(told, motion, loaded=true)
    x = problem.solve(equations, settings).parameters
    dynamics = joint_dynamics(told, problem, settings, x)
    for joint in true.joints:
        d, e = dynamics[joint.name], joint.dynamics
        assert_allclose([d.viscous, d.coulomb, d.static], [e.viscous, e.coulomb, e.static], rtol=1e-6)
        if joint is not true.joints[0]:  # its axis is vertical: it has no load
            assert_allclose(d.load, e.load, rtol=1e-6)
        assert_allclose(d.offset, e.offset, rtol=1e-6, atol=1e-6)
        assert_allclose(d.presliding, e.presliding, rtol=1e-6)
    # Some rotors cannot be told from the bodies, so both make base parameters together.
    C = told.drives.coupling
    rotors = C.T * (motion.qdd @ C.T)[:, None]
    Y = np.concatenate([body_columns(told, motion, DOWN)[..., :60], rotors], axis=-1)
    base = base_of(Y[::10], [*inertial_names(told), *told.joint_names])
    found = base.of([*x[:60], *(dynamics[joint.name].armature for joint in true.joints)])
    expected = base.of([*inertial_parameters(true), *(joint.dynamics.armature for joint in true.joints)])
    assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_tilt_of_the_base_is_found():
    told = mock_arm()
    tilted = np.array([0.03, -0.02, -9.81])
    motion = exciting_motion(told, 20.0, 50.0)
    bare = told.with_joint_dynamics({joint.name: JointDynamics() for joint in told.joints})
    motion = motion._replace(effort=efforts(bare, motion, tilted))
    problem, settings, equations = exact_problem(told, motion, terms=JointTerms(0.05, (), load=False, offset=False))
    x = problem.solve(equations, replace(settings, tilt=True, body_weight=1e-9)).parameters
    assert_allclose(x[60 : 60 + TILT], [0.03, -0.02], atol=2e-4)


@pytest.fixture(scope="module")
def noisy():
    """Return a small arm, its identification from a motion with noise, and the noise's deviation."""
    told = mock_arm().reduced(mock_arm().joint_names[:2])
    true = true_arm(told)
    motion = exciting_motion(told, 45.0, 50.0)
    noise = 0.01 * np.std(efforts(true, motion), axis=0)
    rng = np.random.default_rng(5)
    measured = EffortFilter("zero_phase", 2.7).apply(efforts(true, motion), 0.02) + noise * rng.normal(
        size=motion.q.shape
    )
    calls = []
    found = identify(told, [recording(motion, measured)], Options(), lambda step, share: calls.append(share))
    return told, true, found, noise, calls


def test_noisy_motion_is_predicted_to_the_noise(noisy):
    _, _, found, noise, _ = noisy
    assert np.all(found.tested < 1.1 * noise)
    assert np.all(found.before > 5 * found.tested)
    assert all(is_consistent(body.parameters) for body in found.model.inertia)
    assert found.seconds == pytest.approx((29.5, 14.5), abs=0.3)


def test_filter_of_the_driver_is_found(noisy):
    found = noisy[2]
    assert found.settings.effort_filter == EffortFilter("zero_phase", 2.7)


def test_progress_rises_to_the_end(noisy):
    calls = noisy[4]
    assert calls == sorted(calls)
    assert calls[-1] == 1.0


def test_report_names_joints_errors_and_the_filter(noisy):
    found = noisy[2]
    text = "\n".join(report(found))
    for name, error in zip(found.model.joint_names, found.tested):
        assert f"| {name} |" in text
        assert f"{error:.3g} |" in text
    assert "2.7 Hz, second order, zero phase" in text
    assert "## Doubts\n\n- none" in text


def test_report_names_what_is_doubtful(noisy):
    base = (Estimate("upper_arm_link.Ixx + forearm_link.m", 0.1, 1.0), Estimate("forearm_link.mx", 1.0, 0.1))
    found = replace(noisy[2], base=base, mended=("upper_arm_link",), retraced=0.6, tested=2 * noisy[2].fitted)
    text = "\n".join(report(found)).split("## Doubts")[1].split("##")[0]
    assert "upper_arm_link: no body can have" in text
    assert "60 % of the test part" in text
    assert f"{found.model.joint_names[1]}: its error in the test part is 2.0 times" in text
    assert "do not tell from zero: upper_arm_link.Ixx (" in text


def test_standard_errors_are_the_spread_over_many_noises():
    told = mock_arm().reduced(mock_arm().joint_names[:2])
    motion = exciting_motion(told, 20.0, 50.0)
    bare = told.with_joint_dynamics({joint.name: JointDynamics(viscous=2.0, coulomb=3.0) for joint in told.joints})
    exact, terms = efforts(bare, motion), JointTerms(0.01, (), load=False)
    base, rng, values = base_parameters(told), np.random.default_rng(7), []
    for _ in range(40):
        noisy_motion = motion._replace(effort=exact + 0.2 * rng.normal(size=exact.shape))
        problem, settings, equations = exact_problem(told, noisy_motion, terms=terms)
        settings = replace(settings, body_weight=1e-9, friction_weight=1e-9)
        fit = problem.solve(equations, settings)
        values.append([*base.of(fit.parameters[:20]), *fit.parameters[20:]])
    errors = np.concatenate(
        standard_errors(problem, settings, equations, fit, independent=base.independent, correlation=1.0)
    )
    names = [*base.combinations(), *(str(TERMS[k]) for _ in range(2) for k in terms.columns)]
    free = [i for i, name in enumerate(names) if name in ("viscous", "coulomb", "offset")]
    assert_allclose(np.std(values, axis=0)[free], errors[free], rtol=0.35)


def test_errors_are_those_of_the_joints_where_drives_turn_with_several():
    """What an identified arm does not predict, state by state, is what identification told."""
    told = coupled(mock_arm(), **WRIST)
    motion = exciting_motion(told, 20.0, 50.0)
    rng = np.random.default_rng(2)
    motion = motion._replace(effort=efforts(true_arm(told), motion) + rng.normal(size=motion.q.shape))
    terms = JointTerms(0.05, (0.03,), load=False)
    problem, settings, equations = exact_problem(told, motion, terms=terms)
    x = problem.solve(equations, settings).parameters
    bodies = [SpatialInertia.from_parameters(body) for body in x[:60].reshape(-1, 10)]
    found = told.with_inertia(bodies).with_joint_dynamics(joint_dynamics(told, problem, settings, x))
    fitted = slice(25, -25)  # ends are left out
    left = motion.effort - rnea(found, motion.q, motion.qd, motion.qdd) - friction_along(found, motion.q, motion.qd)
    assert_allclose(problem.mean_squares(equations, settings, x), np.mean(left[fitted] ** 2, axis=0), rtol=0.01)
