# SPDX-License-Identifier: Apache-2.0
"""An arm that passes between its trajectory controller and the node: how far it moves, and who holds it in the end."""

from __future__ import annotations

import numpy as np
import pytest

from arm_world import ARM, FRICTIONLESS, HOME, ArmWorld, broken, coarse_encoders, of_kind, told
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import Payload
from ros2_dyn.runtime.handover import NODE
from ros2_dyn.runtime.handover_protocol import Controller, Outcome, Refused
from ros2_dyn.runtime.inputs import ClockJump, Description
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.controllers import EFFORT, TRAJECTORY
from ros2_dyn.simulation.interpolated_trajectory import Waypoint
from ros2_dyn_tools.campaign.driver import DriverFault
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.promise import Disturbances, broken_promises
from ros2_dyn_tools.campaign.promises import left_at_rest
from ros2_dyn_tools.campaign.simulated_manager import SimulatedManager
from tiers import FULL

SMALL = 5e-3
"""Largest motion in a handover, rad."""
RESTS = 0.02
"""Speed below which the arm rests, rad/s."""
HELD = 0.1
"""Motion that a handover which fails may lead to, rad."""
LONGEST = 20.0
"""Time in which every handover has to end, s."""


class HandoverWorld(ArmWorld):
    """The trajectory controller holds the arm at the start, at home."""

    def __init__(self, seed=1, *, arm=FRICTIONLESS, home=HOME, payload: Payload | None = None, **settings) -> None:
        super().__init__(seed, arm=arm.carrying(payload), known=arm, home=home, **settings)
        self.manager = SimulatedManager(self)
        self.switch_controller(False)
        weight = gravity(self.arm_model, self.home)
        self.controllers.follow([Waypoint(0.01, self.home, np.zeros(len(weight)), weight)])
        if payload is not None:
            self.tell_payload(told(payload))
        self.run(0.6)
        self.began = self.now

    def take_over(self) -> Outcome:
        """Take the arm over, and return how that ended."""
        return self._wait(self.manager.take_over)

    def give_back(self) -> Outcome:
        """Give the arm back, and return how that ended."""
        return self._wait(self.manager.give_back)

    def _wait(self, begin) -> Outcome:
        self.began = self.now
        begin()
        while self.manager.busy:
            assert self.now - self.began < LONGEST, "the handover does not end"
            self.run(self.now + 0.05)
        return self.manager.outcomes[-1]

    def moved(self) -> float:
        """Return how far a joint went since the newest handover began, rad."""
        return self.travel(self.began)

    def speed(self) -> float:
        """Return the fastest joint's speed, rad/s."""
        return float(np.max(np.abs(self.arm.qd)))

    def follow(self, duration: float) -> None:
        """Let the trajectory controller move three joints by 0.8, 0.4 and 0.4 rad within a time, s."""
        goal = np.add(self.arm.q, [0.8, 0.4, -0.4, 0.0, 0.0, 0.0])
        self.controllers.follow([Waypoint(duration, goal, np.zeros(len(goal)), gravity(self.arm_model, goal))])

    @property
    def holder(self) -> str:
        """Who really holds the arm."""
        if self.controllers.active != EFFORT:
            return self.controllers.active
        return NODE if self.node.commands and self.listening else ""


def random_world(seed: int) -> HandoverWorld:
    """Return a world with friction or without, a random posture, and a payload or none."""
    rng = np.random.default_rng(seed)
    home = np.array([0.0, -1.2, 0.9, 0.0, 0.0, 0.0]) + rng.uniform(-1, 1, 6) * [2.0, 1.2, 1.4, 2.0, 2.0, 2.5]
    payload = Payload(rng.uniform(0.5, 4.0), rng.uniform(-0.1, 0.1, 3)) if seed % 3 else None
    return HandoverWorld(seed, arm=FRICTIONLESS if seed % 2 else ARM, home=home, payload=payload)


@pytest.mark.parametrize("seed", range(200 if FULL else 4))
def test_arm_that_is_taken_over_and_given_back_stays_where_it_is(seed):
    world = random_world(seed)
    for handover, holder in ((world.take_over, NODE), (world.give_back, TRAJECTORY)):
        outcome = handover()
        assert (outcome.success, outcome.held_by) == (True, holder), outcome.message
        assert world.holder == holder
        world.run(world.now + 0.5)
        assert world.moved() < SMALL
        assert world.speed() < RESTS
    assert not broken(world)


SILENT, REFUSED, DEAD_EFFORT = ("answers", False), ("switches", False), ("effort_works", False)
"""What is wrong with the manager of the controllers: an attribute of `SimulatedManager`, and its value."""


def _held(world: HandoverWorld, held_by: str) -> None:
    """Check that the arm is held, near where it was, a second later and by whom the outcome says."""
    world.run(world.now + 1.0)
    assert world.speed() < RESTS
    assert world.moved() < HELD
    assert world.holder == held_by


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (REFUSED, "the switch is refused"),
        (SILENT, "no answer within 2 s"),
        (DEAD_EFFORT, "'shoulder_pan_joint' does not follow its command; switched back"),
        (("effort_joints", tuple(ARM.joint_names[::-1])), "set robot.joints to its joints in its order"),
    ],
)
def test_arm_that_cannot_be_taken_over_stays_with_its_controller(fault, says):
    world = HandoverWorld()
    setattr(world.manager, *fault)
    outcome = world.take_over()
    assert not outcome.success
    assert says in outcome.message
    if fault != SILENT:
        assert outcome.held_by == TRAJECTORY
    _held(world, TRAJECTORY)
    assert world.node.mode == "monitor"


def test_node_that_switches_back_commands_until_the_arm_rests_under_its_controller():
    world = HandoverWorld()
    setattr(world.manager, *DEAD_EFFORT)
    world.manager.latency = 0.02  # s, for which the trajectory controller holds the arm without its weight
    assert world.take_over().held_by == TRAJECTORY
    assert not broken_promises((left_at_rest,), world.finish(), Disturbances())


def test_arm_that_falls_when_it_is_switched_back_is_said_to_be_held_by_nobody():
    world = HandoverWorld()
    world.manager.effort_works = world.manager.trajectory_works = False
    outcome = world.take_over()
    assert "switched back, and the arm moved by 0.02" in outcome.message
    assert (outcome.success, outcome.held_by) == (False, "")
    assert of_kind(world, "stop_service")
    assert world.moved() < HELD


def test_arm_that_moves_is_not_taken_over():
    world = HandoverWorld()
    world.follow(2.0)
    world.run(world.now + 0.3)
    outcome = world.take_over()
    assert "the arm moves: '" in outcome.message
    assert (outcome.success, outcome.held_by) == (False, TRAJECTORY)
    check_left_alone(world)


def test_arm_that_rests_between_two_steps_of_coarse_encoders_is_taken_over():
    """It was refused for ever: "the arm moves", with one step in the time within which it has to rest."""
    world = HandoverWorld()
    world.driver.faults.append(coarse_encoders(world.arm.q, 0.0015))
    world.run(world.now + 0.5)
    outcome = world.take_over()
    assert outcome.success, outcome.message
    assert world.moved() < HELD


@pytest.mark.parametrize("begin", [0.1, 0.3])
def test_motion_that_begins_amid_a_take_over_is_left_to_its_controller(begin):
    world = HandoverWorld()
    world.at(world.now + begin, lambda: world.follow(2.0))
    outcome = world.take_over()
    assert outcome.message.startswith("nothing is switched: ")
    assert (outcome.success, outcome.held_by) == (False, TRAJECTORY)
    check_left_alone(world)


@pytest.mark.parametrize("duration", [0.6, 2.0])
def test_trajectory_right_after_the_arm_was_given_back_is_no_stop_that_failed(duration):
    """The node would call the brakes, and refuse the next mode."""
    world = HandoverWorld()
    for handover in (world.take_over, world.give_back):
        assert handover().success
    world.follow(duration)
    check_left_alone(world)
    assert world.take_over().success


def check_left_alone(world: HandoverWorld) -> None:
    """Check that a trajectory comes to its end, and that the node has ended its commands for no other reason."""
    world.run(world.now + 2.5)
    assert world.moved() == pytest.approx(0.8, abs=0.05)
    assert world.speed() < RESTS
    assert world.holder == TRAJECTORY
    assert world.node.mode == "monitor"
    assert world.reasons() == []
    assert of_kind(world, "event", "stop failed") == []


def test_joints_that_are_swapped_behind_the_manager_are_switched_back():
    world = HandoverWorld(home=[0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0])  # upright: no weight tells them apart
    world.wirings.append([(0, 1.0), (2, 1.0), (1, 1.0), (3, 1.0), (4, 1.0), (5, 1.0)])
    outcome = world.take_over()
    assert not outcome.success
    assert "switched back" in outcome.message
    _held(world, TRAJECTORY)


def test_switch_that_took_place_unanswered_counts():
    world = HandoverWorld()
    world.manager.tells = False
    outcome = world.take_over()
    assert outcome.success, outcome.message
    _held(world, NODE)


class BroadcastManager(SimulatedManager):
    """A manager with two broadcasters, of states of the trajectory controller and of those of the effort controller."""

    broadcasters = tuple(Controller(f"of {name}", True, (), False, reads=(name,)) for name in (TRAJECTORY, EFFORT))

    async def list(self):
        """Return the controllers."""
        return [*await super().list(), *self.broadcasters]

    async def switch(self, activate, deactivate):
        """Switch controllers, as ros2_control does: not one whose states another one reads."""
        if TRAJECTORY in deactivate and f"of {TRAJECTORY}" not in deactivate:
            raise Refused("somebody reads its states")
        kept = [[name for name in names if not name.startswith("of ")] for names in (activate, deactivate)]
        await super().switch(*kept)


def test_what_reads_a_controller_alone_ends_with_it():
    world = HandoverWorld()
    world.manager = BroadcastManager(world)
    outcome = world.take_over()
    assert outcome.success, outcome.message
    assert outcome.taken_from == (TRAJECTORY, f"of {TRAJECTORY}")
    _held(world, NODE)


def test_measured_efforts_that_are_missing_leave_the_take_over_unverified():
    world = HandoverWorld()
    world.driver.faults.append(without_efforts)
    outcome = world.take_over()
    assert outcome.success
    assert "to see whether these follow: shoulder_pan_joint, " in outcome.message
    _held(world, NODE)


def test_manager_that_falls_silent_leaves_the_arm_with_whoever_is_active_and_the_node_commanding():
    world = HandoverWorld()
    world.at(world.now + 0.5, lambda: setattr(world.manager, *SILENT))
    outcome = world.take_over()
    assert not outcome.success
    assert outcome.held_by == f"{TRAJECTORY} or {NODE}"
    assert world.node.mode == "gravity"
    _held(world, TRAJECTORY)
    world.switch_controller(True)  # as a switch that comes late
    _held(world, NODE)


def test_mode_that_ends_amid_a_take_over_leaves_the_arm_where_it_was():
    world = HandoverWorld()
    world.at(world.now + 0.4, lambda: world.node.input(ClockJump("by 1 s")))
    outcome = world.take_over()
    assert "mode gravity ended: clock jumped" in outcome.message
    _held(world, TRAJECTORY)


def test_node_that_dies_after_the_switch_is_replaced_by_its_failsafe():
    world = HandoverWorld(arm=ARM)
    world.queue.every(
        0.01, lambda: world.node.kill() if world.controllers.active == EFFORT and world.now < 2.5 else None
    )
    outcome = world.take_over()
    assert outcome.message == "the node died"
    world.run(world.now + 1.0)
    assert world.controllers.active == EFFORT
    assert world.node.failsafe_commands
    assert world.speed() < RESTS
    assert world.moved() < HELD


def test_robot_that_changes_amid_a_take_over_is_given_back():
    world = HandoverWorld()
    lighter = world.description.carrying(Payload(0.1))
    world.at(world.now + 1.0, lambda: world.node.input(Description(lighter)))
    outcome = world.take_over()
    assert not outcome.success
    assert "robot changed" in outcome.message
    _held(world, TRAJECTORY)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (REFUSED, "the switch is refused; mode gravity goes on"),
        (SILENT, "no answer within 2 s"),
        (("trajectory_works", False), "'effort_controller' was switched on again"),
    ],
)
def test_arm_that_cannot_be_given_back_stays_with_the_node(fault, says):
    world = HandoverWorld(arm=ARM)
    assert world.take_over().success
    setattr(world.manager, *fault)
    outcome = world.give_back()
    assert not outcome.success
    assert says in outcome.message
    _held(world, NODE)
    assert world.controllers.active == EFFORT


def test_arm_that_moves_is_not_given_back():
    world = HandoverWorld()
    assert world.take_over().success
    shaken = AppliedForce("tool0", (0.0, 0.0, 10.0), profile="sinusoid", start=world.now, frequency=1.0)
    world.arm.contacts.append(shaken)
    outcome = world.give_back()
    assert "the arm does not come to rest" in outcome.message
    assert world.holder == NODE


def test_give_back_leaves_mode_hand_guiding_through_gravity():
    world = HandoverWorld()
    assert world.take_over().success
    world.play("hand_guiding", world.now + 0.5)
    assert world.node.mode == "hand_guiding"
    assert world.give_back().success
    _held(world, TRAJECTORY)


def loaded(mass: float, *faults: DriverFault) -> HandoverWorld:
    """Return a world whose arm carries a mass that nobody has declared, kg, and whose driver has faults."""
    world = HandoverWorld()
    world.driver.faults.extend(faults)
    world.replace_arm(world.arm_model.carrying(Payload(mass)))
    world.run(world.now + 0.5)
    return world


def test_arm_that_carries_what_the_node_is_not_told_of_stays_where_it_is():
    """Its controller exerts what the model lacks, and the node goes on with that."""
    world = loaded(1.0)
    assert world.take_over().success
    world.run(world.now + 0.5)
    assert world.moved() < SMALL
    _held(world, NODE)


def test_arm_that_the_model_does_not_hold_is_switched_back_where_no_effort_is_measured():
    world = loaded(1.0, without_efforts)
    outcome = world.take_over()
    assert "the arm moved by 0.02" in outcome.message
    assert "switched back" in outcome.message
    _held(world, TRAJECTORY)


def test_arm_whose_load_only_the_springs_of_the_take_over_know_stays_where_it_is_when_they_let_go():
    """They faded, and the arm sank by 0.4 rad, at 0.28 rad/s, under a load that they had borne."""
    world = loaded(0.3, without_efforts)
    outcome = world.take_over()
    assert outcome.success, outcome.message
    world.began = world.now
    world.run(world.now + 2.0)
    assert world.moved() < 0.02
    _held(world, NODE)
