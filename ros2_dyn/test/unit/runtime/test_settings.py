# SPDX-License-Identifier: Apache-2.0
"""The parameters: what is refused, what they make of a model, and the files that are generated from them."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.testing import assert_allclose

from robots import general_tree, mock_arm
from ros2_dyn.cli.main import main
from ros2_dyn.cli.settings_page import parameter_file, parameter_page
from ros2_dyn.control.modes.hand_guiding import HandGuidingSettings
from ros2_dyn.dynamics import friction, mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.runtime import Settings
from ros2_dyn.runtime.settings import declared

PACKAGE = Path(__file__).parents[3]
PAGE = PACKAGE.parent / "docs" / "parameters.md"
NAMES = mock_arm().joint_names

# --- values


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"robot.gravity": [0.0, 9.81]}, r"gravity: expected 3 numbers, got \[0.0, 9.81\]"),
        ({"robot.gravity": [0.0, 0.0, float("nan")]}, "gravity: expected finite numbers, got nan"),
        ({"robot.gravity": [0.0, 0.0, True]}, "gravity: expected finite numbers, got True"),
        (
            {"states.estimate": ["position"]},
            "states.estimate: expected some of velocity, acceleration; got 'position'",
        ),
        (
            {"states.measured_effort": "amps"},
            "measured_effort: expected one of raw, gravity_compensated, external; got",
        ),
        (
            {"robot.joints": ["a", "b"], "friction.presliding": [0.01, 1.0]},
            "presliding: expected pairs of numbers, as many for each of 2 joints, got 2 numbers",
        ),
        ({"states.effort_gain": [1.0]}, "effort_gain: set `robot.joints`, too, which says whose numbers these are"),
        (
            {"robot.joints": ["a", "b"], "robot.armature": [1.0, -1.0]},
            "armature: expected numbers that are not negative, got -1.0",
        ),
        ({"robot.joints": ["a", "a"]}, r"joints: expected each name once, got \['a', 'a'\]"),
        ({"robot.joints": [1.0]}, "joints: expected names; got 1.0"),
        ({"states.timeout": 0.0}, "states.timeout: expected a number from 0.001 to 10.0, got 0.0"),
        ({"states.timeout": "soon"}, "states.timeout: expected float, got 'soon'"),
        ({"commands.require_enable": 1}, "require_enable: expected bool, got 1"),
        (
            {"speed": 1.0},
            "speed: there is no such parameter: see `ros2_dyn parameters`, and CHANGELOG.rst for old ones",
        ),
        ({"effort_gain": [1.0]}, r"effort_gain: there is no such parameter: is it states.effort_gain\?"),
    ],
)
def test_values_that_make_no_sense_are_refused_with_what_was_expected(values, problem):
    with pytest.raises(InputError, match=problem):
        Settings.from_values(values)


def test_an_effort_gain_may_be_negative():
    assert Settings.from_values({"robot.joints": ["a"], "states.effort_gain": [-2.0]}).states.effort_gain == (-2.0,)


def test_whole_numbers_lists_and_none_become_the_parameters_types():
    settings = Settings.from_values({"states.timeout": 1, "robot.joints": ["a"], "robot.armature": None})
    assert (settings.states.timeout, settings.robot.joints, settings.robot.armature) == (1.0, ("a",), ())
    assert isinstance(settings.states.timeout, float)


@pytest.mark.parametrize("each", declared().values(), ids=lambda each: each.name)
def test_a_parameter_is_described_in_sentences_with_its_range(each):
    assert each.text.endswith(".")
    assert each.text[0].isupper()
    assert each.kind not in (int, float) or (each.low is not None and each.high is not None)
    assert not each.is_list or each.default or each.example
    assert not (each.locked and each.read_only)


def test_values_may_be_nested_as_in_a_parameter_file():
    nested = Settings.from_values({"robot": {"joints": ["a"]}, "hand_guiding": {"damping": 3}})
    assert nested == Settings.from_values({"robot.joints": ["a"], "hand_guiding.damping": 3.0})
    assert nested.mode(HandGuidingSettings).damping == 3.0


def test_values_by_name_make_the_same_settings_again():
    settings = Settings.from_values({"robot.joints": NAMES, "impedance.frame": "tool0"})
    assert Settings.from_values(settings.values()) == settings


# --- models


def test_friction_and_rotors_are_given_in_the_order_of_joints():
    numbers = np.arange(1.0, 7.0)
    settings = Settings.from_values(
        {
            "robot.joints": NAMES[::-1],
            "friction.viscous": numbers,
            "robot.armature": numbers,
            "states.effort_gain": numbers,
        }
    )
    model = settings.apply(mock_arm())
    assert model.joint_names == NAMES
    assert_allclose(friction(model, np.ones(6)), numbers[::-1])
    q = np.zeros(6)
    assert_allclose(mass_matrix(model, q) - mass_matrix(mock_arm(), q), np.diag(numbers[::-1]), rtol=0, atol=1e-12)
    assert settings.in_order(settings.states.effort_gain, model, 1.0) == list(numbers[::-1])


def test_joints_that_are_not_named_are_locked():
    tree = general_tree(0)
    some = [name for name in tree.joint_names if name.startswith("joint")][:3]
    model = Settings.from_values({"robot.joints": some[::-1]}).apply(tree)
    assert set(model.joint_names) == set(some)
    assert model.n == 3


@pytest.mark.parametrize(
    ("values", "problem"),
    [({"robot.joints": ["nose"]}, "no joint 'nose'"), ({"robot.tip_link": "hand"}, "no link 'hand'")],
)
def test_a_robot_without_the_named_joint_or_link_is_refused(values, problem):
    with pytest.raises(InputError, match=problem):
        Settings.from_values(values).apply(mock_arm())


# --- files


def test_the_parameter_file_holds_every_parameter_with_its_default_or_an_example():
    text = parameter_file()
    written = yaml.safe_load(text)["/**/dynamics"]["ros__parameters"]
    assert Settings.from_values(written) == Settings()
    unset = [each.name for each in declared().values() if each.is_list and not each.default]
    assert flat(written) == declared().keys() - set(unset)
    for name in unset:
        assert f"# {name.rpartition('.')[2]}: [" in text
    assert max(map(len, text.splitlines())) <= 120


def flat(tree, above=""):
    """Return the names of a parameter file's values with those of their groups."""
    nested = [
        flat(each, f"{above}{name}.") if isinstance(each, dict) else {above + name} for name, each in tree.items()
    ]
    return set().union(*nested)


def test_examples_of_the_parameter_file_are_valid_together():
    Settings.from_values({each.name: each.example for each in declared().values() if each.example is not None})


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
