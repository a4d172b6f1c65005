# SPDX-License-Identifier: Apache-2.0
"""Samples of recordings with all that drivers do to them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from recordings import synthetic_recording
from robots import mock_arm
from ros2_dyn.errors import InputError
from ros2_dyn_tools.doctor.degrees import in_radians
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.recorded_samples import MAX_DURATION, take_samples
from ros2_dyn_tools.recording.gate import repeated_stamps
from ros2_dyn_tools.recording.recorded_velocities import velocity_faults
from ros2_dyn_tools.recording.recording import Recording

MODEL = mock_arm()
RECORDING = synthetic_recording(MODEL, 5, seconds=12.0)


def test_velocities_and_accelerations_are_those_of_the_positions():
    t = np.arange(0, 10, 0.01)
    q = np.stack([np.sin(1.5 * t), np.cos(t)], axis=1)
    samples = take_samples(Recording(t, q, np.full_like(q, np.nan), q))
    at = samples.inner(1)
    assert_allclose(samples.qd[at, 0], 1.5 * np.cos(1.5 * samples.t[at]), atol=2e-3)
    assert_allclose(samples.qdd[at, 1], -np.cos(samples.t[at]), atol=5e-3)


def test_repeated_stamps_and_states_without_efforts_are_left_out():
    t, q, qd, effort = (x.copy() for x in RECORDING)
    t[100] = t[99]
    effort[200] = np.nan
    q[200] += 1.0
    for found, expected in zip(take_samples(Recording(t, q, qd, effort)), take_samples(RECORDING)):
        assert_allclose(found, expected, atol=0.02 * np.max(np.abs(expected)))


def test_efforts_that_are_late_are_taken_from_later():
    samples = take_samples(RECORDING)
    late = samples._replace(effort=np.stack([np.interp(samples.t - 0.1, samples.t, x) for x in samples.effort.T], 1))
    at = samples.inner(3)
    assert_allclose(late.effort_at(at, 0.1), samples.effort[at], atol=0.05 * np.max(np.abs(samples.effort)))


def test_of_a_long_recording_the_part_that_moves_is_used():
    t = np.arange(0, 200, 0.02)
    q = np.where((t > 120) & (t < 160), np.sin(t), 0.0)[:, None]
    samples = take_samples(Recording(t, q, q, q))
    assert samples.t[-1] - samples.t[0] < MAX_DURATION + 0.1
    assert samples.t[0] < 121
    assert samples.t[-1] > 159


@pytest.mark.parametrize("states", [slice(0, 40), slice(0, 300)])
def test_short_recording_is_refused(states):
    with pytest.raises(InputError, match="at least 50 states with efforts over 5 s"):
        take_samples(Recording(*(x[states] for x in RECORDING)))


def test_positions_in_degrees_are_told_with_and_without_velocities():
    degrees = RECORDING._replace(q=np.rad2deg(RECORDING.q))
    for recording in (degrees, degrees._replace(qd=np.full_like(degrees.qd, np.nan))):
        radians, found = in_radians(MODEL, recording)
        assert [each.code for each in found] == ["degrees"]
        assert_allclose(radians.q, RECORDING.q)
    assert in_radians(MODEL, RECORDING) == (RECORDING, [])


def test_small_motion_in_degrees_is_told_by_its_velocities():
    small = RECORDING._replace(q=0.02 * RECORDING.q, qd=0.02 * RECORDING.qd)
    _, found = in_radians(MODEL, small._replace(q=np.rad2deg(small.q)))
    assert [each.code for each in found] == ["degrees"]


def test_velocities_that_are_missing_late_or_zero_are_noted():
    def said(qd) -> list[str]:
        return [text for _, text in velocity_faults(MODEL, RECORDING._replace(qd=qd))]

    assert said(RECORDING.qd) == []
    assert "no velocities" in said(np.full_like(RECORDING.qd, np.nan))[0]
    assert "always 0" in said(0 * RECORDING.qd)[0]
    late = np.stack([np.interp(RECORDING.t - 0.05, RECORDING.t, x) for x in RECORDING.qd.T], axis=1)
    assert all("50 ms late" in text for text in said(late))
    assert len(said(late)) == 6
    assert repeated_stamps(RECORDING.t) == []
    assert "600 of 1200 states" in repeated_stamps(np.repeat(RECORDING.t[::2], 2))[0].told


def test_faults_of_a_hypothesis_are_taken_away_one_at_a_time():
    right = Hypothesis.nothing_wrong(4)
    wrong = Hypothesis((1, 0, 2, 3), (1, 0, 3, 2), (1.0, -2.0, 1.0, 1.0), common_gain=-1.0, delay=0.1)
    assert wrong.cycles == ((0, 1), (2, 3))
    assert len(wrong.faults) == 6
    assert (wrong.faults[0].states, wrong.faults[0].efforts) == ((0, 1, 2, 3), (0, 1, 3, 2))
    assert right.faults == ()
    while wrong.faults:
        wrong = wrong.faults[0]
    assert wrong == right
