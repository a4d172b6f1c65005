# SPDX-License-Identifier: Apache-2.0
"""The faults of the simulated arm's driver: what each does to the messages."""

from itertools import chain
from math import isfinite

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.runtime.inputs import JointSample
from ros2_dyn_tools.campaign.driver import Driver, DriverQuality
from ros2_dyn_tools.campaign.driver_faults import DRIVER_FAULTS

NAMES = tuple("abcdef")
PERIOD = 4_000_000


def messages(fault: str = "", seed: int = 0, count: int = 50) -> list[list[JointSample]]:
    """Return what a noiseless driver of a moving arm sends at each instant, with a fault from the tenth on."""
    driver = Driver(NAMES, DriverQuality(position_noise=0.0, velocity_noise=0.0), np.random.default_rng(1))
    sent = []
    for i in range(count):
        if i == 10 and fault:
            driver.faults.append(DRIVER_FAULTS[fault](np.random.default_rng(seed)))
        sent.append(driver.measure(0.01 * i + np.arange(6.0), np.full(6, 0.5), -np.arange(6.0), 10**9 + i * PERIOD))
    return sent


@pytest.mark.parametrize("fault", DRIVER_FAULTS)
def test_fault_changes_messages_from_its_beginning_on_and_depends_on_its_seed_alone(fault):
    sound = messages()
    for seed in range(4):
        faulty = messages(fault, seed)
        assert faulty[:10] == sound[:10]
        assert repr(faulty) == repr(messages(fault, seed))
        assert faulty[10:] != sound[10:]


def sent_by(fault: str, seed: int) -> list[JointSample]:
    return list(chain.from_iterable(messages(fault, seed)[10:]))


@pytest.mark.parametrize("seed", range(4))
def test_stopped_stream_is_silent(seed):
    assert sent_by("states stop", seed) == []


@pytest.mark.parametrize("seed", range(4))
def test_frozen_driver_repeats_its_numbers(seed):
    sent = sent_by("states freeze", seed)
    assert len(sent) == 40
    assert all(sample[1:] == sent[0][1:] for sample in sent)


@pytest.mark.parametrize("seed", range(4))
def test_broken_numbers_are_not_finite_or_huge(seed):
    sent = sent_by("numbers break", seed)
    numbers = [x for sample in sent for field in sample[2:5] for x in field]
    assert any(not isfinite(x) or abs(x) > 1e9 for x in numbers)


@pytest.mark.parametrize("seed", range(4))
def test_lying_velocity_leaves_positions_and_efforts(seed):
    for lie, (true,) in zip(sent_by("velocities lie", seed), messages()[10:]):
        assert (lie.position, lie.effort) == (true.position, true.effort)
        assert lie.velocity != true.velocity


@pytest.mark.parametrize("seed", range(4))
def test_missing_field_is_empty(seed):
    assert all((len(s.velocity) == 0) != (len(s.effort) == 0) for s in sent_by("field missing", seed))


@pytest.mark.parametrize("seed", range(4))
def test_split_states_hold_some_joints_each(seed):
    assert all(0 < len(s.names) < 6 and len(s.position) == len(s.names) for s in sent_by("states split", seed))


@pytest.mark.parametrize("seed", range(4))
def test_permuted_joints_keep_their_numbers(seed):
    for sample, (true,) in zip(sent_by("joints permuted", seed), messages()[10:]):
        assert dict(zip(sample.names, sample.position)) == dict(zip(NAMES, true.position)) | {"gripper": 0.1}


@pytest.mark.parametrize("seed", range(4))
def test_swapped_names_exchange_the_numbers_of_two_joints(seed):
    for sample, (true,) in zip(sent_by("names swapped", seed), messages()[10:]):
        assert sorted(sample.names) == sorted(NAMES)
        assert sum(a != b for a, b in zip(sample.names, NAMES)) == 2
        assert sample.position == true.position


@pytest.mark.parametrize("seed", range(4))
def test_offset_stamps_differ_from_the_true_ones_by_a_constant_or_are_missing(seed):
    sent = sent_by("stamps offset", seed)
    offsets = {s.stamp - true.stamp for s, (true,) in zip(sent, messages()[10:]) if s.stamp > 1}
    assert len(offsets) <= 1
    assert offsets != {0}


@pytest.mark.parametrize("seed", range(4))
def test_short_lists_lack_a_number(seed):
    assert all(min(map(len, s[2:5])) == 5 for s in sent_by("lists short", seed))


@pytest.mark.parametrize("seed", range(4))
def test_noise_makes_neighbouring_positions_differ(seed):
    positions = np.array([s.position for s in sent_by("noise", seed)])
    assert np.std(np.diff(positions, axis=0)) > 1e-4


@pytest.mark.parametrize("seed", range(4))
def test_repeated_messages_are_old_ones(seed):
    sent = sent_by("messages repeated", seed)
    assert len(sent) == 80
    assert len({s.stamp for s in sent}) == 40


@pytest.mark.parametrize("seed", range(4))
def test_second_publisher_stands_elsewhere_at_rest(seed):
    sent = sent_by("second publisher", seed)
    assert len(sent) == 80
    for true, other in zip(sent[::2], sent[1::2]):
        assert set(other.velocity) == {0.0}
        assert_allclose(np.ptp(np.subtract(other.position, true.position)), 0, atol=1e-12)
