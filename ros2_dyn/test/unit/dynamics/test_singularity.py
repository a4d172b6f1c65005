# SPDX-License-Identifier: Apache-2.0
"""Singularities of both kinds, at places that follow from the geometry."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import joint, link, mock_arm, planar_2r, random_state, robot
from ros2_dyn.dynamics import jacobian, manipulability, singular_values, singularity
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel

ARM = mock_arm()
L1, L2 = 0.7, 0.4
PLANAR = RobotModel.from_urdf(planar_2r(L1, L2, {"mass": 3.0, "com": (L1, 0, 0)}, {"mass": 2.0, "com": (L2, 0, 0)}))


def test_manipulability_of_the_2r_arm_is_the_determinant_of_its_jacobian():
    """``|det J| = l1 l2 |sin theta2|``."""
    for theta2 in (0.0, 0.3, -1.2):
        J = jacobian(PLANAR, [0.4, theta2])[:2]
        assert_allclose(manipulability(J), L1 * L2 * abs(np.sin(theta2)), rtol=0, atol=1e-12)
        assert_allclose(np.sum(singular_values(J) ** 2), np.sum(J * J), rtol=1e-12)


@pytest.mark.parametrize("theta2", [0.0, np.pi, -np.pi])
def test_2r_arm_stretched_or_folded_is_a_boundary_singularity(theta2):
    place = singularity(PLANAR, [0.4, theta2], task="position")
    assert place.kind == "boundary"
    assert place.lost.shape == (1, 6)
    assert_allclose(abs(place.lost[0, :3] @ [np.cos(0.4), np.sin(0.4), 0]), 1.0, rtol=0, atol=1e-9)
    assert singularity(PLANAR, [0.4, 1.0], task="position").kind == "regular"


def test_stretched_elbow_of_a_six_axis_arm_is_a_boundary_singularity():
    place = singularity(ARM, [0.3, -1.0, 0.0, -1.1, -1.2, 0.4])
    assert (place.kind, len(place.lost)) == ("boundary", 1)


@pytest.mark.parametrize("theta5", [0.0, np.pi])
def test_wrist_with_parallel_axes_is_an_interior_singularity(theta5):
    place = singularity(ARM, [0.3, -1.0, 1.4, -1.1, theta5, 0.4])
    assert (place.kind, len(place.lost)) == ("interior", 1)


def test_random_poses_are_regular():
    for seed in range(20):
        q, _, _ = random_state(ARM, seed)
        place = singularity(ARM, q)
        assert (place.kind, len(place.lost)) == ("regular", 0)
        assert_allclose(place.singular_values, singular_values(jacobian(ARM, q)))


def test_upright_barrel_of_azimuth_and_elevation_is_an_interior_singularity():
    """The gunner of the differential kinematics text."""
    gun = RobotModel.from_urdf(
        robot(
            *(link(name, 1.0) for name in ("base", "mount", "barrel", "muzzle")),
            joint("azimuth", "revolute", "base", "mount"),
            joint("elevation", "revolute", "mount", "barrel", axis=(0, -1, 0)),
            joint("end", "fixed", "barrel", "muzzle", xyz=(1, 0, 0)),
        )
    )
    assert singularity(gun, [0.5, 0.7], task="position").kind == "regular"
    upright = singularity(gun, [0.5, np.pi / 2], task="position")
    assert upright.kind == "interior"
    sideways = np.array([-np.sin(0.5), np.cos(0.5), 0])
    assert_allclose(np.linalg.norm(upright.lost[:, :3] @ sideways), 1.0, rtol=0, atol=1e-9)


def test_redundant_arm_stretched_out_is_a_boundary_singularity():
    arm = RobotModel.from_urdf(
        robot(
            *(link(name, 1.0) for name in "abcd"),
            link("tip"),
            joint("one", "revolute", "a", "b"),
            joint("two", "revolute", "b", "c", xyz=(1, 0, 0)),
            joint("three", "revolute", "c", "d", xyz=(0.7, 0, 0)),
            joint("end", "fixed", "d", "tip", xyz=(0.4, 0, 0)),
        )
    )
    assert singularity(arm, [0.2, 0.0, 0.0], task="position").kind == "boundary"
    # Folded at one joint only, the tip can move to both sides.
    assert singularity(arm, [0.2, np.pi, 0.0], task="position").kind == "interior"


def test_unknown_task_raises_error_that_lists_the_tasks():
    with pytest.raises(InputError, match="task: expected one of pose, position, orientation; got 'speed'"):
        singularity(ARM, np.zeros(6), task="speed")  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(12))
def test_collinear_links_in_a_plane_are_of_the_kind_that_sylvesters_law_gives(seed):
    """Links of lengths l_i on one line, in directions s_i = 1 or -1, reach R = sum s_i l_i.

    At second order the reach changes by -1/2 sum s_i l_i phi_i^2 with the links' angles phi_i, where the tip stays on
    the line, sum s_i l_i phi_i = 0. By Sylvester's law of inertia that has one sign if all links point one way, or if
    the longest exceeds the sum of the others, which point against it.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    lengths, signs = rng.uniform(0.2, 1.0, n), rng.choice([-1, 1], n)
    if seed % 3 == 0:
        signs[:] = [-1] + [1] * (n - 1)
        lengths[0] = lengths[1:].sum() * rng.choice([0.8, 1.3])
    parts = [link(f"link{i}", 1.0) for i in range(n + 2)]
    for i in range(n):
        parts.append(
            joint(f"joint{i}", "continuous", f"link{i}", f"link{i + 1}", xyz=(lengths[i - 1] if i else 0, 0, 0))
        )
    parts.append(joint("end", "fixed", f"link{n}", f"link{n + 1}", xyz=(lengths[-1], 0, 0)))
    angles = np.where(signs > 0, 0, np.pi) + 0.4
    q = np.diff(np.concatenate([[0.0], angles]))
    c = signs * lengths * np.sign(np.sum(signs * lengths))
    one_sided = np.all(c > 0) or np.sum(c > 0) == 1
    place = singularity(RobotModel.from_urdf(robot(*parts)), q, task="position")
    assert place.kind == ("boundary" if one_sided else "interior")
