# SPDX-License-Identifier: Apache-2.0
"""The efforts of the last seconds, and curves in a few points."""

import numpy as np
from numpy.testing import assert_allclose

from ros2_dyn_tools.viewer.history import History, thin
from ros2_dyn_tools.viewer.picture import CURVES


def efforts(values, n: int = 2) -> np.ndarray:
    return np.broadcast_to(np.asarray(values, dtype=float)[:, None, None], (len(values), CURVES, n)).copy()


def test_window_holds_the_states_of_the_span_in_order_after_the_ring_has_turned():
    history = History(2, capacity=50)
    for i in range(120):
        history.append(0.1 * i, np.full((CURVES, 2), float(i)))
    window = history.window(span=2.0, points=100)
    assert_allclose(window.t, np.arange(-20, 1) * 0.1, atol=1e-9)
    assert_allclose(window.efforts[:, 3, 1], np.arange(99, 120))
    assert len(history.window(span=1e3, points=1000).t) == 50


def test_time_that_goes_back_begins_anew():
    history = History(1)
    for t in (5.0, 6.0, 1.0, 2.0):
        history.append(t, np.full((CURVES, 1), t))
    assert_allclose(history.window(100.0, 10).efforts[:, 0, 0], [1.0, 2.0])


def test_empty_history_has_an_empty_window():
    window = History(3).window(10.0, 100)
    assert window.t.shape == (0,)
    assert window.efforts.shape == (0, CURVES, 3)


def test_thinned_curve_keeps_every_peak_and_its_sign():
    t = np.arange(2500) / 250
    values = np.sin(t)
    values[[700, 1903]] = 50.0, -40.0
    window = thin(t, efforts(values), span=10.0, points=300)
    assert len(window.t) <= 300
    assert np.all(np.diff(window.t) >= 0)
    curve = window.efforts[:, 0, 0]
    assert (curve.max(), curve.min()) == (50.0, -40.0)
    for index, peak in ((700, 50.0), (1903, -40.0)):
        assert abs(window.t[curve == peak][0] - (t[index] - t[-1])) <= 2 * 10 / 149


def test_thinned_points_of_one_time_do_not_change_while_the_window_moves():
    t = np.arange(2600) / 250
    values = np.random.default_rng(1).normal(size=len(t))
    first, second = (thin(t[i : i + 2500], efforts(values[i : i + 2500]), 10.0, 300) for i in (0, 100))
    # All intervals in the middle are the same ones: the second window holds the values of the first.
    assert set(first.efforts[20:-4, 0, 0]) <= set(second.efforts[:, 0, 0])


def test_a_state_whose_effort_is_not_known_hides_no_other_of_its_interval():
    t = np.arange(1000) / 100
    values = np.full(1000, 7.0)
    values[::2] = np.nan
    assert_allclose(thin(t, efforts(values), 10.0, 50).efforts, 7.0)
