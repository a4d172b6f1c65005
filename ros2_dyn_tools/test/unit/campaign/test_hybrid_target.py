# SPDX-License-Identifier: Apache-2.0
"""Force along some axes of a task frame, impedance along the others, from one message: what the arm does."""

from __future__ import annotations

import numpy as np
import pytest

from arm_world import HOME, broken
from light_arms import Held, light, numbers
from ros2_dyn.control.wrench_approach import APPROACH_SPEED
from ros2_dyn.dynamics import forward_kinematics
from ros2_dyn.model.spatial import rotation_from_quaternion
from ros2_dyn.runtime import HybridSample
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.wall import Wall

FORCE = 15.0
DOWN = (False, False, True, False, False, False)
STIFF = {"impedance.stiffness": [2000.0] * 3 + [50.0] * 3}


def pressing(pose: np.ndarray, force: float = FORCE, axes: tuple[bool, ...] = DOWN, frame: str = "") -> HybridSample:
    """Return the message that presses downwards while the tip is held at a pose along the other axes."""
    return HybridSample(0, frame, numbers(pose), [0.0, 0.0, -force, 0.0, 0.0, 0.0], axes)


def table(height: float) -> Wall:
    """Return a stiff table below the tip."""
    return Wall("tool0", (0.0, 0.0, height), normal=(0.0, 0.0, 1.0), stiffness=2e4, damping=1.0)


def test_tip_presses_on_a_table_while_it_follows_a_pose_along_it():
    start = forward_kinematics(light("mock_arm"), HOME)

    def desired(t: float) -> np.ndarray:
        pose = start.copy()
        pose[:3, 3] += (0.0, 0.05 * np.clip((t - 2.5) / 2.0, 0.0, 1.0), 0.1)  # 10 cm above: that axis does not count
        return pose

    held = Held("mock_arm", HOME, desired, 250.0, pressing, [table(start[2, 3] - 0.01)], **STIFF)
    held.world.run(2.5)
    pressed = [float(held.world.arm.contact_wrench()[2])]
    while held.world.now < 5.5:
        held.world.run(held.world.now + 0.05)
        pressed.append(float(held.world.arm.contact_wrench()[2]))
    assert held.world.node.mode == "impedance", held.world.node.runtime.reason
    assert np.mean(pressed[-10:]) == pytest.approx(FORCE, rel=0.02)
    assert np.abs(np.array(pressed) - FORCE).max() < 0.2 * FORCE
    error = forward_kinematics(held.arm, held.world.arm.q)[:3, 3] - desired(5.5)[:3, 3]
    assert np.abs(error[:2]).max() < 1e-3
    assert not broken(held.world)


@pytest.mark.parametrize("force", [2.0, FORCE])
def test_tip_that_does_not_meet_its_table_is_no_faster_than_on_its_approach(force):
    start = forward_kinematics(light("mock_arm"), HOME)
    held = Held("mock_arm", HOME, lambda t: start, 250.0, lambda pose: pressing(pose, force), **STIFF)
    held.world.run(2.0)
    speeds = np.array(held.samples)[:, 2]
    assert APPROACH_SPEED / 4 < speeds.max() < 1.1 * APPROACH_SPEED
    assert held.world.node.mode == "impedance", held.world.node.runtime.reason


def test_axes_are_those_of_the_frame_where_it_was_when_the_message_came():
    """The tip's own z axis, which the home posture turns: the tip yields along it alone, without a table."""
    arm = light("mock_arm")
    start = forward_kinematics(arm, HOME)
    message = pressing(np.eye(4), force=2.0, frame="tool0")
    held = Held("mock_arm", HOME, lambda t: start, 250.0, **{"commands.max_tip_travel": 0.05}, **STIFF)
    held.world.targets.faults.clear()
    held.world.targets.faults.append(lambda messages: messages[:1])
    held.world.at(0.6, lambda: held.world.deliver_target(message))
    held.world.queue.every(0.02, lambda: held.world.now > 0.6 and held.world.deliver_target(message))
    held.world.run(1.4)
    moved = start[:3, :3].T @ (forward_kinematics(arm, held.world.arm.q)[:3, 3] - start[:3, 3])
    assert moved[2] < -0.005
    assert np.abs(moved[:2]).max() < 0.1 * abs(moved[2])


def test_bent_spring_gives_way_over_the_ramp_where_its_axis_is_chosen_for_the_wrench():
    """A weight bends the spring; when its axis is no longer held, its force vanishes without a step."""
    start = forward_kinematics(light("mock_arm"), HOME)
    axes = [(False,) * 6]
    weight = AppliedForce("tool0", (0.0, 0.0, -20.0), start=0.8)
    settings = {"commands.ramp_time": 0.5, "commands.max_tip_travel": 1.0, **STIFF}
    held = Held(
        "mock_arm", HOME, lambda t: start, 250.0, lambda pose: pressing(pose, 0.0, axes[0]), [weight], **settings
    )
    held.world.run(2.0)
    springs = [held.spring.wrench[2]]
    assert springs[0] == pytest.approx(20.0, rel=0.05)
    axes[0] = DOWN
    while held.world.now < 2.52:
        held.world.run(held.world.now + 0.004)
        springs.append(held.spring.wrench[2])
    assert abs(springs[-1]) < 0.5
    assert np.abs(np.diff(springs)).max() < 0.1 * springs[0]


WRONG = [
    ({"wrench": [5.0, 0.0, 0.0, 0.0, 0.0, 0.0]}, "wrench.force.x: held axis"),
    ({"wrench": [0.0, 0.0, 1e4, 0.0, 0.0, 0.0]}, "wrench.force: too large"),
    ({"wrench": [0.0, 0.0, np.nan, 0.0, 0.0, 0.0]}, "not finite"),
    ({"pose": [np.nan] * 7}, "not finite"),
    ({"frame": "nowhere"}, "'nowhere' is no link"),
]
"""What may be wrong with a message, and what is told of it."""


def test_message_that_cannot_be_is_rejected_and_changes_nothing():
    start = forward_kinematics(light("mock_arm"), HOME)
    held = Held("mock_arm", HOME, lambda t: start, 250.0, **STIFF)
    held.world.run(1.0)
    for changes, problem in WRONG:
        begun = len(held.world.records)
        held.world.deliver_target(pressing(start)._replace(**changes))
        texts = [record[3] for record in held.world.records[begun:] if record[1] == "event"]
        assert any(problem in text for text in texts), (problem, texts)
    held.world.run(1.2)
    assert held.world.node.mode == "impedance"
    assert np.linalg.norm(forward_kinematics(light("mock_arm"), held.world.arm.q)[:3, 3] - start[:3, 3]) < 1e-3


def test_rotation_about_the_pressed_axis_is_held():
    """A quaternion in the message turns the tip; the pressed axis keeps its force."""
    start = forward_kinematics(light("mock_arm"), HOME)
    turned = start.copy()
    turned[:3, :3] = rotation_from_quaternion(np.array([0.0, 0.0, np.sin(0.1), np.cos(0.1)])) @ start[:3, :3]
    held = Held("mock_arm", HOME, lambda t: turned, 250.0, pressing, [table(start[2, 3] - 0.005)], **STIFF)
    held.world.run(4.0)
    assert held.world.node.mode == "impedance", held.world.node.runtime.reason
    R = forward_kinematics(held.arm, held.world.arm.q)[:3, :3]
    angle = np.arccos(np.clip((np.trace(R.T @ turned[:3, :3]) - 1) / 2, -1, 1))
    assert angle < 0.01
    assert held.world.arm.contact_wrench()[2] == pytest.approx(FORCE, rel=0.05)
