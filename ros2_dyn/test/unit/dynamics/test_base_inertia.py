# SPDX-License-Identifier: Apache-2.0
"""Regrouped inertia: other bodies, the same efforts."""

import numpy as np
from numpy.testing import assert_allclose

from robots import arm_and_trees, for_each, mock_arm, random_state
from ros2_dyn import dynamics
from ros2_dyn.dynamics import inertial_parameters, regroup_inertia
from ros2_dyn.model import RobotModel

ROBOTS = arm_and_trees(6, 6)
TILTED = [1.0, -2.0, -9.0]


def nonzero(model: RobotModel) -> int:
    """Return the number of inertial parameters that are not zero."""
    return int(np.count_nonzero(inertial_parameters(model)))


@for_each(ROBOTS)
def test_efforts_and_what_follows_from_them_are_the_same(model):
    other, x = regroup_inertia(model), random_state(model, 1)
    assert nonzero(other) < nonzero(model)
    for function in (dynamics.rnea, dynamics.forward_dynamics):
        assert_allclose(function(other, *x, TILTED), function(model, *x, TILTED), rtol=1e-10, atol=1e-10)
    for function in (dynamics.coriolis_matrix, dynamics.momentum, dynamics.kinetic_energy):
        assert_allclose(function(other, *x[:2]), function(model, *x[:2]), rtol=1e-11, atol=1e-11)
    for ours, theirs in zip(dynamics.rnea_derivatives(other, *x), dynamics.rnea_derivatives(model, *x)):
        assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)


@for_each(ROBOTS)
def test_known_gravity_takes_weight_off_bodies_that_turn_about_it(model):
    other, x = regroup_inertia(model, TILTED), random_state(model, 1)
    assert nonzero(other) <= nonzero(regroup_inertia(model))
    assert_allclose(dynamics.rnea(other, *x, TILTED), dynamics.rnea(model, *x, TILTED), rtol=1e-10, atol=1e-10)


def test_number_of_parameters_of_a_six_axis_arm():
    """Of the first body one is left where gravity is along its axis, of the others seven at most."""
    other = regroup_inertia(mock_arm(), [0.0, 0.0, -9.81])
    counts = [int(np.count_nonzero(inertia.parameters)) for inertia in other.inertia]
    assert counts[0] == 1
    assert max(counts) <= 7
