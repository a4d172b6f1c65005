# SPDX-License-Identifier: Apache-2.0
"""Robots that add gravity or friction themselves: nothing is added twice, judged by the motion."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arm_world import ARM, FRICTIONLESS, ArmWorld
from ros2_dyn.dynamics import friction, gravity, rnea
from ros2_dyn.runtime import ArmRuntime, DesiredSample, Settings
from ros2_dyn.runtime.inputs import JointSample
from ros2_dyn.runtime.trajectory_effort import TrajectorySample
from ros2_dyn.simulation.applied_force import AppliedForce

KINDS = ("gravity_compensated", "gravity_and_friction_compensated")


def with_own_friction(samples: list[JointSample]) -> list[JointSample]:
    """Add the friction that a robot compensates to the efforts that it measures: its motors exert that, too."""
    own = [friction(ARM, sample.velocity) for sample in samples]
    return [sample._replace(effort=(sample.effort + f).tolist()) for sample, f in zip(samples, own)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_robot_that_compensates_its_friction_does_not_drive_itself_in_hand_guiding(kind):
    """What is left of such a robot has no friction. With friction added again, a push would set it off for good."""
    push = AppliedForce("tool0", (0.0, 8.0, 0.0), start=1.0, duration=0.3)
    world = ArmWorld(
        arm=FRICTIONLESS,
        known=ARM,
        contacts=[push],
        **{
            "commands.command_effort": kind,
            "commands.max_tip_speed": 5.0,
        },
    )
    if kind == KINDS[1]:
        world.driver.faults.append(with_own_friction)
    world.play("hand_guiding", 4.0)
    assert world.modes() == ["monitor", "hand_guiding"]
    assert world.joint_speed(1.0) > 0.05
    assert world.joint_speed(3.0) < 0.3 * world.joint_speed(1.0)


@pytest.mark.parametrize(("kind", "without"), [("raw", ""), (KINDS[0], "g"), (KINDS[1], "gf")])
def test_efforts_of_a_trajectory_leave_out_what_the_robot_adds(kind, without):
    q, qd, qdd = (np.random.default_rng(1).uniform(-1, 1, (3, 6))).tolist()
    runtime = ArmRuntime(
        ARM, Settings.from_values({"commands.command_effort": kind, "friction.transition_velocity": 0.05})
    )
    model = runtime.robot.model
    trajectory = TrajectorySample(ARM.joint_names, [0.0], [q], [qd], [qdd])
    effort = runtime.trajectory_task(0.0).effort(trajectory)
    own = "f" not in without
    expected = rnea(model, q, qd, qdd) - ("g" in without) * gravity(model, q) + own * friction(model, qd)
    assert_allclose(effort[0], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("law", ["joint_pd", "computed_torque"])
def test_feed_forward_follows_with_a_robot_that_compensates_its_friction(law):
    """What is left of such a robot has no friction: the desired motion with friction twice would be 0.05 rad off."""
    pd = law == "joint_pd"
    world = ArmWorld(
        arm=FRICTIONLESS,
        known=ARM,
        **{
            "commands.command_effort": KINDS[1],
            "feed_forward.law": law,
            "feed_forward.stiffness": [200.0] * 3 + [50.0] * 3 if pd else [100.0] * 6,
            "feed_forward.damping": [40.0] * 3 + [5.0] * 3 if pd else [20.0] * 6,
        },
    )
    world.play("feed_forward", 3.0)
    assert world.modes() == ["monitor", "feed_forward"]
    wanted = next(m for m in world.targets.messages(world.now, 1) if isinstance(m, DesiredSample)).positions
    assert np.max(np.abs(world.arm.q - np.array(wanted))) < 0.02
