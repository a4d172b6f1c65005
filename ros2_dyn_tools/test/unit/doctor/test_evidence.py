# SPDX-License-Identifier: Apache-2.0
"""The marginal likelihood against SciPy's normal distribution, and the power of friction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn_tools.doctor.evidence import (
    FRICTION_DOUBT,
    JointEvidence,
    PriorScale,
    log_likelihood_without_model,
    noise_step,
    rest_correlation,
    rest_sizes,
)
from ros2_dyn_tools.recording.signals import zero_phase

stats = pytest.importorskip("scipy.stats", reason="SciPy is not installed")
M, LIMIT = 30, 50.0
ONE = (PriorScale(),)
T = 0.2 * np.arange(M)
RNG = np.random.default_rng(3)
QD = np.sin(1.3 * T)
BODIES = RNG.normal(size=(M, 4))
FRICTION = np.stack([QD, np.tanh(QD / 0.02), np.ones(M), np.cos(T), QD**3, QD**5], axis=1)


def evidence(power=(0.0, 0.0), doubts=ONE) -> JointEvidence:
    return JointEvidence(T, BODIES, FRICTION, power=np.array(power), limit=LIMIT, doubts=doubts)


def noises(y, scale=1.0):
    """Return the standard deviations of the rest that are averaged over, N m."""
    step = noise_step(len(y))
    return 2.0 ** (step * rest_sizes(y, np.array([scale]), step)[:, 0])


def log_density(y, mean, doubt=ONE[0]) -> float:
    """Average over the noises of the normal density, times (2 pi)^(m/2)."""
    known = np.hstack([doubt.description * BODIES, doubt.friction * FRICTION * FRICTION_DOUBT * LIMIT])
    parts = [stats.multivariate_normal(mean, known @ known.T + x**2 * rest_correlation(T)).logpdf(y) for x in noises(y)]
    return float(np.logaddexp.reduce(parts) - np.log(len(parts)) + 0.5 * M * np.log(2 * np.pi))


@pytest.mark.parametrize("scale", [1.0, -1.0, 0.5, 30.0])
def test_likelihood_of_a_scaled_effort_is_the_density_in_the_drivers_unit(scale):
    mean, y = RNG.normal(size=M), 3 * RNG.normal(size=M)
    found = evidence().log_likelihood(y, mean, np.array([scale]))
    assert_allclose(found, log_density(scale * y, mean) + M * np.log(abs(scale)), rtol=1e-9)


def test_sizes_of_the_rest_go_from_a_five_hundredth_of_the_effort_to_twice_it():
    y = RNG.normal(size=M)
    for scale in (1.0, 1e-3, -40.0):
        assert_allclose(
            noises(y, scale)[[0, -1]], np.sqrt(np.mean((scale * y) ** 2)) * 2.0 ** np.array([-9, 1]), rtol=0.2
        )


@pytest.mark.parametrize("unit", [1e-3, 0.37, 50.0])
def test_likelihood_does_not_depend_on_the_unit_in_which_efforts_are_published(unit):
    mean, y, scales = RNG.normal(size=M), RNG.normal(size=M), np.geomspace(0.1, 10.0, 9)
    in_unit = evidence().log_likelihood(y / unit, mean, scales * unit)
    assert_allclose(in_unit - M * np.log(unit), evidence().log_likelihood(y, mean, scales), rtol=1e-9)


@pytest.mark.parametrize("quiet", [1e-5, 1e-4, 1e-3])
def test_no_gain_is_likely_only_because_it_lifts_a_small_rest(quiet):
    """The sensor of a strong joint is quiet: 0.5 mN m to 0.05 N m of 50 N m."""
    mean = BODIES @ [2.0, 1.0, -1.0, 0.5]
    y = mean + quiet * LIMIT * np.random.default_rng(7).normal(size=M)
    gains = np.geomspace(0.5, 2.0, 41)
    found = JointEvidence(T, 1e-3 * BODIES, FRICTION, power=np.zeros(2), limit=1e-3, doubts=ONE)
    assert gains[np.argmax(found.log_likelihood(y, mean, gains))] == pytest.approx(1.0, abs=0.02)


def test_likelihood_is_averaged_over_doubts():
    mean, y = RNG.normal(size=M), RNG.normal(size=M)
    doubts = (PriorScale(0.1, 0.5), PriorScale())
    expected = np.logaddexp.reduce([log_density(y, mean, each) for each in doubts]) - np.log(2)
    assert_allclose(evidence(doubts=doubts).log_likelihood(y, mean, np.ones(1)), expected, rtol=1e-9)


def test_friction_that_drives_the_arm_is_unlikely_and_friction_that_brakes_it_twice_as_likely():
    power = np.array([np.mean(QD**2), np.mean(np.abs(QD))])
    braking = 4 * np.tanh(QD / 0.02) + 0.05 * RNG.normal(size=M)

    def change(effort) -> float:
        scores = [evidence(each).log_likelihood(effort, np.zeros(M), np.ones(1))[0] for each in (power, (0.0, 0.0))]
        return float(scores[0] - scores[1])

    assert change(braking) == pytest.approx(np.log(2), abs=1e-6)
    assert change(-braking) < -20


def test_whitened_errors_of_likely_efforts_have_unit_variance():
    known = np.hstack([BODIES, FRICTION * FRICTION_DOUBT * LIMIT])
    root = np.linalg.cholesky(known @ known.T + (0.02 * LIMIT) ** 2 * rest_correlation(T))
    errors = [
        evidence().whitened(root @ np.random.default_rng(seed).normal(size=M), np.zeros(M), 1.0, BODIES)[0]
        for seed in range(20)
    ]
    assert np.mean(np.square(errors)) == pytest.approx(1.0, abs=0.25)


@pytest.mark.parametrize("cutoff", [0.5, 1.0, 2.4])
def test_noise_is_more_likely_without_a_model_whatever_its_smoothness(cutoff):
    t = 0.2 * np.arange(120)
    qd = np.sin(1.3 * t)
    friction = np.stack([qd, np.tanh(qd / 0.02), np.ones(120), np.cos(t), qd**3, qd**5], axis=1)
    bodies = np.random.default_rng(4).normal(size=(120, 4))
    rest = zero_phase(np.random.default_rng(5).normal(size=120), cutoff, 0.2)
    joint = JointEvidence(t, bodies, friction, power=np.ones(2), limit=LIMIT, doubts=(PriorScale(),))
    with_model = np.max(joint.log_likelihood(rest, 20 * np.sin(t), np.geomspace(1e-3, 1e3, 61)))
    assert log_likelihood_without_model(t, rest, LIMIT) > with_model


def test_noise_of_any_size_is_as_likely_as_its_logarithm_says():
    t = 0.2 * np.arange(200)
    noise = np.linalg.cholesky(rest_correlation(t)) @ np.random.default_rng(1).normal(size=200)
    joint = JointEvidence(
        t, np.zeros((200, 1)), np.zeros((200, 6)), power=np.zeros(2), limit=LIMIT, doubts=(PriorScale(),)
    )
    sizes = np.geomspace(0.01, 0.04, 41) * LIMIT
    found = [joint.log_likelihood(size * noise, np.zeros(200), np.ones(1))[0] + 200 * np.log(size) for size in sizes]
    assert np.ptp(found) < 1.0
