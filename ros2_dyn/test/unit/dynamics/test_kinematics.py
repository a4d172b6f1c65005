# SPDX-License-Identifier: Apache-2.0
"""Jacobians against finite differences of poses, at any point of any link, in the axes of any frame."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import arm_and_trees, for_each, random_state
from ros2_dyn.dynamics import forward_kinematics, jacobian, jacobian_dot, static_torque
from ros2_dyn.errors import InputError

STEP = 1e-6
FINITE_DIFFERENCES = 1e-8
"""Error of central differences with that step: rounding, 1e-16 / STEP, and curvature, STEP^2."""

ROBOTS = arm_and_trees(4)


def twist_by_differences(model, q, qd, link, point):
    """Return the velocity of a point and the angular velocity of its link, from two poses."""
    before, after = (forward_kinematics(model, q + sign * STEP * qd, link) for sign in (-1, 1))
    v = (after - before) @ np.append(point, 1) / (2 * STEP)
    W = (after - before)[:3, :3] @ forward_kinematics(model, q, link)[:3, :3].T / (2 * STEP)  # skew: Rdot R^T
    return np.array([*v[:3], W[2, 1], W[0, 2], W[1, 0]])


@for_each(ROBOTS)
def test_jacobian_of_every_link_is_the_derivative_of_its_pose(model):
    q, qd, _ = random_state(model, 1)
    point = np.array([0.1, -0.2, 0.3])
    for link in model.link_names:
        twist = twist_by_differences(model, q, qd, link, point)
        assert_allclose(jacobian(model, q, link, point) @ qd, twist, rtol=0, atol=FINITE_DIFFERENCES)


@for_each(ROBOTS)
@pytest.mark.parametrize("in_tip_axes", [False, True])
def test_jacobian_dot_in_fixed_and_moving_axes_is_the_derivative_of_the_jacobian(model, in_tip_axes):
    q, qd, _ = random_state(model, 3)
    tip = model.default_tip
    where = {"link": tip, "point": [0.1, -0.2, 0.3], "frame": tip if in_tip_axes else None}
    before, after = (jacobian(model, q + sign * STEP * qd, **where) for sign in (-1, 1))
    expected = (after - before) / (2 * STEP)
    assert_allclose(jacobian_dot(model, q, qd, **where), expected, rtol=0, atol=FINITE_DIFFERENCES)


@for_each(ROBOTS)
def test_batches_agree_with_single_calls(model):
    Q, QD, _ = random_state(model, 5, 2, 3)
    wrench = [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]
    for function in (forward_kinematics, jacobian):
        assert_allclose(function(model, Q)[1, 2], function(model, Q[1, 2]), rtol=0, atol=1e-14)
    assert_allclose(jacobian_dot(model, Q, QD)[0, 1], jacobian_dot(model, Q[0, 1], QD[0, 1]), rtol=0, atol=1e-13)
    assert_allclose(static_torque(model, Q, wrench)[0, 1], static_torque(model, Q[0, 1], wrench), rtol=0, atol=1e-13)
    assert jacobian(model, Q, link=model.base_link).shape == (2, 3, 6, model.n)
    assert forward_kinematics(model, Q, link=model.base_link).shape == (2, 3, 4, 4)


def test_wrong_input_raises_error_that_names_the_argument():
    model = ROBOTS["mock_arm"]
    with pytest.raises(InputError, match=r"q: expected shape \(\.\.\., 6\), got \(5,\)"):
        jacobian(model, np.zeros(5))
    with pytest.raises(InputError, match="q: expected finite numbers"):
        forward_kinematics(model, [0, 0, np.nan, 0, 0, 0])
    with pytest.raises(InputError, match="no link 'gripper'; it has base_link, shoulder_link"):
        jacobian(model, np.zeros(6), link="gripper")
    with pytest.raises(InputError, match="wrench"):
        static_torque(model, np.zeros(6), [1, 2, 3])
