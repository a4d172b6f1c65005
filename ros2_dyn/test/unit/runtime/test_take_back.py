# SPDX-License-Identifier: Apache-2.0
"""Two commanders of one arm: what each hands over to the other, judged by what the arm does."""

import numpy as np
import pytest

from arm_world import ARM, FRICTIONLESS, HOME, ArmWorld
from ros2_dyn.control.command_supervisor import STOP_FAILED
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import Payload
from ros2_dyn.runtime import ArmRuntime, JointSample, PayloadRequest, Settings
from ros2_dyn.runtime.arm_runtime import REARM_PERIOD
from ros2_dyn.runtime.failsafe_watch import FailsafeSigns, FailsafeWatch
from ros2_dyn.runtime.heartbeat import MAX_LOOK, Heartbeat
from ros2_dyn.runtime.update import LastCommand
from ros2_dyn.simulation.world import World

REST, TRAVEL = 0.05, 0.3
"""What an arm may do after a stop: speed of a joint after 1 s, rad/s, and distance, rad."""
THROWN = np.array([0.8, 0.6, -0.6, 0.5, 0.5, 0.5])
"""Speeds at which the arm moves when its node is held up, rad/s."""


def leave_alone(played: World) -> None:
    """Let nobody request a mode, release a failsafe process or put the arm home from now on."""
    played.node.request_mode = lambda mode: None
    played.node.release = played.place_home = lambda: None


def of_kind(world: World, *start: str) -> list[tuple]:
    """Return the records that begin with some words: time in s, details."""
    n = len(start)
    return [(1e-9 * record[0], *record[1 + n :]) for record in world.records if record[1 : 1 + n] == start]


def replaced(resumes_at: float, after: float = 0.05, mode_since: float = 1.0, **settings) -> World:
    """Return a world whose arm moves without friction, and whose failsafe process has taken over and brakes it.

    Args:
        resumes_at: when the node, which was stopped, goes on, s after it was stopped.
        after: time since the takeover, s.
        mode_since: time in mode gravity before, s.
        settings: of the node.
    """
    played = ArmWorld(arm=FRICTIONLESS, max_tip_speed=5.0, **settings)
    played.want_mode("gravity")
    played.run(mode_since - 0.04)
    played.arm.qd = THROWN.copy()
    played.motion_judge.on_placed(played.now)
    played.run(mode_since)
    assert played.node.mode == "gravity", played.node.runtime.reason
    leave_alone(played)
    played.node.hang()
    played.at(mode_since + resumes_at, played.node.resume)
    while not played.node.failsafe_commands:
        played.run(played.now + 0.01)
    played.run(played.now + after)
    assert np.max(np.abs(played.arm.qd)) > 2 * REST
    return played


def check_stop(played: World, travel: float = TRAVEL) -> None:
    """Check that the arm comes to rest within 1 s, near where it is now, by commands that break no rule."""
    q = played.arm.q.copy()
    played.run(played.now + 1.0)
    assert np.max(np.abs(played.arm.qd)) < REST
    assert np.max(np.abs(played.arm.q - q)) < travel
    assert not played.violations


# --- the failsafe process dies while it commands


@pytest.mark.parametrize("after", [0.03, 0.05, 0.1])
def test_living_node_takes_the_arm_back_from_a_failsafe_that_dies_while_it_commands(after):
    """If nobody did, the arm would be 3 to 5 rad away a second later, at 11 to 17 rad/s."""
    played = replaced(resumes_at=0.1, after=after)
    died = played.now
    played.node.lose_failsafe()
    check_stop(played)
    assert played.node.mode == "stopped"
    assert played.node.runtime.reason == "takeover: the failsafe process has ended while it commanded"
    assert of_kind(played, "node", "takes over")[0][0] <= died + 0.011


def test_node_that_is_still_held_up_takes_the_arm_back_when_it_goes_on():
    """The failsafe process died 0.25 s before; until then nothing braked the arm."""
    played = replaced(resumes_at=0.4)
    played.node.lose_failsafe()
    died = played.now
    played.run(1.395)
    assert of_kind(played, "command")[-1][0] < died
    check_stop(played)
    assert played.node.mode == "stopped"


def test_failsafe_that_is_held_up_while_it_commands_is_killed_and_the_arm_taken_back():
    """Killed first, so that it never commands beside the node."""
    played = replaced(resumes_at=0.1)
    played.node.hang_failsafe()
    check_stop(played)
    killed, taken = of_kind(played, "failsafe", "killed")[0][0], of_kind(played, "node", "takes over")[0][0]
    assert killed <= taken < played.now - 0.85
    assert of_kind(played, "failsafe command")[-1][0] < killed
    assert played.node.mode == "stopped"


def test_failsafe_that_is_held_up_before_it_commands_is_no_reason_to_take_the_arm():
    """The node commands then; the mode ends by its heartbeat, which is judged elsewhere."""
    played = ArmWorld()
    played.want_mode("gravity")
    played.run(1.0)
    played.node.hang_failsafe()
    played.run(2.0)
    assert not of_kind(played, "node", "takes over")
    assert played.node.mode == "gravity"


def test_failsafe_that_dies_on_its_way_to_the_end_of_its_commands_is_replaced():
    played = replaced(resumes_at=0.1)
    type(played.node).release(played.node)
    played.run(played.now + 0.02)
    played.node.lose_failsafe()
    check_stop(played)
    assert played.node.mode == "stopped"


def test_failsafe_whose_commands_have_ended_in_order_leaves_nothing_to_take_back():
    played = replaced(resumes_at=0.1)
    played.run(2.5)
    type(played.node).release(played.node)
    played.run(3.5)  # an arm without friction falls from then on
    assert of_kind(played, "failsafe")[-1][1:] == ("ends",)
    assert not of_kind(played, "node", "takes over")
    assert played.node.mode == "monitor"
    assert not played.violations


def test_with_zero_effort_the_node_goes_on_to_zero():
    played = replaced(resumes_at=0.1, after=0.02, stop_behaviour="zero_effort", slew_rate=2.0)
    played.node.lose_failsafe()
    assert np.max(np.abs(of_kind(played, "failsafe command")[-1][1:])) > 10
    played.run(played.now + 1.0)
    assert not np.any(of_kind(played, "command")[-1][1:])
    assert not played.node.commands
    assert not played.violations


def test_node_that_took_the_arm_back_is_guarded_again():
    """It asks for another failsafe process, which takes over when the node is killed."""
    played = replaced(resumes_at=0.1, mode_since=REARM_PERIOD + 1.0)
    played.node.lose_failsafe()
    played.run(played.now + 0.25)  # in which it is armed
    played.arm.qd = 0.5 * THROWN
    played.motion_judge.on_placed(played.now)
    played.node.kill()
    check_stop(played)
    assert of_kind(played, "failsafe", "takes over")[-1][1] == "the node has ended"
    assert of_kind(played, "failsafe command")[-1][0] > played.now - 0.02


def test_node_that_was_started_again_does_not_take_the_arm():
    """Nobody asked it to, and it does not know the arm's last command."""
    played = ArmWorld()
    played.want_mode("gravity")
    played.run(1.0)
    leave_alone(played)
    played.node.kill()
    played.run(2.0)
    played.node.lose_failsafe()
    played.run(3.0)
    assert played.node.mode == "monitor"
    assert not of_kind(played, "node", "takes over")


def test_robot_of_other_joints_takes_nothing_over():
    """It changed while the failsafe process commanded."""
    runtime = ArmRuntime(ARM, Settings(joints=ARM.joint_names[:3]))
    update = runtime.take_over(LastCommand(0.0, np.zeros(6), np.zeros(6)), "the failsafe process has ended", 1.0)
    assert update.command is None
    assert update.mode == "monitor"
    assert [event.kind for event in update.events if event.level == "error"] == ["takeover impossible"]


# --- a stop that had failed


def wrong_about_its_payload(mass: float, measured: bool = True) -> World:
    """Return a world whose node believes in a payload, kg, that is not there, with a stop that failed and holds.

    Args:
        mass: of the payload, kg.
        measured: whether the arm reports its efforts.
    """
    played = ArmWorld(max_tip_speed=5.0, model_tolerance=10.0)
    if not measured:
        measure = played.driver.measure
        played.driver.measure = lambda *state: [each._replace(effort=()) for each in measure(*state)]
    told = PayloadRequest("", tuple(Payload(mass, (0.0, 0.0, 0.05)).parameters.tolist()), 0.5)
    played.want_mode("gravity")
    played.at(1.0, lambda: played.tell_payload(told))
    played.run(1.5)
    leave_alone(played)
    played.wanted_mode = "stopped"
    if played.node.mode == "gravity":
        played.node.input(lambda runtime, now: runtime.on_clock_jump("test", now))
    played.run(3.5)
    assert played.node.stop_calls == 1
    assert np.max(np.abs(played.arm.qd)) < REST
    return played


def most(played: World, seconds: float) -> tuple[float, float]:
    """Let the world go on, s; return how far a joint moves and its largest speed, rad and rad/s."""
    q, end, seen = played.arm.q.copy(), played.now + seconds, []
    while played.now < end:
        played.run(played.now + 0.01)
        seen.append((np.max(np.abs(played.arm.q - q)), np.max(np.abs(played.arm.qd))))
    return tuple(np.max(seen, axis=0).tolist())


@pytest.mark.parametrize("mass", [5.0, 6.0])
def test_failsafe_goes_on_with_the_effort_that_held_the_arm_when_the_model_could_not(mass):
    """By the model's gravity it would throw the arm again, at 1 rad/s, before its own stop fails."""
    played = wrong_about_its_payload(mass)
    played.node.kill()
    travel, speed = most(played, 2.0)
    assert travel < 0.05
    assert speed < REST
    assert of_kind(played, "failsafe", "takes over")


def test_what_failed_is_told_to_the_stop_service_again():
    """The node may have died before its call left."""
    played = wrong_about_its_payload(5.0)
    played.node.kill()
    played.run(played.now + 0.1)
    assert played.node.stop_calls == 2


def be_replaced(played: World) -> None:
    """Let the node hang until the failsafe process has taken over, and go on."""
    played.node.hang()
    played.run(played.now + 0.5)
    played.node.resume()
    played.run(played.now + 0.1)


def test_node_goes_on_with_a_stop_that_failed_in_the_failsafe():
    """The other way round: the node resumes, and the failsafe process dies."""
    played = wrong_about_its_payload(5.0)
    be_replaced(played)
    assert played.node.mode == "monitor"
    played.node.lose_failsafe()
    travel, speed = most(played, 2.0)
    assert played.node.mode == "stopped"
    assert travel < 0.05
    assert speed < REST


def test_failsafe_knows_the_effort_at_rest_of_a_node_whose_efforts_are_not_measured():
    """It has not seen what held the arm. By the model's gravity on a spring the arm would move at 0.4 rad/s."""
    played = wrong_about_its_payload(5.0, measured=False)
    played.node.kill()
    travel, speed = most(played, 2.0)
    assert travel < 0.02
    assert speed < REST


def test_mode_after_a_takeover_forgets_what_was_handed_over():
    played = wrong_about_its_payload(5.0)
    be_replaced(played)
    played.node.lose_failsafe()
    played.run(played.now + 0.5)
    supervisor = played.node.runtime._modes._supervisor
    assert supervisor.escalated
    played.tell_payload(PayloadRequest("", (0.0,) * 10))
    played.run(played.now + 0.6)
    type(played.node).request_mode(played.node, "gravity")
    played.run(played.now + 1.0)
    assert played.node.mode == "gravity"
    assert not supervisor.escalated
    assert not played.node.runtime.reason


def test_stop_for_want_of_a_failsafe_is_supervised():
    """The loss is told every 0.1 s. A stop that began anew each time let the arm move by 0.9 rad, and never failed."""
    played = ArmWorld(max_tip_speed=5.0, model_tolerance=10.0)
    told = PayloadRequest("", tuple(Payload(5.0, (0.0, 0.0, 0.05)).parameters.tolist()), 0.5)
    played.want_mode("gravity")
    played.run(0.8)
    played.tell_payload(told)
    played.run(1.1)
    leave_alone(played)
    q = played.arm.q.copy()
    played.node.lose_failsafe()
    for _ in range(20):
        played.run(played.now + 0.1)
        played.node.set_link(failsafe_alive=False)
    assert played.node.stop_calls == 1
    assert np.max(np.abs(played.arm.q - q)) < 0.1


# --- the parts by themselves


def command(age: float = 0.004) -> LastCommand:
    """Return a command that carries the arm at home."""
    return LastCommand(age, gravity(ARM, HOME), gravity(ARM, HOME))


def test_takeover_from_a_stop_that_failed_ends_in_the_effort_that_carried_the_arm_without_states():
    """Not in the model's gravity at the last state."""
    carried = gravity(ARM, HOME) + 10.0
    runtime = ArmRuntime(ARM, Settings(joints=ARM.joint_names))
    for k in range(20):
        stamp = 10**9 + k * 10**7
        runtime.on_joint_state(
            JointSample(stamp, ARM.joint_names, HOME, [1e-4 * (k % 2)] * 6, (), stamp), 1.0 + 0.01 * k
        )
    stop = command().stop._replace(stage=1, anchor=np.array(HOME))
    update = runtime.take_over(LastCommand(0.1, carried, carried, stop=stop), "test", 1.2)
    assert STOP_FAILED in [event.kind for event in update.events]
    efforts = [update.command.effort]
    for k in range(1, 200):
        if (update := runtime.on_time(1.2 + 0.01 * k)).command is not None:
            efforts.append(update.command.effort)
    np.testing.assert_allclose(efforts[-1], carried, rtol=0, atol=1e-9)


def test_watch_leaves_a_failsafe_alone_whose_heart_beats_or_that_commands_nothing():
    watch = FailsafeWatch(0.1)
    assert not any(watch.why_take_back(FailsafeSigns(True, k, command()), 1.0 + 0.01 * k) for k in range(100))
    assert not any(watch.why_take_back(FailsafeSigns(True, 99), 2.0 + 0.01 * k) for k in range(100))
    assert not watch.why_take_back(FailsafeSigns(False, 99), 3.0)
    assert watch.why_take_back(FailsafeSigns(False, 99, command()), 3.01)


def test_watch_tells_the_age_of_the_last_command():
    watch = FailsafeWatch(0.1)
    for k in range(10):
        watch.why_take_back(FailsafeSigns(True, min(k, 6), command()), 1.0 + 0.01 * k)
    assert watch.last_command(command(0.004), 1.09).age == pytest.approx(0.034)


def test_heart_counts_a_long_pause_of_the_watcher_as_one_look():
    heart = Heartbeat(0.1)
    heart.look(1, 1.0)
    heart.look(1, 5.0)
    assert heart.silence == MAX_LOOK
    assert not heart.held_up
    for k in range(1, 10):
        heart.look(1, 5.0 + 0.01 * k, 50.0 + 0.001 * k)  # a simulation that is faster than real time
    assert heart.silence == pytest.approx(MAX_LOOK + 0.029, abs=0.02)


def longest_silence(on: int, off: int, seconds: float = 3.0, state_timeout: float = 0.3) -> float:
    """Of a process that works for some looks, and then gets no processor for some, s; inf where it is held up."""
    heart, beats, longest = Heartbeat(state_timeout), 0, 0.0
    for k in range(int(100 * seconds)):
        beats += k % (on + off) < on
        heart.look(beats, 1.0 + 0.01 * k)
        longest = max(longest, heart.silence)
    return float("inf") if longest > heart.timeout else longest


def test_process_that_works_now_and_then_is_held_up():
    """Each silence is shorter than the 0.24 s that are allowed; the arm has the same command for 23 of 24 parts."""
    assert longest_silence(on=1, off=22) == float("inf")
    assert longest_silence(on=2, off=20) == float("inf")


def test_process_that_is_late_and_works_again_is_not_held_up():
    assert longest_silence(on=1, off=12) < 0.15
    assert longest_silence(on=6, off=18) < 0.2  # it works as long as the silence was too long
    assert longest_silence(on=1, off=1) < 0.02
    assert longest_silence(on=1, off=7, state_timeout=0.1) < 0.08


def test_clock_that_is_set_back_is_no_silence():
    heart = Heartbeat(0.1)
    heart.look(1, 100.0)
    heart.look(2, 1.0)
    assert heart.silence == 0.0


def test_silence_of_a_process_that_has_nothing_to_command_is_forgotten():
    watch = FailsafeWatch(1.0)
    for k in range(300):
        watch.why_take_back(FailsafeSigns(True, 0, None), 0.01 * k)
    for k in range(300, 370):
        beats = 1 if k < 302 else 2
        assert not watch.why_take_back(FailsafeSigns(True, beats, command()), 0.01 * k)
