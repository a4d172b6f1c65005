# SPDX-License-Identifier: Apache-2.0
"""The planar 2R arm: every quantity in closed form, from Craig and from the Lagrangian."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import planar_2r
from ros2_dyn.dynamics import coriolis, forward_kinematics, gravity, jacobian, mass_matrix, rnea, static_torque
from ros2_dyn.model import RobotModel

L1, L2, M1, M2, G = 0.7, 0.4, 3.0, 2.0, 9.81
DOWN = [0.0, -G, 0.0]  # the arm moves in a vertical xy plane
STATES = np.random.default_rng(1).uniform(-2, 2, size=(20, 3, 2))


@pytest.fixture
def point_masses() -> RobotModel:
    """Return the arm with each link's mass at its end, as in the Lagrangian example."""
    return RobotModel.from_urdf(planar_2r(L1, L2, {"mass": M1, "com": (L1, 0, 0)}, {"mass": M2, "com": (L2, 0, 0)}))


@pytest.mark.parametrize(("q", "qd", "qdd"), STATES)
def test_terms_of_point_masses_are_those_of_the_lagrangian(point_masses, q, qd, qdd):
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    M12 = M2 * (L1 * L2 * c2 + L2**2)
    M = [[M1 * L1**2 + M2 * (L1**2 + 2 * L1 * L2 * c2 + L2**2), M12], [M12, M2 * L2**2]]
    c = [-M2 * L1 * L2 * s2 * (2 * qd[0] * qd[1] + qd[1] ** 2), M2 * L1 * L2 * qd[0] ** 2 * s2]
    g2 = M2 * G * L2 * np.cos(q[0] + q[1])
    g = [(M1 + M2) * L1 * G * np.cos(q[0]) + g2, g2]

    assert_allclose(mass_matrix(point_masses, q), M, rtol=0, atol=1e-12)
    assert_allclose(coriolis(point_masses, q, qd), c, rtol=0, atol=1e-12)
    assert_allclose(gravity(point_masses, q, DOWN), g, rtol=0, atol=1e-12)
    assert_allclose(rnea(point_masses, q, qd, qdd, DOWN), M @ qdd + c + g, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("q", "qd", "qdd"), STATES)
def test_terms_of_bodies_with_offset_centres_have_their_closed_form(q, qd, qdd):
    """The centres of mass lie off the links' axes and out of the plane; only I_zz enters a planar motion."""
    (x1, y1), (x2, y2), I1, I2 = (0.3, 0.1), (0.2, -0.15), 0.05, 0.03
    model = RobotModel.from_urdf(
        planar_2r(
            L1,
            L2,
            {"mass": M1, "com": (x1, y1, 0.2), "inertia": (0.04, 0.01, -0.005, 0.03, 0.008, I1)},
            {"mass": M2, "com": (x2, y2, -0.1), "inertia": (0.02, -0.004, 0.003, 0.025, 0.002, I2)},
        )
    )
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    along, across = x2 * c2 - y2 * s2, x2 * s2 + y2 * c2  # centre 2 seen from joint 2, in the axes of link 1
    M22 = I2 + M2 * (x2**2 + y2**2)
    M12 = M22 + M2 * L1 * along
    M11 = I1 + M1 * (x1**2 + y1**2) + M22 + M2 * (L1**2 + 2 * L1 * along)
    h = M2 * L1 * across
    c = [-h * (2 * qd[0] * qd[1] + qd[1] ** 2), h * qd[0] ** 2]
    c1, s1 = np.cos(q[0]), np.sin(q[0])
    g2 = M2 * G * (along * c1 - across * s1)
    g = [M1 * G * (x1 * c1 - y1 * s1) + M2 * G * L1 * c1 + g2, g2]

    M = [[M11, M12], [M12, M22]]
    assert_allclose(mass_matrix(model, q), M, rtol=0, atol=1e-12)
    assert_allclose(rnea(model, q, qd, qdd, DOWN), M @ qdd + c + g, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("q", "qd", "qdd"), STATES)
def test_velocities_and_jacobians_in_frames_0_and_3_have_their_closed_form(point_masses, q, qd, qdd):
    """Craig's example 5.3."""
    c1, s1, c2, s2 = np.cos(q[0]), np.sin(q[0]), np.cos(q[1]), np.sin(q[1])
    c12, s12 = np.cos(q.sum()), np.sin(q.sum())
    J0 = [[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12], [0, 0], [0, 0], [0, 0], [1, 1]]
    J3 = [[L1 * s2, 0], [L1 * c2 + L2, L2], [0, 0], [0, 0], [0, 0], [1, 1]]
    v3 = [L1 * s2 * qd[0], L1 * c2 * qd[0] + L2 * qd.sum(), 0, 0, 0, qd.sum()]

    assert_allclose(jacobian(point_masses, q), J0, rtol=0, atol=1e-12)
    assert_allclose(jacobian(point_masses, q, frame="tip"), J3, rtol=0, atol=1e-12)
    assert_allclose(jacobian(point_masses, q, frame="tip") @ qd, v3, rtol=0, atol=1e-12)
    # Frame {2} has its origin at joint 2.
    v2 = [L1 * s2 * qd[0], L1 * c2 * qd[0], 0, 0, 0, qd.sum()]
    assert_allclose(jacobian(point_masses, q, link="second", frame="second") @ qd, v2, rtol=0, atol=1e-12)
    assert_allclose(forward_kinematics(point_masses, q)[:2, 3], [L1 * c1 + L2 * c12, L1 * s1 + L2 * s12], atol=1e-12)


@pytest.mark.parametrize(("q", "force", "_"), STATES)
def test_static_torque_of_a_tip_force_has_its_closed_form(point_masses, q, force, _):
    """Craig's example 5.7."""
    fx, fy = force
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    tau = [L1 * s2 * fx + (L2 + L1 * c2) * fy, L2 * fy]
    assert_allclose(static_torque(point_masses, q, [fx, fy, 0, 0, 0, 0], frame="tip"), tau, rtol=0, atol=1e-12)
