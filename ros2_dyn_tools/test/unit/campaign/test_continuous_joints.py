# SPDX-License-Identifier: Apache-2.0
"""Continuous joints at half a turn, where drivers tell their angles within one turn: what the arm does there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arm_world import ARM, HOME, ArmWorld, leave_alone
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime.inputs import ClockJump, JointSample

JOINT = 3
CONTINUOUS = RobotModel.from_links(
    ARM.name,
    [
        link._replace(joint=replace(link.joint, type="continuous", lower=-np.inf, upper=np.inf))
        if link.joint and link.joint.name == ARM.joint_names[JOINT]
        else link
        for link in ARM.link_specs
    ],
)


def at_half_a_turn(offset: float, mode: str) -> ArmWorld:
    """Return a world in a mode, whose arm rests that far beyond half a turn, rad, and whose encoders are noisy."""
    home = [*HOME]
    home[JOINT] = np.pi + offset
    played = ArmWorld(arm=CONTINUOUS, home=home)
    played.driver.quality = replace(played.driver.quality, position_noise=1e-5)
    played.driver.faults.append(within_a_turn)
    played.want_mode(mode)
    played.run(1.0)
    assert played.node.mode == mode, played.node.runtime.reason
    return played


def within_a_turn(samples: list[JointSample]) -> list[JointSample]:
    """Tell the angle of the joint within half a turn to either side."""
    told = []
    for sample in samples:
        position = list(sample.position)
        position[JOINT] = (position[JOINT] + np.pi) % (2 * np.pi) - np.pi
        told.append(sample._replace(position=position))
    return told


def check_still(played: ArmWorld) -> None:
    """Check that the arm stays where it is for 2 s."""
    since = played.now
    played.run(since + 2.0)
    assert played.travel(since) < 0.01
    assert played.joint_speed(since) < 0.05
    assert "stop failed" not in played.details("event")


@pytest.mark.parametrize("mode", ["gravity", "hand_guiding", "impedance"])
def test_leaving_and_stops_hold_the_arm_at_half_a_turn(mode):
    """It jumped by a radian, with 8 rad/s: springs and speeds took each jump of the angle for a motion."""
    played = at_half_a_turn(0.0, mode)
    played.want_mode("monitor")
    check_still(played)
    played = at_half_a_turn(0.0, mode)
    played.wanted_mode = "stopped"
    played.node.input(ClockJump("test"))
    check_still(played)


def test_failsafe_process_that_counted_other_turns_goes_on_with_a_stop():
    """The node has seen the joint pass half a turn while the failsafe process was not yet armed."""
    played = at_half_a_turn(0.0, "gravity")
    played.wanted_mode = "stopped"
    played.node.input(ClockJump("test"))
    played.run(played.now + 0.5)
    leave_alone(played)
    played.node.kill()
    check_still(played)


def test_desired_angles_are_those_of_the_nearest_turn():
    """Trajectories count turns, or do not, whatever the driver does."""
    played = at_half_a_turn(0.001, "feed_forward")
    since = played.now
    played.run(since + 1.0)
    assert played.node.mode == "feed_forward", played.node.runtime.reason
    assert played.travel(since) < 0.5
