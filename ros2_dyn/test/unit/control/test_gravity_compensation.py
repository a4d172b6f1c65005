# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation against closed forms of its damping."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from control_states import exact_motion
from robots import HOME, joint, link, mock_arm, robot
from ros2_dyn.control.arm_state import ArmState, arm_state
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.dynamics import (
    kinetic_energy,
)
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

SIX = mock_arm()
"""It has no friction."""


def test_damped_joint_without_weight_comes_to_rest_exponentially():
    """``p = p0 exp(-damping t)``, whatever the joint's inertia."""
    damping = 3.0
    for body in (link("body", 2.0, (0.1, 0.2, 0.3), (0.2, 0.01, 0.02, 0.3, 0.03, 0.4)), link("body", 50.0)):
        model = RobotModel.from_urdf(robot(link("base"), body, joint("z", "prismatic", "base", "body")))
        law = lambda t, q, qd, m=model: gravity_compensation(arm_state(m, q, qd), damping)  # noqa: E731
        ((q, qd),) = exact_motion(model, law, [0.3], [1.7], (0.2,))
        assert_allclose(qd, 1.7 * np.exp(-damping * 0.2), rtol=1e-11)
        assert_allclose(q, 0.3 + 1.7 * (1 - np.exp(-damping * 0.2)) / damping, rtol=1e-11)


def test_kinetic_energy_of_damped_arm_decays_exponentially():
    """The power of the damping is ``-damping qd M qd``, so that ``T = T0 exp(-2 damping t)``.

    It is so wherever the arm goes and whatever Coriolis effects do.
    """
    damping, qd = 2.0, np.array([1.0, -0.8, 1.2, 2.0, -1.5, 3.0])
    terms = compile_kernel(SIX, ("gravity", "friction", "mass_matrix", "jacobian", "pose"), "python", ("q", "qd"))

    def law(t, q, qd):
        return gravity_compensation(ArmState(q, qd, *map(np.array, terms(q.tolist(), qd.tolist()))), damping)

    before, times = kinetic_energy(SIX, HOME, qd), (0.1, 0.2, 0.3)
    for t, (q, rate) in zip(times, exact_motion(SIX, law, HOME, qd, times)):
        assert_allclose(kinetic_energy(SIX, q, rate), before * np.exp(-2 * damping * t), rtol=1e-8)
    assert np.linalg.norm(q - HOME) > 0.5  # it does go somewhere
