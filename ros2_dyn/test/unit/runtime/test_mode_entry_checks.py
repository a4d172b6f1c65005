# SPDX-License-Identifier: Apache-2.0
"""The checks before a mode is entered: each refusal with its text, and the limits up to which there is none."""

from dataclasses import replace
from math import inf, nan
from types import SimpleNamespace

import numpy as np
import pytest

from control_states import arm_at
from robots import HOME, joint, link, mock_arm, robot
from ros2_dyn.audit import audit_model
from ros2_dyn.control import MODES, arm_state
from ros2_dyn.control.command_settings import CommandSettings
from ros2_dyn.control.sampled_stability import SampledLoop
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import CommandLink, Settings
from ros2_dyn.runtime.mode_entry_checks import Entry, description_problem, entry_problem, limits_problem
from ros2_dyn.runtime.robot_dynamics import RobotDynamics

XML = robot(link("base"), link("body", 1.0), joint("a", "revolute", "base", "body"))
STATE = arm_state(mock_arm(), HOME, np.zeros(6))
ROBOT = RobotDynamics(mock_arm(), Settings())
FINE = {"loop": SampledLoop(0.01, 0.0), "state_timeout": 0.1, "robot": ROBOT, "commands": CommandSettings(delay=0.004)}
"""What is usual of an arm that is ready."""


def refusal(
    mode: str = "gravity",
    *,
    link: CommandLink | None = None,
    stamped: bool = True,
    applied: float = 0.0,
    gravity: float = 0.0,
    state=STATE,
    effort: float = 50.0,
    velocity: float = 100.0,
    **given,
) -> str:
    """Return why a mode may not begin where an arm lacks nothing but what is given; empty: it may."""
    kind = MODES[mode]
    entry = Entry(
        mode=kind(kind.Parameters(), 0.0),
        arm=arm_at(state, effort=effort, velocity=velocity, **(FINE | given)),
        robot=ROBOT,
        link=link or CommandLink(topic="/arm/commands"),
        stamped=stamped,
        applied=np.full(6, applied),
        gravity=np.full(6, gravity),
    )
    return entry_problem(entry)


@pytest.mark.parametrize("mode", MODES)
def test_an_arm_that_lacks_nothing_may_begin_every_mode(mode):
    assert refusal(mode) == ""


# --- the robot


def described(xml: str) -> SimpleNamespace:
    """Return a robot with a description."""
    model = RobotModel.from_urdf(xml)
    return SimpleNamespace(model=model, settings=Settings(), findings=model.findings)


@pytest.mark.parametrize(
    ("xml", "problem"),
    [
        (
            XML.replace('effort="100"', 'effort="0"'),
            "joint 'a' has no effort limit in the robot description (its value is 0)",
        ),
        (
            XML.replace('velocity="2"', 'velocity="0"'),
            "joint 'a' has no velocity limit in the robot description (its value is 0)",
        ),
        (
            XML.replace("revolute", "continuous").replace(
                '<limit lower="-3" upper="3" effort="100" velocity="2"/>', ""
            ),
            "joint 'a' has no effort limit in the robot description (its value is inf)",
        ),
        (XML, ""),
    ],
    ids=["effort", "velocity", "no limits", "fine"],
)
def test_a_robot_without_limits_is_refused(xml, problem):
    assert limits_problem(described(xml)) == problem


def test_a_description_with_an_error_is_refused_and_one_with_warnings_is_not():
    upside_down = described(XML.replace('lower="-3" upper="3"', 'lower="3" upper="-3"'))
    text = "the robot description is wrong: joint 'a': its <limit> has lower 3.0 above upper -3.0: they are read"
    assert description_problem(upside_down).startswith(text)
    upside_down.findings = 3 * upside_down.findings
    assert "(2 more: ros2_dyn audit shows them)" in description_problem(upside_down)
    findings = audit_model(RobotModel.from_urdf(XML))
    assert [each.severity for each in findings] == ["warning"]
    assert description_problem(SimpleNamespace(findings=findings)) == ""


# --- states


@pytest.mark.parametrize(
    ("age", "period", "stamped", "problem"),
    [
        (0.0, 0.01, False, "joint_states has no stamps, so that the age of a state is not known"),
        (0.0, 0.021, True, "joint_states come every 0.021 s: set states.timeout to 0.11 s or more"),
        (0.0, inf, True, "only one state has come on joint_states yet"),
        (
            0.081,
            0.01,
            True,
            "the newest of joint_states is 0.081 s behind this node's clock, states.timeout allows 0.08 s",
        ),
        (-3.0, 0.01, True, "the newest of joint_states is 3.000 s ahead of this node's clock, "),
        (nan, 0.01, True, "the newest of joint_states is nan s ahead of this node's clock, "),
    ],
)
def test_a_stream_of_states_that_is_slow_old_or_of_another_clock_is_refused(age, period, stamped, problem):
    assert refusal(age=age, loop=SampledLoop(period, 0.0), stamped=stamped).startswith(problem)


@pytest.mark.parametrize(("age", "period"), [(0.0, 0.02), (0.08, 0.001), (-0.08, 0.001)])
def test_a_stream_of_states_at_the_limits_is_not_refused(age, period):
    assert refusal(age=age, loop=SampledLoop(period, 0.0)) == ""


# --- targets, places, the controller


def wrench(force: float = 0.0, age: float = 0.0) -> SimpleNamespace:
    """Return a desired force, N, of an age, s."""
    return SimpleNamespace(desired_at=-age, in_base_axes=lambda q: np.array([force, 0.0, 0.0, 0.0, 0.0, 0.0]))


@pytest.mark.parametrize(
    ("mode", "given", "problem"),
    [
        ("hand_guiding", {"collision": True}, "a collision is latched: ~/reset_collision ends it"),
        ("gravity", {"problem": "it is frozen"}, "joint_states cannot be believed: it is frozen"),
        (
            "gravity",
            {"detects_collisions": True, "detector_age": 0.2},
            "detector blind: joint_states gave no usable effort for 0.200 s; collision.threshold or",
        ),
        ("force", {"wrench": wrench(age=0.21)}, "target stale: 0.210 s old; publish on ~/desired_wrench first"),
        ("force", {"wrench": wrench(1e6)}, "a delay of 20 ms allows no force of 1e+06 N: a tip without contact would"),
        ("gravity", {"applied": 50.1}, "joint 'joint 0' exerts 50.1 N m or N, commands.effort_scale allows 50"),
        ("gravity", {"applied": nan}, "joint 'joint 0' exerts nan N m or N, commands.effort_scale allows 50"),
        ("gravity", {"gravity": -51.0}, "joint 'joint 0' needs against gravity -51 N m or N"),
        (
            "hand_guiding",
            {"enable_age": inf},
            "enable released: the enabling signal is released; it has to be true on ~/enable at 10 Hz",
        ),
        ("force", {"state": replace(STATE, qd=np.full(6, 1.2))}, "tip too fast: it moves with"),
    ],
)
def test_what_stands_against_a_mode_is_refused_with_its_reason(mode, given, problem):
    assert refusal(mode, **given).startswith(problem)


@pytest.mark.parametrize("mode", MODES)
def test_modes_that_press_need_a_delay_that_is_measured_or_declared(mode):
    """Nothing else tells where efforts are not measured: stamps of another clock hide how old states are."""
    problem = refusal(mode, commands=CommandSettings())
    assert problem.startswith("the delay of the commands is not known") == (mode in ("force", "impedance"))


def test_joints_at_their_limits_are_not_refused():
    fast = replace(STATE, qd=np.full(6, 2.0))
    assert refusal("feed_forward", state=fast, velocity=2.0, applied=50.0, gravity=-50.0) == ""
