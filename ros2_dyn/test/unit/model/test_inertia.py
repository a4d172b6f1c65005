# SPDX-License-Identifier: Apache-2.0
"""Rigid-body inertia: the same body about different points and in different frames."""

import numpy as np
from numpy.testing import assert_allclose

from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Transform, rotation_from_rpy

RNG = np.random.default_rng(1)
POINTS = RNG.normal(size=(7, 3))
MASSES = RNG.uniform(0.1, 2, size=7)


def body_of_points(points: np.ndarray) -> SpatialInertia:
    """Return the inertia of point masses by definition, given about the centre of mass."""
    com = MASSES @ points / MASSES.sum()
    I_com = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(MASSES, points - com))
    return SpatialInertia.from_com(MASSES.sum(), com, I_com)


def test_inertia_about_the_origin_is_the_sum_over_point_masses():
    I = body_of_points(POINTS)
    about_origin = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(MASSES, POINTS))
    assert_allclose(I.I_origin, about_origin, rtol=1e-12)
    assert_allclose(I.com, MASSES @ POINTS / MASSES.sum(), rtol=1e-12)
    again = SpatialInertia.from_com(float(I.mass), I.com, I.I_com)
    assert_allclose(again.matrix(), I.matrix(), rtol=1e-12)


def test_inertia_in_another_frame_is_that_of_the_moved_points():
    R, r = rotation_from_rpy(np.array([0.3, -1.1, 2.0])), np.array([0.5, -0.2, 0.8])
    moved = body_of_points(POINTS).in_parent(Transform(R.T, r))
    assert_allclose(moved.matrix(), body_of_points(POINTS @ R.T + r).matrix(), rtol=1e-10, atol=1e-10)


def test_momentum_is_the_6x6_matrix_times_velocity():
    I, v = body_of_points(POINTS), RNG.normal(size=(4, 6))
    assert_allclose(I.momentum(v), v @ I.matrix().T, rtol=1e-12, atol=1e-12)


def test_sum_of_inertias_has_the_weighted_centre_of_mass():
    I = body_of_points(POINTS)
    both = I + SpatialInertia.from_com(2.0, np.array([1.0, 0, 0]), np.eye(3))
    assert_allclose(both.com, (I.mass * I.com + [2.0, 0, 0]) / (I.mass + 2.0), rtol=1e-12)
    assert_allclose(SpatialInertia.zero().com, 0)
