# SPDX-License-Identifier: Apache-2.0
"""Gravity compensation against closed forms of its damping."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from control_states import exact_motion
from robots import HOME, mock_arm
from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.dynamics import (
    kinetic_energy,
)
from ros2_dyn.kernels import compile_kernel

SIX = mock_arm()
"""It has no friction."""


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
