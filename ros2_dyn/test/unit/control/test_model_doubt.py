# SPDX-License-Identifier: Apache-2.0
"""What explains a difference between arm and model, and when the rest is too much."""

import numpy as np
import pytest

from robots import mock_arm
from ros2_dyn.control.arm_state import arm_state
from ros2_dyn.control.model_doubt import (
    Doubt,
    Unanswered,
    allowance,
    contact_allowance,
    looks_lost,
    lost_payload,
    mean_difference,
)
from ros2_dyn.dynamics import gravity, static_torque
from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.model import Payload

ARM = mock_arm()
Q = np.array([0.3, -1.2, 1.4, -1.8, -1.57, 0.2])


# --- what is allowed


def test_declared_friction_has_either_sign_at_rest_and_half_its_size_is_uncertain_in_motion():
    allowed = allowance(100.0, 6.0, 2.0, 0.1)
    assert allowed.at(0.0) == pytest.approx(16.0)
    assert allowed.at(1.0) == pytest.approx(10.0 + 3.0 + 1.0)


def test_friction_that_is_not_declared_is_taken_as_that_of_a_recorded_arm():
    allowed = allowance(100.0, 0.0, 0.003, 0.1)
    assert allowed.at(0.0) == pytest.approx(15.0)
    assert allowed.at(1.0) == pytest.approx(15.0 + 8.0)


def test_a_contact_is_allowed_what_its_force_causes_at_the_tip():
    state = arm_state(ARM, Q, np.zeros(6), "tool0")
    rng = np.random.default_rng(0)
    allowed = contact_allowance(state.J, 10.0)
    for direction in rng.normal(size=(50, 3)):
        force = 10.0 * direction / np.linalg.norm(direction)
        assert np.all(np.abs(static_torque(ARM, Q, [*force, 0, 0, 0], frame="tool0")) <= allowed + 1e-9)
    assert np.all(allowed < 10.0 * 1.3)  # no joint is farther than this from the tip
    wrench = np.array([0.0, 3.0, -4.0, 0.0, 1.0, 0.0])
    exerted = contact_allowance(state.J, 0.0, wrench)
    assert np.all(np.abs(static_torque(ARM, Q, -wrench, frame="tool0")) <= exerted + 1e-9)
    np.testing.assert_allclose(contact_allowance(state.J, 10.0, wrench), allowed + exerted, rtol=1e-12)


# --- payloads


def test_a_lost_payload_looks_like_its_weight_upwards():
    payload = Payload(5.0, (0.02, -0.03, 0.1), link="tool0")
    state = arm_state(ARM, Q, np.zeros(6), "tool0")
    lost = lost_payload(state, payload.parameters, np.array(STANDARD_GRAVITY))
    expected = gravity(ARM.carrying(payload), Q) - gravity(ARM, Q)
    np.testing.assert_allclose(lost, expected, rtol=0, atol=1e-9)
    allowed = np.full(6, 20.0)
    assert looks_lost(lost, lost, allowed)
    assert looks_lost(1.5 * lost, lost, allowed)  # it accelerates
    assert not looks_lost(-lost, lost, allowed)
    assert not looks_lost(0.4 * lost, lost, allowed)
    assert not looks_lost(4.0 * lost, lost, allowed)
    sideways = static_torque(ARM, Q, [0.0, 50.0, 0.0, 0.0, 0.0, 0.0], frame="tool0")
    assert not looks_lost(sideways, lost, allowed)


# --- over time


@pytest.mark.parametrize(("ratio", "after"), [(0.99, None), (1.5, 0.06), (2.0, 0.03), (3.0, 0.015), (1e9, 0.015)])
def test_doubt_is_the_sooner_the_larger_the_difference(ratio, after):
    doubt, found = Doubt(2), None
    for k in range(200):
        if doubt.update(0.002 * k, [0.0, -5.0 * ratio], [5.0, 5.0]) == 1:
            found = 0.002 * k
            break
    assert found == (None if after is None else pytest.approx(after, abs=0.003))


@pytest.mark.parametrize("period", [0.001, 0.01, 0.05])
def test_one_outlier_is_no_doubt_and_is_forgotten(period):
    doubt = Doubt(1)
    for k in range(100):
        assert doubt.update(period * k, [1e9 if k % 10 == 9 else 0.0], [1.0]) is None


@pytest.mark.parametrize(
    ("gain", "noise", "change", "expected"),
    [(1.0, 0.5, 4.0, 0), (0.6, 0.3, 4.0, 0), (1.0, 1.0, 0.8, 0), (0.0, 0.0, 4.0, 10), (0.0, 0.5, 4.0, 10)],
)
def test_a_joint_whose_efforts_are_noisy_is_not_taken_for_another_controllers(gain, noise, change, expected):
    """One state alone decided: 7 of 10 noisy joints that obey lost their springs, and all that are derated."""
    found, rng = 0, np.random.default_rng(5)
    for _ in range(10):
        unanswered = Unanswered(1)
        for t in np.arange(0.0, 2.0, 0.005):
            command = np.array([min(2.0 * t, change)])
            unanswered.update(t, gain * command + noise * rng.normal(size=1), command, command, np.ones(1))
        found += int(unanswered.joints.sum())
        unanswered.forget()
        assert not unanswered.joints.any()
    assert found == expected


def test_the_mean_difference_needs_no_acceleration():
    t = np.linspace(0.0, 0.2, 41)
    inertia, external = 4.0, 3.0
    motor = 10.0 + 5.0 * np.sin(20 * t)
    rate = motor - external  # what it needs is less than what it exerts
    momentum = np.concatenate([[0.0], np.cumsum(np.diff(t) * (rate[1:] + rate[:-1]) / 2)]) + inertia
    found = mean_difference(t, momentum[:, None], motor[:, None])
    np.testing.assert_allclose(found, [external], rtol=0, atol=1e-9)
    one = mean_difference(t[:1], momentum[:1, None], motor[:1, None])
    np.testing.assert_allclose(one, [motor[0]], rtol=0, atol=1e-12)
