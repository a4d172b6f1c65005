# SPDX-License-Identifier: Apache-2.0
"""What is pasted is YAML that the services take."""

import re
from types import SimpleNamespace

import pytest
import yaml

from ros2_dyn_tools.passport.felt_forces import FeltForce
from ros2_dyn_tools.passport.paste import lines

LEVELS = (1.23456, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0)
DIRECTIONS = ("x", "y", "z", "about x", "about y", "about z", "easiest")


def found(name, forces, payload=()):
    """Return what `lines` looks at of a passport."""
    felt = [FeltForce("tip", "", direction, force, 0.1) for direction, force in zip(DIRECTIONS, forces)]
    contact = SimpleNamespace(thresholds=LEVELS)
    return SimpleNamespace(contact=contact, felt=felt, payload=payload, model=SimpleNamespace(name=name))


def request(text):
    return yaml.safe_load(re.search(r'"(\{.*\})"', text).group(1))


def test_thresholds_of_a_panda_are_a_request():
    node, franka = lines(found("panda", (10.0, 11.0, 12.0, 1.0, 2.0, 3.0, 9.0)))
    assert yaml.safe_load(node.text) == {"collision.threshold": [1.23, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]}
    values = request(franka.text)
    assert values["upper_torque_thresholds_nominal"] == values["lower_torque_thresholds_nominal"]
    assert values["upper_force_thresholds_nominal"] == [10.0, 11.0, 12.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(("name", "force"), [("iiwa", 10.0), ("panda", float("inf"))])
def test_other_arms_and_forces_that_are_not_felt_are_no_request_of_franka(name, force):
    assert [each.whom for each in lines(found(name, (force,) * 7))] == ["ros2_dyn"]


def test_payload_is_told_in_each_drivers_words():
    told = {each.whom: each.text for each in lines(found("arm", (), (1.5, 0.01, -0.02, 0.1)))}
    assert request(told["Franka"])["center_of_mass"] == [0.01, -0.02, 0.1]
    assert request(told["UR"]) == {"mass": 1.5, "center_of_gravity": {"x": 0.01, "y": -0.02, "z": 0.1}}
    assert told["UR, URScript"] == "set_target_payload(1.5, [0.01, -0.02, 0.1], [0, 0, 0, 0, 0, 0])"
    assert "[10.0, -20.0, 100.0] mm" in told["KUKA"]
