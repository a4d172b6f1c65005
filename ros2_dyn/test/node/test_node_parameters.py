# SPDX-License-Identifier: Apache-2.0
"""The node's parameters through ROS: what is declared, what may change when, and what ends the node at its start."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from numpy.testing import assert_allclose

from robots import MOCK_ARM

pytest.importorskip("rclpy", reason="ROS 2 is not here")

from rcl_interfaces.srv import DescribeParameters, GetParameters, ListParameters
from rclpy.parameter import parameter_value_to_python
from ros2_dyn_interfaces.srv import GetDynamics

from driven_arms import HOME, MODEL, StandingArm
from driver import COMMANDED_NODE, URDF, Driver
from ros2_dyn.dynamics import gravity
from ros2_dyn.runtime.settings import declared
from ros_harness import Listener, words

CONFIG = Path(MOCK_ARM).with_name("dynamics.yaml")


@pytest.fixture
def driver(listener) -> Iterator[Driver]:
    """A node that commands nothing yet."""
    driver = Driver.of(listener, StandingArm(speed=0.0), **{"gravity.damping": 0.0})
    yield driver
    driver.close()


def values(listener: Listener) -> dict[str, object]:
    """Return the parameters of the node; an empty list for one that is not set, of which ROS 2 gives no value."""
    found: dict[str, object] = {}
    for name in declared():
        answer = listener.call(GetParameters, "dynamics/get_parameters", names=[name])
        found[name] = parameter_value_to_python(answer.values[0]) if answer.values else []
    return found


def as_declared(value: object) -> object:
    """Return a default as ROS 2 gives it."""
    return list(value) if isinstance(value, tuple) else value


def test_declared_parameters_are_those_of_the_settings(listener, start):
    """Names, defaults, ranges, descriptions, and whether they are read-only; the shipped file changes none of them."""
    start("ros2_dyn.ros.dynamics_node", "--params-file", str(CONFIG))
    listed = set(listener.call(ListParameters, "dynamics/list_parameters").result.names)
    of_ros = {name for name in listed if name == "use_sim_time" or name.startswith(("qos_", "start_type"))}
    assert listed - of_ros == declared().keys()
    assert values(listener) == {name: as_declared(each.default) for name, each in declared().items()}
    answer = listener.call(DescribeParameters, "dynamics/describe_parameters", names=list(declared()))
    for descriptor, each in zip(answer.descriptors, declared().values()):
        assert (descriptor.name, descriptor.description, descriptor.read_only) == (each.name, each.text, each.read_only)
        ranges = [*descriptor.floating_point_range, *descriptor.integer_range]
        assert [(r.from_value, r.to_value) for r in ranges] == ([] if each.high is None else [(each.low, each.high)])


def test_parameters_change_as_a_whole_or_not_at_all(driver):
    """What is rejected gives the reason and leaves the efforts as before."""
    upside_down = gravity(MODEL, HOME, (0, 0, 9.81))
    assert driver.set(**{"robot.gravity": [0.0, 0.0, 9.81]}).successful
    kept = driver.listener.call(GetDynamics, "dynamics/get_dynamics")  # at the measured state, which is still known
    assert_allclose(kept.gravity, upside_down, rtol=0, atol=1e-10)
    before = values(driver.listener)
    assert list(before["robot.gravity"]) == [0.0, 0.0, 9.81]
    for changes, reason in (
        ({"robot.gravity": [0.0, 0.0, -1.0], "robot.tip_link": "hand"}, "no link 'hand'"),
        ({"robot.gravity": [1.0]}, "gravity: expected 3 numbers"),
        (
            {"states.estimate": ["position"]},
            "states.estimate: expected some of velocity, acceleration; got 'position'",
        ),
        ({"robot.joints": ["elbow_joint", "nose"]}, "no joint 'nose'"),
        ({"robot.armature": [1.0, 2.0]}, "armature: set `robot.joints`, too, which says whose numbers these are"),
        ({"urdf_file": "/other.urdf"}, "read"),
    ):
        result = driver.set(**changes)
        assert not result.successful
        assert reason in result.reason
        assert values(driver.listener) == before
    driver.step()
    assert_allclose(driver.answers[-1].effort, upside_down, rtol=0, atol=1e-10)
    assert driver.set(**{"robot.gravity": [0.0, 0.0, -9.80665]}).successful


def test_new_kernels_do_not_interrupt_commands(listener, start, tmp_path):
    """While they are compiled, each state is answered with a command; then the mode stops, still without a gap."""
    gate = tmp_path / "gate"
    gate.touch()
    parameters = words(**COMMANDED_NODE)
    process = start("gated_node", *parameters, GATE=str(gate), PYTHONPATH=os.pathsep.join(sys.path))
    driver = Driver(listener, process, arm=StandingArm(speed=0.0), simulated=True)
    driver.describe()
    driver.begin()
    driver.play(10)
    driver.enter("gravity")
    gate.unlink()
    compiled = process.printed.count("compiling")
    driver.describe(URDF.replace('<mass value="8.393"/>', '<mass value="8.493"/>'))
    driver.listener.until(lambda: process.printed.count("compiling") > compiled, "no kernels are compiled")
    assert len(driver.play(50)) == 50
    assert driver.mode == "gravity"
    gate.touch()
    before, states = len(driver.commands), 0
    while driver.mode == "gravity":
        driver.step()
        states += 1
    driver.play(20)
    assert len(driver.commands) - before == states + 20
    assert driver.mode == "stopped"
    driver.close()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["-p", "urdf_file:=/nowhere.urdf"], "file '/nowhere.urdf': cannot be read"),
        (["-p", "joints:=[a]"], "joints: there is no such parameter: is it robot.joints?"),
    ],
)
def test_wrong_parameter_ends_the_node_with_one_line(start, arguments, problem):
    """It names the parameter and what was expected; the exit status is 1."""
    process = start("ros2_dyn.ros.dynamics_node", *arguments)
    lines = [line for line in process.ended().splitlines() if "[rcl]" not in line]
    assert process.process.returncode == 1
    assert len(lines) == 1
    assert problem in lines[0]
