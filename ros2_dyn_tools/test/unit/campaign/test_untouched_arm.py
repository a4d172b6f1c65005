# SPDX-License-Identifier: Apache-2.0
"""An arm that nobody touches, whose model is wrong by less than is refused: where it is seconds later."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest

from arm_world import coarse_encoders, told
from ros2_dyn.control.modes import MODES
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime.inputs import JointSample
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn_tools.campaign.arm_pool import nominal_arm, random_home, with_effort_limits, with_friction
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions
from tiers import FULL, by_turns, part

ARMS = ("mock_arm", "ur5", "ur10", "panda", "kinova", "xarm7") if FULL else ("mock_arm", "ur5", "panda")
SEEDS = range(1, 7) if FULL else (1,)
ENTERED, END = 0.4, 4.0
"""When a mode is entered, and until when is watched, s."""
MAX_TIP_SPEED = 0.25
"""Of the tip, m/s, where nobody changes it."""


class Outcome(NamedTuple):
    """What came of it."""

    mode: str
    """In the end."""
    travel: float
    """Largest distance of a joint from where it was, rad or m."""
    joint_speed: float
    """Largest, rad/s or m/s."""
    tip_speed: float
    """Largest, m/s."""
    reason: str
    """Why the mode ended, or was refused."""
    rests: bool
    """Whether it rests in the end."""


GOOD_GEAR = 0.25
"""Share of the usual friction: 1 % of the effort limits."""


def leave_alone(
    arm: RobotModel,
    known: RobotModel | None = None,
    *,
    mode: str = "gravity",
    seed: int = 1,
    unit: float = 1.0,
    payload: float = 0.0,
    slip: tuple[int, float] | None = None,
    measured: Callable[[np.ndarray], np.ndarray] | None = None,
    hand: float = 0.0,
    step: float = 0.0,
    entered: float = ENTERED,
    **settings,
) -> Outcome:
    """Hold an arm until a mode is entered, and let it alone then.

    Args:
        arm: the true arm.
        known: its description; None: the arm.
        mode: the mode.
        seed: of the posture.
        unit: of the efforts that its driver reports, N m.
        payload: mass that is declared amid the mode, and is not there, kg.
        slip: a joint whose position slips each 0.5 s from 1 s on, and by how much, rad.
        measured: what the driver tells of the efforts, N m or N, shape (n,); None: what they are.
        hand: force of a hand that draws the tip sideways for a second from when the mode begins, N.
        step: of the encoders, between two multiples of which the arm rests, rad or m.
        entered: when the mode is requested for the first time, s.
        settings: parameters.
    """
    settings = Settings.from_values({"robot.joints": arm.joint_names, "collision.bandwidth": 0.0} | settings)
    driver, still = DriverQuality(125.0, 1e-5, 1e-3, effort_unit=unit), TargetQuality(amplitude=0.0, force=0.0)
    options = WorldOptions(settings, driver, ChannelQuality(), ChannelQuality(), still)
    drawn = [AppliedForce(arm.default_tip, (0.0, hand, 0.0), start=entered, duration=1.0)] if hand else []
    world = World(seed, arm, random_home(arm, np.random.default_rng(seed)), options, known, contacts=drawn)
    world.at(entered, lambda: world.want_mode(mode))
    if payload:
        world.at(1.0, lambda: world.tell_payload(told(Payload(payload, [0.0, 0.0, 0.05]), 0.5)))
    if slip is not None:
        joint, each_time = slip
        slipping = np.arange(arm.n) == joint

        def slipped(samples: list[JointSample]) -> list[JointSample]:
            by = each_time * slipping * max(int((world.now - 1.0) / 0.5), 0)
            return [each._replace(position=(np.array(each.position) + by).tolist()) for each in samples]

        world.driver.faults.append(slipped)
    if step:
        world.driver.faults.append(coarse_encoders(world.home, step))
    if measured is not None:
        world.driver.faults.append(
            lambda samples: [each._replace(effort=measured(np.array(each.effort)).tolist()) for each in samples]
        )
    world.run(END)
    motion = world.finish().motion
    refused = [record[2] for record in world.records if record[1] == "refused"]
    reason = world.node.runtime.reason or (refused[-1] if refused else "")
    travel = float(np.max(np.abs(motion.q - motion.q[0])))
    fastest, rests = float(np.max(np.abs(motion.qd))), bool(np.max(np.abs(world.arm.qd)) < 0.05)
    return Outcome(world.node.mode, travel, fastest, float(np.max(motion.tip_speed)), reason, rests)


def check_at_rest(outcome: Outcome) -> None:
    """Check that an arm stayed where it was, in mode gravity or because that was refused."""
    assert outcome.travel < 0.02, outcome
    assert outcome.tip_speed < 0.05, outcome
    assert outcome.mode == "gravity" or "than the model expects" in outcome.reason, outcome


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ARMS)
def test_arm_on_a_base_that_leans_by_8_degrees_stays_where_it_is(name, seed):
    """Compensation of gravity as it is told moves the tip by a metre, at 0.3 to 1 m/s."""
    arm, tilt, heading = (
        with_friction(nominal_arm(name), GOOD_GEAR),
        np.deg2rad(8),
        np.random.default_rng(seed).uniform(0, 6),
    )
    sideways = 9.81 * np.sin(tilt)
    down = (sideways * np.cos(heading), sideways * np.sin(heading), -9.81 * np.cos(tilt))
    check_at_rest(leave_alone(arm, seed=seed, **{"robot.gravity": down}))


@pytest.mark.parametrize("name", ARMS)
def test_mode_that_is_requested_as_soon_as_states_come_holds_the_arm(name):
    """What held it was not known yet, and the tip went at 0.2 m/s, for as long as the mode lasted."""
    arm, down = with_friction(nominal_arm(name), GOOD_GEAR), (0.0, 1.4, -9.7)
    at_once = {"commands.stop_behaviour": "none"}  # no failsafe process has to start first
    check_at_rest(leave_alone(arm, entered=0.03, **{"robot.gravity": down} | at_once))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ARMS)
def test_arm_that_carries_what_nobody_declared_stays_where_it_is(name, seed):
    known = with_friction(nominal_arm(name), GOOD_GEAR)
    mass = 1.5 if np.max(known.effort_limit) > 60 else 0.5
    check_at_rest(leave_alone(known.carrying(Payload(mass, [0.0, 0.0, 0.08])), known, seed=seed))


@pytest.mark.parametrize("name", ARMS)
def test_arm_that_rests_between_two_steps_of_coarse_encoders_stays_where_it_is(name):
    """It was not known to rest, and began from the model alone: it went up to 0.8 rad, at 0.8 rad/s."""
    known = with_friction(nominal_arm(name), GOOD_GEAR)
    mass = 1.5 if np.max(known.effort_limit) > 60 else 0.5
    real = known.carrying(Payload(mass, [0.0, 0.0, 0.08]))
    check_at_rest(leave_alone(real, known, step=0.0015))


@pytest.mark.parametrize(("name", "wrong"), by_turns(ARMS, ["offset", "coarse", "dead band"]))
def test_arm_whose_efforts_are_measured_wrongly_stays_about_where_it_is(name, wrong):
    """What it was held with by these efforts let it take off, at up to 1.1 rad/s, and go 1.5 rad."""
    arm = with_friction(nominal_arm(name), 0.1)
    limit, sign = arm.effort_limit, np.resize([1.0, -1.0], arm.n)
    measured = {
        "offset": lambda effort: effort + 0.015 * limit * sign,
        "coarse": np.round,
        "dead band": lambda effort: np.where(np.abs(effort) < 0.05 * limit, 0.0, effort),
    }
    outcome = leave_alone(arm, measured=measured[wrong])
    assert outcome.mode == "gravity", outcome
    assert outcome.travel < 0.1, outcome
    assert outcome.joint_speed < 0.4, outcome


@pytest.mark.parametrize(("mode", "name"), by_turns(MODES, ARMS))
@pytest.mark.parametrize("wrong", ["noise", "spikes", "zeros"])
def test_no_mode_begins_with_one_effort_that_is_measured_wrongly(mode, name, wrong):
    """With noise of 5 % of the limits arms were thrown at 1 rad/s, with spikes in one state of ten at 5 rad/s."""
    arm, chances = nominal_arm(name), np.random.default_rng(5)

    def noisy(effort: np.ndarray) -> np.ndarray:
        return effort + 0.05 * arm.effort_limit * chances.standard_normal(arm.n)

    def spiky(effort: np.ndarray) -> np.ndarray:
        spike = 0.3 * arm.effort_limit * chances.choice([-1.0, 1.0], arm.n)
        return effort + spike if chances.random() < 0.1 else effort

    def holed(effort: np.ndarray) -> np.ndarray:
        return np.where((np.arange(arm.n) == 1) & (chances.random() < 0.2), 0.0, effort)

    outcome = leave_alone(arm, mode=mode, measured={"noise": noisy, "spikes": spiky, "zeros": holed}[wrong])
    assert outcome.mode == mode or "does not follow" in outcome.reason, outcome
    assert outcome.travel < 0.05, outcome
    assert outcome.joint_speed < 0.2, outcome


@pytest.mark.parametrize("name", ARMS)
def test_hand_that_draws_the_arm_when_the_mode_begins_is_not_taken_for_its_load(name):
    arm = with_friction(nominal_arm(name), GOOD_GEAR)
    outcome = leave_alone(arm, hand=40.0)
    assert outcome.rests, outcome


@pytest.mark.parametrize(("name", "mass"), by_turns(ARMS, [0.5, 2.0, 5.0]))
def test_arm_whose_payload_is_declared_and_absent_is_slow(name, mass):
    """It rises, and is braked: by the mode, or by its stop. It went at 0.9 m/s for 1.3 m."""
    outcome = leave_alone(with_friction(nominal_arm(name), GOOD_GEAR), payload=mass)
    assert outcome.tip_speed < 1.3 * MAX_TIP_SPEED, outcome


@pytest.mark.parametrize(("name", "share"), by_turns(ARMS, [0.7, 0.6, 0.5]))
def test_guided_arm_whose_friction_was_told_too_large_is_slow(name, share):
    """As of a gear that is warm. Its joints went at 3 rad/s, until that was too fast for the URDF."""
    known = nominal_arm(name)
    if not any(joint.dynamics.coulomb for joint in known.joints):
        pytest.skip("its description declares no friction")
    outcome = leave_alone(with_friction(known, share), known, mode="hand_guiding")
    assert outcome.mode == "hand_guiding", outcome
    assert outcome.joint_speed < MAX_TIP_SPEED / 0.2, outcome
    assert outcome.tip_speed < MAX_TIP_SPEED, outcome


@pytest.mark.parametrize(
    ("unit", "mode", "share"), part(product((10.0, 5.0, 3.0), ("gravity", "impedance"), (1.0, 0.3)), 0, 3, 5, 6, 8, 11)
)
def test_arm_whose_efforts_are_in_another_unit_is_refused_or_is_slow(unit, mode, share):
    """As motor currents are, in A: a mode that begins with a tenth of the weight drops the arm."""
    for seed in SEEDS:
        outcome = leave_alone(with_friction(nominal_arm("ur5"), share), mode=mode, seed=seed, unit=unit)
        assert outcome.tip_speed < MAX_TIP_SPEED, (seed, outcome)
        assert outcome.travel < 0.15, (seed, outcome)


@pytest.mark.parametrize(("name", "times"), by_turns(("ur5", "panda"), [6.0, 30.0]))
def test_wrong_unit_is_found_by_the_weight_of_an_arm_whose_limits_are_of_another_robot(name, times):
    """What friction and tolerance explain was more than the arm weighs, so that nothing was ever found."""
    arm = with_friction(nominal_arm(name), GOOD_GEAR)
    known = with_effort_limits(arm, {joint.name: times * joint.effort_limit for joint in arm.joints})
    outcome = leave_alone(arm, known, seed=4, unit=10.0)
    assert (outcome.mode, "states.effort_gain" in outcome.reason) == ("monitor", True), outcome
    assert outcome.travel < 1e-3, outcome


@pytest.mark.parametrize(("name", "step"), by_turns(ARMS, [0.04, -0.04]))
def test_arm_whose_encoder_slips_by_less_than_the_tolerance_is_stopped_before_it_goes_far(name, step):
    """What carries it would be that of another posture, and it went on and on: by 1.4 rad, as a UR5."""
    arm = with_friction(nominal_arm(name), GOOD_GEAR)
    outcome = leave_alone(arm, slip=(1, step))
    assert outcome.mode == "stopped", outcome
    assert outcome.travel < 0.25, outcome
    assert outcome.tip_speed < MAX_TIP_SPEED, outcome
