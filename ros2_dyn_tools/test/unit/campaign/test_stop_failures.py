# SPDX-License-Identifier: Apache-2.0
"""Which stops count as failed: not those amid a push; and what a joint keeps whose drive gives less than asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_stops import STOP_AT, USUAL, events, leave, watch, world

from ros2_dyn.dynamics import gravity
from ros2_dyn.runtime.inputs import ClockJump
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn_tools.campaign.commander_faults import move_by_another
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.record import stops
from ros2_dyn_tools.campaign.world import World
from tiers import by_turns, part


def gravity_with_collisions(name: str, seed: int) -> World:
    """Return a world in gravity whose model is right, with thresholds of a tenth of the effort limits."""
    threshold = (0.1 * world(name).description.effort_limit).tolist()
    settings = {"commands.model_tolerance": 0.1, "commands.max_tip_speed": 0.25, "collision.threshold": threshold}
    played = world(name, seed, error=0.0, **settings)
    played.want_mode("gravity")
    return played


@pytest.mark.parametrize("effort_noise", [0.0, 0.3])  # N m
@pytest.mark.parametrize(("name", "seed"), by_turns(["mock_arm", "ur10", "panda"], [1, 2, 3]))
def test_a_bump_stops_the_arm_and_calls_no_brakes(name, seed, effort_noise):
    """The hand drives the arm on for a moment: that is no failure of the stop, and the arm rests afterwards."""
    played = gravity_with_collisions(name, seed)
    played.driver.quality = replace(played.driver.quality, effort_noise=effort_noise)
    rng = np.random.default_rng(seed)
    force = rng.normal(size=3)
    force *= rng.uniform(30, 60) / np.linalg.norm(force)
    played.add_contact(AppliedForce(played.description.default_tip, tuple(force), start=STOP_AT, duration=0.25))
    played.run(STOP_AT)
    pushed, motion = watch(played, 0.25), watch(played, 2.0)
    assert not events(played, "stop_service")
    assert motion.max_speed <= pushed.max_speed, (pushed, motion)
    assert motion.moved_for < 1.0, motion


def pushed(name: str, weight: float) -> World:
    """Return a world that is stopped when something begins to push its tip downwards for 4 s, N."""
    played = gravity_with_collisions(name, 1)
    played.add_contact(AppliedForce(played.description.default_tip, (0.0, 0.0, -weight), start=STOP_AT, duration=4.0))
    played.at(STOP_AT, lambda: setattr(played, "wanted_mode", "stopped"))
    played.run(STOP_AT)
    return played


@pytest.mark.parametrize(("name", "weight"), [("ur10", 800.0), ("mock_arm", 300.0)])
def test_push_that_goes_on_is_held_where_the_motors_can_and_brakes_are_called_if_it_makes_a_joint_fast(name, weight):
    """A person who pushes, and a load that nobody declared, look alike; the second took a joint to 16 rad/s."""
    played = pushed(name, weight)
    while np.max(np.abs(played.arm.qd)) < 0.5:  # rad/s
        played.run(played.now + 0.004)
    fast = played.now
    motion = watch(played, 3.0)
    assert 0.1 < events(played, "stop_service")[0] - fast < 0.25
    assert motion.end_speed < 0.1, motion


def test_slow_push_that_goes_on_is_held_and_calls_no_brakes():
    played = pushed("ur10", 100.0)
    motion = watch(played, 3.0)
    assert motion.end_speed < 0.1, motion
    assert not events(played, "stop_service")


def test_push_that_the_motors_cannot_hold_is_told():
    played = pushed("panda", 500.0)
    played.run(STOP_AT + 3.0)
    assert events(played, "stop_service")[0] < STOP_AT + 1.0
    assert stops(played.finish()) == [False]  # whatever moves it


def test_stop_of_an_arm_that_nobody_touches_counts_as_one_that_rests():
    played = gravity_with_collisions("ur10", 1)
    played.at(STOP_AT, lambda: setattr(played, "wanted_mode", "stopped"))
    played.at(STOP_AT, lambda: played.node.input(ClockJump("test")))
    played.run(STOP_AT + 3.0)
    assert stops(played.finish()) == [True]


def derated(name: str, share: float, measured: bool) -> float:
    """Return the largest speed of an arm, rad/s, one of whose drives gives a share of its weight at most."""
    played = world(name, 1, error=0.0, **USUAL)
    if not measured:
        played.driver.faults.append(without_efforts)
    weight, limit = gravity(played.arm_model, played.home), played.arm_model.effort_limit
    joint, command = int(np.argmax(np.abs(weight) / limit)), played.controllers.command

    def give_less() -> None:
        most = np.array(limit)
        most[joint] = share * abs(weight[joint])
        played.controllers.command = lambda efforts: command(np.clip(efforts, -most, most).tolist())

    played.at(STOP_AT, give_less)
    played.want_mode("gravity")
    played.run(STOP_AT)
    return watch(played, 3.0).max_speed


@pytest.mark.parametrize("share", part([0.7, 0.5], 1))
def test_joint_whose_drive_is_derated_falls_no_faster_where_its_effort_is_measured(share):
    """Its effort is right in sign, and too small: withdrawn, the arm falls faster."""
    assert derated("panda", share, measured=True) < 1.1 * derated("panda", share, measured=False)


@pytest.mark.parametrize("rests", [False, True])
@pytest.mark.parametrize(("name", "share"), part([("panda", 0.05), ("mock_arm", 0.1), ("ur5", 0.1)], 2))
def test_brakes_are_called_of_an_arm_whose_drives_give_a_part_of_its_weight(name, share, rests):
    """What they lacked looked like a push, and was excused: it fell by 3 rad, at 8 rad/s, without brakes."""
    played = world(name, 1, error=0.0, **USUAL)
    command, most = played.controllers.command, share * played.arm_model.effort_limit
    played.want_mode("gravity")
    played.run(STOP_AT)
    played.wanted_mode = "stopped"
    if rests:
        played.node.input(ClockJump("test"))
        played.run(STOP_AT + 1.0)
    played.controllers.command = lambda efforts: command(np.clip(efforts, -most, most).tolist())
    saturates = played.now
    watch(played, 0.6)
    assert events(played, "stop_service"), played.node.runtime.reason
    assert events(played, "stop_service")[0] < saturates + 0.6


@pytest.mark.parametrize(("name", "seed"), [("panda", 2), ("xarm7", 4)])
def test_joint_whose_drive_gives_nothing_for_a_moment_is_not_left_without_effort_for_the_noise_of_its_efforts(
    name, seed
):
    """Half of it is the opposite of what is commanded: the arm fell by 4.1 rad, at 8 and 10 rad/s."""
    played = world(name, seed, error=0.0, rate=250.0, **USUAL)
    limit, noise = played.arm_model.effort_limit, np.random.default_rng(0)
    played.driver.faults.append(
        lambda samples: [
            each._replace(effort=(each.effort + 0.17 * noise.standard_normal(7)).tolist()) for each in samples
        ]
    )
    played.want_mode("gravity")
    played.run(1.6)
    leave(played)
    played.run(1.62)
    played.add_contact(Hand(played.arm_model.default_tip, (0.0, 0.12, 0.08), start=1.62, duration=1.0, hold=0.3))
    played.run(2.12)
    held, played.listening, played.arm.law = played.arm.motor_effort(), False, HeldEffort(np.zeros(7), limit)
    played.run(2.27)
    played.listening, played.arm.law = True, HeldEffort(held, limit)
    played.arm.contacts.clear()
    motion = watch(played, 2.0)
    assert motion.end_speed < 0.05, motion
    assert motion.travel < 0.3, motion


def test_stop_keeps_nothing_of_a_push_that_no_command_can_contain():
    """The sum of the springs did, whoever held the arm meanwhile: it went 0.9 rad at 1.8 rad/s, and the brakes came."""
    played = world("xarm7", 2, error=0.0, rate=250.0, **USUAL)
    played.want_mode("gravity")
    played.run(1.6)
    played.wanted_mode = "stopped"
    played.node.input(ClockJump("test"))
    played.run(2.4)
    played.add_contact(AppliedForce(played.description.default_tip, (0.0, 100.0, 0.0), start=2.4, duration=0.5))
    played.run(3.3)
    played.switch_controller(False)
    played.run(4.3)
    played.switch_controller(True)
    motion = watch(played, 2.0)
    assert motion.max_speed < 0.1, motion
    assert motion.travel < 0.05, motion
    assert not events(played, "stop_service")


@pytest.mark.parametrize(
    ("name", "mode", "seed"),
    part(
        [("mock_arm", "gravity", 0), ("panda", "gravity", 4), ("ur5", "impedance", 4), ("mock_arm", "impedance", 3)], 2
    ),
)
def test_controller_that_moves_the_arm_while_a_mode_commands_leaves_no_joint_without_effort(name, mode, seed):
    """Its motion made joints seem to do the opposite: at 1.4 to 3.1 rad/s they fell by 0.8 to 1.6 rad when it ended."""
    played = world(name, seed, error=0.0, **USUAL)
    played.want_mode(mode)
    played.run(STOP_AT)
    assert played.node.mode == mode
    played.wanted_mode = "stopped"
    move_by_another(played, np.random.default_rng(seed).uniform(-0.5, 0.5, played.arm_model.n), 1.0)
    played.run(STOP_AT + 1.5)
    assert events(played, "stop_service")
    played.switch_controller(True)
    motion = watch(played, 1.0)
    assert motion.max_speed < 0.7, motion
    assert motion.travel < 0.1, motion
