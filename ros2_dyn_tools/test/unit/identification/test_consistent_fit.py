# SPDX-License-Identifier: Apache-2.0
"""Pseudo-inertias by their integrals over masses, derivatives by differences, and fits by closed forms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from least_squares import weighted
from robots import mock_arm
from ros2_dyn.dynamics import inertial_parameters, regressor
from ros2_dyn.errors import InputError
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import (
    is_consistent,
    nearest_consistent,
    parameters_of,
    pseudo_inertia,
)
from ros2_dyn_tools.identification.consistent_fit import Divergence, Prior, fit


def parameters(points, masses) -> np.ndarray:
    """Return the inertial parameters of masses at points."""
    body = SpatialInertia.zero()
    for point, mass in zip(points, masses):
        body = body + SpatialInertia.from_com(mass, point, np.zeros((3, 3)))
    return body.parameters


def some_body(seed: int) -> np.ndarray:
    """Return the parameters of a few random masses."""
    rng = np.random.default_rng(seed)
    return parameters(rng.normal(size=(6, 3)), rng.uniform(0.1, 1.0, 6))


def test_pseudo_inertia_is_the_second_moment_of_the_mass():
    """The sum of m [x; 1] [x; 1]' over all masses."""
    rng = np.random.default_rng(1)
    points, masses = rng.normal(size=(5, 3)), rng.uniform(0.1, 1.0, 5)
    homogeneous = np.hstack([points, np.ones((5, 1))])
    assert_allclose(pseudo_inertia(parameters(points, masses)), (homogeneous.T * masses) @ homogeneous, atol=1e-12)


@pytest.mark.parametrize(("diagonal", "consistent"), [((1, 1, 1), True), ((1, 1, 1.9), True), ((1, 1, 2.1), False)])
def test_triangle_inequality_is_part_of_consistency(diagonal, consistent):
    xx, yy, zz = diagonal
    assert is_consistent(np.array([1.0, 0, 0, 0, xx, 0, yy, 0, 0, zz])) == consistent
    assert not is_consistent(np.array([-1.0, 0, 0, 0, xx, 0, yy, 0, 0, zz]))


def test_divergence_is_zero_for_the_same_body_and_grows_with_the_distance():
    body, other = some_body(1), some_body(2)
    divergence = Divergence(body)
    assert divergence.value(body) == pytest.approx(0.0, abs=1e-9)
    values = [divergence.value(body + s * (other - body)) for s in (0.25, 0.5, 1.0)]
    assert 0 < values[0] < values[1] < values[2]
    assert divergence.value(-body) == np.inf


def test_divergence_does_not_depend_on_units():
    """In g and mm: of the mass, its first and its second moments."""
    units = 1e3 * np.array([1.0, *[1e3] * 3, *[1e6] * 6])
    body, other = some_body(1), some_body(2)
    assert Divergence(units * body).value(units * other) == pytest.approx(Divergence(body).value(other), rel=1e-9)


def test_derivatives_of_the_divergence_are_those_of_differences():
    divergence, x, step = Divergence(some_body(1)), some_body(2), 1e-5
    gradient, hessian = divergence.derivatives(x)
    moves = step * np.eye(10)
    assert_allclose(
        gradient,
        [(divergence.value(x + e) - divergence.value(x - e)) / (2 * step) for e in moves],
        rtol=1e-5,
        atol=1e-6,
    )
    slopes = [(divergence.derivatives(x + e)[0] - divergence.derivatives(x - e)[0]) / (2 * step) for e in moves]
    assert_allclose(hessian, slopes, rtol=1e-5, atol=1e-5 * np.max(np.abs(hessian)))


def motion(model, seed=1, m=400):
    """Return random states of a robot."""
    return np.random.default_rng(seed).uniform(-2, 2, size=(3, m, model.n))


def solid(model) -> np.ndarray:
    """Return the inertial parameters of a robot's bodies, shape (b, 10)."""
    return inertial_parameters(model).reshape(-1, 10)


def heavier(model, seed=2):
    """Return the same robot with other bodies, which can exist."""
    rng = np.random.default_rng(seed)
    points = [rng.normal(scale=0.1, size=(4, 3)) for _ in model.inertia]
    others = [SpatialInertia.from_parameters(parameters(p, rng.uniform(0.02, 0.2, 4))) for p in points]
    return model.with_inertia([body + other for body, other in zip(model.inertia, others)])


def test_efforts_of_other_bodies_are_explained_by_bodies_that_can_exist():
    told = mock_arm()
    true = heavier(told)
    q, qd, qdd = motion(told)
    Y = regressor(told, q, qd, qdd)
    efforts = Y @ inertial_parameters(true)
    prior = Prior(solid(told), np.zeros(0), np.zeros(0, bool), weight=1e-10)
    found = fit(*weighted(Y, efforts, [1.0] * told.n), prior)
    assert_allclose(Y @ found, efforts, atol=1e-4)
    assert all(is_consistent(body) for body in found.reshape(-1, 10))


def test_without_a_motion_the_bodies_are_those_of_the_description():
    told = solid(mock_arm())
    found = fit(np.zeros((60, 60)), np.zeros(60), Prior(told, np.zeros(0), np.zeros(0, bool)))
    assert_allclose(found, told.ravel(), rtol=1e-6, atol=1e-9)


def test_efforts_that_no_body_has_give_one_that_can_exist():
    """A joint that falls upwards."""
    told = mock_arm()
    q, qd, qdd = motion(told)
    Y = regressor(told, q, qd, qdd)
    found = fit(
        *weighted(Y, -(Y @ inertial_parameters(told)), [1.0] * told.n),
        Prior(solid(told), np.zeros(0), np.zeros(0, bool)),
    )
    assert all(is_consistent(body) for body in found.reshape(-1, 10))


@pytest.mark.parametrize("weight", [1e12, 1e15, 1e18, 1e21])
@pytest.mark.parametrize("points", [1, 2, 3])
def test_exact_efforts_of_a_body_that_is_flat_give_one_that_can_exist(points, weight):
    """Points, lines and planes are at the border of what can exist, and rounding takes the fit beyond it."""
    for seed in range(2, 12):
        rng = np.random.default_rng(seed)
        flat = parameters(rng.normal(size=(points, 3)), rng.uniform(0.1, 1.0, points))
        A = rng.normal(size=(30, 10))
        prior = Prior(some_body(1)[None], np.ones(0), np.zeros(0, dtype=bool))
        x = fit(weight * A.T @ A, weight * A.T @ (A @ flat), prior)
        assert is_consistent(x)
        assert_allclose(x, flat, rtol=0, atol=1e-3)


def test_other_parameters_are_found_and_positive_ones_stay_positive():
    """One is 3, one is -2, and one that has to be positive is -1."""
    rng = np.random.default_rng(3)
    A, body = rng.normal(size=(200, 13)), some_body(1)
    x = np.concatenate([body, [3.0, -2.0, -1.0]])
    prior = Prior(body[None], np.ones(3), np.array([True, False, True]), weight=1e-6, scale_weight=1e-6)
    found = fit(A.T @ A, A.T @ (A @ x), prior)
    assert_allclose(found[10:12], [3.0, -2.0], atol=0.2)
    assert 0 < found[12] < 1e-3


def test_prior_that_cannot_exist_is_refused():
    with pytest.raises(InputError, match="prior: body 1 cannot exist"):
        fit(
            np.zeros((20, 20)),
            np.zeros(20),
            Prior(np.array([some_body(1), -some_body(1)]), np.zeros(0), np.zeros(0, bool)),
        )


def test_parameters_of_a_pseudo_inertia_are_those_it_was_made_of():
    bodies = np.array([some_body(1), some_body(2)])
    assert_allclose(parameters_of(pseudo_inertia(bodies)), bodies, atol=1e-12)


@pytest.mark.parametrize("body", [np.zeros(10), -some_body(1), np.array([2.0, 0.2, 0, 0, *[0.0] * 6])])
def test_body_that_cannot_exist_gives_one_that_can(body):
    mended = nearest_consistent(body, 0.1, 0.02)
    assert is_consistent(mended)
    assert mended[0] == max(body[0], 0.1)


def test_body_that_can_exist_stays_as_it_is():
    assert_allclose(nearest_consistent(some_body(1), 0.1, 0.02), some_body(1), rtol=0, atol=0)
