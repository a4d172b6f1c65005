# SPDX-License-Identifier: Apache-2.0
"""The failsafe process replaces the node, and never the other way round: what it goes on with, and how that ends."""

import numpy as np
import pytest

from arm_world import ARM, HOME, ArmWorld, broken, commanding, leave_alone, of_kind, told
from ros2_dyn.control.command_supervisor import STOP_FAILED
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import Payload
from ros2_dyn.runtime import ArmRuntime, JointSample, Settings
from ros2_dyn.runtime.inputs import ClockJump, TakeOver, TimePassed
from ros2_dyn.runtime.update import LastCommand
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.simulated_node import FAILSAFE_NAME
from ros2_dyn_tools.campaign.world import World
from tiers import part

REST = 0.05
"""Speed of a joint that an arm may have after a stop, rad/s."""


def enter_gravity(played: World) -> None:
    """Request mode gravity, and let half a second pass."""
    type(played.node).request_mode(played.node, "gravity")
    played.run(played.now + 0.5)


# --- who commands when the failsafe process dies


def test_node_whose_failsafe_died_while_it_commanded_is_silent_until_a_mode_is_requested():
    """The double fault: the controller holds the failsafe process's last command."""
    played = commanding()
    played.node.hang()
    played.run(1.3)
    assert played.node.failsafe_commands
    played.node.resume()
    played.run(1.5)
    sent = len(of_kind(played, "command"))
    played.node.lose_failsafe()
    played.run(3.0)
    assert len(of_kind(played, "command")) == sent
    assert played.node.mode == "monitor"
    enter_gravity(played)
    assert played.node.mode == "gravity"
    assert len(of_kind(played, "command")) > sent
    played.node.kill()
    played.run(played.now + 1.0)
    assert of_kind(played, "failsafe", "takes over")[-1][1] == "the node has ended"
    assert not broken(played)


def test_node_that_is_started_beside_a_failsafe_that_commands_may_command_when_that_has_died():
    played = commanding()
    played.node.kill()
    played.run(2.0)
    sent = len(of_kind(played, "command"))
    enter_gravity(played)
    assert f"'{FAILSAFE_NAME}' commands on ~/command: it took over from a node" in of_kind(played, "refused")[-1][1]
    played.node.lose_failsafe()
    played.run(3.0)
    assert len(of_kind(played, "command")) == sent
    enter_gravity(played)
    assert played.node.mode == "gravity"


def test_node_whose_failsafe_dies_amid_a_mode_stops_and_is_guarded_by_another_one():
    played = commanding(until=3.0)
    played.node.lose_failsafe()
    played.run(played.now + 0.25)  # in which another one is armed
    assert played.node.mode == "stopped"
    assert played.node.runtime.reason.startswith("failsafe lost")
    played.node.kill()
    played.run(played.now + 1.0)
    assert of_kind(played, "failsafe", "takes over")[-1][1] == "the node has ended"
    assert np.max(np.abs(played.arm.qd)) < REST
    assert not broken(played)


# --- a stop that had failed


def wrong_about_its_payload(mass: float, measured: bool = True) -> World:
    """Return a world whose node believes in a payload, kg, that is not there, with a stop that holds the arm.

    Args:
        mass: of the payload, kg.
        measured: whether the arm reports its efforts.
    """
    played = ArmWorld(**{"commands.max_tip_speed": 5.0, "commands.model_tolerance": 10.0})
    if not measured:
        played.driver.faults.append(without_efforts)
    played.want_mode("gravity")
    played.at(1.0, lambda: played.tell_payload(told(Payload(mass, (0.0, 0.0, 0.05)), 0.5)))
    played.run(1.5)
    leave_alone(played)
    played.wanted_mode = "stopped"
    if played.node.mode == "gravity":
        played.node.input(ClockJump("test"))
    played.run(3.5)
    assert played.node.stop_calls == 0
    assert np.max(np.abs(played.arm.qd)) < REST
    return played


def most(played: World, seconds: float) -> tuple[float, float]:
    """Let the world go on, s; return how far a joint moves and its largest speed, rad and rad/s."""
    q, end, seen = played.arm.q.copy(), played.now + seconds, []
    while played.now < end:
        played.run(played.now + 0.01)
        seen.append((np.max(np.abs(played.arm.q - q)), np.max(np.abs(played.arm.qd))))
    return tuple(np.max(seen, axis=0).tolist())


@pytest.mark.parametrize("mass", part([5.0, 6.0], 1))
def test_failsafe_goes_on_with_the_effort_that_held_the_arm_when_the_model_could_not(mass):
    """By the model's gravity it would throw the arm again, at 1 rad/s."""
    played = wrong_about_its_payload(mass)
    played.node.kill()
    travel, speed = most(played, 2.0)
    assert travel < 0.05
    assert speed < REST
    assert of_kind(played, "failsafe", "takes over")


def test_what_failed_is_told_to_the_stop_service_again():
    """The node may have died before its call left."""
    played = commanding()
    played.driver.faults.append(without_efforts)  # where it is measured, the push excuses the motion
    played.node.input(ClockJump("test"))
    played.run(2.0)
    played.add_contact(AppliedForce("tool0", (0.0, 0.0, -400.0), start=played.now, duration=0.4))
    played.run(3.0)
    calls = played.node.stop_calls
    assert calls
    played.node.kill()
    played.run(played.now + 0.1)
    assert played.node.stop_calls == calls + 1


def test_failsafe_goes_on_with_what_holds_the_arm_where_efforts_are_not_measured():
    """By the model's gravity on a spring the arm would move at 0.4 rad/s."""
    played = wrong_about_its_payload(5.0, measured=False)
    played.node.kill()
    travel, speed = most(played, 2.0)
    assert travel < 0.02
    assert speed < REST


def test_stop_for_want_of_a_failsafe_holds_the_arm():
    """The loss is told every 0.1 s. A stop that began anew each time let the arm move by 0.9 rad."""
    played = ArmWorld(**{"commands.max_tip_speed": 5.0, "commands.model_tolerance": 10.0})
    played.want_mode("gravity")
    played.run(0.8)
    played.tell_payload(told(Payload(5.0, (0.0, 0.0, 0.05)), 0.5))
    played.run(1.1)
    leave_alone(played)
    q = played.arm.q.copy()
    played.node.lose_failsafe()
    for _ in range(20):
        played.run(played.now + 0.1)
        played.node.set_link(failsafe_alive=False)
    assert played.node.stop_calls == 0
    assert np.max(np.abs(played.arm.q - q)) < 0.2
    assert np.max(np.abs(played.arm.qd)) < REST


# --- the parts by themselves


def command(age: float = 0.004) -> LastCommand:
    """Return a command that carries the arm at home."""
    return LastCommand(age, gravity(ARM, HOME), gravity(ARM, HOME))


def test_takeover_from_a_stop_that_failed_ends_in_the_effort_that_carried_the_arm_without_states():
    """Not in the model's gravity at the last state."""
    carried = gravity(ARM, HOME) + 10.0
    runtime = ArmRuntime(ARM, Settings.from_values({"robot.joints": ARM.joint_names}))
    for k in range(20):
        stamp = 10**9 + k * 10**7
        runtime.step(JointSample(stamp, ARM.joint_names, HOME, [1e-4 * (k % 2)] * 6, (), stamp), 1.0 + 0.01 * k)
    stop = command().stop._replace(phase="failed", anchor=np.array(HOME), correction=np.full(6, 10.0))
    update = runtime.step(TakeOver(LastCommand(0.1, carried, carried, stop=stop), "test"), 1.2)
    assert STOP_FAILED in [event.kind for event in update.events]
    efforts = [update.command.effort]
    for k in range(1, 200):
        if (update := runtime.step(TimePassed(), 1.2 + 0.01 * k)).command is not None:
            efforts.append(update.command.effort)
    np.testing.assert_allclose(efforts[-1], carried, rtol=0, atol=1e-9)
