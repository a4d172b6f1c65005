# SPDX-License-Identifier: Apache-2.0
"""From end to end on a simulated arm that is not what its description says: excite, play, record, identify, recover."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from least_squares import weighted
from robots import mock_arm
from ros2_dyn.dynamics import inertial_parameters, regressor
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.pseudo_inertia import is_consistent
from ros2_dyn.simulation import ComputedTorque, SimulatedArm
from ros2_dyn.simulation.perturbed import perturbed, with_friction
from ros2_dyn_tools.identification.base_parameters import base_parameters
from ros2_dyn_tools.identification.consistent_fit import Prior, fit
from ros2_dyn_tools.identification.excitation_design import excite
from ros2_dyn_tools.identification.excitation_limits import whole_effort
from ros2_dyn_tools.identification.excitation_options import ExcitationOptions
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import even_motion

POSTURE = [0.0, -1.2, 1.4, -1.8, -1.57, 0.3]
OPTIONS = ExcitationOptions(duration=10.0, posture=POSTURE, starts=1, iterations=15)
NOISE = np.array([1.5, 1.5, 1.5, 0.28, 0.28, 0.28])
"""Of the measured efforts: 1 % of the effort limits, N m."""
TURN = JointDynamics().transition_velocity


def told() -> RobotModel:
    """Return what the description says: too little friction, for example."""
    return with_friction(mock_arm(), [4.0, 4.0, 2.0, 0.5, 0.5, 0.5], [3.0, 4.0, 2.0, 0.5, 0.5, 0.5])


def true() -> RobotModel:
    """Return what the arm is: masses, centres and inertias up to 30 % off, and double the friction."""
    arm = perturbed(mock_arm(), np.random.default_rng(11), inertia_error=0.3)
    return with_friction(arm, [8.0, 8.0, 5.0, 1.0, 1.0, 1.2], [7.0, 8.0, 5.0, 1.0, 0.8, 1.0])


@pytest.fixture(scope="module")
def motion():
    """The states and efforts of the true arm on a trajectory that was designed for what is told: exact, at 100 Hz."""
    return play(excite(told(), OPTIONS).trajectory)


def play(trajectory, step=5e-3, every=2):
    """Return times, positions, velocities, accelerations and efforts of the true arm under a computed-torque law."""
    arm = SimulatedArm(true(), ComputedTorque(trajectory), POSTURE, step=step)
    rows = []
    for _ in range(round(trajectory.duration / (every * step))):
        rows.append(arm.motion())
        arm.advance(every)
    return [np.array(column) for column in zip(*rows)][:5]


def friction_columns(qd):
    """Return the columns of viscous and Coulomb friction, shape (m, n, 2 n)."""
    diagonal = np.eye(qd.shape[1])
    return np.concatenate([qd[..., None] * diagonal, np.tanh(qd / TURN)[..., None] * diagonal], axis=-1)


def test_exact_states_give_the_base_parameters_of_the_arm(motion):
    """By plain least squares, to 1e-6 of each group of parameters; those of the description are far off."""
    _, q, qd, qdd, effort = motion
    base = base_parameters(told())
    A = np.concatenate([base.columns(regressor(told(), q, qd, qdd)), friction_columns(qd)], axis=-1)
    found = np.linalg.lstsq(A.reshape(-1, A.shape[-1]), effort.ravel(), rcond=None)[0]
    right = base.of(inertial_parameters(true()))
    assert_allclose(found[: len(base)], right, rtol=1e-6, atol=1e-8)
    assert_allclose(found[len(base) :], [8.0, 8.0, 5.0, 1.0, 1.0, 1.2, 7.0, 8.0, 5.0, 1.0, 0.8, 1.0], rtol=1e-6)
    wrong = base.of(inertial_parameters(told()))
    assert np.max(np.abs(wrong - right) / np.maximum(np.abs(right), 0.01)) > 0.1


def test_noisy_recording_gives_a_model_that_predicts_another_motion_ten_times_better(motion):
    t, q, qd, _, effort = motion
    rng = np.random.default_rng(12)
    noisy = Recording(t, *(x + s * rng.normal(size=x.shape) for x, s in ((q, 1e-5), (qd, 1e-3), (effort, NOISE))))
    identified = identify(noisy)
    other = excite(told(), replace(OPTIONS, seed=5)).trajectory
    test = other.at(np.linspace(0, 10.0, 500))
    efforts = whole_effort(true(), *test)
    before, after = (rms(whole_effort(model, *test) - efforts) for model in (told(), identified))
    assert np.all(after < before / 3)
    assert rms(after / NOISE) < rms(before / NOISE) / 10
    assert all(is_consistent(body.parameters) for body in identified.inertia)


def identify(recording: Recording) -> RobotModel:
    """Return the model of a recording: consistent bodies near those of the description, and friction."""
    model, even = told(), even_motion(recording)
    n, inner = model.n, slice(20, -20)
    A = np.concatenate([regressor(model, even.q, even.qd, even.qdd), friction_columns(even.qd)], axis=-1)
    size = np.concatenate([[10.0] * n, [10.0] * n])
    prior = Prior(inertial_parameters(model).reshape(-1, 10), size, np.ones(2 * n, bool), 1.0, 1e-2)
    found = fit(*weighted(A[inner], even.effort[inner], NOISE), prior)
    bodies, (viscous, coulomb) = found[: 10 * n].reshape(-1, 10), found[10 * n :].reshape(2, n)
    inertia = [type(body).from_parameters(p) for body, p in zip(model.inertia, bodies)]
    return with_friction(model.with_inertia(inertia), viscous.tolist(), coulomb.tolist())


def rms(errors):
    """Return the root mean square over the first axis."""
    return np.sqrt(np.mean(errors**2, axis=0))
