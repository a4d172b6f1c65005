# SPDX-License-Identifier: Apache-2.0
"""Position limits and the tip's speed, judged by what the simulated arm does."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arm_world import ARM, FRICTIONLESS, HOME, ArmWorld
from control_states import arm_at, made_up
from robots import joint, link, robot
from ros2_dyn.audit import audit_model
from ros2_dyn.control.position_limits import PositionLimits, WallPlacement, limit_ahead, positions_beyond
from ros2_dyn.control.tip_speed import speed_brake
from ros2_dyn.dynamics import jacobian
from ros2_dyn.model import RobotModel
from ros2_dyn.runtime import DesiredSample
from ros2_dyn.runtime.inputs import ClockJump
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.hand import Hand

ELBOW = 2
LIMIT = float(ARM.upper[ELBOW])


def at_elbow(angle: float) -> list[float]:
    """Return home with another elbow, rad."""
    return [*HOME[:2], angle, *HOME[3:]]


@pytest.mark.parametrize("mode", ["gravity", "stopped"])
def test_a_position_that_is_not_believed_moves_no_wall(mode):
    """Far from a limit it let the wall at the elbow return to its place at once, and throw the arm: 0.4 to 1 rad/s."""

    def elsewhere(samples):
        amid = 1.502 <= world.now < 1.506
        return [x._replace(position=[p - 0.3 * amid * (p > 2.9) for p in x.position]) for x in samples]

    world = ArmWorld(home=at_elbow(LIMIT - 0.03), rate=250.0)
    world.driver.faults.append(elsewhere)
    world.play("gravity", 1.0)
    if mode == "stopped":
        world.wanted_mode = "stopped"
        world.node.input(ClockJump("test"))
    world.run(1.4)
    before = world.joint_speed(1.3)
    world.run(2.0)
    assert [event for event in world.details("event") if event[0] == "implausible"]
    assert world.joint_speed(1.4) < before + 0.02


# --- the speed of the tip


def test_a_hand_that_pulls_too_fast_is_braked_and_then_stops_hand_guiding():
    """At 0.22 m/s the arm is led; at 0.6 m/s the mode ends at once, and the tip was hardly faster than allowed."""
    calm = ArmWorld(contacts=[Hand("tool0", (0.0, 0.2, 0.1), start=1.0, duration=1.3, hold=0.2)])
    calm.play("hand_guiding", 3.0)
    assert calm.modes() == ["monitor", "hand_guiding"]
    hasty = ArmWorld(contacts=[Hand("tool0", (0.0, 0.4, 0.2), start=1.0, duration=0.8, hold=0.0)])
    hasty.play("hand_guiding", 3.0)
    assert hasty.reasons()
    assert hasty.reasons()[0].startswith("tip too fast: it moves with 0.2")


def test_the_brake_slows_the_tip_under_a_constant_push():
    """A push of 18 N drives the guided tip to 0.24 m/s with the brake, and faster than 0.25 m/s without."""
    speeds = []
    for max_tip_speed in (0.25, 10.0):
        push = AppliedForce("tool0", (0.0, 12.0, 0.0), start=1.0, duration=0.8)
        world = ArmWorld(arm=FRICTIONLESS, rate=500.0, contacts=[push], **{"commands.max_tip_speed": max_tip_speed})
        world.play("hand_guiding", 1.8)
        speeds.append(world.tip_speed(1.0))
    assert speeds[0] < 0.25 < speeds[1]


def test_the_brake_is_the_damping_of_the_speed_in_excess():
    """Of the tip, or of the joint that is the fastest for its limit: 0.25 m/s, or that on a lever of 0.2 m."""
    for tip, fast, excess in ((0.2, 0.2, 0.0), (0.5, 0.5, 0.6), (0.1, 2.5, 0.6)):
        state = made_up(2.0 * np.eye(6), qd=[fast, 0, 0, 0, 0, 0], J=tip / fast * np.eye(6))
        assert_allclose(speed_brake(arm_at(state)), [-60.0 * 2.0 * excess * fast, 0, 0, 0, 0, 0], rtol=1e-12)


# --- position limits


@pytest.mark.parametrize("mode", ["gravity", "feed_forward", "hand_guiding"])
def test_a_joint_pushed_towards_its_limit_does_not_pass_it(mode):
    """40 N on the forearm would drive the elbow through its limit, 0.25 rad away."""
    world = ArmWorld(home=at_elbow(LIMIT - 0.25), **{"feed_forward.stiffness": [1.0] * 6})
    world.add_contact(AppliedForce("wrist_1_link", _towards_limit(world, 40.0), start=1.0, duration=1.5))
    world.play(mode, 3.0)
    assert world.modes()[1] == mode
    assert float(np.max(world.positions()[:, ELBOW])) < LIMIT


def _towards_limit(world: ArmWorld, force: float):
    """Return a force on the wrist that turns the elbow towards its upper limit."""
    row = jacobian(world.arm_model, world.arm.q, "wrist_1_link")[:3, ELBOW]
    return tuple((force * row / np.linalg.norm(row)).tolist())


def test_desired_positions_beyond_a_limit_stop_feed_forward_before_the_arm_is_there():
    """The desired motion runs through the limit at 0.4 rad/s, with a stiff controller."""
    world = ArmWorld(home=at_elbow(LIMIT - 0.3), **{"feed_forward.stiffness": [800.0] * 3 + [50.0] * 3})
    world.targets.faults.append(lambda messages: [])
    q = np.array(world.home)

    def desired():
        ramp = q.copy()
        ramp[ELBOW] += 0.4 * max(0.0, world.now - 1.0)
        rate = [0.0, 0.0, 0.4 * (world.now > 1.0), 0.0, 0.0, 0.0]
        sample = DesiredSample(0, ARM.joint_names, ramp.tolist(), rate, [0.0] * 6)
        world.node.input(sample)

    world.queue.every(0.02, desired)
    world.play("feed_forward", 4.0)
    assert world.reasons()[0].startswith(("target beyond limit: 'elbow_joint'", "position limit: 'elbow_joint'"))
    assert float(np.max(world.positions()[:, ELBOW])) < LIMIT


@pytest.mark.parametrize("mode", ["gravity", "feed_forward"])
def test_a_mode_is_refused_with_a_joint_beyond_its_limit(mode):
    world = ArmWorld(home=at_elbow(LIMIT + 0.1))
    world.play(mode, 1.0)
    assert world.modes() == ["monitor"]
    assert "'elbow_joint' at 3.24" in world.details("refused")[-1][0]
    assert "hand_guiding can bring it back" in world.details("refused")[-1][0]


def test_hand_guiding_brings_a_joint_beyond_its_limit_back_slowly():
    world = ArmWorld(arm=FRICTIONLESS, home=at_elbow(LIMIT + 0.16), rate=250.0)
    world.play("hand_guiding", 6.0)
    assert world.modes() == ["monitor", "hand_guiding"]
    assert world.joint_speed() < 0.4
    assert float(world.arm.q[ELBOW]) < LIMIT + 0.01


def test_hand_guiding_is_refused_far_beyond_a_limit():
    world = ArmWorld(home=at_elbow(LIMIT + 0.3))
    world.play("hand_guiding", 1.0)
    assert world.modes() == ["monitor"]
    assert "move it back first" in world.details("refused")[-1][0]


LIMITS = PositionLimits(("a", "b"), np.array([-1.0, -np.inf]), np.array([1.0, np.inf]), 0.1)
EFFORT_LIMIT = np.array([4.0, 4.0])
"""Half of it decelerates a joint of 1 kg m^2 by 2 rad/s^2."""


@pytest.mark.parametrize(
    ("q", "qd", "walled", "problem"),
    [
        (0.5, 1.0, False, ""),
        (0.7, 1.0, False, "'a' at 0.700 rad or m moves with 1, its limit is 1.000"),
        (-0.7, -1.0, True, "'a' at -0.700 rad or m moves with -1, its limit is -1.000"),
        (1.1, 0.0, False, "'a' at 1.100 rad or m moves with 0, its limit is 1.000"),
        (1.1, 0.04, True, ""),
        (1.1, -0.5, True, ""),
        (1.1, 0.06, True, "'a' at 1.100 rad or m moves with 0.06, its limit is 1.000"),
        (1.004, 0.0, False, ""),
    ],
)
def test_a_limit_is_ahead_where_a_joint_cannot_stop_before_it(q, qd, walled, problem):
    """At 1 rad/s it takes 0.1 rad to react, and 0.25 rad to brake."""
    state = made_up(np.eye(2), q=[q, 99.0], qd=[qd, 9.0], J=np.eye(6, 2))
    assert limit_ahead(LIMITS, state, state.qd, EFFORT_LIMIT, walled) == problem


def test_positions_beyond_their_limits_are_named():
    assert positions_beyond(LIMITS, [0.0, 1e9]) == ""
    assert positions_beyond(LIMITS, [-1.2, 0.0]) == "'a' at -1.200 rad or m, its limits are -1.000 to 1.000"
    assert positions_beyond(LIMITS, [-1.2, 0.0], 0.25) == ""


def test_a_wall_begins_where_the_joint_is_and_returns_slowly_or_with_the_joint():
    walls, lower, upper = WallPlacement(), np.array([-1.0]), np.array([1.0])
    place = lambda q, dt: float(walls.place(np.array([q]), lower, upper, margin=0.2, dt=dt)[1][0])  # noqa: E731
    assert place(1.1, None) == pytest.approx(1.3)
    assert place(1.1, 1.0) == pytest.approx(1.2)
    assert place(0.9, 0.01) == pytest.approx(1.1)
    assert place(1.1, 0.01) == pytest.approx(1.099)
    assert place(0.0, 0.01) == pytest.approx(1.0)


def test_a_wall_of_a_stopped_arm_returns_with_the_joint_alone():
    walls, lower, upper = WallPlacement(), np.array([-1.0]), np.array([1.0])
    place = lambda q, dt: float(walls.place(np.array([q]), lower, upper, margin=0.2, dt=dt, stopped=True)[1][0])  # noqa: E731
    assert place(1.1, None) == pytest.approx(1.3)
    assert place(1.1, 1.0) == pytest.approx(1.3)
    assert place(0.9, 1.0) == pytest.approx(1.1)
    assert place(1.1, 1.0) == pytest.approx(1.1)


@pytest.mark.parametrize("kept", [0.0, 0.3, 1.0])
def test_wall_keeps_a_share_of_the_depth_of_a_joint_and_stays_there(kept):
    walls, lower, upper = WallPlacement(), np.array([-1.0]), np.array([1.0])
    walls.place(np.zeros(1), lower, upper, margin=0.2, dt=None)
    inside = np.array([0.9])
    walls.place(inside, lower, upper, margin=0.2, dt=0.004)
    _, left = walls.place(inside, lower, upper, margin=0.2, dt=0.0, stopped=True, kept=np.array([kept]))
    assert inside - (left - 0.2) == pytest.approx(kept * 0.1)
    _, later = walls.place(inside, lower, upper, margin=0.2, dt=1.0, stopped=True)
    assert later == left


def test_an_arm_that_is_stopped_behind_a_soft_wall_stays_where_it_is():
    """Its elbow is in the middle of the wall. The wall would bring it back at 0.1 rad/s, against the springs."""
    world = ArmWorld(arm=FRICTIONLESS, home=at_elbow(LIMIT - 0.1))
    world.at(0.6, lambda: world.node.input(ClockJump("by 1 s")))
    world.play("gravity", 0.9)
    assert world.modes()[-1] == "stopped"
    before = float(world.arm.q[ELBOW])
    world.run(2.5)
    assert world.modes()[-1] == "stopped"
    assert float(world.arm.q[ELBOW]) == pytest.approx(before, abs=0.005)


# --- limits that the description does not give


@pytest.mark.parametrize("type", ["revolute", "prismatic"])
def test_a_limit_without_lower_and_upper_is_no_position_limit_and_is_warned_of(type):
    xml = robot(link("base"), link("body", 1.0), joint("a", type, "base", "body"))
    model = RobotModel.from_urdf(xml.replace('lower="-3" upper="3" ', ""))
    assert (model.lower[0], model.upper[0]) == (-np.inf, np.inf)
    assert "position_limits_missing" in [each.code for each in audit_model(model)]
    assert "position_limits_missing" not in [each.code for each in audit_model(RobotModel.from_urdf(xml))]
    half = RobotModel.from_urdf(xml.replace('lower="-3" ', ""))
    assert (half.lower[0], half.upper[0]) == (0.0, 3.0)
