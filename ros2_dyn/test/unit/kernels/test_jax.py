# SPDX-License-Identifier: Apache-2.0
"""Backend jax: the same numbers in float64, and JAX's own derivatives, batches and devices go through it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm, random_state
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError
from ros2_dyn.kernels import compile_kernel

jax = pytest.importorskip("jax", reason="JAX is optional, and not here")
MODEL = mock_arm().reduced(mock_arm().joint_names[:3])


@pytest.fixture(autouse=True)
def float64():
    """Give the tests double precision, which is JAX's choice by process."""
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module")
def tau():
    """Inverse dynamics."""
    return compile_kernel(MODEL, ("tau",), "jax", ("q", "qd", "qdd"))


def test_outputs_are_those_of_numpy_for_one_state_and_for_batches():
    outputs = ("tau", "mass_matrix", "jacobian")
    ours, book = (compile_kernel(MODEL, outputs, backend) for backend in ("jax", "numpy"))
    for shape in ((), (2, 3)):
        state = random_state(MODEL, 1, *shape)
        for result, expected in zip(ours(*state), book(*state)):
            assert result.dtype == np.float64
            assert_allclose(result, expected, rtol=0, atol=1e-12 * max(1.0, np.abs(expected).max()))


def test_derivatives_by_jax_are_those_of_the_recursion(tau):
    q, qd, qdd = random_state(MODEL, 2)
    found = jax.jacfwd(lambda q, qd: tau(q, qd, qdd)[0], argnums=(0, 1))(q, qd)
    for result, expected in zip(found, dynamics.rnea_derivatives(MODEL, q, qd, qdd)):
        assert_allclose(result, expected, rtol=0, atol=1e-11)
    power = jax.grad(lambda qd: tau(q, qd, qdd)[0] @ qd)(qd)
    tau_0, (_, dtau_dqd) = dynamics.rnea(MODEL, q, qd, qdd), dynamics.rnea_derivatives(MODEL, q, qd, qdd)[:2]
    assert_allclose(power, tau_0 + dtau_dqd.T @ qd, rtol=0, atol=1e-11)


def test_vmap_and_jit_go_through_it(tau):
    q, qd, qdd = random_state(MODEL, 3, 5)
    found = jax.jit(jax.vmap(lambda q, qd, qdd: tau(q, qd, qdd)[0]))(q, qd, qdd)
    assert_allclose(found, dynamics.rnea(MODEL, q, qd, qdd), rtol=0, atol=1e-11)


def test_precision_is_that_of_jax(tau):
    jax.config.update("jax_enable_x64", False)
    q, qd, qdd = random_state(MODEL, 4)
    result = tau(q, qd, qdd)[0]
    assert result.dtype == np.float32
    assert_allclose(result, dynamics.rnea(MODEL, q, qd, qdd), rtol=0, atol=1e-3)


def test_a_wrong_size_is_named(tau):
    with pytest.raises(InputError, match=r"qd: expected shape \(..., 3\), got \(2,\)"):
        tau(np.zeros(3), np.zeros(2), np.zeros(3))
