# SPDX-License-Identifier: Apache-2.0
"""Several cards of one arm: means and spread of what is known, and what is no mean of anything."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from robots import mock_arm, random_state
from ros2_dyn.dynamics import rnea
from ros2_dyn.errors import InputError
from ros2_dyn.model import CardAbout, EffortFilter, JointDynamics, RobotCard, merge_cards
from ros2_dyn.model.card_parser import parse_card
from ros2_dyn.model.card_text import card_text
from ros2_dyn.model.inertia import SpatialInertia

ARM = mock_arm()


def card(seed: int, **about) -> RobotCard:
    """Return one identification of an arm: every number within some percent of the truth."""
    rng = np.random.default_rng(seed)
    inertia = [SpatialInertia.from_parameters(rng.normal(1, 0.03) * I.parameters) for I in ARM.inertia]
    drives = {
        name: JointDynamics(3.0 + rng.normal(0, 0.1), 5.0, static=None if seed == 1 else 6.0, presliding=((1e-3, 4.0),))
        for name in ARM.joint_names
    }
    model = ARM.with_inertia(inertia).with_joint_dynamics(drives)
    return RobotCard.of(model, ARM, CardAbout(**about), {"elbow_joint": 10.0 + seed}, (0.0, 0.01 * seed, -9.81))


CARDS = [card(seed) for seed in range(3)]


def test_mean_and_spread_are_those_of_each_number():
    merged = merge_cards(CARDS)
    viscous = [each.joints["elbow_joint"].viscous for each in CARDS]
    assert merged.joints["elbow_joint"].viscous == pytest.approx(np.mean(viscous), rel=1e-5)
    assert merged.spread.joints["elbow_joint"]["viscous"] == pytest.approx(np.std(viscous, ddof=1), rel=1e-4)
    assert merged.joints["elbow_joint"].static == pytest.approx(17 / 3, rel=1e-5)  # Coulomb's where there is none
    assert merged.joints["elbow_joint"].presliding == ((1e-3, 4.0),)
    masses = [each.links["forearm_link"].mass for each in CARDS]
    assert merged.links["forearm_link"].mass == pytest.approx(np.mean(masses), rel=1e-5)
    assert merged.spread.links["forearm_link"].mass == pytest.approx(np.std(masses, ddof=1), rel=1e-4)
    assert (merged.effort_gain, merged.spread.effort_gain) == ({"elbow_joint": 11.0}, {"elbow_joint": 1.0})
    assert_allclose(merged.gravity, (0, 0.01, -9.81))
    assert "coulomb" not in merged.spread.joints["elbow_joint"]  # it does not differ


def test_effort_of_the_mean_is_the_mean_of_the_efforts():
    q, qd, qdd = random_state(ARM, 3, 20)
    efforts = [rnea(each.apply(ARM), q, qd, qdd) for each in CARDS]
    assert_allclose(rnea(merge_cards(CARDS).apply(ARM), q, qd, qdd), np.mean(efforts, axis=0), rtol=0, atol=2e-3)


def test_where_the_mean_is_from():
    rms = [{"elbow_joint": 0.4, "wrist_1_joint": 0.1}, {"elbow_joint": 0.6}]
    abouts = [
        {"serial": "7", "date": "2026-01-01", "data": ("a",), "temperature": 20.0, "held_out_rms": rms[0]},
        {"date": "2026-02-01", "data": ("a", "b"), "temperature": 30.0, "held_out_rms": rms[1]},
    ]
    first, second = (card(1, method="m", **each) for each in abouts)
    about = merge_cards([first, second]).about
    assert (about.serial, about.date, about.data, about.method) == ("7", "2026-02-01", ("a", "b"), "m")
    assert (about.temperature, about.identifications, about.held_out_rms) == (25.0, 2, {"elbow_joint": 0.5})
    assert merge_cards([first, card(1)]).about.temperature is None


def test_mean_is_read_as_it_was_written():
    merged = merge_cards(CARDS)
    assert parse_card(card_text(merged)) == merged


def test_filter_of_the_mean_has_the_mean_cutoff():
    cards = [replace(each, effort_filter=EffortFilter("first_order", f)) for each, f in zip(CARDS, (1.5, 2.0, 2.2))]
    assert merge_cards(cards).effort_filter == EffortFilter("first_order", 1.9)


@pytest.mark.parametrize(
    ("cards", "problem"),
    [
        (CARDS[:1], "expected two or more, got 1"),
        ([merge_cards(CARDS), CARDS[0]], "card 1: it is a mean already"),
        ([CARDS[0], replace(CARDS[1], robot="other")], "card 2: its robot is not that of the first"),
        ([CARDS[0], replace(CARDS[1], kinematics={})], "card 2: its kinematics is not that of the first"),
        ([CARDS[0], replace(CARDS[1], links={})], "card 2: its links are not those of the first"),
        ([CARDS[0], replace(CARDS[1], effort_filter=EffortFilter("first_order", 2.0))], "kinds of effort_filter"),
        ([card(1, serial="7"), card(2, serial="8")], "different arms, with the serial numbers 7, 8"),
        (
            [CARDS[0], replace(CARDS[1], joints=CARDS[1].joints | {"elbow_joint": JointDynamics()})],
            "joint 'elbow_joint': the cards have 1, 0 presliding elements",
        ),
    ],
)
def test_cards_that_have_no_mean_are_refused(cards, problem):
    with pytest.raises(InputError, match=problem):
        merge_cards(cards)
