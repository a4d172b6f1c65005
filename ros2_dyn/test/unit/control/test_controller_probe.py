# SPDX-License-Identifier: Apache-2.0
"""The probe of a controller: what it finds, and that it moves nothing."""

from __future__ import annotations

import numpy as np
import pytest

from ros2_dyn.control.controller_probe import ControllerProbe

MOBILITY = np.array([0.3, 0.5, 2.0, 20.0])
LIMIT = np.array([150.0, 150.0, 90.0, 28.0])


def played(echo, period=0.008, noise=0.0, delay=0.02):
    """Return what a probe finds where each measured effort is a function of the commands of a moment before."""
    probe, rng = ControllerProbe(MOBILITY, LIMIT, period, 10.0), np.random.default_rng(0)
    sent: list[np.ndarray] = []
    weight = np.array([0.0, 60.0, 20.0, 1.0])
    for t in np.arange(10.0, 10.0 + probe.duration + period, period):
        sent.append(weight + probe.effort(t))
        probe.on_command(t, sent[-1])
        late = sent[max(len(sent) - 1 - round(delay / period), 0)]
        probe.on_effort(t, echo(late) + noise * rng.standard_normal(4))
    return probe.finding()


def test_joints_that_follow_obey_late_and_with_noise():
    assert played(lambda tau: tau) == ((), (), {})
    assert played(lambda tau: 0.9 * tau, period=0.002, delay=0.04, noise=0.02).disobeying == ()


def test_joints_whose_effort_is_held_disobey():
    held = np.array([0.0, 60.0, 20.0, 1.0])
    found = played(lambda tau: held)
    assert found.disobeying == (0, 1, 2, 3)
    assert found.answered_by == {}


def test_swapped_joints_are_named():
    found = played(lambda tau: tau[[0, 2, 1, 3]])
    assert found.unknown == ()
    assert found.disobeying == (1, 2)
    assert found.answered_by == {1: 2, 2: 1}


def test_noisy_efforts_leave_small_joints_unknown():
    found = played(lambda tau: tau, noise=0.3)
    assert 3 in found.unknown
    assert 3 not in found.disobeying


@pytest.mark.parametrize(("step", "unknown"), [(0.3, (3,)), (0.6, (2, 3)), (1.0, (0, 1, 2, 3))])
def test_coarse_efforts_leave_small_joints_unknown(step, unknown):
    """An effort that oscillates within a step is measured as a constant."""
    found = played(lambda tau: step * np.round(tau / step))
    assert (found.unknown, found.disobeying) == (unknown, ())


def test_slow_states_make_the_probe_longer():
    assert ControllerProbe(MOBILITY, LIMIT, 0.04, 0.0).duration > ControllerProbe(MOBILITY, LIMIT, 0.008, 0.0).duration
    assert played(lambda tau: tau, period=0.04, delay=0.04) == ((), (), {})


@pytest.mark.parametrize("joint", range(4))
def test_free_joint_oscillates_as_far_as_stated_and_is_at_rest_where_it_was_in_the_end(joint):
    probe, dt = ControllerProbe(MOBILITY, LIMIT, 0.002, 0.0), 1e-4
    effort = np.array([probe.effort(t)[joint] for t in np.arange(0.0, probe.duration, dt)])
    assert np.max(np.abs(effort)) <= 0.02 * LIMIT[joint] * (1 + 1e-9)
    qd = np.cumsum(MOBILITY[joint] * effort) * dt
    q = np.cumsum(qd) * dt
    assert abs(q[-1]) < 3e-6
    assert abs(qd[-1]) < 0.01 * np.max(np.abs(qd))
    assert 3e-5 < np.max(np.abs(q)) < 3.3e-4


def test_without_measured_efforts_nothing_is_known():
    probe = ControllerProbe(MOBILITY, LIMIT, 0.008, 0.0)
    assert probe.finding().unknown == (0, 1, 2, 3)
