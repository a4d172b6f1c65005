# SPDX-License-Identifier: Apache-2.0
"""The exact derivatives of inverse dynamics, against central differences; Pinocchio's are in test_robot_zoo."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import arm_and_trees, close, for_each, random_state
from ros2_dyn.dynamics import ExternalWrench, RneaDerivatives, mass_matrix, regressor, rnea, rnea_derivatives
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel

ROBOTS = arm_and_trees(3)
TILTED = [1.0, -2.0, -9.0]
STEP = 1e-6
FINITE_DIFFERENCES = 2e-8
"""Relative error of central differences with that step."""


def differences(function, x: np.ndarray) -> np.ndarray:
    """Return the Jacobian matrix of a function, a column for each number in x."""
    steps = STEP * np.eye(len(x))
    return np.stack([(function(x + step) - function(x - step)) / (2 * STEP) for step in steps], axis=-1)


@for_each(ROBOTS)
def test_derivatives_by_the_state_agree_with_central_differences(model):
    q, qd, qdd = random_state(model, 1)
    push = [ExternalWrench(model.default_tip, [10.0, -5.0, 3.0, 1.0, 2.0, -1.0], (0.1, 0.2, -0.3))]
    found = rnea_derivatives(model, q, qd, qdd, TILTED, external=push)
    assert isinstance(found, RneaDerivatives)
    close(found.dtau_dq, differences(lambda x: rnea(model, x, qd, qdd, TILTED, external=push), q), FINITE_DIFFERENCES)
    close(found.dtau_dqd, differences(lambda x: rnea(model, q, x, qdd, TILTED, external=push), qd), FINITE_DIFFERENCES)
    columns = differences(lambda x: rnea(model, q, qd, x, TILTED, external=push), qdd)
    close(mass_matrix(model, q), columns, FINITE_DIFFERENCES)


def test_derivatives_by_the_payload_are_the_regressor():
    model = ROBOTS["mock_arm"]
    q, qd, qdd = random_state(model, 2)
    kernel = compile_kernel(model, ("tau",), "numpy", ("q", "qd", "qdd", "payload"), link="wrist_3_link")
    Y = regressor(model, q, qd, qdd)[:, -10:]
    close(differences(lambda parameters: kernel(q, qd, qdd, parameters)[0], np.full(10, 0.1)), Y, FINITE_DIFFERENCES)


def test_derivatives_of_a_batch_agree_with_single_calls():
    model = ROBOTS["tree_0"]
    q, qd, qdd = random_state(model, 3, 4)
    found = rnea_derivatives(model, q, qd[0], qdd)
    assert found.dtau_dq.shape == found.dtau_dqd.shape == (4, model.n, model.n)
    assert_allclose(found.dtau_dq[2], rnea_derivatives(model, q[2], qd[0], qdd[2]).dtau_dq, rtol=0, atol=1e-12)


def test_wrong_input_raises_error_that_names_the_argument():
    with pytest.raises(InputError, match=r"qd: expected shape \(\.\.\., 6\), got \(5,\)"):
        rnea_derivatives(ROBOTS["mock_arm"], np.zeros(6), np.zeros(5), np.zeros(6))
