# SPDX-License-Identifier: Apache-2.0
"""Denavit-Hartenberg tables, modified and standard, against products of matrices and the same arm as a URDF."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm, random_state
from ros2_dyn.dynamics import forward_kinematics, jacobian, mass_matrix, rnea
from ros2_dyn.errors import ModelError
from ros2_dyn.model import DHRow, RobotModel


def rot(axis, angle):
    c, s = np.cos(angle), np.sin(angle)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T = np.eye(4)
    T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
    return T


def trans(axis, length):
    T = np.eye(4)
    T["xyz".index(axis), 3] = length
    return T


def random_rows(seed, n=6):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        points = rng.normal(size=(5, 3)) * 0.1
        I_com = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points - points.mean(axis=0))
        a, alpha, d, theta = rng.uniform(-1, 1, 4)
        rows.append(DHRow(a, alpha, d, theta, i % 3 == 2, rng.uniform(0.5, 3), rng.normal(size=3) * 0.2, I_com))
    return rows


def frames(rows, q, modified):
    """Return every link's frame as a product of matrices, as in the books (Craig 3.6; Paul 1981)."""
    T, found = np.eye(4), []
    for row, q_i in zip(rows, q):
        z = rot("z", row.theta + (0 if row.prismatic else q_i)) @ trans("z", row.d + (q_i if row.prismatic else 0))
        x = trans("x", row.a) @ rot("x", row.alpha)
        T = T @ x @ z if modified else T @ z @ x
        found.append(T)
    return found


@pytest.mark.parametrize("modified", [True, False])
def test_link_frames_of_a_dh_table_are_those_of_the_book(modified):
    rows = random_rows(1)
    model = RobotModel.from_dh(rows, modified)
    assert model.joint_names == tuple(f"joint{i}" for i in range(1, 7))
    assert model.default_tip == "link6"
    q, _, _ = random_state(model, 1)
    for i, T in enumerate(frames(rows, q, modified), start=1):
        assert_allclose(forward_kinematics(model, q, f"link{i}"), T, rtol=0, atol=1e-12)


@pytest.mark.parametrize("modified", [True, False])
def test_mass_matrix_of_a_dh_table_is_that_of_its_links(modified):
    """``M = sum J_com^T m J_com + J_w^T I J_w``, with inertias in the frames of the table."""
    rows = random_rows(2)
    model = RobotModel.from_dh(rows, modified)
    q, _, _ = random_state(model, 2)
    M = np.zeros((6, 6))
    for i, row in enumerate(rows, start=1):
        J = jacobian(model, q, f"link{i}", row.com, frame=f"link{i}")
        M += row.mass * J[:3].T @ J[:3] + J[3:].T @ row.I_com @ J[3:]
    assert_allclose(mass_matrix(model, q), M, rtol=0, atol=1e-10)


def test_inertia_about_the_origin_gives_the_same_model_as_about_the_centre_of_mass():
    about_com = random_rows(3)
    about_origin = []
    for row in about_com:
        c = np.asarray(row.com)
        I_origin = row.I_com + row.mass * (c @ c * np.eye(3) - np.outer(c, c))
        about_origin.append(
            DHRow(row.a, row.alpha, row.d, row.theta, row.prismatic, row.mass, row.com, I_origin=I_origin)
        )
    x = random_state(RobotModel.from_dh(about_com), 3)
    for modified in (True, False):
        one, other = RobotModel.from_dh(about_com, modified), RobotModel.from_dh(about_origin, modified)
        assert_allclose(rnea(one, *x), rnea(other, *x), rtol=0, atol=1e-10)


def test_ur_type_arm_as_a_standard_table_agrees_with_its_urdf():
    arm = mock_arm()
    half = np.pi / 2
    table = [
        (0, half, 0.089159, (0, -0.02561, 0.00193)),
        (-0.425, 0, 0, (0.2125, 0, 0.11336)),
        (-0.39225, 0, 0, (0.15, 0, 0.0265)),
        (0, half, 0.10915, (0, -0.0018, 0.01634)),
        (0, -half, 0.09465, (0, 0.0018, 0.01634)),
        (0, 0, 0.0823, (0, 0, -0.001159)),
    ]
    rows = []
    for (a, alpha, d, com), I in zip(table, arm.inertia):
        turn = rot("x", alpha)[:3, :3]  # from the table's frame to the URDF's, which lies before that rotation
        rows.append(DHRow(a, alpha, d, mass=float(I.mass), com=com, I_com=turn.T @ I.I_com @ turn))
    model = RobotModel.from_dh(rows, modified=False, name="ur")
    for seed in range(5):
        x = random_state(arm, seed)
        assert_allclose(rnea(model, *x), rnea(arm, *x), rtol=0, atol=1e-10)
        assert_allclose(forward_kinematics(model, x[0]), forward_kinematics(arm, x[0]), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (DHRow(a=np.nan), "row 2: expected finite numbers"),
        (DHRow(I_origin=np.full((3, 3), np.nan)), "row 2: expected finite numbers"),
        (DHRow(I_origin=np.eye(2)), "row 2: expected finite numbers"),
        (DHRow(mass=-1.0), "row 2: mass is -1.0"),
        (DHRow(com=(1.0, 2.0)), "row 2: expected finite numbers, com of shape"),
        (DHRow(I_com=np.eye(3), I_origin=np.eye(3)), "row 2: both I_com and I_origin are given"),
    ],
)
def test_wrong_dh_row_raises_error_with_its_number(row, problem):
    with pytest.raises(ModelError, match=problem):
        RobotModel.from_dh([DHRow(mass=1.0), row])
