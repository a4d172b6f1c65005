# SPDX-License-Identifier: Apache-2.0
"""The parameters: what is refused, what they make of a model, and the files that are generated from them."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import general_tree, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.control.modes import ACTIVE_MODES
from ros2_dyn.dynamics import friction, mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import Settings
from ros2_dyn.runtime.parameter import LISTS
from ros2_dyn.runtime.settings import ABOUT, TYPES
from ros2_dyn.runtime.settings_page import parameter_file, parameter_page

PACKAGE = Path(__file__).parents[3]
PAGE = PACKAGE.parent / "docs" / "parameters.md"
NAMES = mock_arm().joint_names

# --- values


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"gravity": [0.0, 9.81]}, r"gravity: expected 3 numbers, got \[0.0, 9.81\]"),
        ({"gravity": [0.0, 0.0, float("nan")]}, "gravity: expected finite numbers, got nan"),
        ({"gravity": [0.0, 0.0, True]}, "gravity: expected finite numbers, got True"),
        ({"default_acceleration": "guess"}, "default_acceleration: expected one of zero, estimated; got 'guess'"),
        ({"measured_effort": "amps"}, "measured_effort: expected one of raw, gravity_compensated, external; got"),
        (
            {"command_effort": "external"},
            "command_effort: expected one of raw, gravity_compensated, gravity_and_friction_compensated; got",
        ),
        ({"stop_behaviour": "gravity"}, "stop_behaviour: expected one of hold_gravity, zero_effort, none; got"),
        ({"collision_stop_modes": ["monitor"]}, "collision_stop_modes: expected some of gravity, hand_guiding, "),
        ({"effort_gain": [1.0]}, "effort_gain: expected 0 numbers as `joints` has, got 1"),
        ({"joints": ["a", "b"], "armature": [1.0, -1.0]}, "armature: expected numbers that are not negative, got -1.0"),
        (
            {"joints": ["a", "b"], "torque_rate": [0.0, 9.0]},
            r"torque_rate: expected at least 1.0 N m/s, got \[0.0, 9.0",
        ),
        ({"stop_damping": 1.0}, "stop_damping: expected a number from 5.0 to 50.0, got 1.0"),
        ({"joints": ["a", "a"]}, r"joints: expected each joint once, got \['a', 'a'\]"),
        ({"joints": [1.0]}, "joints: expected names; got 1.0"),
        ({"state_timeout": 0.0}, "state_timeout: expected a number from 0.001 to 10.0, got 0.0"),
        ({"state_timeout": float("nan")}, "state_timeout: expected a number from 0.001 to 10.0, got nan"),
        ({"state_timeout": "soon"}, "state_timeout: expected float, got 'soon'"),
        ({"collision_samples": True}, "collision_samples: expected int, got True"),
        ({"detect_frozen": 1}, "detect_frozen: expected bool, got 1"),
        ({"speed": 1.0}, "speed: there is no such parameter"),
    ],
)
def test_values_that_make_no_sense_are_refused_with_what_was_expected(values, problem):
    with pytest.raises(InputError, match=problem):
        Settings.from_values(values)


def test_an_effort_gain_may_be_negative():
    assert Settings(joints=["a"], effort_gain=[-2.0]).effort_gain == (-2.0,)


def test_whole_numbers_lists_and_none_become_the_parameters_types():
    settings = Settings.from_values({"state_timeout": 1, "joints": ["a"], "armature": None})
    assert (settings.state_timeout, settings.joints, settings.armature) == (1.0, ("a",), ())
    assert isinstance(settings.state_timeout, float)


@pytest.mark.parametrize("name", [each.name for each in fields(Settings)])
def test_a_parameter_is_described_in_sentences_with_its_range(name):
    about = ABOUT[name]
    assert about.text.endswith(".")
    assert about.text[0].isupper() or set(about.text.split(":")[0].split(", ")) <= set(ACTIVE_MODES)
    assert TYPES[name] not in (int, float) or (about.low is not None and about.high is not None)
    assert TYPES[name] not in LISTS or getattr(Settings(), name) or about.example
    assert not (about.locked and about.read_only)


# --- models


def test_friction_and_rotors_are_given_in_the_order_of_joints():
    numbers = np.arange(1.0, 7.0)
    settings = Settings(joints=NAMES[::-1], viscous_friction=numbers, armature=numbers, effort_gain=numbers)
    model = settings.apply(mock_arm())
    assert model.joint_names == NAMES
    assert_allclose(friction(model, np.ones(6)), numbers[::-1])
    q = np.zeros(6)
    assert_allclose(mass_matrix(model, q) - mass_matrix(mock_arm(), q), np.diag(numbers[::-1]), rtol=0, atol=1e-12)
    assert settings.in_order(settings.effort_gain, model, 1.0) == list(numbers[::-1])


def test_joints_that_are_not_named_are_locked():
    tree = general_tree(0)
    some = [name for name in tree.joint_names if name.startswith("joint")][:3]
    model = Settings(joints=some[::-1]).apply(tree)
    assert set(model.joint_names) == set(some)
    assert model.n == 3


@pytest.mark.parametrize(
    ("values", "problem"), [({"joints": ["nose"]}, "no joint 'nose'"), ({"tip_link": "hand"}, "no link 'hand'")]
)
def test_a_robot_without_the_named_joint_or_link_is_refused(values, problem):
    with pytest.raises(InputError, match=problem):
        Settings(**values).apply(mock_arm())


def test_locked_parameters_stay_while_a_mode_commands():
    Settings().check_unlocked(Settings(gravity_damping=1.0), "gravity")
    with pytest.raises(InputError, match="effort_scale: cannot be changed while mode gravity commands"):
        Settings().check_unlocked(Settings(effort_scale=0.5), "gravity")


# --- files


def test_the_parameter_file_holds_every_parameter_with_its_default_or_an_example():
    text = parameter_file()
    written = yaml.safe_load(text)["/**/dynamics"]["ros__parameters"]
    expected = {name: getattr(Settings(), name) for name in ABOUT}
    assert Settings.from_values(written) == Settings()
    assert list(written) == [name for name, value in expected.items() if not (TYPES[name] in LISTS and not value)]
    for name in expected.keys() - written.keys():
        assert f"    # {name}: [" in text
    assert max(map(len, text.splitlines())) <= 120


def test_examples_of_the_parameter_file_are_valid_together():
    values = {name: about.example for name, about in ABOUT.items() if about.example is not None}
    Settings.from_values(values)


def test_the_committed_parameter_file_is_the_generated_one():
    """`python -m ros2_dyn parameters --yaml > ros2_dyn/config/dynamics.yaml` writes it."""
    assert (PACKAGE / "config" / "dynamics.yaml").read_text(encoding="utf-8") == parameter_file()


@pytest.mark.skipif(not PAGE.parent.is_dir(), reason="the package is tested outside of a checkout of the repository")
def test_the_committed_page_is_the_generated_one():
    """`python -m ros2_dyn parameters --page > docs/parameters.md` writes it."""
    assert PAGE.read_text(encoding="utf-8") == parameter_page()


def test_the_command_prints_the_file_and_the_page(capsys):
    assert main(["parameters"]) == 0
    assert capsys.readouterr().out == parameter_file()
    assert main(["parameters", "--page"]) == 0
    assert capsys.readouterr().out == parameter_page()
