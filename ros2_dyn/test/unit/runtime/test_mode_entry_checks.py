# SPDX-License-Identifier: Apache-2.0
"""The checks before a mode is entered: each refusal with its text, and the limits up to which there is none."""

from math import inf, nan

import numpy as np
import pytest

from robots import joint, link, robot
from ros2_dyn.audit import audit_model
from ros2_dyn.control.mode_conditions import GuardInput, ModeConditions
from ros2_dyn.errors import ModeRefused
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import CommandLink
from ros2_dyn.runtime.mode_entry_checks import (
    check_controller_connected,
    check_description,
    check_limits,
    check_margins,
    check_state_stream,
    check_target,
)
from supervisor_loop import LIMITS

XML = robot(link("base"), link("body", 1.0), joint("a", "revolute", "base", "body"))
CONDITIONS = ModeConditions(target_timeout=0.2, tracking_tolerance=0.3, singularity_threshold=0.02)


def refusal(check, mode, *arguments) -> str:
    """Return the text with which a check refuses a mode."""
    with pytest.raises(ModeRefused) as refused:
        check(mode, *arguments)
    assert refused.value.mode == mode
    return refused.value.problem


# --- the robot


@pytest.mark.parametrize(
    ("xml", "joints", "problem"),
    [
        (
            XML.replace('effort="100"', 'effort="0"'),
            (),
            "joint 'a' has no effort limit in the robot description (its value is 0)",
        ),
        (
            XML.replace('velocity="2"', 'velocity="0"'),
            (),
            "joint 'a' has no velocity limit in the robot description (its value is 0)",
        ),
        (
            XML.replace("revolute", "continuous").replace(
                '<limit lower="-3" upper="3" effort="100" velocity="2"/>', ""
            ),
            (),
            "joint 'a' has no effort limit in the robot description (its value is inf)",
        ),
        (XML, ("a", "nose"), "commands.joints names 'nose', which is none of the robot's joints: ['a']"),
    ],
    ids=["effort", "velocity", "no limits", "commands.joints"],
)
def test_a_robot_without_limits_or_without_a_commanded_joint_is_refused(xml, joints, problem):
    assert refusal(check_limits, "gravity", RobotModel.from_urdf(xml), joints) == problem


def test_a_robot_with_limits_is_not_refused():
    check_limits("gravity", RobotModel.from_urdf(XML), ("a",))


def test_a_description_with_an_error_is_refused_and_one_with_warnings_is_not():
    upside_down = RobotModel.from_urdf(XML.replace('lower="-3" upper="3"', 'lower="3" upper="-3"'))
    text = "the robot description is wrong: joint 'a': its <limit> has lower 3.0 above upper -3.0: they are read"
    assert refusal(check_description, "gravity", upside_down.findings).startswith(text)
    assert "(2 more: ros2_dyn audit shows them)" in refusal(check_description, "gravity", 3 * upside_down.findings)
    findings = audit_model(RobotModel.from_urdf(XML))
    assert [each.severity for each in findings] == ["warning"]
    check_description("gravity", findings)


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
    assert refusal(check_state_stream, "gravity", age, period, stamped, 0.1).startswith(problem)


@pytest.mark.parametrize(("age", "period"), [(0.0, 0.02), (0.08, 0.001), (-0.08, 0.001)])
def test_a_stream_of_states_at_the_limits_is_not_refused(age, period):
    check_state_stream("gravity", age, period, True, 0.1)


# --- targets


@pytest.mark.parametrize(
    ("mode", "seen", "problem"),
    [
        ("hand_guiding", {"collision": True}, "a collision is latched: ~/reset_collision ends it"),
        ("feed_forward", {"target_age": inf}, "it follows ~/desired, and none is usable: publish there first"),
        (
            "force",
            {"target_age": 0.21},
            "it follows ~/desired_wrench, and the newest is 0.210 s old: publish there first",
        ),
        (
            "feed_forward",
            {"target_distance": 1.0},
            "the desired positions are 1 rad or m away, tracking_tolerance is 0.3",
        ),
        ("force", {"min_singular_value": 0.019}, "near a singularity: smallest singular value 0.019"),
    ],
)
def test_a_latched_collision_and_an_unusable_target_are_refused(mode, seen, problem):
    state = GuardInput(0.0, 0.0, np.zeros(2), np.zeros(2), **seen)
    assert refusal(check_target, mode, state, CONDITIONS) == problem


@pytest.mark.parametrize("mode", ["gravity", "hand_guiding", "feed_forward"])
def test_a_singularity_concerns_mode_force_only(mode):
    check_target(mode, GuardInput(0.0, 0.0, np.zeros(2), np.zeros(2), min_singular_value=0.0), CONDITIONS)


# --- margins

FREE = {"qd": np.zeros(2), "applied": np.zeros(2), "gravity": np.zeros(2)}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"qd": np.array([0.0, -2.1])}, "joint 'b' moves with -2.1 rad/s or m/s, 2 are allowed"),
        ({"applied": np.array([10.1, 0.0])}, "joint 'a' exerts 10.1 N m or N, commands.effort_scale allows 10"),
        ({"applied": np.array([nan, 0.0])}, "joint 'a' exerts nan N m or N, commands.effort_scale allows 10"),
        (
            {"gravity": np.array([0.0, -5.0])},
            "joint 'b' needs against gravity -5 N m or N, commands.effort_scale allows 4",
        ),
    ],
)
def test_a_joint_beyond_its_limits_is_refused(changes, problem):
    assert refusal(check_margins, "gravity", LIMITS, *(FREE | changes).values()) == problem


def test_joints_at_their_limits_are_not_refused():
    check_margins("gravity", LIMITS, LIMITS.velocity, LIMITS.effort, -LIMITS.effort)


# --- the controller


def test_commands_without_subscriber_are_refused():
    expected = (
        "there is no subscriber on /arm/commands: remap ~/command to the controller's topic, and start the controller"
    )
    assert refusal(check_controller_connected, "gravity", CommandLink(0, topic="/arm/commands")) == expected


def test_a_second_commander_is_refused_by_name():
    link = CommandLink(1, ("other",), "/arm/commands")
    expected = (
        "'other' publishes on /arm/commands, too: two commanders would fight; "
        "if it was killed, DDS lists it for up to 20 s more"
    )
    assert refusal(check_controller_connected, "gravity", link) == expected
    check_controller_connected("gravity", CommandLink(2))
