# SPDX-License-Identifier: Apache-2.0
"""The joint PD against closed forms."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose
from scipy.linalg import expm

from control_states import exact_motion
from robots import HOME, mock_arm
from ros2_dyn.control.joint_pd import joint_pd
from ros2_dyn.kernels import compile_kernel

SIX = mock_arm()
"""It has no friction."""


def test_computed_torque_errors_follow_their_closed_form():
    """``e'' + d e' + k e = 0`` of each joint by itself, with the right model; one overdamped, others swing."""
    k, d = np.array([100.0, 64.0, 81.0, 49.0, 144.0, 100.0]), np.array([6.0, 16.0, 40.0, 2.0, 24.0, 0.5])
    effort = compile_kernel(SIX, ("effort",), "python", ("q", "qd", "qdd"))
    rng = np.random.default_rng(0)
    e0, rate0, A = rng.uniform(-0.2, 0.2, (3, 6))

    def desired(t):
        return HOME + A * (1 - np.cos(5 * t)), 5 * A * np.sin(5 * t), 25 * A * np.cos(5 * t)

    def law(t, q, qd):
        q_d, qd_d, qdd_d = desired(t)
        qdd = qdd_d + joint_pd(q, qd, q_d, qd_d, stiffness=k, damping=d)
        return np.array(effort(q.tolist(), qd.tolist(), qdd.tolist())[0])

    q_d, qd_d, _ = desired(0)
    times = (0.1, 0.2, 0.3)
    for t, (q, qd) in zip(times, exact_motion(SIX, law, q_d - e0, qd_d - rate0, times)):
        q_d, qd_d, _ = desired(t)
        errors = [expm(t * np.array([[0, 1], [-k[i], -d[i]]])) @ (e0[i], rate0[i]) for i in range(6)]
        assert_allclose(np.transpose([q_d - q, qd_d - qd]), errors, rtol=0, atol=1e-8)
