"""The parameters of the node: the file in config says what the node declares, and what makes no sense is refused."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("rclpy", reason="ROS 2 is not here")

import yaml
from rclpy.parameter import Parameter

from robots import general_tree, mock_arm
from ros2_dyn.dynamics import friction, mass_matrix
from ros2_dyn.errors import InputError
from ros2_dyn.ros.parameters import DECLARATIONS, Settings

FILE = Path(__file__).parents[2] / "config" / "dynamics.yaml"
DEFAULTS = {
    name: None if isinstance(about.default, Parameter.Type) else about.default for name, about in DECLARATIONS.items()
}
NAMES = list(mock_arm().joint_names)


def settings(**values) -> Settings:
    return Settings.checked(DEFAULTS | values)


def test_the_file_holds_every_parameter_with_its_default():
    """Those that are not set unless the user sets them are commented out."""
    text = FILE.read_text(encoding="utf-8")
    written = yaml.safe_load(text)["/**/dynamics"]["ros__parameters"]
    assert written == {name: default for name, default in DEFAULTS.items() if default is not None}
    for name in DEFAULTS.keys() - written.keys():
        assert f"    # {name}: [" in text
    assert all(about.description.endswith(".") for about in DECLARATIONS.values())


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"gravity": [0.0, 9.81]}, r"gravity: expected shape \(\.\.\., 3\), got \(2,\)"),
        ({"gravity": [0.0, 0.0, float("nan")]}, "gravity: expected finite numbers"),
        ({"acceleration": "guess"}, "acceleration: expected one of zero, estimated; got 'guess'"),
        ({"measured_effort": "amps"}, "measured_effort: expected one of raw, gravity_compensated, external"),
        ({"command_effort": "external"}, "command_effort: expected one of raw, gravity_compensated"),
        ({"effort_gain": [1.0]}, "effort_gain: expected 0 numbers as `joints` has, got 1"),
        ({"joints": ["a", "b"], "armature": [1.0, -1.0]}, "armature: expected finite numbers, not negative"),
    ],
)
def test_what_makes_no_sense_is_refused(values, problem):
    """With the parameter and what was expected."""
    with pytest.raises(InputError, match=problem):
        settings(**values)


def test_friction_and_rotors_are_given_in_the_order_of_joints():
    """Whatever order that is; the model keeps its own."""
    numbers = np.arange(1.0, 7.0)
    model = settings(joints=NAMES[::-1], viscous_friction=list(numbers), armature=list(numbers)).apply(mock_arm())
    assert model.joint_names == tuple(NAMES)
    assert_allclose(friction(model, np.ones(6)), numbers[::-1])
    q = np.zeros(6)
    assert_allclose(mass_matrix(model, q) - mass_matrix(mock_arm(), q), np.diag(numbers[::-1]), rtol=0, atol=1e-12)
    gains = settings(joints=NAMES[::-1], effort_gain=list(numbers))
    assert gains.in_order(gains.effort_gain, model, 1.0) == list(numbers[::-1])


def test_an_arm_on_a_bigger_robot():
    """Its joints move, the others are locked, floating base and all."""
    tree = general_tree(0)
    some = [name for name in tree.joint_names if name.startswith("joint")][:3]
    model = settings(joints=some[::-1]).apply(tree)
    assert set(model.joint_names) == set(some)
    assert model.n == 3
    with pytest.raises(InputError, match="no joint 'nose'"):
        settings(joints=["nose"]).apply(tree)
    with pytest.raises(InputError, match="no link 'hand'"):
        settings(tip_link="hand").apply(tree)
