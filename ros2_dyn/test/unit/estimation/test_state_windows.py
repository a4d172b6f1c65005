# SPDX-License-Identifier: Apache-2.0
"""Averages of states over windows, against the motions that they are of."""

import numpy as np
from numpy.testing import assert_allclose

from ros2_dyn.estimation.state_windows import WindowAverager, state_windows

ACCELERATION = np.array([2.0, -3.0])


def steady(t: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return a motion of constant acceleration, whose efforts grow with time."""
    column = t[:, None]
    return t, 0.1 * column * [1, 2], column * ACCELERATION, column * [5.0, 7.0]


def test_window_of_a_constant_acceleration_has_the_values_of_its_middle_and_the_acceleration():
    windows = state_windows(steady(np.linspace(0.0, 1.0, 501)))
    assert len(windows.t) >= 9
    assert_allclose(np.diff(windows.t), 0.1, atol=0.003)
    assert_allclose(windows.qd, windows.t[:, None] * ACCELERATION, rtol=0, atol=1e-9)
    assert_allclose(windows.qdd, np.tile(ACCELERATION, (len(windows.t), 1)), rtol=1e-9)
    assert_allclose(windows.effort, windows.t[:, None] * [5.0, 7.0], rtol=0, atol=1e-9)


def test_mean_acceleration_has_the_same_weight_as_the_other_averages():
    """Integration by parts: the slope of the velocities is the average of the acceleration with the window's weight."""
    t = np.linspace(0.0, 0.1, 20_001)
    s = (t - 0.05) / 0.05
    qdd = np.cos(30 * t)
    wave = (np.sin(30 * t) / 30)[:, None]
    windows = state_windows((t, wave, wave, qdd[:, None]))
    assert_allclose(windows.qdd, windows.effort, rtol=1e-4)
    assert_allclose(windows.qdd[0, 0], np.average(qdd, weights=1 - s**2), rtol=1e-4)


def test_window_does_not_reach_over_a_gap_and_leaves_a_jump_by_a_turn_out():
    t = np.concatenate([np.arange(0, 0.25, 0.01), np.arange(5.0, 5.25, 0.01)])
    recording = steady(t)
    windows = state_windows(recording)
    assert_allclose(windows.t, [0.05, 0.15, 5.05, 5.15], atol=0.02)
    recording[1][13:, 0] += 2 * np.pi
    assert len(state_windows(recording).t) == 3


def test_state_that_is_not_newer_begins_a_window():
    averager = WindowAverager(1)
    for t in (0.0, 0.02, 0.04, 0.06, 0.03, 0.05, 0.07, 0.09, 0.135):
        averager.add(t, [t], [1.0], [2.0])
    windows = averager.windows()
    assert_allclose(windows.t, [0.0825])
    assert_allclose(windows.effort, [[2.0]])
