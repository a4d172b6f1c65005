# SPDX-License-Identifier: Apache-2.0
"""The faults of the simulated arm's driver: what each does to the messages."""

from itertools import chain
from math import isfinite

import numpy as np
import pytest

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


def silent(sent, true) -> bool:
    return not sent


def frozen(sent, true) -> bool:
    return len(sent) == 40 and all(each[1:] == sent[0][1:] for each in sent)


def not_finite_or_huge(sent, true) -> bool:
    return any(not isfinite(x) or abs(x) > 1e9 for each in sent for field in each[2:5] for x in field)


def lying_about_the_velocity_alone(sent, true) -> bool:
    pairs = [*zip(sent, true)]
    return all((a.position, a.effort) == (b.position, b.effort) and a.velocity != b.velocity for a, b in pairs)


def without_one_field(sent, true) -> bool:
    return all((len(each.velocity) == 0) != (len(each.effort) == 0) for each in sent)


def of_some_joints_each(sent, true) -> bool:
    return all(0 < len(each.names) < 6 and len(each.position) == len(each.names) for each in sent)


def with_the_numbers_of_each_joint(sent, true) -> bool:
    pairs = [(dict(zip(a.names, a.position)), dict(zip(NAMES, b.position))) for a, b in zip(sent, true)]
    return all(a == b | {"gripper": 0.1} for a, b in pairs)


def with_two_names_exchanged(sent, true) -> bool:
    exchanged = [sum(a != b for a, b in zip(each.names, NAMES)) for each in sent]
    return set(exchanged) == {2} and [each.position for each in sent] == [each.position for each in true]


def offset_by_a_constant_or_without_stamps(sent, true) -> bool:
    offsets = {a.stamp - b.stamp for a, b in zip(sent, true) if a.stamp > 1}
    return len(offsets) <= 1 and offsets != {0}


def with_a_number_too_few(sent, true) -> bool:
    return all(min(map(len, each[2:5])) == 5 for each in sent)


def noisy(sent, true) -> bool:
    return bool(np.std(np.diff([each.position for each in sent], axis=0)) > 1e-4)


def sent_twice(sent, true) -> bool:
    return len(sent) == 80 and len({each.stamp for each in sent}) == 40


def beside_an_arm_at_rest_elsewhere(sent, true) -> bool:
    offsets = [np.subtract(b.position, a.position) for a, b in zip(sent[::2], sent[1::2])]
    return bool(np.ptp(offsets) < 1e-12) and not any(x for each in sent[1::2] for x in each.velocity)


def silent_and_then_zeros(sent, true) -> bool:
    return len(sent) < 40 and not any(x for each in sent for field in each[2:5] for x in field)


def wrong_in_some_efforts_alone(sent, true) -> bool:
    pairs = [*zip(sent, true)]
    wrong = sum(a.effort != b.effort for a, b in pairs)
    return all((a.position, a.velocity) == (b.position, b.velocity) for a, b in pairs) and wrong > 0


@pytest.mark.parametrize(
    ("fault", "result"),
    [
        ("states stop", silent),
        ("states freeze", frozen),
        ("numbers break", not_finite_or_huge),
        ("velocities lie", lying_about_the_velocity_alone),
        ("field missing", without_one_field),
        ("states split", of_some_joints_each),
        ("joints permuted", with_the_numbers_of_each_joint),
        ("names swapped", with_two_names_exchanged),
        ("stamps offset", offset_by_a_constant_or_without_stamps),
        ("lists short", with_a_number_too_few),
        ("noise", noisy),
        ("messages repeated", sent_twice),
        ("second publisher", beside_an_arm_at_rest_elsewhere),
        ("driver restarted", silent_and_then_zeros),
        ("efforts disturbed", wrong_in_some_efforts_alone),
    ],
)
def test_messages_of_a_faulty_driver_are(fault, result):
    true = [*chain.from_iterable(messages()[10:])]
    for seed in range(4):
        assert result([*chain.from_iterable(messages(fault, seed)[10:])], true), seed
