# SPDX-License-Identifier: Apache-2.0
"""Wrenches: on any point of any link, propagated inwards through the joints, reduced to a point."""

import numpy as np
import pytest

from robots import arm_and_trees, close, for_each, planar_2r, random_state
from ros2_dyn.dynamics import (
    ExternalWrench,
    central_axis,
    forward_dynamics,
    joint_wrenches,
    reduce_to_point,
    rnea,
    shift_wrench,
    static_torque,
    static_wrenches,
)
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel

ROBOTS = arm_and_trees(3)
PUSH = np.array([10.0, -20.0, 5.0, 1.0, 2.0, -3.0])
POINT = np.array([0.1, -0.2, 0.3])


@for_each(ROBOTS)
def test_wrench_at_any_point_in_any_axes_acts_by_the_transposed_jacobian(model):
    """``tau = ... - J^T f``, and forward dynamics inverts it."""
    q, qd, qdd = random_state(model, 1, 3)
    free = rnea(model, q, qd, qdd)
    for link in model.link_names:
        for frame in (None, model.base_link, model.default_tip):
            push = [ExternalWrench(link, PUSH, POINT, frame)]
            expected = free - static_torque(model, q, PUSH, link, POINT, frame=frame or link)
            close(rnea(model, q, qd, qdd, external=push), expected)
            close(forward_dynamics(model, q, qd, expected, external=push), qdd)


def test_several_wrenches_on_one_link_add_up():
    model = ROBOTS["mock_arm"]
    q, qd, qdd = random_state(model, 2)
    one, two = ExternalWrench("tool0", PUSH, POINT), ExternalWrench("tool0", 2 * PUSH, -POINT, "base_link")
    alone = [rnea(model, q, qd, qdd, external=[push]) for push in (one, two)]
    close(rnea(model, q, qd, qdd, external=[one, two]), sum(alone) - rnea(model, q, qd, qdd))


@pytest.mark.parametrize(
    ("push", "problem"),
    [
        (ExternalWrench("hand", PUSH), "link: the robot 'mock_arm' has no link 'hand'"),
        (ExternalWrench("tool0", PUSH, frame="world"), "link: the robot 'mock_arm' has no link 'world'"),
        (ExternalWrench("tool0", PUSH[:3]), r"wrench on 'tool0': expected shape \(\.\.\., 6\), got \(3,\)"),
        (ExternalWrench("tool0", PUSH, (0, np.nan, 0)), "point of 'tool0': expected finite numbers"),
    ],
)
def test_wrong_wrench_raises_error_that_names_the_link(push, problem):
    with pytest.raises(InputError, match=problem):
        rnea(ROBOTS["mock_arm"], *random_state(ROBOTS["mock_arm"], 4), external=[push])


def test_static_wrenches_of_the_2r_arm_have_their_closed_form():
    """Craig's example 5.7."""
    l1, l2, (fx, fy) = 0.7, 0.4, (3.0, -2.0)
    model = RobotModel.from_urdf(planar_2r(l1, l2, {"mass": 3.0, "com": (l1, 0, 0)}, {"mass": 2.0, "com": (l2, 0, 0)}))
    q = [0.3, 0.8]
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    expected = [
        [c2 * fx - s2 * fy, s2 * fx + c2 * fy, 0, 0, 0, l1 * s2 * fx + l1 * c2 * fy + l2 * fy],
        [fx, fy, 0, 0, 0, l2 * fy],
    ]
    close(static_wrenches(model, q, [fx, fy, 0, 0, 0, 0], frame="tip"), expected)


@for_each(ROBOTS)
def test_static_wrenches_along_the_axes_are_the_static_torque_and_zero_off_the_path(model):
    q, _, _ = random_state(model, 5)
    f = static_wrenches(model, q, PUSH, point=POINT)
    axes = np.array([np.roll(joint.S[:, 0], 3) for joint in model.joints])
    close(np.sum(axes * f, axis=-1), static_torque(model, q, PUSH, point=POINT))
    idle = [i for i in range(model.n) if i not in model.support(model.links[model.default_tip].body)]
    assert not np.any(f[idle])


def test_joint_wrenches_at_rest_are_weight_plus_static_wrench():
    model = ROBOTS["mock_arm"]
    q, _, _ = random_state(model, 6)
    zero = np.zeros(model.n)
    loaded = joint_wrenches(model, q, zero, zero, external=[ExternalWrench("tool0", -PUSH, POINT, "base_link")])
    close(loaded, joint_wrenches(model, q, zero, zero) + static_wrenches(model, q, PUSH, "tool0", POINT))


def test_shifted_wrench_has_the_same_power():
    v, w, r = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 2.0]), POINT
    there = shift_wrench(PUSH, r)
    close(PUSH[:3] @ v + PUSH[3:] @ w, there[:3] @ (v + np.cross(w, r)) + there[3:] @ w)
    close(shift_wrench(there, -r), PUSH)


def test_system_of_forces_reduces_to_resultant_and_moment():
    couple = reduce_to_point([[0, 5, 0], [0, -5, 0]], [[1, 0, 0], [-1, 0, 0]], about=[7, 8, 9])
    close(couple, [0, 0, 0, 0, 0, 10])
    forces, points = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]]), np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    moments = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0]])
    at_origin = reduce_to_point(forces, points, moments)
    close(at_origin, [1, 2, 3, 0 - 2 + 0 + 1, 0 + 0 - 3 + 1, -1 + 0 + 0 + 1])
    close(reduce_to_point(forces, points, moments, POINT), shift_wrench(at_origin, POINT))


def test_central_axis_of_a_wrench_has_its_moment_along_the_force():
    point, moment = central_axis(PUSH)
    close(np.cross(moment, PUSH[:3]), np.zeros(3))
    close(shift_wrench(PUSH, point)[3:], moment)
    close(point @ PUSH[:3], 0.0)
    with pytest.raises(InputError, match="a pure moment has no central axis"):
        central_axis([0, 0, 0, 1, 2, 3])


def test_forces_and_points_of_different_shapes_raise_error():
    with pytest.raises(
        InputError, match=r"points: expected the shape \(\.\.\., k, 3\) of the forces, \(2, 3\); got \(1, 3\)"
    ):
        reduce_to_point(np.zeros((2, 3)), np.zeros((1, 3)))
