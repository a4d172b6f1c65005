# SPDX-License-Identifier: Apache-2.0
"""The second commander: what the arm does when the node is killed, hangs, resumes or is started again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arm_world import ARM, HOME, SETTINGS, broken, commanding, of_kind
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP
from ros2_dyn.control.modes import MODES
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import Payload
from ros2_dyn.runtime import FailsafeConfig, JointSample, Settings
from ros2_dyn.runtime.failsafe_runtime import MAX_WAIT, REST_TIME, FailsafeRuntime, NodeSigns
from ros2_dyn.runtime.inputs import ModeRequest
from ros2_dyn.runtime.update import LastCommand
from ros2_dyn_tools.campaign.simulated_node import FAILSAFE_NAME
from ros2_dyn_tools.campaign.world import World
from tiers import by_turns

REST, TRAVEL = 0.05, 0.3
"""What an arm may do after a stop: speed of a joint after 1 s, rad/s, and distance, rad."""
LIMIT = 0.8 * ARM.effort_limit
PERIOD = 0.01


def check_stop(played: World) -> None:
    """Check that the arm comes to rest within 1 s, near where it is now, by commands that break no rule."""
    q = played.arm.q.copy()
    played.run(played.now + 1.0)
    assert np.max(np.abs(played.arm.qd)) < REST
    assert np.max(np.abs(played.arm.q - q)) < TRAVEL
    assert not broken(played)


FAULTS = {
    "killed": lambda node: node.kill(),
    "hangs": lambda node: node.hang(),
    "terminated": lambda node: node.terminate(),
}


@pytest.mark.parametrize(("mode", "fault"), by_turns(MODES, FAULTS))
def test_arm_rests_a_second_after_its_node_was_killed_hangs_or_is_terminated(mode, fault):
    played = commanding(mode)
    FAULTS[fault](played.node)
    check_stop(played)
    assert of_kind(played, "failsafe")[0][1] == "takes over"
    assert of_kind(played, "failsafe")[0][0] < 1.1


@pytest.mark.parametrize("behaviour", ["hold_gravity", "zero_effort"])
def test_without_states_the_safe_effort_is_repeated_for_a_while_and_zero_effort_ends_at_once(behaviour):
    played = commanding("feed_forward", **{"commands.stop_behaviour": behaviour})
    played.node.kill()
    played.run(1.02)
    played.node.on_joint_state = lambda *_: None
    held = gravity(ARM, played.arm.q) if behaviour == "hold_gravity" else np.zeros(ARM.n)
    played.run(1.02 + MAX_WAIT + 0.2)
    sent, ended = of_kind(played, "failsafe command"), of_kind(played, "failsafe")[-1]
    assert ended[1] == "ends"
    assert_allclose(sent[-1][1:], held, rtol=0, atol=2.0 if behaviour == "hold_gravity" else 0.0)
    if behaviour == "zero_effort":
        assert ended[0] < 2.0
        return
    assert MAX_WAIT < ended[0] - 1.02 < MAX_WAIT + 0.2
    repeated = [efforts for at, *efforts in sent if at > 2.0]
    assert len(repeated) > 90 * (MAX_WAIT - 1.0)
    assert_array_equal(repeated, np.tile(repeated[-1], (len(repeated), 1)))
    assert not broken(played)


def test_failsafe_follows_the_arm_again_when_states_come_back_after_seconds():
    played = commanding("feed_forward")
    played.node.kill()
    played.run(1.02)
    hear = played.node.on_joint_state
    played.node.on_joint_state = lambda *_: None
    played.run(1.02 + 0.8 * MAX_WAIT)
    played.node.on_joint_state = hear
    played.arm.qd = np.array([0.0, 0.4, 0.0, 0.0, 0.0, 0.0])
    check_stop(played)
    played.run(played.now + 1.2 * MAX_WAIT)
    assert of_kind(played, "failsafe")[-1][1] == "takes over"
    assert_allclose(of_kind(played, "failsafe command")[-1][1:], gravity(ARM, played.arm.q), rtol=0, atol=20.0)


def test_failsafe_that_followed_states_under_swapped_names_takes_over_with_an_effort_that_carries_the_arm():
    """It has judged every state since it was armed: those of the last 0.3 s alone fit one another."""
    played = commanding("gravity")
    played.driver.faults.append(lambda samples: [swap_first_names(sample) for sample in samples])
    played.run(1.5)
    played.node.kill()
    played.run(1.9)
    played.driver.faults.clear()
    played.run(4.0)
    efforts = np.array([efforts for _, *efforts in of_kind(played, "failsafe command")])
    assert len(efforts) > 200
    assert_allclose(efforts, np.tile(gravity(ARM, HOME), (len(efforts), 1)), rtol=0, atol=3.0)
    assert np.max(np.abs(played.arm.q - HOME)) < 0.01
    assert np.max(np.abs(gravity(ARM, [HOME[1], HOME[0], *HOME[2:]]) - gravity(ARM, HOME))) > 10.0


def swap_first_names(sample: JointSample) -> JointSample:
    """Return a message in which the numbers of the first two joints are under each other's names."""
    first, second, *others = sample.names
    return sample._replace(names=(second, first, *others))


def test_a_node_that_resumes_ends_its_mode_and_is_silent():
    """Whatever it had in hand; the reason says so. A mode is refused until the failsafe is released."""
    played = commanding("feed_forward")
    played.node.hang()
    played.at(1.8, played.node.resume)
    played.run(3.0)
    assert played.node.mode == "monitor"
    assert played.node.runtime.reason.startswith("failsafe took over")
    taken_at = of_kind(played, "failsafe")[0][0]
    assert of_kind(played, "command")[-1][0] < taken_at
    played.node.input(ModeRequest("gravity"))
    assert f"{FAILSAFE_NAME}/release" in of_kind(played, "refused")[-1][1]
    type(played.node).release(played.node)
    played.run(4.0)
    type(played.node).request_mode(played.node, "gravity")
    played.run(5.0)
    assert played.node.mode == "gravity"
    assert not broken(played)


def test_a_node_that_resumes_after_the_failsafe_has_ended_is_silent():
    """It knows that it was replaced, though nothing else commands any more."""
    played = commanding("feed_forward")
    played.node.hang()
    played.at(1.8, lambda: type(played.node).release(played.node))
    played.run(3.5)
    assert of_kind(played, "failsafe")[-1][1] == "ends"
    count = len(of_kind(played, "command"))
    played.want_mode("monitor")
    played.node.resume()
    played.run(4.0)
    assert len(of_kind(played, "command")) == count
    assert played.node.runtime.reason.startswith("failsafe took over")


def test_terminated_failsafe_ends_when_the_arm_rests():
    played = commanding("feed_forward")
    played.node.terminate()
    played.run(6.0)
    ended = of_kind(played, "failsafe")[-1]
    assert ended[1] == "ends"
    assert 1.0 + REST_TIME < ended[0] < 3.0
    left = np.array(of_kind(played, "failsafe command")[-1][1:])
    assert np.all(np.abs(left - gravity(ARM, played.arm.q)) < 0.03 * ARM.effort_limit)  # friction holds the rest


# --- the class by itself


def guard(**settings) -> FailsafeRuntime:
    """Return the second commander of the arm."""
    chosen = Settings.from_values(SETTINGS | settings).of_a_stop()
    return FailsafeRuntime(FailsafeConfig(ARM, chosen, ARM.default_tip))


def command(effort=None, payload=(0.0,) * 10) -> LastCommand:
    """Return a command of a node."""
    hold = gravity(ARM, HOME)
    return LastCommand(0.005, hold if effort is None else np.array(effort), hold, payload)


def look(
    failsafe: FailsafeRuntime, signs: NodeSigns, start: float, seconds: float, speed=0.0, offset=0.0
) -> list[np.ndarray]:
    """Let the failsafe look at a node for a time, s, with states of a slow arm near home; return its commands."""
    commands = []
    for k in range(round(seconds / PERIOD)):
        now = start + k * PERIOD
        updates = [failsafe.on_time(signs, now)]
        stamp, q, qd = round(1e9 * now), [x + offset + speed * k * PERIOD for x in HOME], [speed + 1e-4 * (k % 2)] * 6
        updates.append(failsafe.on_joint_state(JointSample(stamp, ARM.joint_names, q, qd, (), stamp), now))
        commands += [np.array(u.command.data) for u in updates if u is not None and u.command is not None]
    return commands


def test_a_node_whose_heart_beats_is_left_alone():
    failsafe = guard()
    for beat in range(100):
        assert look(failsafe, NodeSigns(beats=beat, command=command()), 1.0 + 0.05 * beat, 0.05) == []
    assert not failsafe.taken_over


def test_a_node_that_commands_nothing_may_be_silent_and_its_end_ends_the_failsafe():
    failsafe = guard()
    assert look(failsafe, NodeSigns(), 1.0, 3.0) == []
    assert not failsafe.ended
    look(failsafe, NodeSigns(alive=False), 4.0, PERIOD)
    assert failsafe.ended
    assert not failsafe.taken_over


def test_commands_begin_at_the_last_one_within_the_limits_and_slew():
    """Although the node stored one that no limit allows."""
    failsafe = guard()
    commands = look(failsafe, NodeSigns(alive=False, command=command(np.full(6, 300.0))), 1.0, 1.0)
    assert_allclose(commands[0], np.minimum(300.0, LIMIT))
    assert np.all(np.abs(commands) <= LIMIT * (1 + 1e-12))
    assert np.max(np.abs(np.diff(commands, axis=0)) / (10 * LIMIT * MAX_SLEW_STEP)) <= 1 + 1e-9
    assert_allclose(commands[-1], gravity(ARM, HOME), rtol=0, atol=0.1)


def test_payload_of_the_last_command_is_carried():
    load = Payload(2.0, (0.0, 0.0, 0.1), np.zeros((3, 3)))
    signs = NodeSigns(alive=False, command=command(payload=tuple(load.parameters.tolist())))
    commands = look(guard(), signs, 1.0, 1.0)
    assert_allclose(commands[-1], gravity(ARM.carrying(load), HOME), rtol=0, atol=0.1)


def test_release_leaves_the_weight_of_the_arm_and_ends():
    failsafe = guard()
    failsafe.release(0.5)  # nothing to release yet
    signs = NodeSigns(alive=False, command=command(np.zeros(6)))
    look(failsafe, signs, 1.0, 1.0)
    failsafe.release(2.0)
    commands = look(failsafe, signs, 2.0, 2.0)
    assert failsafe.ended
    assert_allclose(commands[-1], gravity(ARM, HOME), rtol=0, atol=0.01)


def test_states_in_bursts_do_not_make_a_stop_fail():
    """Five at once, as after a pause of the machine: by their arrival the arm would jump; by their stamps it brakes."""
    failsafe, events, modes = guard(), [], set()
    signs = NodeSigns(alive=False, command=command())
    for k in range(100):
        now = 1.0 + k * PERIOD
        update = failsafe.on_time(signs, now)
        for late in range(5 if k % 5 == 4 else 0):
            t = now - 1.0 - (4 - late) * PERIOD
            moved = 0.3 * (1 - np.exp(-5 * t)) / 5
            q, qd = [x + moved for x in HOME], [0.3 * np.exp(-5 * t)] * 6
            arrived = now + 2e-4 * late
            sample = JointSample(round(1e9 * (1.0 + t)), ARM.joint_names, q, qd, (), round(1e9 * arrived))
            update = failsafe.on_joint_state(sample, arrived) or update
            events += [] if update is None else [event.kind for event in update.events]
        modes.add(update.mode)
    assert modes == {"stopped"}
    assert "stop failed" not in events
