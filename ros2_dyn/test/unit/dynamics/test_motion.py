# SPDX-License-Identifier: Apache-2.0
"""Velocity and acceleration of links, against Jacobians and derivatives of positions."""

import numpy as np
import pytest

from robots import arm_and_trees, close, for_each, planar_2r, random_state
from ros2_dyn.dynamics import jacobian, jacobian_dot, link_acceleration, link_velocity
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel

ROBOTS = arm_and_trees(3)
POINT = [0.1, -0.2, 0.3]


@for_each(ROBOTS)
def test_link_velocity_and_acceleration_agree_with_the_jacobian(model):
    """``v = J qd`` and ``a = J qdd + Jdot qd``."""
    q, qd, qdd = random_state(model, 1, 3)
    for link in model.link_names:
        J, Jd = jacobian(model, q, link, POINT), jacobian_dot(model, q, qd, link, POINT)
        v, a = (J @ qd[..., None])[..., 0], (J @ qdd[..., None] + Jd @ qd[..., None])[..., 0]
        close(link_velocity(model, q, qd, link, POINT), v)
        close(link_acceleration(model, q, qd, qdd, link, point=POINT), a)
        turned = jacobian(model, q, link, POINT, frame=model.default_tip)
        close(link_velocity(model, q, qd, link, POINT, frame=model.default_tip), (turned @ qd[..., None])[..., 0])


def test_link_velocity_and_acceleration_of_the_2r_arm_have_their_closed_form():
    """Craig's example 5.3, in frame {3}."""
    l1, l2 = 0.7, 0.4
    model = RobotModel.from_urdf(planar_2r(l1, l2, {"mass": 3.0, "com": (l1, 0, 0)}, {"mass": 2.0, "com": (l2, 0, 0)}))
    q, (w1, w2) = [0.3, 0.8], (1.5, -0.7)
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    close(
        link_velocity(model, q, [w1, w2], frame="tip"), [l1 * s2 * w1, l1 * c2 * w1 + l2 * (w1 + w2), 0, 0, 0, w1 + w2]
    )
    # At constant speed each link's end accelerates towards its joint.
    along = [-l2 * (w1 + w2) ** 2 - l1 * c2 * w1**2, l1 * s2 * w1**2, 0, 0, 0, 0]
    close(link_acceleration(model, q, [w1, w2], [0, 0], frame="tip"), along)


def test_link_fixed_to_the_base_has_zero_velocity_and_acceleration():
    model = ROBOTS["mock_arm"]
    x = random_state(model, 3)
    close(link_velocity(model, *x[:2], "base_link"), np.zeros(6))
    close(link_acceleration(model, *x, "base_link", point=POINT), np.zeros(6))
    with pytest.raises(InputError, match="no link 'hand'"):
        link_velocity(model, *x[:2], "hand")
