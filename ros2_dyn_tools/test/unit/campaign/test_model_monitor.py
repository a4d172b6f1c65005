# SPDX-License-Identifier: Apache-2.0
"""A node that is wrong about its arm, in virtual time: that it notices, and what the arm does before."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import cycle, product
from typing import Any

import numpy as np
import pytest
from test_stops import watch

from arm_world import told
from ros2_dyn.control.model_doubt import CONTROLLER_DOES_NOT_FOLLOW, MODEL_DOUBTED
from ros2_dyn.control.modes import MODES
from ros2_dyn.model import JointDynamics, Payload, RobotModel
from ros2_dyn.runtime import Settings
from ros2_dyn.runtime.inputs import ClockJump
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.interpolated_trajectory import FeedForwardTracking
from ros2_dyn.simulation.perturbed import perturbed
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn_tools.campaign.arm_pool import OWN_ARM, arm_names, nominal_arm, random_home
from ros2_dyn_tools.campaign.commander_faults import move_by_another
from ros2_dyn_tools.campaign.driver import DriverQuality
from ros2_dyn_tools.campaign.driver_faults import without_efforts
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import ChannelQuality, WorldOptions
from tiers import FULL, part

HOME = np.array([0.0, -0.9, 1.2, -1.8, -1.57, 0.0])
PAYLOAD = Payload(5.0, (0.0, 0.0, 0.05), link="tool0")
ENTERED, CHANGED, END = 0.5, 2.0, 3.5
"""When a mode is requested, when the arm changes, and when the world ends, s."""
ARM = nominal_arm(OWN_ARM)
LOADED = ARM.carrying(PAYLOAD)
NOTICED = 0.2
"""Time within which a wrong model has to be noticed, s."""
MAX_TRAVEL = 0.1
"""Travel of a joint until then, rad."""


@dataclass
class Outcome:
    """What became of one world."""

    world: World
    refusals: list[str]
    entered: float | None
    """When the mode began, s."""
    stopped: float | None
    """When it stopped, s."""
    reason: str
    travel: float
    """Largest distance of a joint from where it was at `since` until the stop, or until the end, rad."""
    speed: float
    """Largest speed of a joint in that time, rad/s."""


def arm_settings(**changes: Any) -> Settings:
    """Return settings that fit the arm of this package."""
    stiffness, damping = (400.0, 400.0, 300.0, 40.0, 30.0, 20.0), (40.0, 40.0, 30.0, 4.0, 3.0, 2.0)
    given: dict[str, Any] = {
        "robot.joints": ARM.joint_names,
        "friction.transition_velocity": 0.05,
        "commands.ramp_time": 0.1,
    }
    given |= {"commands.target_timeout": 0.2, "commands.max_tip_speed": 10.0}  # what is tested here is the doubt
    return Settings.from_values(
        {**given, "feed_forward.stiffness": stiffness, "feed_forward.damping": damping, **changes}
    )


def make_world(
    arm: RobotModel = ARM,
    description: RobotModel | None = None,
    settings: Settings | None = None,
    seed: int = 1,
    targets: TargetQuality | None = None,
    driver: DriverQuality | None = None,
    home: np.ndarray = HOME,
) -> World:
    """Return a world of this package's arm, with noise and the delays of a network."""
    options = WorldOptions(
        settings or arm_settings(),
        driver or DriverQuality(rate=250.0, effort_noise=0.3),
        ChannelQuality(delay=0.001, jitter=0.001),
        ChannelQuality(delay=0.001),
        targets or TargetQuality(amplitude=0.1, frequency=0.5, force=5.0),
        NodeQuality(latency=0.001, failsafe_start=0.05),
    )
    return World(seed, arm, home, options, description)


def mirrored(model: RobotModel, joint: str) -> RobotModel:
    """Return the robot with the sign of a joint turned over."""
    links = [
        link._replace(joint=replace(link.joint, axis=-link.joint.axis))
        if link.joint is not None and link.joint.name == joint
        else link
        for link in model.link_specs
    ]
    return RobotModel.from_links(model.name, links)


def play(
    world: World, mode: str, change: Callable[[], None] | None = None, since: float = CHANGED, end: float = END
) -> Outcome:
    """Request a mode, change something, and return what the arm did until the mode stopped.

    Args:
        world: the world.
        mode: the mode.
        change: called at `since`; None: nothing.
        since: time from which on travel and speed count, s.
        end: end of the world, s.
    """
    world.at(ENTERED, lambda: world.want_mode(mode))
    world.run(since)
    if change is not None:
        change()
    began, seen = world.arm.q.copy(), []
    while world.now < end and world.node.mode in (mode, "monitor"):
        world.run(world.now + 0.004)
        world.advance()
        seen.append((np.max(np.abs(world.arm.q - began)), np.max(np.abs(world.arm.qd))))
    modes = [(1e-9 * t, details) for t, kind, *details in world.records if kind == "mode"]
    entered = next((t for t, (name, _) in modes if name == mode), None)
    stopped = next(((t, reason) for t, (name, reason) in modes if name == "stopped"), (None, ""))
    refusals = [details[0] for _, kind, *details in world.records if kind == "refused"]
    travel, speed = np.max(seen, axis=0).tolist() if seen else (0.0, 0.0)
    return Outcome(world, refusals, entered, stopped[0], stopped[1], travel, speed)


def assert_refused(world: World, mode: str, joint: str) -> str:
    """Check that a mode is refused with the joint, and that the arm has not moved; return the reason."""
    outcome = play(world, mode, since=ENTERED, end=1.5)
    assert outcome.entered is None
    assert f"joint '{joint}' exerts" in outcome.refusals[0]
    assert outcome.travel < 1e-3
    return outcome.refusals[0]


def assert_stopped(world: World, mode: str, change, since: float, kind: str, travel: float = MAX_TRAVEL) -> None:
    """Check that a mode stops in time, for a reason, and that the arm has hardly moved."""
    outcome = play(world, mode, change, since)
    begun = max(since, outcome.entered or 0.0)
    assert outcome.stopped is not None, "it goes on"
    assert outcome.reason.startswith(kind)
    assert outcome.stopped - begun < NOTICED
    assert outcome.travel < travel


# --- before a mode


@pytest.mark.parametrize("mode", part(MODES, 0, 1))
def test_gravity_turned_over_is_refused(mode):
    text = assert_refused(
        make_world(settings=arm_settings(**{"robot.gravity": (0.0, 0.0, 9.81)})), mode, "shoulder_lift_joint"
    )
    assert "79.7 N m or N less than the model expects, commands.model_tolerance and friction allow 21" in text
    for word in ("payload", "gravity vector", "states.measured_effort", "effort_gain", "sign"):
        assert word in text


def test_a_payload_that_is_believed_and_absent_is_refused():
    world = make_world()
    world.tell_payload(told(PAYLOAD))
    assert_refused(world, "gravity", "shoulder_lift_joint")


def test_a_payload_that_is_carried_and_not_declared_is_refused_until_it_is_declared():
    world = make_world(LOADED, ARM)
    world.at(1.0, lambda: world.tell_payload(told(PAYLOAD)))
    outcome = play(world, "gravity", since=ENTERED, end=1.5)
    assert "shoulder_lift_joint" in outcome.refusals[0]
    assert outcome.entered == pytest.approx(1.15, abs=0.1)
    assert outcome.travel < 0.02


def test_states_from_before_a_payload_was_declared_do_not_count():
    world = make_world()
    world.run(ENTERED)
    before = world.node.runtime.model_difference(world.now)
    world.tell_payload(told(PAYLOAD))
    after = world.node.runtime.model_difference(world.now)
    assert np.max(np.abs(before.difference)) < 1.0
    assert after.difference[1] == pytest.approx(35.5, abs=1.5)


@pytest.mark.parametrize("joint", ["shoulder_lift_joint", "elbow_joint"])
def test_a_mirrored_joint_is_refused(joint):
    assert_refused(make_world(description=mirrored(ARM, joint)), "gravity", "shoulder_lift_joint")


def test_efforts_of_another_unit_or_convention_are_refused():
    unit = DriverQuality(rate=250.0, effort_noise=0.3, effort_unit=10.0)
    text = assert_refused(make_world(driver=unit), "gravity", "shoulder_lift_joint")
    assert "35.9 N m or N more" in text
    world = make_world(settings=arm_settings(**{"states.measured_effort": "gravity_compensated"}))
    world.options = replace(world.options, settings=arm_settings())  # the robot reports the whole effort
    assert_refused(world, "gravity", "shoulder_lift_joint")


def test_an_arm_in_motion_is_compared_without_its_accelerations():
    settings = arm_settings(**{"commands.model_tolerance": 0.03, "friction.coulomb": [0.01] * 6})
    world = make_world(settings=settings)
    efforts = np.array([30.0, -12.0, 8.0, 1.0, 1.0, 0.5])
    world.at(ENTERED - 0.15, lambda: world.send_command(efforts))  # another controller moves it
    world.run(ENTERED)
    found = world.node.runtime.model_difference(world.now)
    assert np.max(np.abs(world.arm.qd)) > 1.0
    assert np.max(np.abs(found.difference)) < 5.0  # of 30 N m that accelerate it


@pytest.mark.parametrize("changes", [{"states.measured_effort": "external"}, {}], ids=["external", "no effort"])
def test_without_measured_efforts_a_mode_is_entered_with_a_warning(changes):
    world = make_world(settings=arm_settings(**changes))
    if changes:
        world.driver.faults.append(lambda samples: [each._replace(effort=[0.0] * 6) for each in samples])
    else:
        world.driver.faults.append(without_efforts)
    outcome = play(world, "gravity", since=ENTERED, end=2.0)
    assert outcome.stopped is None
    assert outcome.entered is not None
    assert any(record[1:3] == ("event", "model unchecked") for record in world.records)


def test_a_payload_that_was_never_there_is_found_in_motion_where_efforts_are_not_measured():
    world = make_world()
    world.driver.faults.append(without_efforts)
    world.tell_payload(told(PAYLOAD))
    assert_stopped(world, "gravity", None, ENTERED, MODEL_DOUBTED)


# --- while commands leave


@pytest.mark.parametrize(("mode", "swapped"), [*zip(MODES, cycle([[1, 0, 2, 3, 4, 5], [0, 2, 1, 3, 4, 5]]))])
def test_a_controller_with_another_order_of_joints_is_noticed(mode, swapped):
    world = make_world()
    world.wirings.append([(i, 1.0) for i in swapped])
    assert_stopped(world, mode, None, ENTERED, CONTROLLER_DOES_NOT_FOLLOW)


@pytest.mark.parametrize("mode", part(MODES, 2, 3))
def test_a_controller_that_lets_the_arm_go_is_noticed(mode):
    world = make_world()

    def let_go() -> None:
        world.listening = False
        world.arm.law = HeldEffort(np.zeros(6), ARM.effort_limit)

    assert_stopped(world, mode, let_go, CHANGED, CONTROLLER_DOES_NOT_FOLLOW)


@pytest.mark.parametrize("mode", part(MODES, 0, 4))
def test_a_controller_that_gives_way_to_the_brakes_is_noticed(mode):
    world = make_world()

    def brake() -> None:
        world.switch_controller(False)  # something holds the arm, and the motors exert nothing
        world.driver.faults.append(lambda samples: [each._replace(effort=[0.0] * 6) for each in samples])

    assert_stopped(world, mode, brake, CHANGED, CONTROLLER_DOES_NOT_FOLLOW)


@pytest.mark.parametrize("mode", ["feed_forward", "force"])
def test_a_controller_that_was_never_active_is_noticed_once_the_commands_differ_from_what_holds_the_arm(mode):
    world = make_world(targets=TargetQuality(amplitude=0.1, frequency=0.5, force=40.0))
    world.at(0.2, lambda: world.switch_controller(False))
    outcome = play(world, mode, since=ENTERED)
    assert outcome.reason.startswith(CONTROLLER_DOES_NOT_FOLLOW)
    assert outcome.travel < 0.05


def stopped_under_another_controller(way, weaker=1.0):
    """Return a world whose arm another controller moves by a way, rad, shape (6,), in 2 s: the node is stopped."""
    world = make_world()
    world.want_mode("gravity")
    world.run(ENTERED)
    world.wanted_mode = "stopped"
    world.node.input(ClockJump("test"))
    world.run(ENTERED + 0.5)
    move_by_another(world, way, 2.0)
    law = world.arm.law
    world.arm.law = FeedForwardTracking(law.trajectory, law.p / weaker, law.damping, law.limit)
    world.run(ENTERED + 4.0)
    assert world.node.mode == "stopped"
    return world


@pytest.mark.parametrize(("way", "weaker", "most"), [(0.0, 12.0, 0.3), (0.5, 1.0, 0.015), (-0.5, 1.0, 0.015)])
def test_stop_winds_up_little_against_a_controller_that_moves_the_arm(way, weaker, most):
    """Springs, their sum and walls did, up to the effort limits: 3.7 rad/s when commands reached the arm again."""
    world = stopped_under_another_controller(np.array([0.0, way, -way, way, 0.0, 0.0]), weaker)
    world.switch_controller(True)
    motion = watch(world, 2.0)
    assert motion.max_speed < most
    assert motion.travel < 0.05


@pytest.mark.parametrize("weaker", [3.0, 6.0])
def test_no_mode_goes_on_with_what_a_stop_has_wound_up_against_another_controller(weaker):
    """What it commands holds nothing: `gravity` went on with 9 N m beside the weight, and away by 1.1 rad."""
    world = stopped_under_another_controller(np.zeros(6), weaker)
    world.want_mode("gravity")
    world.run(world.now + 1.5)
    assert world.node.mode == "gravity"
    world.switch_controller(True)
    motion = watch(world, 2.0)
    assert world.node.mode == "gravity"
    assert motion.max_speed < 0.05
    assert motion.travel < 0.01


def test_mode_is_refused_while_a_stop_is_not_followed():
    world = stopped_under_another_controller(np.zeros(6), weaker=12.0)
    world.want_mode("gravity")
    refusals = [details[0] for _, kind, *details in world.records if kind == "refused"]
    assert world.node.mode == "stopped"
    assert CONTROLLER_DOES_NOT_FOLLOW in refusals[-1]
    assert "request monitor" in refusals[-1]


def fastest_joint(seed, listening):
    """Speed of a light arm, rad/s, in 0.3 s after its drives held for 0.12 s what they were sent last, or did not."""
    arm = nominal_arm("so101")
    settings = Settings.from_values({"robot.joints": arm.joint_names, "friction.transition_velocity": 0.05})
    targets, driver = TargetQuality(amplitude=0.15, frequency=1.0), DriverQuality(rate=250.0, effort_noise=0.01)
    world = make_world(arm, arm, settings, seed, targets, driver, random_home(arm, np.random.default_rng(seed)))
    world.at(ENTERED, lambda: world.want_mode("impedance"))
    world.run(CHANGED)
    assert world.node.mode == "impedance"
    world.node.awaits_reply, world.listening = not listening, listening
    world.run(CHANGED + 0.12)
    world.node.awaits_reply, world.listening = False, True
    speeds = []
    for k in range(1, 61):
        world.run(CHANGED + 0.12 + 0.005 * k)
        speeds.append(np.abs(world.arm.qd).max())
    return max(speeds)


@pytest.mark.parametrize("seed", [1, 3, 7])
def test_a_controller_that_ignores_commands_for_a_moment_throws_no_arm_when_it_takes_them(seed):
    """The spring of `impedance` grows meanwhile. Seen too late, it makes a joint up to four times as fast."""
    assert fastest_joint(seed, listening=False) < 1.5 * fastest_joint(seed, listening=True)


@pytest.mark.parametrize("mode", part(MODES, 1, 2))
def test_a_payload_that_falls_is_noticed(mode):
    world = make_world(LOADED, ARM)
    world.tell_payload(told(PAYLOAD))
    assert_stopped(world, mode, lambda: world.replace_arm(ARM), CHANGED, MODEL_DOUBTED)


@pytest.mark.parametrize(("force", "stops"), [(50.0, False), (250.0, True)])
def test_hand_guiding_bears_the_declared_force_of_a_hand_and_no_more(force, stops):
    world = make_world(LOADED, ARM, arm_settings())
    world.tell_payload(told(PAYLOAD))
    push = AppliedForce("tool0", (0.0, force, 0.0), (0.0, 0.0, 0.0), "step", CHANGED, 0.2)
    outcome = play(world, "hand_guiding", lambda: world.add_contact(push), end=2.2)
    assert outcome.reason.startswith(MODEL_DOUBTED if stops else "")
    assert (outcome.stopped is not None) == stops


def test_a_hand_that_leads_the_arm_is_not_taken_for_a_lost_payload():
    world = make_world(LOADED, ARM)
    world.tell_payload(told(PAYLOAD))
    hand = Hand("tool0", (0.0, 0.2, 0.05), start=CHANGED, duration=1.2)
    outcome = play(world, "hand_guiding", lambda: world.add_contact(hand))
    assert outcome.stopped is None
    assert outcome.travel > 0.1


# --- arms that are as the model says, within 20 %


def differing_world(seed: int) -> World:
    """Return a world of an arm whose inertias differ by up to 20 %, its friction by up to 50 %, with noise."""
    rng = np.random.default_rng(seed)
    nominal = nominal_arm(arm_names()[seed % len(arm_names())])
    arm = perturbed(nominal, rng, inertia_error=0.2, friction_error=0.5)
    home, limit = random_home(arm, rng), float(np.max(arm.effort_limit))
    settings = arm_settings(
        **{
            "robot.joints": nominal.joint_names,
            "feed_forward.law": "computed_torque",
            "feed_forward.stiffness": (60.0,) * nominal.n,
            "feed_forward.damping": (16.0,) * nominal.n,
        },
    )
    driver = DriverQuality(
        float(rng.choice([125.0, 250.0, 500.0])), 1e-5, 3e-3, effort_noise=3e-3 * limit, effort_resolution=2e-3 * limit
    )
    targets = TargetQuality(amplitude=0.1, frequency=float(rng.uniform(0.3, 0.8)), force=5.0)
    return make_world(
        arm, _without_friction(nominal) if seed % 3 == 2 else nominal, settings, seed, targets, driver, home
    )


def _without_friction(model: RobotModel) -> RobotModel:
    """Return the robot as descriptions have it that declare no friction."""
    return model.with_joint_dynamics(
        {joint.name: JointDynamics(armature=joint.dynamics.armature) for joint in model.joints}
    )


@pytest.mark.parametrize(("mode", "seed"), [*product(MODES, range(24))] if FULL else [*zip(MODES, cycle((1, 2, 6)))])
def test_an_arm_within_20_percent_of_its_model_is_not_doubted(mode, seed):
    world = differing_world(seed)
    outcome = play(world, mode, since=ENTERED)
    assert not any("than the model expects" in text for text in outcome.refusals)
    assert outcome.entered is not None
    assert not outcome.reason.startswith((MODEL_DOUBTED, CONTROLLER_DOES_NOT_FOLLOW))
