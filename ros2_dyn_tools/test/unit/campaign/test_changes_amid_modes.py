# SPDX-License-Identifier: Apache-2.0
"""What may change underneath a mode, and what the arm does then."""

import numpy as np
import pytest
from test_stops import USUAL, leave, stop, watch
from test_stops import world as world_of

from arm_world import ARM, SETTINGS, ArmWorld, told
from ros2_dyn.control.stop.machine import REST_SPEED
from ros2_dyn.dynamics import gravity
from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload
from ros2_dyn.runtime import PayloadRequest, Settings
from ros2_dyn.runtime.inputs import ClockJump
from ros2_dyn.runtime.payload_ramp import NO_PAYLOAD
from ros2_dyn.simulation.hand import Hand
from ros2_dyn.simulation.perturbed import with_friction
from ros2_dyn.simulation.simulated_arm import HeldEffort
from ros2_dyn_tools.campaign.simulated_node import NodeQuality
from ros2_dyn_tools.campaign.target_generator import TargetQuality
from ros2_dyn_tools.campaign.world_options import loaded

LOCKED = {
    "robot.tip_link": "forearm_link",
    "robot.gravity": (0.0, 0.0, 9.81),
    "friction.viscous": (9.0,) * 6,
    "friction.coulomb": (50.0,) * 6,
    "robot.armature": (3.0,) * 6,
    "friction.transition_velocity": 0.001,
    "states.estimate": ("velocity",),
    "states.measured_effort": "external",
    "states.effort_gain": (10.0,) * 6,
    "collision.bandwidth": 1.0,
    "feed_forward.law": "computed_torque",
}


def box(mass: float) -> tuple[float, ...]:
    """Return the inertial parameters of a box, kg, 0.1 m before the tip."""
    return (mass, 0.0, 0.0, 0.1 * mass, 0.02 * mass, 0.0, 0.0, 0.02 * mass, 0.0, 0.01 * mass)


@pytest.mark.parametrize("name", LOCKED)
def test_a_parameter_that_the_model_or_the_states_depend_on_is_locked_while_a_mode_commands(name):
    before = Settings.from_values(SETTINGS)
    changed = Settings.from_values(SETTINGS | {name: LOCKED[name]})
    with pytest.raises(InputError, match=f"{name}: cannot be changed while mode gravity commands"):
        before.check_unlocked(changed, "gravity")


@pytest.mark.parametrize("home", [None, [0.0, -np.pi / 2, 0.0, 0.0, 0.0, 0.0]], ids=["bent", "upright"])
def test_a_payload_that_the_limits_cannot_carry_is_refused_amid_a_mode_and_the_arm_stays(home):
    """An arm that stands upright needs no effort for any payload, until it tilts."""
    world = ArmWorld(**({} if home is None else {"home": home}))
    world.at(1.0, lambda: world.tell_payload(PayloadRequest("", box(200.0))))
    world.play("gravity", 2.0)
    assert world.modes() == ["monitor", "gravity"]
    assert any("with a payload of 200 kg joint" in text for (text,) in world.details("refused"))
    assert world.travel() < 0.01


def test_a_payload_amid_a_mode_is_ramped_even_where_no_ramp_is_asked_for():
    """The arm lacks the payload that is declared: its command rises over half a second, not at once."""
    world = ArmWorld(**{"commands.slew_rate": 100.0})
    world.at(1.0, lambda: world.tell_payload(PayloadRequest("", box(3.0))))
    world.play("gravity", 1.1)
    before = np.array(next(r[2:] for r in world.records if r[1] == "command" and r[0] > 0.9e9))
    after = np.array(next(r[2:] for r in world.records[::-1] if r[1] == "command"))
    full = 3.0 * 9.81 * 0.9  # of the shoulder, at most
    assert 1.0 < np.max(np.abs(after - before)) < 0.3 * full


def test_a_payload_on_another_link_is_refused_amid_a_mode():
    world = ArmWorld()
    world.at(1.0, lambda: world.tell_payload(PayloadRequest("forearm_link", box(1.0))))
    world.play("gravity", 1.5)
    assert any("cannot be changed while mode gravity commands" in text for (text,) in world.details("refused"))


def test_a_payload_on_another_link_is_refused_where_a_mode_begins_while_its_kernels_are_made():
    """It took effect at once, unchecked and without a ramp: 20 kg threw the arm."""
    world = ArmWorld(node=NodeQuality(compile_time=0.5))
    world.at(0.4, lambda: world.want_mode("gravity"))  # its failsafe process is armed before
    world.at(0.8, lambda: world.want_mode("monitor"))
    world.at(2.0, lambda: world.tell_payload(PayloadRequest("forearm_link", box(20.0))))
    world.at(2.1, lambda: world.want_mode("gravity"))
    world.run(4.0)
    assert "mode gravity commands by now" in world.details("refused")[-1][0]
    assert world.travel() < 0.01


@pytest.mark.parametrize(("first", "second"), [("monitor", "gravity"), ("gravity", "feed_forward")])
def test_no_mode_begins_amid_the_ramp_of_a_payload(first, second):
    """What the arm exerted beyond the model of that moment was added to the model of later: it rose by 1.6 rad."""
    known, load = with_friction(ARM, *([1.0] * 6, [0.5] * 6)), Payload(1.5, [0.0, 0.0, 0.08])
    still, none = TargetQuality(amplitude=0.0, force=0.0), [0.0] * 6
    gains = {"feed_forward.stiffness": none, "feed_forward.damping": none}
    world = ArmWorld(arm=known.carrying(load), known=known, targets=still, **gains)
    world.at(0.3, lambda: world.want_mode(first))
    world.at(1.0, lambda: world.tell_payload(told(load, 3.0)))
    world.at(1.2, lambda: world.want_mode(second))
    world.run(6.0)
    assert "another payload is taking effect" in world.details("refused")[-1][0]
    assert next(t for t, kind, *details in world.records if kind == "mode" and details[0] == second) > 4.0
    assert world.travel() < 0.02


@pytest.mark.parametrize(("declared", "wanted"), [(1.8, "stopped"), (3.0, "stopped"), (3.0, "gravity")])
def test_a_payload_that_is_declared_to_a_stopped_arm_changes_nothing_that_holds_it(declared, wanted):
    """It was carried twice until springs gave way, by 0.04 rad; where a mode began with it, not at all: by 0.84 rad."""
    known, load = with_friction(ARM, *([1.0] * 6, [0.5] * 6)), Payload(1.5, [0.0, 0.0, 0.08])
    world = ArmWorld(arm=known.carrying(load), known=known, targets=TargetQuality(amplitude=0.0, force=0.0))
    world.at(0.3, lambda: world.want_mode("gravity"))
    world.at(declared, lambda: world.tell_payload(told(load, 3.0)))
    world.at(2.0, lambda: world.node.input(ClockJump("by a test")))
    world.at(3.0, lambda: world.want_mode(wanted))
    world.run(7.0)
    assert world.modes() == ["monitor", "gravity", "stopped", *({wanted} - {"stopped"})], world.details("refused")
    assert world.travel() < 0.01


def test_the_ramp_of_a_payload_waits_while_a_stop_brakes_and_goes_on_at_rest():
    """Else the inertia by which an arm is braked fades with a payload that is withdrawn and still there: 0.34 rad."""
    known, load = with_friction(ARM, *([0.5] * 6, [0.2] * 6)), Payload(2.0, [0.0, 0.0, 0.3])
    world = ArmWorld(arm=known.carrying(load), known=known, targets=TargetQuality(amplitude=0.0, force=0.0))
    world.tell_payload(told(load))
    masses = {True: [], False: []}

    def look():
        mass = world.node.runtime.robot.payload.at(world.now)[0]
        if world.node.mode == "stopped":
            masses[bool(np.abs(world.arm.qd).max() > REST_SPEED)].append(mass)

    world.at(1.0, lambda: world.tell_payload(PayloadRequest("", NO_PAYLOAD, 0.7)))
    for t in np.arange(1.0, 4.0, 0.01):
        world.at(float(t), look)
    world.play("gravity", 4.0)
    assert 0.95 * masses[True][0] < masses[True][-1] <= masses[True][0] < 2.0  # one model brakes it, but for a state
    assert masses[False][-1] == 0.0
    assert world.travel(2.5) < 0.01  # the sum of the springs carries what the model loses then


def test_a_mode_is_refused_where_a_payload_on_its_way_will_be_too_heavy():
    world = ArmWorld()
    world.tell_payload(PayloadRequest("", box(60.0), 10.0))
    world.play("gravity", 1.0)
    assert world.modes() == ["monitor"]
    assert "with a payload of 60 kg" in world.details("refused")[-1][0]


def test_gains_changed_amid_feed_forward_do_not_stop_it():
    """The desired states come just within their timeout, and are kept over the change."""
    world = ArmWorld(targets=TargetQuality(period=0.09))
    for i in range(20):
        damping = tuple(float(x) for x in (45.0 + i) * np.ones(6))
        world.at(1.0 + 0.047 * i, lambda damping=damping: world.set(**{"feed_forward.damping": damping}))
    world.play("feed_forward", 2.5)
    assert world.modes() == ["monitor", "feed_forward"]


def test_a_gain_changed_amid_a_mode_changes_the_effort_without_a_step():
    """Half of the weight, some 20 N m, is taken from the shoulder within the ramp of 0.2 s."""
    world = ArmWorld(**{"commands.slew_rate": 100.0})
    world.at(1.0, lambda: world.set(**{"feed_forward.gain": 0.5}))
    world.play("feed_forward", 1.4)
    sent = np.array([r[2:] for r in world.records if r[1] == "command" and r[0] > 0.98e9])
    assert np.max(np.abs(sent[-1] - sent[0])) > 10.0
    assert np.max(np.abs(np.diff(sent, axis=0))) < 3.0


LIGHT = told(Payload(0.7, [0.0, 0.0, 0.05]))
"""A payload that a Panda carries, and that nobody declares."""


@pytest.mark.parametrize("after", [0.05, 0.15])
def test_mode_that_is_requested_while_a_load_draws_a_stopped_arm_down_begins_when_it_rests(after):
    """What a stop that held the arm before exerts then is less than its weight: `gravity` let it sink by 1.7 rad."""
    played = world_of("panda", error=0.0, **USUAL)
    played.want_mode("gravity")
    played.run(1.5)
    stop(played)
    played.run(2.5)
    played.replace_arm(loaded(played.arm_model, LIGHT))
    played.run(2.5 + after)
    played.want_mode("gravity")  # again and again
    assert played.node.mode == "stopped"
    assert watch(played, 2.5).travel < 0.15
    assert played.node.mode == "gravity"


@pytest.mark.parametrize("between", ["monitor", "gravity"])
def test_mode_that_is_requested_again_while_a_hand_leads_the_arm_goes_on_with_the_load_that_it_knew(between):
    """The arm rests nowhere meanwhile, and what it carries was forgotten: it sank by 1.8 rad when it was let go."""
    played = world_of("panda", error=0.0, **USUAL)
    played.replace_arm(loaded(played.arm_model, LIGHT))
    played.arm.law = HeldEffort(gravity(played.arm_model, played.home), played.arm_model.effort_limit)
    played.want_mode("gravity")
    played.run(1.8)
    played.add_contact(Hand(played.arm_model.default_tip, (0.0, 0.08, 0.05), start=1.8, duration=1.0, hold=0.5))
    played.run(2.3)
    if between == "monitor":
        leave(played)
    else:
        played.node.request_mode(between)
    played.run(2.36)
    played.want_mode("gravity")
    played.run(3.3)
    assert played.node.mode == "gravity"
    assert watch(played, 2.5).travel < 0.1
