# SPDX-License-Identifier: Apache-2.0
"""Wrenches as arrows in the base frame."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm
from ros2_dyn.dynamics import forward_kinematics, joint_wrenches
from ros2_dyn_tools.viewer.arrows import KINDS, MAX_LENGTH, SKIN, arrow_points
from ros2_dyn_tools.viewer.picture import CURVES, LinkWrench, Picture

MODEL = mock_arm()
Q = np.array([0.3, -1.2, 1.4, -1.8, -1.5, 0.4])


def picture(external=None, commanded=None, wrenches=None, push=None) -> Picture:
    wrenches = np.zeros((6, 6)) if wrenches is None else wrenches
    return Picture(0.0, Q, 0 * Q, np.full((CURVES, 6), np.nan), wrenches, external, commanded, push=push)


def test_external_force_begins_at_the_tip_and_is_turned_into_the_base_frame():
    wrench = np.array([3.0, -4.0, 12.0, 0.5, 0, 0])
    points = arrow_points(MODEL, picture(external=LinkWrench("tool0", "tool0", wrench)))["external"]
    pose, kind = forward_kinematics(MODEL, Q, "tool0"), KINDS["external"]
    assert points.shape == (2, 2, 3)
    assert_allclose(points[:, 0], [pose[:3, 3]] * 2, atol=1e-12)
    assert_allclose(points[0, 1] - points[0, 0], kind.force_scale * pose[:3, :3] @ wrench[:3], atol=1e-12)
    assert_allclose(points[1, 1] - points[1, 0], kind.moment_scale * pose[:3, :3] @ wrench[3:], atol=1e-12)


def test_commanded_force_has_the_axes_of_its_frame():
    shown = LinkWrench("tool0", "base_link", np.array([0, 0, -20.0, 0, 0, 0]))
    points = arrow_points(MODEL, picture(commanded=shown))["commanded"]
    assert_allclose(points[0, 1] - points[0, 0], [0, 0, -20.0 * KINDS["commanded"].force_scale], atol=1e-12)


def test_force_through_the_first_joint_of_a_resting_arm_carries_its_weight():
    wrenches = joint_wrenches(MODEL, Q, 0 * Q, 0 * Q)
    points = arrow_points(MODEL, picture(wrenches=wrenches))["joints"]
    weight = 9.81 * sum(body.mass for body in MODEL.inertia)
    assert points.shape == (12, 2, 3)
    assert_allclose(points[0, 1] - points[0, 0], [0, 0, KINDS["joints"].force_scale * weight], atol=1e-9)


@pytest.mark.parametrize("link", ["tool0", "wrist_1_link", "forearm_link"])
def test_push_ends_before_the_link_that_it_acts_on_and_points_along_the_force(link):
    tip, at = (forward_kinematics(MODEL, Q, each)[:3, 3] for each in ("tool0", link))
    force = np.array([3.0, -4.0, 12.0])
    push = np.concatenate([force, np.cross(at - tip, force)])
    tail, head = arrow_points(MODEL, picture(push=push))["push"][0]
    assert_allclose(head, at - SKIN * force / 13.0, atol=1e-9)
    assert_allclose(head - tail, KINDS["push"].force_scale * force, atol=1e-9)


def test_push_beside_the_line_of_joints_stays_on_its_line_of_action():
    tip, pose = forward_kinematics(MODEL, Q, "tool0")[:3, 3], forward_kinematics(MODEL, Q, "forearm_link")
    at, force = pose[:3, 3] + pose[:3, :3] @ [-0.2, 0.0, 0.05], pose[:3, :3] @ [0.0, 0.0, -20.0]
    head = arrow_points(MODEL, picture(push=np.append(force, np.cross(at - tip, force))))["push"][0, 1]
    assert_allclose(np.cross(head - at, force), 0.0, atol=1e-9)
    assert np.linalg.norm(head - at) < 0.15


def test_push_that_is_too_small_or_not_finite_is_not_drawn():
    for size in (0.0, 0.4, np.nan, np.inf):
        assert len(arrow_points(MODEL, picture(push=np.full(6, size / np.sqrt(3))))["push"]) == 0


def test_arrow_is_never_longer_than_a_room_and_never_not_finite():
    for size in (1e9, np.nan):
        shown = LinkWrench("tool0", "base_link", np.full(6, size))
        points = arrow_points(MODEL, picture(external=shown))["external"]
        assert np.all(np.isfinite(points))
        assert np.max(np.linalg.norm(points[:, 1] - points[:, 0], axis=1)) <= MAX_LENGTH * (1 + 1e-9)
