# SPDX-License-Identifier: Apache-2.0
"""The driver of the simulated arm: noise, resolution and units."""

import numpy as np
from numpy.testing import assert_allclose

from ros2_dyn_tools.campaign.driver import Driver, DriverQuality

NAMES = tuple("abcdef")


def test_driver_without_noise_reports_the_true_state():
    driver = Driver(NAMES, DriverQuality(position_noise=0.0, velocity_noise=0.0), np.random.default_rng(1))
    (sample,) = driver.measure(0.03 + np.arange(6.0), np.full(6, 0.5), -np.arange(6.0), 7)
    assert sample.stamp == 7
    assert sample.names == NAMES
    assert_allclose(sample.position, 0.03 + np.arange(6))
    assert_allclose(sample.velocity, 0.5)
    assert_allclose(sample.effort, -np.arange(6))


def test_driver_noise_has_its_standard_deviations():
    quality = DriverQuality(position_noise=0.1, velocity_noise=0.2, effort_noise=0.3)
    driver = Driver(NAMES, quality, np.random.default_rng(1))
    samples = [driver.measure(np.zeros(6), np.ones(6), np.full(6, 2.0), 1)[0] for _ in range(2000)]
    for field, mean, sigma in (("position", 0, 0.1), ("velocity", 1, 0.2), ("effort", 2, 0.3)):
        values = np.array([getattr(sample, field) for sample in samples])
        assert_allclose(values.mean(), mean, rtol=0, atol=0.01)
        assert_allclose(values.std(), sigma, rtol=0.05)


def test_driver_efforts_are_multiples_of_the_resolution_in_the_drivers_unit():
    quality = DriverQuality(effort_resolution=0.5, effort_unit=0.1)
    (sample,) = Driver(NAMES, quality, np.random.default_rng(1)).measure(
        np.zeros(6), np.zeros(6), np.array([0.2, 0.3, -0.8, 1.0, 7.76, 0.0]), 1
    )
    assert_allclose(sample.effort, np.array([0.0, 0.5, -1.0, 1.0, 8.0, 0.0]) / 0.1)


def test_driver_with_the_same_seed_sends_the_same_numbers():
    def first(seed):
        return Driver(NAMES, DriverQuality(), np.random.default_rng(seed)).measure(*np.zeros((3, 6)), 1)

    assert first(1) == first(1)
    assert first(1) != first(2)
