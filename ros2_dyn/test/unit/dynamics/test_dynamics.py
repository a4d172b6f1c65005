# SPDX-License-Identifier: Apache-2.0
"""Gravity as a gradient, bodies of closed form, and wrong arguments; `test_identities.py` has the identities."""

import numpy as np
import pytest

from robots import arm_and_trees, close, for_each, joint, link, random_state, robot
from ros2_dyn.dynamics import (
    gravity,
    mass_matrix,
    potential_energy,
    rnea,
)
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel

ROBOTS = arm_and_trees(4)


@for_each(ROBOTS)
def test_gravity_is_the_gradient_of_the_potential_energy(model):
    q, _, _ = random_state(model, 3)
    step = 1e-6
    gradient = [
        (potential_energy(model, q + step * e) - potential_energy(model, q - step * e)) / (2 * step)
        for e in np.eye(model.n)
    ]
    close(gravity(model, q), gradient, 1e-8)


def test_body_behind_a_fixed_joint_is_lumped_into_its_parent_body():
    """``tau = m g r`` for a mass at distance r from a horizontal axis."""
    arm = robot(
        link("base", mass=5.0, com=(0, 0, 1)),
        link("arm"),
        link("tool", mass=2.0, com=(0.1, 0, 0)),
        joint("hinge", "revolute", "base", "arm", axis=(0, 1, 0)),
        joint("mount", "fixed", "arm", "tool", xyz=(0.5, 0, 0), rpy=(0, 0, np.pi)),
    )
    model = RobotModel.from_urdf(arm)
    close(gravity(model, [0.0]), [-2.0 * 9.81 * 0.4])
    close(mass_matrix(model, [0.0]), [[2.0 * 0.4**2]])
    assert model.base_inertia.mass == 5.0
    close(model.base_inertia.com, [0, 0, 1])


def test_wrong_input_raises_error_that_names_the_argument():
    model, zero = ROBOTS["mock_arm"], np.zeros(6)
    with pytest.raises(InputError, match=r"qd: expected shape \(\.\.\., 6\), got \(3,\)"):
        rnea(model, zero, np.zeros(3), zero)
    with pytest.raises(InputError, match="qdd: expected finite numbers"):
        rnea(model, zero, zero, [np.inf] * 6)
    with pytest.raises(InputError, match=r"gravity: expected shape \(\.\.\., 3\), got \(\)"):
        gravity(model, zero, 9.81)
    with pytest.raises(InputError, match="no link 'hand'"):
        rnea(model, zero, zero, zero, external={"hand": zero})
