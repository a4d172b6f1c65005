# SPDX-License-Identifier: Apache-2.0
"""Stops, judged by the motion of simulated arms: with models good and wrong, without states, and while leaving."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from arm_world import HOME, broken, told
from ros2_dyn.control.modes import MODES
from ros2_dyn.dynamics import gravity, jacobian, mass_matrix
from ros2_dyn.model import Payload
from ros2_dyn.runtime.inputs import ClockJump
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.perturbed import perturbed
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn_tools.campaign.arm_pool import nominal_arm, random_home, with_friction
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.faults import start_fault
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions, loaded
from tiers import FULL, by_turns, part

PROOF_TIME = 0.3
"""Time for which the last effort is repeated, s."""

ARMS = ("mock_arm", "ur5", "ur10", "panda", "kinova", "xarm7", "z1") if FULL else ("mock_arm", "ur10", "panda", "xarm7")
STOP_AT = 1.5
"""Time of the stops, s."""
REST_SPEED, REST_TIME, MAX_TRAVEL = 0.05, 1.0, 0.3
"""What a stop has to reach: rad/s, s, rad."""
MODEL_ERROR = 0.2
"""Relative error of the model's inertias and friction."""
GAPS, SILENCES = (0.05, 0.12, 0.2), (4.0, 0.1)
"""For how long a controller does not follow, and for how long states end, s."""
USUAL = {"commands.model_tolerance": 0.1, "commands.max_tip_speed": 0.25}
"""What users have, where the stop is not to find everything by itself."""
PAIRS = [(name, mode, 1 + (name == "panda")) for mode, name in by_turns(MODES, ARMS)]
"""Arms, modes, seeds; a panda away from its limits."""


class StoppedMotion(NamedTuple):
    """What the arm did from a time on."""

    speed: float
    """Of the fastest joint at that time, rad/s."""
    max_speed: float
    """Largest speed afterwards, rad/s."""
    travel: float
    """Largest distance of a joint from where it was, rad."""
    moved_for: float
    """Time after which all joints stayed below `REST_SPEED`, s."""
    end_speed: float
    """Speed at the end, rad/s."""


def world(name: str, seed: int = 1, error: float = MODEL_ERROR, rate: float = 125.0, delay=0.002, **settings) -> World:
    """Return a world of an arm with friction, whose model has errors; the home of the mock arm is its usual one."""
    rng = np.random.default_rng(seed)
    description = nominal_arm(name)
    arm = perturbed(description, rng, error, error)
    home = HOME if name == "mock_arm" else random_home(description, rng)
    inertia = np.diag(mass_matrix(description, home))
    chosen = Settings.from_values(
        {
            "robot.joints": description.joint_names,
            "friction.transition_velocity": 0.05,
            "commands.ramp_time": 0.3,
            "commands.max_tip_speed": 5.0,  # the arms are thrown, and a test says what stops them
            "commands.model_tolerance": 10.0,  # these stops have to find wrong models by themselves
            "feed_forward.stiffness": (64 * inertia).tolist(),
            "feed_forward.damping": (16 * inertia).tolist(),
        }
        | settings
    )
    channel = ChannelQuality(0.0, delay, 0.0)
    targets = TargetQuality(amplitude=0.15, frequency=2.0, force=5.0)
    options = WorldOptions(chosen, DriverQuality(rate), channel, channel, targets)
    return World(seed, arm, home, options, description)


def throw(played: World, speed: float, seed: int) -> None:
    """Move the arm: its fastest joint with a speed, rad/s, up to 0.95 of the limits."""
    velocity = np.random.default_rng(seed).uniform(-1, 1, played.arm_model.n)
    velocity *= speed / np.max(np.abs(velocity))
    limit = 0.95 * played.description.velocity_limit
    played.arm.qd = np.clip(velocity, -limit, limit)


def stop(played: World) -> None:
    """Stop the mode for a reason that the arm has nothing to do with."""
    assert played.node.mode in MODES, played.node.runtime.reason
    played.wanted_mode = "stopped"
    played.node.input(ClockJump("test"))


def leave(played: World, mode: str = "") -> None:
    """Leave the mode for monitor: an active one, or the one that is named."""
    assert played.node.mode in ((mode,) if mode else MODES), played.node.runtime.reason
    played.want_mode("monitor")


def moving(name: str, mode: str, speed: float = 1.0, seed: int = 1, **settings) -> World:
    """Return a world whose arm moves in a mode at `STOP_AT`; feed_forward moves it by itself."""
    played = world(name, seed, **settings)
    played.want_mode(mode)
    if mode != "feed_forward":
        played.at(STOP_AT - 0.004, lambda: throw(played, speed, seed))
    played.run(STOP_AT)
    return played


def watch(played: World, duration: float = 1.5, step: float = 0.004) -> StoppedMotion:
    """Let the world go on, s, and return what the arm does from now on."""
    begun, q = played.now, played.arm.q.copy()
    speeds = [float(np.max(np.abs(played.arm.qd)))]
    travel = moved_for = 0.0
    for k in range(1, round(duration / step) + 1):
        played.run(begun + k * step)
        speeds.append(float(np.max(np.abs(played.arm.qd))))
        travel = max(travel, float(np.max(np.abs(played.arm.q - q))))
        moved_for = k * step if speeds[-1] > REST_SPEED else moved_for
    return StoppedMotion(speeds[0], max(speeds), travel, moved_for, speeds[-1])


def events(played: World, kind: str) -> list[float]:
    """Return the times of the records of a kind, s."""
    return [1e-9 * record[0] for record in played.records if kind in record[1:3]]


# --- models within 20 % of the truth


@pytest.mark.parametrize(("name", "mode", "seed"), PAIRS)
def test_stop_brings_the_arm_to_rest_within_a_second_and_a_third_of_a_radian(name, mode, seed):
    played = moving(name, mode, seed=seed)
    stop(played)
    motion = watch(played)
    assert motion.moved_for < 0.5 * REST_TIME, motion
    assert motion.travel < 0.5 * MAX_TRAVEL, motion
    assert motion.max_speed < motion.speed + 0.1, motion
    assert played.node.stop_calls == 0
    assert played.node.mode == "stopped"
    assert not broken(played)


@pytest.mark.parametrize(
    ("name", "rate", "delay"), [("mock_arm", 100.0, 0.01), ("ur10", 50.0, 0.005), ("panda", 500.0, 0.0)]
)
def test_stop_with_slow_or_late_states_brings_the_arm_to_rest(name, rate, delay):
    played = moving(name, "gravity", rate=rate, delay=delay, **{"states.timeout": 0.2})
    stop(played)
    motion = watch(played)
    assert motion.moved_for < 0.5 * REST_TIME, motion
    assert motion.travel < MAX_TRAVEL, motion
    assert played.node.stop_calls == 0


@pytest.mark.parametrize("name", ARMS if FULL else ("mock_arm", "xarm7"))
def test_stop_at_the_velocity_limit_brakes_as_hard_as_limits_allow(name):
    """At 3 rad/s the slew rate alone takes 0.2 s to reverse an effort: more than 0.3 rad. Then it is drawn back."""
    played = moving(name, "gravity", speed=10.0)
    if played.node.mode != "stopped":  # too fast already
        stop(played)
    motion = watch(played)
    weak = name == "xarm7"  # gravity takes most of its effort
    assert motion.moved_for < 0.5, motion
    assert motion.travel < (0.25 if weak else 0.12) * max(motion.speed, 1.0), motion
    assert played.node.stop_calls == 0


# --- models that are wrong


def play_until_stopped(played: World, mode: str = "gravity", until: float = 3.0) -> None:
    """Enter a mode once, and play until it has stopped."""
    played.want_mode(mode)
    played.at(0.5, lambda: setattr(played, "wanted_mode", "stopped"))
    while played.node.mode != "stopped":
        played.run(played.now + 0.004)
        assert played.now < until, "nothing stopped"


def believe_payload(played: World, mass: float) -> None:
    """Tell the node of a payload that is not there."""
    played.at(1.0, lambda: played.tell_payload(told(Payload(mass, [0.0, 0.0, 0.05]), 0.5)))


@pytest.mark.parametrize(("name", "mass", "seed"), [("mock_arm", 5.0, 1), ("panda", 4.0, 3), ("ur10", 10.0, 1)])
def test_stop_under_a_payload_that_is_not_there_ends_at_rest_without_brakes(name, mass, seed):
    """Gravity compensation and damping alone let the arm go on at up to 4 rad/s, and travel up to 4 rad."""
    played = world(name, seed, error=0.0)  # where the limits could carry the payload
    believe_payload(played, mass)
    play_until_stopped(played)
    motion = watch(played, 2.0)
    assert not events(played, "stop_service")
    assert motion.max_speed < 1.1 * motion.speed + 0.1, motion
    assert motion.travel < 0.12 * motion.speed, motion
    assert motion.moved_for < REST_TIME, motion
    assert not broken(played)


@pytest.mark.parametrize("gap", [0.02, 0.03, 0.04])
@pytest.mark.parametrize(("name", "mass", "seed"), part([("mock_arm", 5.0, 1), ("panda", 4.0, 3), ("ur10", 9.0, 1)], 1))
def test_states_that_are_lost_do_not_move_an_arm_that_springs_hold(name, mass, seed, gap):
    """Springs that were let go, or whose loss was made up for a state later, made it move with up to 1.7 rad/s."""
    played = world(name, seed, error=0.0, rate=100.0, delay=0.0065, **{"states.timeout": 0.06})
    believe_payload(played, mass)
    play_until_stopped(played)
    played.run(played.now + 0.6)
    played.state_channel.drop_rate = 1.0
    played.run(played.now + gap)
    played.state_channel.drop_rate = 0.0
    motion = watch(played, 0.4, step=0.002)
    assert motion.max_speed < REST_SPEED, motion


@pytest.mark.parametrize("gap", [0.09, 0.12])
def test_pause_that_ends_a_mode_makes_the_stop_no_softer(gap):
    """Of a state that is 0.08 s old no damper is in force any more: nothing acted as late as that."""
    played = world("panda", 3, error=0.0, rate=200.0, delay=0.002)
    played.want_mode("gravity")
    played.run(2.0)
    longest = played.node.runtime.loop.longest
    played.state_channel.drop_rate = 1.0
    played.run(played.now + gap)
    played.state_channel.drop_rate = 0.0
    played.run(played.now + 0.02)
    assert played.node.mode == "stopped"
    assert played.node.runtime.loop.longest < 1.5 * longest


@pytest.mark.parametrize(("name", "joint", "force"), [("ur5", 2, 10.0), ("so101", 0, 2.0)])
def test_state_that_is_lost_does_not_move_an_arm_that_leans_on_a_soft_wall(name, joint, force):
    """The wall became softer at once, by a third, and gave way with up to 0.3 rad/s."""
    played = world(name, 3, error=0.0, rate=125.0, delay=0.006)
    arm, home, tip = with_friction(played.arm_model, 0.1), np.array(played.arm.q), played.arm_model.default_tip
    home[joint] = arm.upper[joint] - 0.15
    played = World(1, arm, home, played.options, played.description)
    way = jacobian(arm, home, tip)[:3, joint]
    played.add_contact(AppliedForce(tip, force * way / np.linalg.norm(way), start=0.5))
    played.want_mode("gravity")
    played.run(3.0)
    stop(played)
    played.run(5.0)
    played.state_channel.drop_rate = 1.0
    played.run(played.now + 0.008)
    played.state_channel.drop_rate = 0.0
    motion = watch(played, 0.5, step=0.002)
    assert motion.max_speed < 0.01, motion


def test_single_state_that_tells_no_efforts_does_not_let_the_springs_go():
    """Their efforts are small beside noise, where an arm is light for its motors: it fell by 0.3 rad/s."""
    played = world("mock_arm", error=0.0)
    believe_payload(played, 5.0)
    play_until_stopped(played)
    played.run(played.now + 0.5)
    tell = played.now + 0.004
    played.driver.faults.append(
        lambda samples: [
            each._replace(effort=[1e-3] * 6) if abs(played.now - tell) < 0.003 else each for each in samples
        ]
    )
    motion = watch(played, 0.5, step=0.002)
    assert motion.max_speed < REST_SPEED, motion


@pytest.mark.parametrize("mass", part([4.0, 8.0], 1))
def test_arm_that_a_stop_holds_is_carried_when_its_model_becomes_wrong(mass):
    """Springs alone let it creep until a joint is 0.3 rad away, and brakes are called."""
    played = moving("mock_arm", "gravity", error=0.0)
    stop(played)
    played.run(STOP_AT + 4.0)
    played.tell_payload(told(Payload(mass, [0.0, 0.0, 0.05]), 0.5))
    motion = watch(played, 3.0)
    assert motion.moved_for < REST_TIME, motion
    assert played.node.mode == "stopped"
    assert not events(played, "stop_service")


@pytest.mark.parametrize(("name", "mass"), [("ur5", 3.0), ("z1", 1.0), ("kinova", 0.5)])
def test_load_that_is_hung_on_a_stopped_arm_is_held(name, mass):
    """It was let go like one that a hand leads: 0.34 to 0.45 rad."""
    played = world(name, error=0.0)
    played.want_mode("gravity")
    played.run(1.0)
    stop(played)
    played.run(2.5)
    played.replace_arm(loaded(played.arm_model, told(Payload(mass, [0.0, 0.0, 0.05]))))
    motion = watch(played, 2.0)
    assert motion.travel < 0.2
    assert motion.moved_for < REST_TIME
    assert not events(played, "stop_service")


def test_stop_under_gravity_that_is_turned_over_holds_the_arm_within_half_a_radian():
    """Two times the weight of the arm drive it: a hand may bear it, so that nothing of what held it is kept."""
    played = world("panda", error=0.0, **{"robot.gravity": (0.0, 0.0, 9.81)})
    play_until_stopped(played, "hand_guiding")
    motion = watch(played, 2.0)
    assert len(events(played, "stop_service")) <= 1
    assert motion.max_speed < motion.speed + 0.3, motion
    assert motion.travel < 0.3 * motion.max_speed, motion
    assert motion.moved_for < REST_TIME, motion


def turn_over(played: World, sign: np.ndarray) -> None:
    """Let the controller exert commands with other signs from now on, shape (n,)."""
    command = played.controllers.command
    played.controllers.command = lambda efforts: command((sign * np.array(efforts)).tolist())


@pytest.mark.parametrize(("since", "speed"), [(0.7, 0.4), (0.9, 0.4), (1.0, 0.8)])
def test_joint_whose_sign_is_wrong_is_reported_within_a_fifth_of_a_second_and_left_without_effort(since, speed):
    """Damping drives it, less its friction, and springs do: it went 25 rad/s where it was not recognised."""
    played, joint = world("mock_arm", error=0.0, rate=250.0), 3
    sign = np.where(np.arange(played.arm_model.n) == joint, -1.0, 1.0)
    played.at(since, lambda: turn_over(played, sign))
    played.want_mode("gravity")
    played.run(1.044)
    played.arm.qd = speed * (sign < 0)
    played.run(1.05)
    stop(played)
    motion = watch(played, 2.0)
    assert events(played, "stop_service")[0] - 1.05 < 0.2
    assert len(events(played, "stop_service")) == 2
    assert motion.max_speed < 2.2, motion
    assert motion.travel < 0.55, motion
    assert motion.end_speed < REST_SPEED, motion


@pytest.mark.parametrize(("mode", "gap"), [*product(MODES, GAPS)] if FULL else [*zip(MODES, GAPS)])
def test_a_controller_that_follows_commands_late_stops_the_arm_that_fell_meanwhile(mode, gap):
    """As one that was activated exerts nothing until a command reaches it. Its efforts are not withdrawn for that."""
    played = world("mock_arm", error=0.0, rate=500.0, **{"commands.model_tolerance": 0.1})
    played.want_mode(mode)
    played.run(STOP_AT)
    played.listening, played.wanted_mode = False, "stopped"
    played.arm.law = HeldEffort(np.zeros(played.arm_model.n), played.arm_model.effort_limit)
    played.run(STOP_AT + gap)
    assert events(played, "controller does not follow")
    played.listening = True
    motion = watch(played, 2.0)
    assert motion.moved_for < REST_TIME, motion
    assert motion.travel < MAX_TRAVEL, motion


# --- leaving in motion


@pytest.mark.parametrize(("name", "mode", "seed"), PAIRS)
def test_leaving_in_motion_brakes_until_the_arm_rests_and_then_ends(name, mode, seed):
    """Without braking, 0.5 rad/s grow to 1.6 rad/s, and the held command lets the arm move for ever."""
    played = moving(name, mode, seed=seed)
    leave(played)
    motion = watch(played)
    assert motion.moved_for < 0.5 * REST_TIME, motion
    assert motion.travel < 0.5 * MAX_TRAVEL, motion
    assert motion.max_speed < motion.speed + 0.1, motion
    assert not played.node.commands
    assert played.node.mode == "monitor"
    assert played.node.stop_calls == 0


def left_under_a_payload(name: str, mass: float, at: float, **settings) -> World:
    """Return a world whose mode was left just now, with a payload told that is not there: since 1 s, over 0.5 s."""
    played = world(name, 3 if name == "panda" else 1, error=0.0, **settings)
    believe_payload(played, mass)
    played.want_mode("gravity")
    played.run(at)
    leave(played)
    played.wanted_mode = "stopped"
    return played


@pytest.mark.parametrize(
    ("name", "mass", "at"),
    part(
        [
            ("panda", 4.0, 1.15),
            ("panda", 4.0, 1.3),
            ("panda", 6.0, 1.15),
            ("mock_arm", 3.0, 1.2),
            ("mock_arm", 5.0, 1.2),
        ],
        2,
        4,
    ),
)
def test_leaving_with_a_wrong_model_ends_where_the_arm_is_drawn_back_and_rests(name, mass, at):
    """Without the springs it would move on by itself."""
    played = left_under_a_payload(name, mass, at)
    motion = watch(played, 4.0)
    assert (played.node.mode, played.node.commands, played.node.stop_calls) == ("monitor", False, 0)
    assert motion.travel < max(0.5 * MAX_TRAVEL, 0.2 * motion.speed), motion
    assert motion.end_speed < 0.5 * REST_SPEED, motion


@pytest.mark.parametrize(("name", "mass"), part([("mock_arm", 1.0), ("mock_arm", 1.4)], 1))
def test_arm_that_friction_hardly_holds_is_not_left_under_an_effort_under_which_it_moves(name, mass):
    """The damping of the mode and of the stop hides that: commands may end only when the arm rests without it."""
    played = left_under_a_payload(name, mass, 2.0, **{"gravity.damping": 40.0, "commands.slew_rate": 1.0})
    assert played.node.mode == "monitor"
    motion = watch(played, 5.0)
    assert not played.node.commands
    assert motion.travel < 0.5 * MAX_TRAVEL, motion
    assert motion.end_speed < 0.5 * REST_SPEED, motion


@pytest.mark.parametrize(("mass", "escalated"), [(3.0, False), (6.0, True)])
def test_arm_that_does_not_stay_at_rest_while_it_is_left_is_braked_again_and_escalated(mass, escalated):
    """A load comes while the last effort is proved. Left alone, the arm would fall at 3 rad/s."""
    played = world("mock_arm", error=0.0)
    played.want_mode("gravity")
    played.run(STOP_AT)
    leave(played)
    played.run(STOP_AT + 0.5 * PROOF_TIME)
    assert played.node.commands
    played.wanted_mode = "stopped"
    played.replace_arm(played.arm_model.carrying(Payload(mass, [0.0, 0.0, 0.05])))
    motion = watch(played, 3.0)
    assert (played.node.mode, played.node.commands) == (("stopped", True) if escalated else ("monitor", False))
    assert played.node.runtime.reason.startswith("stop failed") == escalated
    assert played.node.stop_calls == escalated
    assert motion.max_speed < 0.8, motion
    assert motion.travel < MAX_TRAVEL, motion
    assert motion.end_speed < 0.5 * REST_SPEED, motion


# --- states end


@pytest.mark.parametrize("behaviour", ["hold_gravity", "zero_effort"])
def test_last_command_is_the_declared_effort_when_states_end_amid_a_mode(behaviour):
    """What is left on the topic is held for ever by the controller. Gravity compensation is repeated besides."""
    played = moving("mock_arm", "feed_forward", **{"commands.stop_behaviour": behaviour, "commands.slew_rate": 1.0})
    q = played.arm.q.copy()
    played.driver.faults.append(lambda samples: [])
    played.wanted_mode = "stopped"
    held = behaviour == "hold_gravity"
    while played.node.commands and played.now < STOP_AT + 3.0:
        played.run(played.now + 0.01)
    assert (played.node.mode, played.node.commands) == (("stopped", True) if held else ("monitor", False))
    assert played.node.runtime.reason.startswith("state stale")
    if held:
        sent = [record[2:] for record in played.records if record[1] == "command" and record[0] > 1e9 * (STOP_AT + 2.5)]
        assert len(sent) >= 49
        assert set(sent) == {sent[-1]}
    left = played.arm.law.tau
    expected = gravity(played.description, q) if behaviour == "hold_gravity" else np.zeros(len(q))
    np.testing.assert_allclose(left, expected, rtol=0, atol=0.02 * np.max(played.arm_model.effort_limit))
    assert not broken(played)


# --- an arm that came to rest is held there


@pytest.mark.parametrize(("name", "push"), part([("mock_arm", 100.0), ("ur10", 200.0)], 1))
def test_springs_do_not_make_a_stopped_arm_swing_where_the_slew_rate_is_small(name, push):
    """A spring that the slew rate delays feeds energy: with it, a pushed arm swings at 1 rad/s for seconds."""
    played = moving(name, "gravity", **{"commands.slew_rate": 1.0}, delay=0.02, speed=0.3)
    stop(played)
    played.run(STOP_AT + 1.0)
    played.add_contact(AppliedForce("tool0", (push, push, 0.0), start=played.now, duration=0.4))
    played.run(played.now + 1.5)
    motion = watch(played, 2.0)
    assert motion.max_speed < REST_SPEED, motion
    assert motion.travel < 0.05, motion


@pytest.mark.parametrize(("name", "rested"), part(product(ARMS, [4.0, 0.0]), 0, 5))
def test_push_that_ends_long_after_the_stop_leaves_nothing_that_drives_the_arm(name, rested):
    """Braking sums up what opposes it: a sum that stays then drives a panda 3 rad far, at 1.9 rad/s."""
    played = moving(name, "gravity", seed=1 + 2 * (name == "panda"), error=0.0, speed=0.3)
    stop(played)
    played.run(STOP_AT + rested)
    played.add_contact(AppliedForce(played.arm_model.default_tip, (0.0, 0.0, 30.0), start=played.now, duration=3.0))
    played.run(played.now + 3.0)
    motion = watch(played, 3.0)
    assert motion.moved_for < 0.5 * REST_TIME, motion
    assert motion.travel < MAX_TRAVEL, motion
    assert not broken(played)


def test_push_of_a_stopped_arm_withdraws_no_effort_where_efforts_are_measured():
    """It is escalated, and the joints go on to carry their weight. Withdrawing it lets the arm fall at 8 rad/s."""
    played = moving("mock_arm", "gravity", error=0.0)
    stop(played)
    played.run(STOP_AT + 1.0)
    played.add_contact(AppliedForce("tool0", (0.0, 0.0, -400.0), start=played.now, duration=0.6))
    played.run(played.now + 0.6)
    assert played.node.stop_calls == 1
    motion = watch(played, 2.0)
    assert played.node.stop_calls == 1
    assert motion.end_speed < REST_SPEED, motion
    np.testing.assert_allclose(played.arm.law.tau, gravity(played.description, played.arm.q), rtol=0, atol=30.0)


def test_arm_that_another_node_commands_besides_is_not_thrown_when_that_ends():
    """Springs wind up against zeros between the commands, and then throw the tip up by 0.08 m at 1.5 m/s."""
    played = world("mock_arm", error=0.0, rate=100.0, delay=0.008, **{"commands.model_tolerance": 0.1})
    played.want_mode("gravity")
    played.run(1.003)
    played.wanted_mode = "stopped"
    start_fault(played, "second commander", np.random.default_rng(0), 0.6)
    played.run(played.now + 0.6)
    assert played.node.mode == "stopped"
    height = played.arm.tip_position()[2]
    motion = watch(played)
    assert motion.end_speed < REST_SPEED, motion
    assert played.arm.tip_position()[2] < height + 0.01


@pytest.mark.parametrize("name", ["mock_arm", "xarm7"])
def test_brakes_are_called_of_an_arm_that_the_zeros_of_another_node_let_fall(name):
    """They come right after each command. What the other exerts counted as a push, and the arm fell for 1 s."""
    played = world(name, error=0.0, rate=100.0, **{"commands.model_tolerance": 0.1})
    played.want_mode("gravity")
    played.run(1.0025)
    start_fault(played, "second commander", np.random.default_rng(0), 0.6)
    home = played.arm.q.copy()
    while not played.node.stop_calls:
        played.run(played.now + 0.01)
        assert np.abs(played.arm.q - home).max() < 0.1


@pytest.mark.parametrize("force", part([40.0, 60.0], 1))
def test_joint_that_a_soft_wall_holds_stays_when_the_mode_is_left(force):
    """The effort that commands end in lacked that of the wall, which a push leans on: 0.5 rad/s, 0.11 rad."""
    p, elbow = world("mock_arm", error=0.0), 2
    home = np.array(HOME)
    home[elbow] = p.arm_model.upper[elbow] - 0.15
    p = World(1, p.arm_model, home, p.options, p.description)
    way = jacobian(p.arm_model, home, "wrist_1_link")[:3, elbow]
    p.add_contact(AppliedForce("wrist_1_link", force * way / np.linalg.norm(way), start=0.5))
    p.want_mode("gravity")
    p.run(3.0)
    stop(p)
    p.run(5.0)
    leave(p, "stopped")
    motion = watch(p, 2.0)
    assert p.node.mode == "monitor"
    assert motion.max_speed < REST_SPEED
    assert motion.travel < 0.05


def test_joint_that_a_mode_pushes_into_a_soft_wall_is_not_thrown_back_when_that_stops():
    """The wall pushed alone from then on: 0.12 rad, and the brakes of a light wrist were called."""
    joint, p = 5, world("panda", 3, error=0.0, rate=250.0, **{"impedance.stiffness": (3000.0,) * 3 + (100.0,) * 3})
    home = p.arm.q.copy()
    home[joint] = p.arm_model.upper[joint] - 0.1
    targets = TargetQuality(amplitude=0.3, frequency=0.3, force=0.0)
    p = World(1, p.arm_model, home, replace(p.options, targets=targets), p.description)
    p.want_mode("impedance")
    p.run(4.0)
    assert p.arm.q[joint] > p.arm_model.upper[joint] - 0.1
    stop(p)
    motion = watch(p)
    assert motion.travel < 0.06, motion
    assert motion.moved_for < 0.2, motion
