# SPDX-License-Identifier: Apache-2.0
"""Where the camera stands at the beginning: the arm is in the picture, whatever its size, place and direction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn_tools.viewer.geometry import Shape
from ros2_dyn_tools.viewer.scene import FIELD_OF_VIEW, MARGIN, camera

TURN = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
"""By 90 degrees about the vertical."""
ARM = np.array([[0.0, 0, 0.1], [0, 0, 0.5], [0.4, 0, 0.7], [0.6, 0.1, 0.3], [0.7, -0.1, 0.2]])
"""An arm that reaches along x."""


def seen(points, aspect: float, hidden: float = 0.0) -> np.ndarray:
    """Return the points in the picture, which extends from -1 to 1 to the right and upwards, shape (k, 2)."""
    position, target = camera(points, aspect, hidden)
    ahead = (target - position) / np.linalg.norm(target - position)
    right = np.cross(ahead, [0, 0, 1])
    right /= np.linalg.norm(right)
    x, y, depth = np.stack([right, np.cross(right, ahead), ahead]) @ (points - position).T
    tan = np.tan(FIELD_OF_VIEW / 2)
    return np.stack([x / (aspect * tan * depth), y / (tan * depth)], axis=1)


@pytest.mark.parametrize(("aspect", "hidden"), [(0.46, 0.46), (0.52, 0.0), (1.0, 0.0), (1.78, 0.2)])
@pytest.mark.parametrize("size", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("place", [(0, 0, 0), (5.0, -3.0, 1.0)])
def test_arm_of_any_size_and_place_fills_the_picture_and_nothing_of_it_is_cut(size, place, aspect, hidden):
    x, y = seen(size * ARM + place, aspect, hidden).T
    filled = np.max([np.abs(x) / MARGIN, np.abs(y - hidden) / (MARGIN * (1 - hidden))])
    assert_allclose(filled, 1.0, atol=1e-9)


@pytest.mark.parametrize("turns", range(4))
def test_camera_stands_obliquely_before_the_arm_and_above_it(turns):
    points = ARM @ np.linalg.matrix_power(TURN, turns).T + [2.0, 1.0, 0.5]
    position, target = camera(points, 1.5)
    assert_allclose(target, (points.min(axis=0) + points.max(axis=0)) / 2)
    out = np.linalg.matrix_power(TURN, turns).T @ (position - target)
    assert_allclose(np.degrees(np.arctan2(out[1], out[0])), 45.0, atol=3.0)
    assert_allclose(out[2] / np.linalg.norm(out), np.sin(np.radians(25)), atol=1e-9)


def test_upright_arm_and_a_single_point_are_seen_from_the_front_of_the_base():
    for points in (np.array([[1.0, 1, 0], [1, 1, 1]]), np.array([[1.0, 1, 0]])):
        position, target = camera(points, 1.5)
        assert np.all(position - target > 0.05)


@pytest.mark.parametrize(
    ("kind", "size", "half"),
    [
        ("box", (0.2, 0.4, 0.6), (0.1, 0.2, 0.3)),
        ("cylinder", (0.1, 0.6), (0.1, 0.1, 0.3)),
        ("sphere", (0.1,), (0.1,) * 3),
    ],
)
def test_corners_of_a_shape_are_those_of_its_box_in_the_frame_of_the_link(kind, size, half):
    corners = Shape(kind, size, np.array([1.0, 2, 3]), TURN).corners
    assert corners.shape == (8, 3)
    assert_allclose(np.max(corners, axis=0), np.array([1.0, 2, 3]) + np.array(half)[[1, 0, 2]])
    assert_allclose(np.min(corners, axis=0), np.array([1.0, 2, 3]) - np.array(half)[[1, 0, 2]])


def test_corners_of_a_mesh_are_those_of_its_vertices():
    vertices = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 3]])
    corners = Shape("mesh", (), np.zeros(3), np.eye(3), vertices=vertices, faces=np.array([[0, 1, 2]])).corners
    assert_allclose(np.max(corners, axis=0), [1, 2, 3])
    assert_allclose(np.min(corners, axis=0), 0.0)
