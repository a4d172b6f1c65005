# SPDX-License-Identifier: Apache-2.0
"""The state that control laws work on: each term is the model's own."""

from __future__ import annotations

import pytest
from numpy.testing import assert_allclose, assert_array_equal

from control_states import SEVEN, THREE, moving
from ros2_dyn.dynamics import (
    forward_kinematics,
    friction,
    gravity,
    jacobian,
    kinetic_energy,
    mass_matrix,
    momentum,
)


@pytest.mark.parametrize("model", [SEVEN, THREE], ids=["seven", "three"])
def test_state_holds_the_terms_of_the_model(model):
    """Each as its own function says."""
    for state, where, a in (
        (moving(model, 1), None, None),
        (moving(model, 1, link="link2", gravity=(1.0, -2.0, 3.0)), "link2", (1.0, -2.0, 3.0)),
    ):
        q, qd = state.q, state.qd
        assert_array_equal(state.gravity, gravity(model, q, a))
        assert_array_equal(state.friction, friction(model, qd))
        assert_array_equal(state.M, mass_matrix(model, q))
        assert_array_equal(state.J, jacobian(model, q, where))
        assert_array_equal(state.pose, forward_kinematics(model, q, where))
        assert_allclose(state.momentum, momentum(model, q, qd), rtol=0, atol=1e-11)
        assert_allclose(state.momentum @ qd / 2, kinetic_energy(model, q, qd), rtol=1e-12)
        step = 1e-6
        ahead, behind = (forward_kinematics(model, q + s * qd, where) for s in (step, -step))
        rate = (ahead - behind) / (2 * step)
        spin = rate[:3, :3] @ state.pose[:3, :3].T
        turning = [spin[2, 1], spin[0, 2], spin[1, 0]]
        assert_allclose(state.tip_velocity, [*rate[:3, 3], *turning], rtol=0, atol=1e-8)
