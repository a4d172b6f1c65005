"""The watch over measured states: age, clock and repetition."""

from math import inf, nan

import numpy as np
import pytest

from ros2_dyn.control.state_freshness import StateFreshness, repeats

Q, QD = np.array([0.1, 0.2]), np.array([0.0, 1e-6])


def watch(**options) -> StateFreshness:
    """Return a watch with a timeout of 0.1 s that began at time 0."""
    freshness = StateFreshness(0.1, **options)
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
    assert not freshness.accept(1.0, age, Q, QD)
    assert freshness.state_at == 0.0
    assert freshness.why_stale(1.0) == why


def test_a_state_that_repeats_itself_with_velocities_is_ignored():
    freshness = watch()
    assert freshness.accept(0.01, 0.0, Q, QD)
    assert not freshness.accept(0.02, 0.0, Q.copy(), QD.copy())
    assert freshness.why_stale(1.0) == "it repeats the same numbers, though with velocities"
    assert freshness.accept(0.03, 0.0, Q + 1e-9, QD)


def test_a_state_at_rest_may_repeat_itself():
    freshness = watch()
    assert all(freshness.accept(0.01 * i, 0.0, Q, np.zeros(2)) for i in range(10))


def test_repetitions_are_accepted_where_they_are_not_looked_for():
    freshness = watch(detect_frozen=False)
    assert all(freshness.accept(0.01 * i, 0.0, Q, QD) for i in range(10))


def test_a_restart_forgets_the_numbers_before():
    freshness = watch()
    freshness.accept(0.01, 0.0, Q, QD)
    freshness.restart(0.02, 0.005)
    assert freshness.state_at == pytest.approx(0.015)
    assert freshness.accept(0.03, 0.0, Q, QD)


def test_a_restart_with_numbers_ignores_a_state_that_repeats_them():
    freshness = watch()
    freshness.restart(0.0, 0.0, (Q, QD))
    assert not freshness.accept(0.01, 0.0, Q, QD)


def test_the_age_counts_from_the_measurement():
    freshness = watch()
    assert freshness.accept(1.0, 0.05, Q, QD)
    assert freshness.state_at == pytest.approx(0.95)
    assert not freshness.is_late(0.98)
    assert freshness.is_late(0.991)
    assert not freshness.is_stale(1.029)
    assert freshness.is_stale(1.031)


def test_a_stamp_ahead_of_the_clock_counts_from_its_arrival():
    freshness = watch()
    assert freshness.accept(1.0, -0.05, Q, QD)
    assert freshness.state_at == 1.0


def test_a_restart_with_the_newest_numbers_ignores_a_state_that_repeats_them():
    freshness = watch()
    freshness.restart(0.02, 0.0, (Q, QD))
    assert not freshness.accept(0.03, 0.0, Q.copy(), QD.copy())
    assert freshness.accept(0.04, 0.0, Q + 1e-9, QD)


def test_velocity_too_small_to_change_a_position_is_no_motion():
    """A simulated arm without noise that creeps repeats its numbers, and its driver is not frozen."""
    q = np.array([1.0, -0.5])
    for speed, frozen in ((1e-15, False), (1e-6, True)):
        numbers = (q, np.array([0.0, speed]))
        assert repeats(numbers, numbers) is frozen


def test_a_restart_with_a_state_ahead_of_the_clock_counts_it_as_new():
    freshness = watch()
    freshness.restart(1.0, -0.05)
    assert freshness.state_at == 1.0
