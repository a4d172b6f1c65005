# SPDX-License-Identifier: Apache-2.0
"""The 3D recursion, and the conversion between classical and spatial accelerations."""

import numpy as np
from numpy.testing import assert_allclose

from robots import arm_and_trees, for_each
from ros2_dyn.dynamics import classical_acceleration, forward_kinematics
from ros2_dyn.dynamics.recursions import accelerations, joint_transforms, velocities

ROBOTS = arm_and_trees(6)


@for_each(ROBOTS)
def test_classical_acceleration_is_the_second_derivative_of_position_unlike_the_spatial_one(model):
    w = np.linspace(0.7, 1.9, model.n)
    t, step = 0.9, 1e-4
    q, qd, qdd = np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)
    X = joint_transforms(model, q)
    v = velocities(model, X, qd)
    a = accelerations(model, X, v, qd, qdd, gravity=np.zeros(3))
    differ = 0.0
    for i in range(model.n):
        link = next(name for name, place in model.links.items() if place.body == i)
        before, here, after = (forward_kinematics(model, np.sin(w * (t + s)), link) for s in (-step, 0, step))
        second = (after - 2 * here + before)[:3, 3] / step**2
        classical = classical_acceleration(v[i], a[i])
        assert_allclose(here[:3, :3] @ classical[3:], second, rtol=0, atol=2e-6)
        differ = max(differ, np.max(np.abs(classical - a[i])))
    assert differ > 0.1
