# SPDX-License-Identifier: Apache-2.0
"""The parts of the effort, each against another algorithm than that which computes it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import general_tree, random_positions
from ros2_dyn.dynamics import coriolis_matrix, friction_parameters, friction_regressor, mass_matrix, rnea
from ros2_dyn_tools.recording.effort_split import rms, split_effort


@pytest.mark.parametrize("seed", range(3))
def test_parts_are_those_of_the_equation_of_motion(seed):
    model = general_tree(seed)
    rng = np.random.default_rng(seed)
    q = np.array([random_positions(model, rng) for _ in range(4)])
    qd, qdd, measured = rng.normal(size=(3, 4, model.n))
    split = split_effort(model, q, qd, qdd, measured=measured)
    zero = np.zeros(model.n)
    assert_allclose(split.inertia, np.einsum("...ij,...j", mass_matrix(model, q), qdd), rtol=0, atol=1e-10)
    assert_allclose(split.coriolis, np.einsum("...ij,...j", coriolis_matrix(model, q, qd), qd), rtol=0, atol=1e-10)
    assert_allclose(split.gravity, rnea(model, q, zero, zero), rtol=0, atol=1e-10)
    friction_and_springs = friction_regressor(model, q, qd, 0 * qdd) @ friction_parameters(model)
    assert_allclose(split.friction + split.spring, friction_and_springs, rtol=0, atol=1e-10)
    assert np.any(split.spring)
    assert_allclose(split.model, rnea(model, q, qd, qdd) + friction_and_springs, rtol=0, atol=1e-9)
    assert_allclose(split.model + split.rest, measured, rtol=0, atol=1e-12)


def test_rms_of_a_sine_is_its_amplitude_over_the_root_of_two():
    phase = 2 * np.pi * np.arange(1000) / 1000
    assert_allclose(rms(np.stack([3 * np.sin(phase), 0 * phase - 2], axis=1)), [3 / np.sqrt(2), 2], rtol=1e-12)
