# SPDX-License-Identifier: Apache-2.0
"""The world in virtual time: determinism, modes, the failsafe process, the judge, and every kind of fault."""

import hashlib
import os
import subprocess
import sys
from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arm_world import ARM, HOME, SETTINGS, broken, timeline, worst
from ros2_dyn.control.modes import impedance
from ros2_dyn.dynamics import gravity
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.runtime.arm_runtime import ArmRuntime
from ros2_dyn.runtime.inputs import ClockJump, CommandExpired, Description
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.update import Command, Update
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.event_queue import EventQueue
from ros2_dyn_tools.campaign.faults import FAULTS, LASTING_FAULTS, start_fault
from ros2_dyn_tools.campaign.runner import play_world
from ros2_dyn_tools.campaign.simulated_node import NodeQuality, SimulatedNode
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions

REVERSED = {name: value[::-1] for name, value in SETTINGS.items() if isinstance(value, (tuple, list))}
"""The same with the controller's joints in the opposite order."""


def world(seed: int = 1, contacts=(), make_runtime=ArmRuntime, rate=125.0, **options) -> World:
    """Return a world of the mock arm; further keywords are settings, or fields of `WorldOptions`."""
    fields = {name: options.pop(name) for name in ("states", "commands", "node", "targets") if name in options}
    chosen = WorldOptions(Settings.from_values(SETTINGS | options), DriverQuality(rate), **fields)
    return World(seed, ARM, HOME, chosen, contacts=contacts, make_runtime=make_runtime)


def kinds(world: World, kind: str) -> list[tuple]:
    """Return the details of the records of a kind."""
    return [record[2:] for record in world.records if record[1] == kind]


# --- determinism ------------------------------------------------------------------------------------------------


def test_timeline_is_that_of_its_seed_in_another_process_with_another_hash_seed_too():
    code = (
        "import hashlib; from arm_world import timeline; from ros2_dyn_tools.campaign.runner import play_world; "
        "print(hashlib.sha256(timeline(play_world(5, 1).record)).hexdigest())"
    )
    first = timeline(play_world(5, 1).record)
    assert len(first) > 30_000
    environment = os.environ | {"PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    output = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert output.stdout.strip() == hashlib.sha256(first).hexdigest()


# --- modes and motion -------------------------------------------------------------------------------------------


def test_controller_holds_the_last_command_after_the_node_has_gone_silent():
    played = world(**{"commands.stop_behaviour": "none"}, node=NodeQuality(restart_time=60.0))
    played.want_mode("gravity")
    played.run(0.8)
    played.node.kill()
    last = [record for record in played.records if record[1] == "command"][-1]
    played.run(3.0)
    assert_allclose(played.arm.law.tau, last[2:])


def test_commands_reach_the_controller_in_the_order_of_its_joints():
    played = world(**REVERSED)
    played.want_mode("gravity")
    played.run(1.0)
    assert_allclose(played.arm.law.tau, gravity(ARM, played.arm.q), rtol=0, atol=0.5)
    assert np.abs(played.arm.q - HOME).max() < 0.02


@pytest.mark.parametrize("convention", ["states.measured_effort", "commands.command_effort"])
def test_robot_that_compensates_gravity_itself_is_held_in_gravity_mode(convention):
    played = world(**{convention: "gravity_compensated"})
    played.want_mode("gravity")
    played.run(1.5)
    assert played.node.mode == "gravity"
    assert np.abs(played.arm.q - HOME).max() < 0.02
    largest = np.abs([record[2:] for record in played.records if record[1] == "command"][-1]).max()
    assert largest < 1.0 if convention == "commands.command_effort" else largest > 20.0
    assert not broken(played)


def test_commands_act_after_the_delay_of_their_channel():
    played = world(commands=ChannelQuality(delay=0.5), node=NodeQuality(failsafe_start=0.0))
    before = played.arm.law.tau.copy()
    played.want_mode("hand_guiding")
    played.run(0.45)
    assert kinds(played, "command")
    assert_allclose(played.arm.law.tau, before)
    played.run(1.2)
    assert np.abs(played.arm.law.tau - before).max() > 0


def test_contact_force_and_travel_after_a_stop_are_recorded():
    push = AppliedForce("tool0", (0.0, 60.0, 0.0), start=1.0, duration=0.5)
    played = world(contacts=[push], **{"commands.max_tip_speed": 0.05})
    played.want_mode("hand_guiding")
    played.run(0.99)
    assert (worst(played, "contact force"), worst(played, "travel after a stop")) == (0.0, 0.0)
    played.run(1.5)
    assert_allclose(worst(played, "contact force"), 60.0)
    assert worst(played, "joint speed") > 0.16
    assert worst(played, "travel after a stop") > 1e-3
    assert any("too fast" in text for kind, text in kinds(played, "event"))


# --- the node and its failsafe process --------------------------------------------------------------------------


def test_failsafe_process_of_a_killed_node_ramps_to_gravity_without_a_violation():
    played = world(node=NodeQuality(restart_time=0.3), **{"states.timeout": 0.2})
    played.want_mode("feed_forward")
    played.run(1.0)
    played.node.kill()
    played.run(1.25)
    assert kinds(played, "failsafe") == [("takes over", "the node has ended")]
    efforts = np.array(kinds(played, "failsafe command"))
    assert len(efforts) > 5
    assert_allclose(efforts[-1], gravity(ARM, played.arm.q), rtol=0, atol=3.0)
    assert np.abs(played.arm.qd).max() < 0.05
    assert np.abs(efforts[-1] - efforts[0]).max() > 1.0
    assert not broken(played)
    played.run(3.0)
    assert played.node.mode == "feed_forward"  # the new node, after the failsafe process was released
    assert not broken(played)


def test_node_that_hung_while_another_failsafe_was_armed_does_not_command_beside_the_one_that_took_over():
    """The description changes amid a mode, and another failsafe process is started. Meanwhile the first takes over."""
    played = world(node=NodeQuality(failsafe_start=0.05, compile_time=0.05))
    played.want_mode("gravity")
    played.run(1.0)
    heavier = ARM.with_body("tool0", SpatialInertia.from_com(0.01, np.zeros(3), np.zeros((3, 3))))
    played.node.input(Description(heavier))
    played.run(1.07)
    played.node.hang()
    played.run(1.4)
    assert played.node.failsafe_commands
    count = len(kinds(played, "command"))
    played.node.resume()
    played.run(1.6)
    assert played.node.failsafe_commands
    assert len(kinds(played, "command")) == count
    assert not broken(played)


def test_command_that_is_ready_after_its_state_expired_is_not_published():
    played = world(node=NodeQuality(latency=0.085))
    played.want_mode("gravity")
    played.run(1.0)
    assert len(kinds(played, "expired")) > 2
    assert not kinds(played, "command")
    assert not broken(played)


class Counting:
    """In place of a runtime: each command is one more than the one before."""

    mode, reason, commands = "gravity", "", True

    def __init__(self, description, settings):
        self.last = 0.0

    def step(self, given, now):
        """Return an update with the next command at a time in words, which is when it expires."""
        if isinstance(given, CommandExpired):
            self.last -= 1.0  # goes on from the command before
        if not isinstance(given, ClockJump):
            return Update(self.mode, True)
        self.last += 1.0
        effort = np.array([self.last])
        return Update(self.mode, True, command=Command(effort, effort, effort, 0.0, float(given.detail)))


def test_command_that_follows_one_that_expired_is_not_published():
    """Else the steps of both would reach the controller as one."""
    queue, sent, happened = EventQueue(), [], []
    node = SimulatedNode(
        queue,
        ARM,
        Settings.from_values({"robot.joints": ARM.joint_names}),
        publish=lambda kind, effort, data: sent.append(effort[0]),
        record=lambda kind, *details: happened.append(kind),
        quality=NodeQuality(latency=0.004),
        make_runtime=Counting,
    )
    for t, expires in ((0.0, 1.0), (0.010, 0.013), (0.012, 1.0), (0.020, 1.0)):
        queue.after(t, lambda expires=expires: node.input(ClockJump(str(expires))))
    queue.run(0.1)
    assert happened.count("expired") == 2
    assert sent == [1.0, 2.0]


class Crashing(ArmRuntime):
    """A runtime with a bug."""

    def step(self, given, now):
        """Break after half a second."""
        if now > 0.5:
            raise ZeroDivisionError("a bug")
        return super().step(given, now)


def test_exception_of_the_runtime_ends_the_node_and_is_counted():
    played = world(make_runtime=Crashing)
    played.run(0.6)
    assert broken(played) == ["node alive"]
    assert "ZeroDivisionError: a bug (step, line " in kinds(played, "crash")[0][0]
    assert played.node.state == "dead"


@pytest.mark.parametrize("command_effort", ["raw", "position_offset", "current"])
def test_efforts_as_data_are_what_the_motors_exert_in_the_order_of_the_controller(command_effort):
    numbers = {"commands.command_effort": command_effort, "commands.effort_per_unit": [80.0] * 3 + [400.0] * 3}
    played = world(**REVERSED, **numbers)
    efforts = np.array([9.0, -8.0, 7.0, -3.0, 2.0, 1.0])
    played.send_command(played.as_data(efforts))
    q = played.arm.q
    exerted = played.arm.law(0.0, q, np.zeros(6), np.zeros((6, 6)), np.zeros(6))
    assert_allclose(exerted, efforts, rtol=0, atol=1e-9)


@pytest.mark.parametrize("breaks", [False, True])
def test_spring_that_is_not_limited_presses_a_wall_too_hard(breaks, monkeypatch):
    if breaks:
        monkeypatch.setattr(impedance, "drag", lambda rest, pose, K, limits: rest)
    targets = TargetQuality(amplitude=0.15, frequency=0.5, force=0.0, pose_in_base=True)
    played = world(**{"impedance.stiffness": [2000.0] * 3 + [20.0] * 3}, targets=targets)
    played.want_mode("impedance")
    played.at(0.8, lambda: start_fault(played, "spring blocked", np.random.default_rng(1), 1.0))
    played.run(1.8)
    assert worst(played, "contact force") > 10.0
    assert (worst(played, "contact force") > 60.0) == breaks


# --- faults -----------------------------------------------------------------------------------------------------

MODES = {"targets stop": "force", "wall": "force", "targets break": "force", "targets mislabelled": "force"}
MODES |= {"enable lost": "hand_guiding", "targets mixed": "impedance"}
BEGINS = 0.6
"""When a fault begins, s."""
SEEDS = {"wall": 0}
"""Seeds with which a fault meets an arm that stands still."""
EVENTS = {
    "enable lost": "enable released",
    "states stop": "state stale",
    "states freeze": "state stale",
    "targets stop": "target stale",
    "failsafe killed": "failsafe lost",
    "subscriber lost": "no subscriber",
}
"""Kinds of faults that must lead to an event."""


def play(mode: str, until: float, kind: str = "") -> tuple[World, list]:
    """Return a world with a fault, or none, and what was sent either way and what the arm did."""
    played = world(2, **{"collision.bandwidth": 0.0})
    sent = []
    forward = played.send_state
    played.send_state = lambda sample: (sent.append(sample), forward(sample))
    played.want_mode(mode)
    if kind:
        played.at(BEGINS, lambda: start_fault(played, kind, np.random.default_rng(SEEDS.get(kind, 4)), 0.25))
    played.run(until)
    kept = [record for record in played.records if not record[1].startswith("fault")]
    return played, [kept, played.finish().motion.q.tolist(), sent]


sound_world = lru_cache(play)
"""The same world without a fault, which many faults are compared with."""


@pytest.mark.parametrize("kind", FAULTS)
def test_fault_of_each_kind_does_something_and_ends(kind):
    mode, until = MODES.get(kind, "feed_forward"), BEGINS + max(0.4, 0.1 + LASTING_FAULTS.get(kind, 0.0))
    (sound, expected), (faulty, seen) = sound_world(mode, until), play(mode, until, kind)
    assert sound.node.mode == mode
    assert repr(seen) != repr(expected)
    begins, lasts = (round(1e9 * each) for each in (BEGINS, LASTING_FAULTS.get(kind, 0.25)))
    assert [record[:3] for record in faulty.records if record[1].startswith("fault")] == [
        (begins, "fault begins", kind),
        (begins + lasts, "fault ends", kind),
    ]
    if kind in EVENTS:
        assert EVENTS[kind] in [event[0] for event in kinds(faulty, "event")]
    assert not faulty.driver.faults
    assert not faulty.targets.faults
    assert not broken(faulty)
