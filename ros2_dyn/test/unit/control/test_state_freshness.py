# SPDX-License-Identifier: Apache-2.0
"""The watch over measured states: age, clock and repetition."""

from math import inf, nan

import pytest

from ros2_dyn.control.state_freshness import StateFreshness


def watch() -> StateFreshness:
    """Return a watch with a timeout of 0.1 s that began at time 0."""
    freshness = StateFreshness(0.1)
    freshness.restart(0.0, 0.0)
    return freshness


@pytest.mark.parametrize(("age", "young"), [(0.0, True), (0.08, True), (0.081, False), (-0.081, False), (nan, False)])
def test_a_state_is_young_up_to_a_fraction_of_the_timeout(age, young):
    assert watch().is_young(age) == young


@pytest.mark.parametrize(
    ("age", "why"),
    [
        (0.11, "its stamp is 0.110 s behind the clock"),
        (-0.5, "its stamp is 0.500 s ahead of the clock"),
        (inf, "it has no stamp"),
        (nan, "its stamp is nan s ahead of the clock"),
    ],
)
def test_a_state_of_another_time_is_ignored(age, why):
    freshness = watch()
    assert not freshness.accept(1.0, age)
    assert freshness.state_at == 0.0
    assert freshness.why_stale(1.0) == why


def test_a_state_that_does_not_fit_is_ignored_and_named():
    freshness = watch()
    assert freshness.accept(0.01, 0.0)
    assert not freshness.accept(0.02, 0.0, "it repeats the same numbers")
    assert freshness.state_at == 0.01
    assert freshness.why_stale(1.0) == "it repeats the same numbers"
    assert freshness.accept(0.03, 0.0)


def test_the_age_counts_from_the_measurement():
    freshness = watch()
    assert freshness.accept(1.0, 0.05)
    assert freshness.state_at == pytest.approx(0.95)
    assert not freshness.is_late(0.98)
    assert freshness.is_late(0.991)
    assert not freshness.is_stale(1.029)
    assert freshness.is_stale(1.031)


def test_a_stamp_ahead_of_the_clock_counts_from_its_arrival():
    freshness = watch()
    assert freshness.accept(1.0, -0.05)
    assert freshness.state_at == 1.0


def test_a_restart_with_a_state_ahead_of_the_clock_counts_it_as_new():
    freshness = watch()
    freshness.restart(1.0, -0.05)
    assert freshness.state_at == 1.0
