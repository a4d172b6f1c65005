# SPDX-License-Identifier: Apache-2.0
"""The effort at rest: when it is remembered, and what it becomes where the arm is elsewhere."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from control_states import made_up
from ros2_dyn.control.rest_effort import MAX_STRETCH, RestEffort, position_hold

PERIOD = 0.01
LIMIT = np.array([10.0, 10.0])


def observed(positions, efforts) -> RestEffort:
    """Return the memory after positions of the first of two joints, with the efforts of both."""
    rest = RestEffort()
    for k, (x, effort) in enumerate(zip(positions, efforts)):
        if rest.stands_still(k * PERIOD, [x, 0.5]):
            rest.observe(k * PERIOD, np.array([x, 0.5]), np.array(effort))
    return rest


def test_effort_is_remembered_once_the_arm_has_stood_still_for_a_while():
    assert observed([0.0] * 8, [[1.0, 2.0]] * 8).effort is None
    rest = observed([0.0] * 20, [[1.0, 2.0]] * 20)
    assert_allclose(rest.effort, [1.0, 2.0])
    assert_allclose(rest.q, [0.0, 0.5])


def test_effort_of_an_arm_that_moves_is_not_remembered():
    rest = observed([0.0] * 20 + [0.002 * (k + 1) for k in range(20)], [[1.0, 2.0]] * 20 + [[9.0, 9.0]] * 20)
    assert_allclose(rest.effort, [1.0, 2.0])


def test_efforts_that_are_not_finite_are_not_remembered():
    assert observed([0.0] * 30, [[np.nan, 1.0]] * 30).effort is None


def test_efforts_at_rest_are_averaged():
    rest = observed([0.0] * 200, [[1.0 + (-1) ** k, 2.0] for k in range(200)])
    assert_allclose(rest.effort, [1.0, 2.0], atol=0.1)


@pytest.mark.parametrize(
    ("hold_at_rest", "expected"),
    [([4.0, 2.0], [5.0, 3.0]), ([5.0, 2.5], [4.0, 2.5]), ([-4.0, -2.0], [4.0, 2.0])],
    ids=["right", "payload missing", "turned over"],
)
def test_change_of_gravity_counts_where_the_model_explains_the_effort_at_rest(hold_at_rest, expected):
    """The model holds [5, 3] where the arm is now."""
    rest = observed([0.0] * 20, [[4.0, 2.0]] * 20)
    assert_allclose(rest.holding(np.array([5.0, 3.0]), np.array(hold_at_rest), LIMIT), expected)


@pytest.mark.parametrize("damping", [5.0, 15.0, 50.0])
def test_joint_that_was_carried_away_returns_slowly(damping):
    """A body of 2 kg m^2 that was carried away by 2 rad, with the damping of the stop."""
    q, qd, fastest, dt = np.array([2.0]), np.zeros(1), 0.0, 1e-3
    for _ in range(20_000):
        tau = position_hold(made_up(2.0, q), np.zeros(1), damping) - damping * 2.0 * qd
        qd = qd + dt * tau / 2.0
        q = q + dt * qd
        fastest = max(fastest, abs(float(qd[0])))
    assert fastest <= damping / 1.5**2 * MAX_STRETCH * 1.01
    assert abs(q[0]) < 1e-3
