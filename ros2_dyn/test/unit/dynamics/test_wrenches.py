"""Wrenches: on any point of any link, carried inwards through the joints, reduced to a point."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm, planar_2r, random_state, random_tree
from ros2_dyn.dynamics import (
    ExternalWrench,
    central_axis,
    forward_dynamics,
    forward_kinematics,
    joint_wrenches,
    reduce_to_point,
    rnea,
    shift_wrench,
    static_torque,
    static_wrenches,
)
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel

ROBOTS = {"mock_arm": mock_arm()} | {f"tree_{seed}": RobotModel.from_urdf(random_tree(seed)) for seed in range(3)}
PUSH = np.array([10.0, -20.0, 5.0, 1.0, 2.0, -3.0])
POINT = np.array([0.1, -0.2, 0.3])


@pytest.fixture(params=ROBOTS)
def model(request) -> RobotModel:
    """One of the robots."""
    return ROBOTS[request.param]


def close(a, b):
    assert_allclose(a, b, rtol=0, atol=1e-10 * max(1.0, np.max(np.abs(b))))


def test_a_push_at_any_point_in_any_axes_is_the_transposed_jacobian(model):
    """``tau = ... - J^T f``, and what the motors need not do accelerates the robot."""
    q, qd, qdd = random_state(model, 1, 3)
    free = rnea(model, q, qd, qdd)
    for link in model.link_names:
        for frame in (None, model.base_link, model.default_tip):
            push = [ExternalWrench(link, PUSH, POINT, frame)]
            expected = free - static_torque(model, q, PUSH, link, POINT, frame or link)
            close(rnea(model, q, qd, qdd, external=push), expected)
            close(forward_dynamics(model, q, qd, expected, external=push), qdd)


def test_several_pushes_add_up():
    """Also several on one link."""
    model = ROBOTS["mock_arm"]
    q, qd, qdd = random_state(model, 2)
    one, two = ExternalWrench("tool0", PUSH, POINT), ExternalWrench("tool0", 2 * PUSH, -POINT, "base_link")
    alone = [rnea(model, q, qd, qdd, external=[push]) for push in (one, two)]
    close(rnea(model, q, qd, qdd, external=[one, two]), sum(alone) - rnea(model, q, qd, qdd))


def test_the_mapping_is_the_short_form():
    """A link's name: at its origin, in its axes."""
    model = ROBOTS["mock_arm"]
    x = random_state(model, 3)
    close(
        rnea(model, *x, external={"forearm_link": PUSH}),
        rnea(model, *x, external=[ExternalWrench("forearm_link", PUSH)]),
    )


@pytest.mark.parametrize(
    ("push", "problem"),
    [
        (ExternalWrench("hand", PUSH), "link: the robot 'mock_arm' has no link 'hand'"),
        (ExternalWrench("tool0", PUSH, frame="world"), "link: the robot 'mock_arm' has no link 'world'"),
        (ExternalWrench("tool0", PUSH[:3]), r"wrench on 'tool0': expected shape \(\.\.\., 6\), got \(3,\)"),
        (ExternalWrench("tool0", PUSH, (0, np.nan, 0)), "point of 'tool0': expected finite numbers"),
    ],
)
def test_a_wrong_push_is_named(push, problem):
    """With the link and what is wrong."""
    with pytest.raises(InputError, match=problem):
        rnea(ROBOTS["mock_arm"], *random_state(ROBOTS["mock_arm"], 4), external=[push])


def test_forces_carried_inwards_through_the_2r_arm():
    """Force and moment at each joint, in its link's axes, of a force at the tip (Craig's example 5.7)."""
    l1, l2, (fx, fy) = 0.7, 0.4, (3.0, -2.0)
    model = RobotModel.from_urdf(planar_2r(l1, l2, {"mass": 3.0, "com": (l1, 0, 0)}, {"mass": 2.0, "com": (l2, 0, 0)}))
    q = [0.3, 0.8]
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    expected = [
        [c2 * fx - s2 * fy, s2 * fx + c2 * fy, 0, 0, 0, l1 * s2 * fx + l1 * c2 * fy + l2 * fy],
        [fx, fy, 0, 0, 0, l2 * fy],
    ]
    close(static_wrenches(model, q, [fx, fy, 0, 0, 0, 0], frame="tip"), expected)


def test_static_wrenches_along_the_axes_are_the_static_torque(model):
    """And nothing goes through joints that do not carry the link."""
    q, _, _ = random_state(model, 5)
    f = static_wrenches(model, q, PUSH, point=POINT)
    axes = np.array([np.roll(joint.S[:, 0], 3) for joint in model.joints])
    close(np.sum(axes * f, axis=-1), static_torque(model, q, PUSH, point=POINT))
    idle = [i for i in range(model.n) if i not in model.support(model.links[model.default_tip].body)]
    assert not np.any(f[idle])


def test_weight_and_load_add_up_in_the_joints():
    """What the joints transmit at rest is the weight and the static wrench."""
    model = ROBOTS["mock_arm"]
    q, _, _ = random_state(model, 6)
    zero = np.zeros(model.n)
    loaded = joint_wrenches(model, q, zero, zero, external=[ExternalWrench("tool0", -PUSH, POINT, "base_link")])
    close(loaded, joint_wrenches(model, q, zero, zero) + static_wrenches(model, q, PUSH, "tool0", POINT))


def test_a_shifted_wrench_has_the_same_power():
    """On a body that moves anyhow: force times velocity of the point, and moment times turning."""
    v, w, r = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.5, 2.0]), POINT
    there = shift_wrench(PUSH, r)
    close(PUSH[:3] @ v + PUSH[3:] @ w, there[:3] @ (v + np.cross(w, r)) + there[3:] @ w)
    close(shift_wrench(there, -r), PUSH)


def test_a_system_of_forces_is_reduced_to_a_point():
    """Two opposite forces are a couple, the same about every point; three forces by hand; and about another point."""
    couple = reduce_to_point([[0, 5, 0], [0, -5, 0]], [[1, 0, 0], [-1, 0, 0]], about=[7, 8, 9])
    close(couple, [0, 0, 0, 0, 0, 10])
    forces, points = np.array([[1.0, 0, 0], [0, 2, 0], [0, 0, 3]]), np.array([[0.0, 1, 0], [0, 0, 1], [1, 0, 0]])
    moments = np.array([[0.0, 0, 1], [0, 1, 0], [1, 0, 0]])
    at_origin = reduce_to_point(forces, points, moments)
    close(at_origin, [1, 2, 3, 0 - 2 + 0 + 1, 0 + 0 - 3 + 1, -1 + 0 + 0 + 1])
    close(reduce_to_point(forces, points, moments, POINT), shift_wrench(at_origin, POINT))


def test_every_wrench_with_a_force_is_a_screw():
    """On its central axis the moment lies along the force."""
    point, moment = central_axis(PUSH)
    close(np.cross(moment, PUSH[:3]), np.zeros(3))
    close(shift_wrench(PUSH, point)[3:], moment)
    close(point @ PUSH[:3], 0.0)
    with pytest.raises(InputError, match="a pure moment has no central axis"):
        central_axis([0, 0, 0, 1, 2, 3])


def test_wrong_forces_are_named():
    """Each force has its point."""
    with pytest.raises(
        InputError, match=r"points: expected the shape \(\.\.\., k, 3\) of the forces, \(2, 3\); got \(1, 3\)"
    ):
        reduce_to_point(np.zeros((2, 3)), np.zeros((1, 3)))


def test_the_weight_of_a_payload_is_an_external_force():
    """Written in the base's axes, at its centre of mass."""
    model = ROBOTS["mock_arm"]
    q, _, _ = random_state(model, 7)
    zero = np.zeros(6)
    R = forward_kinematics(model, q)[:3, :3]
    down = np.concatenate([R.T @ [0, 0, -9.81 * 2], np.zeros(3)])
    in_base = [ExternalWrench("tool0", [0, 0, -9.81 * 2, 0, 0, 0], POINT, "base_link")]
    close(
        rnea(model, q, zero, zero, external=in_base),
        rnea(model, q, zero, zero, external=[ExternalWrench("tool0", down, POINT)]),
    )
