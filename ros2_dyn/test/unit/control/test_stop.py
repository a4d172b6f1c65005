# SPDX-License-Identifier: Apache-2.0
"""The stop of a simulated joint in virtual time: what brakes and holds it, and what follows where that fails."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from control_states import made_up
from ros2_dyn.control import CommandLimits, CommandSupervisor, SupervisorPolicy
from ros2_dyn.control.stop.law import Hold
from ros2_dyn.control.stop.machine import Stop, StopFindings
from ros2_dyn.control.stop.seen import BrakeInput, SeenState

LIMITS = CommandLimits(("a", "b"), np.array([100.0, 100.0]), np.array([1000.0, 1000.0]), np.array([9.0, 9.0]))
RATE = 15.0
"""Rate of the damping, 1/s."""
NOBODY, FIRST, EVERYBODY = np.array([False, False]), np.array([True, False]), np.array([True, True])
ANY = np.full(2, np.inf)
"""A speed that bounds no velocity."""


class Joints:
    """Two joints of 1 kg m^2 without friction, whose model knows no weight, and a supervisor that commands them."""

    def __init__(self, speed: float = 0.0, period: float = 0.004, slew_rate: float = 1000.0) -> None:
        """Let the first joint move with a speed, rad/s, in a mode that exerts nothing."""
        limits = replace(LIMITS, slew_rate=np.full(2, slew_rate))
        self.supervisor = CommandSupervisor(limits, SupervisorPolicy(ramp_time=0.1))
        self.now, self.period = 10.0, period
        self.q, self.qd = np.zeros(2), np.array([speed, 0.0])
        self.weight = np.zeros(2)
        """Effort that the model does not know of, N m."""
        self.gain = np.ones(2)
        """What the joints exert for each N m that is commanded."""
        self.obeyed, self.inert = NOBODY, False
        self.pushed = False
        """Whether the supervisor is told of a push."""
        self.rate, self.damping = RATE, RATE
        self.wanted = np.zeros(2)
        """What the mode commands, N m."""
        self.velocity_error = 0.0
        self.slip = np.zeros(2)
        """By how much the encoders are off, rad."""
        self.misplaced = NOBODY
        """Of which the supervisor is told that they may be, shape (2,), bool."""
        self.gravity = np.zeros(2)
        """Effort that carries the joints by their model, N m."""
        self.wall = 0.0
        """Stiffness of a soft wall of the first joint at 0, N m/rad."""
        self.noise, self.rng = 0.0, np.random.default_rng(1)
        self.command = np.zeros(2)
        self.failures = 0
        self.fastest = 0.0
        self.supervisor.enter("gravity", applied=self.command, gravity=np.zeros(2), age=0.0, now=self.now)

    def run(self, seconds: float, push: float = 0.0) -> None:
        """Play states for a time, s; somebody pushes the first joint, N m."""
        for _ in range(round(seconds / self.period)):
            self.now += self.period
            exerted = np.zeros(2) if self.inert else self.gain * self.command
            self.qd = self.qd + self.period * (exerted + self.weight + [push, 0.0])
            self.q = self.q + self.period * self.qd
            self.fastest = max(self.fastest, float(np.max(np.abs(self.qd))))
            self.see()

    def see(self, age: float = 0.001) -> None:
        """Let the supervisor see the joints as they are, at an age, s."""
        supervisor, qd = self.supervisor, self.qd + self.velocity_error
        q = self.q + self.slip + self.noise * self.rng.standard_normal(2)
        seen, command = SeenState(self.now, age, q, qd, inert=self.inert), None
        if supervisor.accept(seen):
            if supervisor.is_active:
                command = supervisor.follow(self.wanted, np.zeros(2), self.now)
            elif supervisor.stops:
                damped = self.gravity - self.damping * qd
                walls = np.array([-self.wall * max(q[0], 0.0), 0.0])
                given = BrakeInput(
                    *(made_up(np.eye(2), q, qd), self.rate, self.gravity, damped, walls, self.obeyed),
                    pushed=self.pushed,
                    misplaced=self.misplaced,
                )
                command = supervisor.brake(seen, given)
        self.command = self.command if command is None else command
        self.failures += sum(event.kind == "stop failed" for event in supervisor.take_events())

    def stop(self) -> None:
        """Stop the mode."""
        self.fastest = 0.0
        self.supervisor.stop("collision")

    @property
    def phase(self) -> str:
        """Phase of the commands."""
        return self.supervisor.phase


def stopped(speed: float = 1.0, weight: float = 0.0, seconds: float = 1.0, **changes) -> Joints:
    """Return joints a time, s, after a stop, with attributes of `Joints`."""
    joints = Joints(speed, changes.pop("period", 0.004))
    for name, value in changes.items():
        setattr(joints, name, value)
    joints.q = -0.2 * joints.qd
    joints.run(0.2)
    joints.weight = np.array([weight, 0.0])
    joints.stop()
    joints.run(seconds)
    return joints


@pytest.mark.parametrize(("period", "noise"), [(0.001, 1e-4), (0.01, 1e-4)])
@pytest.mark.parametrize("speed", [0.0, 1.0, 3.0])
def test_stop_with_a_right_model_rests_within_a_second_and_is_no_failure(speed, period, noise):
    joints = stopped(speed, period=period, noise=noise)
    assert np.all(np.abs(joints.qd) < 0.05)
    assert abs(joints.q[0]) < 0.2 * speed + 0.01
    joints.run(0.5)
    assert (joints.phase, joints.failures) == ("holding", 0)


@pytest.mark.parametrize("speed", [-1.0, 0.5, 1.0, 3.0])
def test_stop_with_a_weight_that_the_model_does_not_know_rests_within_a_second_where_it_is_carried(speed):
    """Gravity compensation and damping alone would let it fall with 0.67 rad/s for ever."""
    joints = stopped(speed, weight=10.0, seconds=1.5)
    assert (joints.phase, joints.failures) == ("holding", 0)
    np.testing.assert_allclose(joints.command[0], -10.0, rtol=0, atol=0.5)
    joints.run(3.0)
    assert np.all(np.abs(joints.qd) < 0.01)
    assert abs(joints.q[0]) < 0.35


@pytest.mark.parametrize(("slew_rate", "weight"), [(15.0, 3.0), (20.0, 4.0), (50.0, 8.0)])
@pytest.mark.parametrize(("friction", "growth"), [(0.0, 5.0), (20.0, 10.0), (60.0, 10.0)])
def test_joint_whose_spring_can_do_no_more_does_not_creep_on(slew_rate, weight, friction, growth):
    """The load, of a payload that nobody declared, grows with the way: it crept by 0.06 to 0.12 rad from 1 s on."""
    joints = Joints(slew_rate=slew_rate)
    joints.run(0.2)
    joints.stop()
    speeds = []
    for _ in range(1000):
        joints.weight[0] = weight + growth * joints.q[0] - friction * joints.qd[0]  # N m s/rad
        joints.run(0.004)
        speeds.append(abs(joints.qd[0]))
    assert 0.004 * sum(speeds[250:]) < 0.03


@pytest.mark.parametrize("weight", [0.0, 10.0])
def test_mode_that_is_left_ends_in_an_effort_that_has_held_the_joint_for_a_while(weight):
    joints = Joints(1.0)
    joints.run(0.2)
    joints.weight = np.array([weight, 0.0])
    joints.supervisor.leave()
    sent = []
    while joints.supervisor.commands and joints.now < 20.0:
        sent.append(joints.command)
        joints.run(0.004)
    assert (joints.phase, joints.supervisor.mode, joints.failures) == ("silent", "monitor", 0)
    assert all(np.array_equal(each, joints.command) for each in sent[-74:])
    np.testing.assert_allclose(joints.command[0], -weight, rtol=0, atol=0.3)


@pytest.mark.parametrize("turned_over", [False, True])
@pytest.mark.parametrize(("slew_rate", "effort"), [(100.0, 10.0), (1000.0, 20.0)])
def test_joint_may_gain_speed_until_the_effort_that_drove_it_has_turned_and_no_longer(slew_rate, effort, turned_over):
    """10 rad/s^2 for 0.1 s, or 20 rad/s^2 for 0.02 s, and then as long as what brakes is built up."""
    joints = Joints(slew_rate=slew_rate)
    joints.wanted = np.array([effort, 0.0])
    joints.run(0.3)
    speed = joints.qd[0]
    joints.gain = np.array([-1.0 if turned_over else 1.0, 1.0])
    joints.stop()
    joints.run(1.0)
    assert (joints.failures == 0) == (not turned_over)
    assert turned_over or joints.fastest > speed


def test_stop_whose_own_law_drives_the_joint_is_reported():
    """Its efforts never turn: they are not waited for longer than one takes to be built up."""
    joints = stopped(0.5, seconds=0.4, damping=-RATE)
    assert (joints.phase, joints.failures) == ("failed", 1)


def test_stop_right_after_a_mode_began_is_judged_by_the_speed_at_the_stop():
    """How fast it was by its positions is not known then: a joint that was hurled away was judged by that."""
    joints = Joints(0.3)
    joints.run(0.008)
    joints.weight[0] = 200.0
    joints.stop()
    joints.run(0.06)
    joints.weight[0] = 0.0
    joints.run(0.01)
    assert joints.failures > 0


@pytest.mark.parametrize(("speed", "latest"), [(0.3, 0.5), (0.5, 0.34), (1.0, 0.3), (3.0, 0.2)])
def test_stop_that_does_not_slow_a_joint_is_reported(speed, latest):
    """Whatever is commanded takes no effect."""
    joints = stopped(speed, seconds=latest, gain=np.zeros(2))
    assert (joints.phase, joints.failures) == ("failed", 1)


@pytest.mark.parametrize("obeyed", [False, True])
def test_joint_that_its_own_commands_drive_is_left_without_effort_unless_it_is_known_to_obey(obeyed):
    joints = stopped(0.5, seconds=0.25, gain=np.array([-1.0, 1.0]), obeyed=EVERYBODY if obeyed else NOBODY)
    assert (joints.phase, joints.failures) == (("failed", 1) if obeyed else ("released", 2))
    assert obeyed or joints.fastest < 1.0
    joints.run(0.2)
    assert (joints.command[0] == 0.0) == (not obeyed)


def test_arm_that_falls_from_rest_when_it_is_stopped_is_braked_at_once():
    """It had rested until then, and counted as at rest until it was 0.3 rad away."""
    joints = Joints()
    joints.run(0.5)
    joints.weight[0], joints.gain = 10.0, np.zeros(2)
    joints.stop()
    joints.run(0.12)
    assert (joints.phase, joints.failures) == ("failed", 1)
    assert joints.fastest < 1.5


def test_joint_that_rests_while_the_loop_is_late_stays_there_when_it_is_not_any_more():
    """Damping alone would then take a minute for a speed that is an error of the measurement."""
    joints = stopped(0.0, seconds=3.0, rate=0.05, damping=0.05, velocity_error=0.01)
    joints.rate = joints.damping = RATE
    joints.run(1.0)
    assert (joints.phase, joints.failures) == ("holding", 0)
    assert joints.fastest < 0.02


def test_what_held_a_joint_at_rest_counts_once_where_it_is_seen_no_more_right_after():
    hold, still = Hold(), np.zeros(2, dtype=bool)
    for q in (0.0, -0.1):  # N m come of the way between the two
        hold.spring(
            made_up(np.eye(2), q), RATE, LIMITS, gravity=np.zeros(2), speed=ANY, loose=still, moves=still, dt=0.004
        )
    hold.rest(np.full(2, -0.1))
    held = hold.carrying(np.zeros(2))
    assert np.all(held > 1.0)
    hold.forget()
    np.testing.assert_array_equal(hold.carrying(np.zeros(2)), held)


def test_way_of_a_spring_begins_where_the_joint_is_seen_first_at_a_stop():
    """The anchor was 0.06 s ahead of a joint that was stopped for the first time, and drew it on."""
    joints = Joints(speed=1.0)
    joints.run(0.2)
    joints.stop()
    joints.run(joints.period)
    assert_allclose(joints.supervisor.found.anchor, joints.q)


@pytest.mark.parametrize(("speed", "fails"), [(0.0, False), (0.8, True)], ids=["rests", "is fast"])
def test_stop_is_judged_by_velocities_while_an_encoder_slips(speed, fails):
    """By positions a joint that slips by 0.045 rad was as fast as 0.7 rad/s, and the brakes were called."""
    joints = Joints()
    joints.run(0.2)
    joints.stop()
    joints.misplaced = FIRST
    for _ in range(2):
        joints.slip[0] += 0.045
        joints.run(0.25)
    joints.qd[0] = speed
    joints.run(0.1)
    assert bool(joints.failures) == fails


@pytest.mark.parametrize("weight", [5.0, -5.0])
def test_springs_hold_the_other_joints_while_an_encoder_slips(weight):
    """Damping alone let each joint go whose weight changed: 0.3 rad within a second, and the brakes were called."""
    joints = Joints()
    joints.run(0.2)
    joints.stop()
    joints.misplaced = FIRST
    joints.run(0.4)  # it has proved to rest
    joints.weight[1] = weight
    joints.run(1.0)
    assert np.all(np.abs(joints.qd) < 0.05)
    assert abs(joints.q[1]) < 0.15
    assert not joints.failures


def test_model_of_an_arm_whose_encoder_slips_moves_no_joint_then_or_later():
    """Its gravity is that of another posture. It counted at once where the wrong position was believed."""
    joints = stopped(weight=8.0)
    joints.run(1.0)
    before = joints.q.copy()
    joints.misplaced, joints.slip, joints.gravity = FIRST, np.array([0.4, 0.0]), np.array([6.0, -4.0])
    joints.run(0.5)
    joints.misplaced = NOBODY
    joints.run(0.5)
    assert_allclose(joints.q, before, atol=0.003)


def test_encoder_that_slips_far_calls_no_brakes_of_a_joint_that_is_held():
    joints = stopped(speed=0.0)
    assert joints.phase == "holding"
    joints.misplaced = FIRST
    for _ in range(10):
        joints.slip[0] += 0.04
        joints.run(0.2)
    joints.misplaced = NOBODY
    joints.run(0.5)
    assert (joints.phase, joints.failures) == ("holding", 0)


def test_springs_of_other_joints_do_not_drive_one_that_has_none():
    """What accelerates these alone has a part at each joint; nothing but a spring of its own would bear it there."""
    hold, free = Hold(), np.array([False, True])
    for q in (0.0, -0.1, -0.1):
        arm = made_up(np.array([[2.0, 1.0], [1.0, 1.0]]), np.array([q, 0.0]))
        spring = hold.spring(
            arm, RATE, LIMITS, gravity=np.zeros(2), speed=ANY, loose=NOBODY, moves=EVERYBODY, dt=0.004, anew=free
        )
    assert spring[0] > 1.0
    assert hold.carrying(spring)[1] == 0.0


def test_velocity_that_no_position_shows_sends_no_spring_away():
    """At the stop, in one state: the joint rests, and is to be left alone."""
    hold = Hold()
    for told in (100.0, *np.zeros(50)):
        arm = made_up(np.eye(2), np.zeros(2), np.full(2, told))
        spring = hold.spring(
            arm, RATE, LIMITS, gravity=np.zeros(2), speed=np.full(2, 0.001), loose=NOBODY, moves=EVERYBODY, dt=0.004
        )
        assert np.all(np.abs(hold.carrying(spring)) < 0.01)


def test_velocity_that_no_position_shows_lets_no_spring_of_a_held_arm_go():
    """As of a coarse encoder, whose driver tells differences: the arm would creep away with each of them."""
    stop, exerted = Stop(), []
    stop.phase = "holding"
    for k, (q, told) in enumerate([(0.0, 0.0), (-0.1, 0.0), (-0.1, 1.0)]):
        arm, zero = made_up(np.eye(2), np.full(2, q), np.full(2, told)), np.zeros(2)
        seen, given = SeenState(0.004 * k, 0.0, arm.q, arm.qd), BrakeInput(arm, RATE, zero, zero, zero, NOBODY)
        spring = stop.spring(seen, given, LIMITS, loose=NOBODY, speed=np.full(2, 0.01), last=zero)
        exerted.append(stop.hold.carrying(spring))
    assert np.all(exerted[1] > 1.0)
    np.testing.assert_array_equal(exerted[2], exerted[1])


def test_springs_exert_the_same_when_the_loop_becomes_later_or_less_late():
    """A joint that friction holds hangs on them: where they were as stiff as the rate says, it would be thrown."""
    hold, still, sent = Hold(), NOBODY, []
    for q, rate in [(0.0, RATE), (-0.1, RATE), (-0.1, 0.3 * RATE), (-0.1, 0.5 * RATE), (-0.1, RATE)]:
        arm = made_up(np.eye(2), q)
        spring = hold.spring(arm, rate, LIMITS, gravity=np.zeros(2), speed=ANY, loose=still, moves=still, dt=0.004)
        sent.append(hold.carrying(spring))
    assert np.all(sent[1] > 5.0)
    np.testing.assert_allclose(sent[1:], [sent[1]] * 4, rtol=1e-12)


def test_noise_of_a_joint_that_has_come_to_rest_just_now_does_not_take_what_carries_it():
    hold, rng = Hold(), np.random.default_rng(0)
    hold.correction = np.full(2, -10.0)
    for _ in range(15):  # as long as the motion before is still seen
        arm = made_up(np.eye(2), np.zeros(2), 0.005 * rng.standard_normal(2))
        hold.spring(arm, RATE, LIMITS, gravity=np.zeros(2), speed=ANY, loose=NOBODY, moves=EVERYBODY, dt=0.004)
    np.testing.assert_allclose(hold.correction, -10.0, rtol=0, atol=0.1)


@pytest.mark.parametrize(("gravity", "kept"), [(80.0, 20.0), (-80.0, 150.0), (120.0, 0.0)])
def test_sum_is_no_more_than_a_command_can_contain_beside_gravity(gravity, kept):
    """Where gravity was turned over it was too little, and where a push had made it too much, it threw the arm."""
    hold, arm = Hold(), made_up(np.eye(2), np.zeros(2))
    hold.correction, gravity = np.array([150.0, -150.0]), np.array([gravity, -gravity])
    hold.spring(arm, RATE, LIMITS, gravity=gravity, speed=ANY, loose=NOBODY, moves=NOBODY, dt=0.004)
    np.testing.assert_allclose(hold.correction, [kept, -kept])


def test_joint_that_stops_within_a_soft_wall_is_brought_out_of_it():
    """Springs would hold it there against the wall, and the sum of their efforts would grow by that."""
    joints = stopped(5.0, wall=100.0, seconds=0.2)
    assert joints.q[0] > 0.1
    joints.run(2.0)
    assert (joints.phase, joints.failures) == ("holding", 0)
    assert -0.01 < joints.q[0] < 0.01


def test_spring_that_holds_a_joint_back_is_not_let_go_where_a_soft_wall_helps_it():
    """A weight that the model does not know draws the joint there: without the spring it would start into the wall."""
    joints, sent = Joints(), []
    joints.q, joints.wall = np.array([-0.02, 0.0]), 100.0
    joints.run(0.2)
    joints.weight = np.array([10.0, 0.0])
    joints.stop()
    for _ in range(250):
        joints.run(0.004)
        sent.append(joints.command[0])
    assert 0.01 < joints.q[0] < 0.06
    assert np.max(np.diff(sent)) < 0.5  # N m


@pytest.mark.parametrize("weight", [40.0, 80.0])
def test_joint_that_falls_although_it_is_commanded_up_is_not_left_without_effort(weight):
    """A drive that gives a third of what it is told still brakes the fall; without it the joint would fall faster."""
    joints = stopped(0.5, weight=weight, gain=np.array([0.3, 1.0]))
    assert joints.phase == "failed"
    assert joints.command[0] < -0.5 * weight


def test_joint_that_exerts_nothing_is_not_left_without_effort():
    """Its controller may follow later, and finds an effort then that brakes it."""
    joints = stopped(1.0, weight=5.0, seconds=0.4, inert=True)
    assert (joints.phase, joints.failures) == ("failed", 1)
    joints.inert = False
    joints.run(1.5)
    assert joints.phase == "failed"
    assert np.all(np.abs(joints.qd) < 0.05)


@pytest.mark.parametrize(("push", "seconds", "fails"), [(10.0, 0.3, False), (20.0, 0.1, False), (40.0, 1.0, True)])
def test_joint_that_rested_may_be_pushed_away_by_a_third_of_a_radian(push, seconds, fails):
    joints = stopped()
    joints.run(seconds, push)
    joints.run(2.0)
    assert joints.failures == fails
    assert np.all(np.abs(joints.qd) < 0.05)


@pytest.mark.parametrize("pushed", [False, True])
def test_joint_that_rested_and_becomes_fast_for_a_while_is_a_failure_unless_something_pushes_it(pushed):
    """A drive that gave less than before was judged by the joint's way alone: it fell at 9 rad/s."""
    joints = stopped(obeyed=EVERYBODY)
    assert joints.phase == "holding"
    joints.pushed = pushed
    joints.run(0.25, push=20.0)
    assert joints.q[0] < 0.25
    assert (joints.failures > 0) == (not pushed)


def lead(joints: Joints, speed: float, seconds: float) -> None:
    """Drive the first joint at a speed, rad/s, for a time, s."""
    for _ in range(round(seconds / 0.004)):
        joints.qd[0] = speed
        joints.run(0.004)


@pytest.mark.parametrize(("speed", "seconds", "fails"), [(2.0, 0.1, False), (2.0, 0.3, True), (0.3, 2.0, False)])
def test_joint_that_creeps_long_after_the_stop_may_be_bumped_or_led_slowly_but_not_fast(speed, seconds, fails):
    """It is not at rest, but slow: a bump is judged as one right after the stop is."""
    joints = stopped(0.5, seconds=0.2, obeyed=EVERYBODY)
    lead(joints, 0.03, 1.2)
    assert joints.phase == "braking"
    joints.pushed = True
    lead(joints, speed, seconds)
    assert (joints.failures > 0) == fails


@pytest.mark.parametrize(("seconds", "fails"), [(0.9, False), (1.3, True)])
def test_joint_that_is_pushed_on_as_fast_as_it_was_is_a_failure_a_second_after_the_stop(seconds, fails):
    joints = stopped(1.2, seconds=0.0, obeyed=EVERYBODY)
    joints.pushed = True
    lead(joints, 1.2, seconds)
    assert (joints.failures > 0) == fails


def test_joint_that_was_pushed_away_is_not_thrown_back():
    joints = stopped()
    joints.run(0.2, push=20.0)
    assert joints.q[0] > 0.1
    joints.fastest = 0.0
    joints.qd, pushed_to = np.zeros(2), joints.q[0]
    joints.run(1.0)
    assert joints.fastest < 0.04 * 20.0
    assert pushed_to - 0.1 < joints.q[0] < pushed_to


@pytest.mark.parametrize(("speed", "weight"), [(0.5, 40.0), (3.0, 60.0)])
def test_joint_that_a_large_error_of_the_model_drives_rests_within_a_second(speed, weight):
    """As with gravity that is turned over: springs of 0.15 rad alone exert 15 N m."""
    joints = stopped(speed, weight=weight, seconds=1.0)
    assert np.all(np.abs(joints.qd) < 0.05)
    assert joints.fastest < speed + 2.0  # 60 rad/s^2 until the effort has been built up
    assert abs(joints.q[0]) < 1.0


@pytest.mark.parametrize("push", [20.0, 40.0])
def test_joint_that_a_hand_pushed_amid_a_stop_is_not_thrown_back(push):
    """The stop has held against the hand, and the sum of its springs has grown by that."""
    joints = stopped(0.5, seconds=0.0, obeyed=EVERYBODY)
    joints.run(0.8, push)
    joints.fastest = 0.0
    joints.qd, pushed_to = np.zeros(2), joints.q[0]
    joints.run(1.0)
    assert joints.fastest < 0.04 * push
    assert abs(joints.q[0] - pushed_to) < 0.25
    assert np.all(np.abs(joints.qd) < 0.05)


def test_mode_that_is_entered_after_a_stop_that_failed_begins_anew():
    joints = stopped(1.0, seconds=0.4, gain=np.zeros(2))
    assert joints.phase == "failed"
    joints.gain, joints.qd = np.ones(2), np.zeros(2)
    joints.supervisor.enter("gravity", applied=joints.command, gravity=np.zeros(2), age=0.0, now=joints.now)
    joints.run(0.5)
    np.testing.assert_allclose(joints.command, 0.0, rtol=0, atol=1e-9)
    joints.stop()
    joints.run(1.5)
    assert (joints.phase, joints.failures) == ("holding", 1)


def test_joint_that_was_not_seen_for_a_while_is_held_where_it_is_then():
    """A spring to where it was before would throw it."""
    joints = stopped()
    joints.now += 1.0
    joints.q = np.array([0.3, 0.0])
    joints.supervisor.ramp_down(joints.now)
    joints.fastest = 0.0
    joints.run(1.0)
    assert joints.fastest < 0.05
    assert joints.phase == "holding"


def test_states_that_were_measured_before_a_stop_and_come_after_it_do_not_judge_it():
    """A node that was held up reads them one after the other: the joint has gone on, for nothing braked it."""
    joints = Joints(1.0)
    joints.run(0.2)
    joints.stop()
    for k in range(15):
        joints.q = joints.q + np.array([0.004, 0.0])
        joints.see(age=0.06 - 0.004 * k)
    assert (joints.phase, joints.failures) == ("braking", 0)


@pytest.mark.parametrize("seconds", [0.1, 1.5])
def test_process_that_takes_over_goes_on_with_what_the_stop_has_found_out(seconds):
    """It carries a weight that the model does not know, from the numbers that the node has left."""
    joints = stopped(0.5, weight=10.0, seconds=seconds)
    found = StopFindings.of(joints.supervisor.found.numbers(2))
    other = CommandSupervisor(LIMITS, SupervisorPolicy())
    other.enter("gravity", applied=joints.command, gravity=np.zeros(2), age=0.001, now=joints.now)
    other.stop("takeover")
    other.go_on_stopping(found)
    joints.supervisor, joints.fastest = other, 0.0
    joints.run(1.5)
    assert (joints.phase, joints.failures) == ("holding", 0)
    assert joints.fastest < (0.1 if seconds > 1 else 1.2)


def test_process_that_takes_over_a_stop_that_failed_reports_it_again_and_leaves_the_same_joints():
    joints = stopped(0.5, seconds=0.25, gain=np.array([-1.0, 1.0]))
    assert joints.phase == "released"
    other = CommandSupervisor(LIMITS, SupervisorPolicy())
    other.enter("gravity", applied=joints.command, gravity=np.zeros(2), age=0.001, now=joints.now)
    other.stop("takeover")
    other.go_on_stopping(StopFindings.of(joints.supervisor.found.numbers(2)))
    joints.supervisor, joints.failures = other, 0
    joints.run(0.5)
    assert (joints.phase, joints.failures, joints.command[0]) == ("released", 1, 0.0)


def test_mode_that_is_left_while_springs_hold_a_joint_lets_it_rest():
    """Friction holds it, and a part of its weight hangs on the spring: it would fall if the spring began anew."""
    joints = stopped(0.0, weight=3.0, seconds=0.5)
    joints.run(2.0)
    joints.fastest = 0.0
    joints.supervisor.leave()
    joints.run(1.5)
    assert joints.phase == "silent"
    assert joints.fastest < 0.02


def test_joint_that_rests_is_carried_on_when_states_come_again():
    joints = stopped(1.0, weight=10.0, seconds=2.5)
    held = joints.command.copy()
    joints.now += 1.0
    joints.supervisor.ramp_down(joints.now)
    joints.fastest = 0.0
    joints.run(1.0)
    assert joints.fastest < 0.02
    np.testing.assert_allclose(joints.command, held, rtol=0, atol=0.1)
