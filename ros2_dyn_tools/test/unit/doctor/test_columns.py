# SPDX-License-Identifier: Apache-2.0
"""The model's efforts as the doctor has them, against inverse dynamics."""

import numpy as np
from numpy.testing import assert_allclose

from recordings import synthetic_recording
from robots import mock_arm
from ros2_dyn.dynamics import rnea
from ros2_dyn.model import Payload
from ros2_dyn_tools.doctor.effort_columns import CUTOFF, Columns
from ros2_dyn_tools.doctor.evidence import QUICK
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge
from ros2_dyn_tools.doctor.recorded_samples import Samples, take_samples
from ros2_dyn_tools.recording.signals import zero_phase

MODEL = mock_arm()
SAMPLES: Samples = take_samples(synthetic_recording(MODEL, 5, seconds=8.0))
STATE = SAMPLES.q, SAMPLES.qd, SAMPLES.qdd
GRAVITY = np.array([3.0, -5.0, 7.0])


def filtered(efforts):
    return zero_phase(efforts, CUTOFF, SAMPLES.step)


def test_efforts_of_the_model_are_those_of_inverse_dynamics_for_any_gravity():
    columns = Columns(MODEL, SAMPLES, tuple(range(6)), np.arange(len(SAMPLES.t)))
    found = columns.inertia_effort + columns.weight_effort @ GRAVITY
    assert_allclose(found, filtered(rnea(MODEL, *STATE, GRAVITY)), atol=1e-9)


def test_exchanged_states_are_those_of_the_other_joint():
    order = (0, 2, 1, 3, 4, 5)
    columns = Columns(MODEL, SAMPLES, order, np.arange(len(SAMPLES.t)))
    expected = rnea(MODEL, *(x[:, list(order)] for x in STATE), np.zeros(3))
    assert_allclose(columns.inertia_effort, filtered(expected), atol=1e-9)
    assert_allclose(columns.friction, SAMPLES.friction[:, list(order)])


def test_payload_at_the_tip_adds_what_inverse_dynamics_adds():
    judge = Judge(MODEL, SAMPLES, 40, QUICK)
    right = Hypothesis.nothing_wrong(6)
    com = (0.02, -0.05, 0.1)
    tuple_gravity = tuple(GRAVITY.tolist())
    hypothesis = Hypothesis(right.states, right.efforts, right.gains, gravity=tuple_gravity, payload=(3.0, *com))
    expected = filtered(rnea(MODEL.carrying(Payload(3.0, com)), *STATE, GRAVITY))
    found = judge.mean(hypothesis)
    at = SAMPLES.inner(max(1, round(len(SAMPLES.inner(1)) / 40)))
    assert_allclose(found, expected[at], atol=1e-9)


def test_compensated_efforts_lack_the_weight_of_the_upright_arm():
    right = Hypothesis.nothing_wrong(6)
    compensated = Hypothesis(right.states, right.efforts, right.gains, compensated=True)
    assert_allclose(compensated.effective_gravity, 0.0)
    hanging = Hypothesis(right.states, right.efforts, right.gains, compensated=True, gravity=(0.0, 0.0, 9.81))
    assert_allclose(hanging.effective_gravity, [0, 0, 2 * 9.81])
