# SPDX-License-Identifier: Apache-2.0
"""The judge of motion: each rule finds what it is for, once, and nothing that has another explanation."""

import numpy as np
import pytest

from robots import mock_arm
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP, CommandLimits
from ros2_dyn.dynamics import gravity
from ros2_dyn.model import Payload
from ros2_dyn.runtime import mode_manager
from ros2_dyn.runtime.inputs import ClockJump, PayloadRequest
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.simulation.applied_force import AppliedForce
from ros2_dyn.simulation.driver import DriverQuality
from ros2_dyn.simulation.perturbed import with_friction
from ros2_dyn_tools.campaign.arm_truth import ArmTruth
from ros2_dyn_tools.campaign.contact_rule import SpringLimits
from ros2_dyn_tools.campaign.motion_judge import RECOVERY_TIME, MotionJudge
from ros2_dyn_tools.campaign.motion_rules import (
    BEYOND_LIMIT,
    EFFORT_RATE,
    FAILS,
    FEEDS_ENERGY,
    HANDOVER_MOVES,
    LETS_GO,
    MOTION_RULES,
    PRESSES,
    RUNS_AWAY,
    STILL_MOVES,
    TIP_FAST,
    TRAVELS,
    UNSAFE_HELD,
)
from ros2_dyn_tools.campaign.stop_rule import NOTICE_TIME, can_brake
from ros2_dyn_tools.campaign.world import World
from ros2_dyn_tools.campaign.world_options import WorldOptions

HOME = np.array([0.0, -1.2, 1.4, -1.8, -1.57, 0.0])
ARM = with_friction(mock_arm(), [5.0, 5.0, 4.0, 1.0, 1.0, 1.0], [12.0, 12.0, 9.0, 2.4, 2.4, 2.4])
GRAVITY = (0.0, 0.0, -9.81)
LIMITS = CommandLimits(ARM.joint_names, 0.8 * ARM.effort_limit, 8.0 * ARM.effort_limit, ARM.velocity_limit)
SPRING = SpringLimits(force=50.0, speed=0.1, stiffness=1000.0)
STILL = np.zeros(6)
PERIOD = 0.01


def along(speed: float, joint: int = 1) -> np.ndarray:
    """Return the velocities of an arm with one joint in motion."""
    qd = np.zeros(6)
    qd[joint] = speed
    return qd


class Scene:
    """A judge, and an arm that is moved by hand from instant to instant."""

    def __init__(self, stop_behaviour="hold_gravity", arm=ARM):
        self.truth = ArmTruth(arm, ARM, GRAVITY)
        self.judge = MotionJudge(self.truth, LIMITS, stop_behaviour, spring=SPRING)
        self.t, self.q = 0.0, HOME.copy()
        self.safe = gravity(ARM, HOME)

    def command(self, mode: str) -> "Scene":
        """Enter a mode, and command gravity there."""
        self.judge.on_mode(mode, self.t, self.q, STILL)
        self.judge.on_command(self.safe.tolist(), self.t, self.q)
        return self

    def stop(self, qd=STILL) -> "Scene":
        """Stop an active mode."""
        self.judge.on_mode("stopped", self.t, self.q, qd)
        return self

    def move(self, seconds: float, qd=STILL, commands=True, tip=0.0, force=0.0, pushed=False) -> list[str]:
        """Go on for a while with constant velocities; return the kinds that were found."""
        found = []
        for _ in range(round(seconds / PERIOD)):
            self.t += PERIOD
            self.q = self.q + PERIOD * np.asarray(qd)
            if commands:
                found += self.judge.on_command(self.safe.tolist(), self.t, self.q)
            found += self.judge.see(self.t, self.q, np.asarray(qd), tip, force, pushed)
        assert all(finding.kind in MOTION_RULES for finding in found)
        return [finding.kind for finding in found]


# --- stops ------------------------------------------------------------------------------------------------------


def test_arm_that_rests_after_a_stop_is_judged_and_fine():
    scene = Scene().command("feed_forward").stop(along(0.5))
    assert scene.move(0.3, along(0.5)) == []
    assert scene.move(3.0) == []
    assert scene.judge.judged_stops == 1


def test_arm_that_still_moves_one_second_after_a_stop_is_found_once():
    scene = Scene().command("feed_forward").stop()
    assert scene.move(0.95, along(0.06)) == []
    assert scene.move(2.0, along(0.06)) == [STILL_MOVES]


def test_joint_that_travels_after_a_stop_is_found_once():
    scene = Scene().command("feed_forward").stop()
    assert scene.move(0.5, along(0.7)) == [TRAVELS]
    assert scene.move(0.3, along(0.1)) == []


@pytest.mark.parametrize("end", ["monitor", ""])
def test_mode_that_ends_by_request_or_death_is_a_stop(end):
    scene = Scene().command("gravity")
    scene.judge.on_mode(end, scene.t, scene.q, STILL)
    assert TRAVELS in scene.move(0.5, along(0.7))


def test_end_of_the_commands_is_a_stop():
    scene = Scene().command("feed_forward")
    assert scene.move(0.3, along(0.3)) == []
    assert STILL_MOVES in scene.move(1.25, along(0.15), commands=False)


def disturb(scene: Scene, how: str) -> dict:
    if how == "controller":
        scene.judge.suspend("controller", True)
    if how == "other mode":
        scene.judge.on_mode("gravity", scene.t, scene.q, STILL)
    if how == "placed":
        scene.judge.on_placed(scene.t)
    return {"pushed": how == "push", "force": 20.0 if how == "wall" else 0.0}


@pytest.mark.parametrize("how", ["controller", "other mode", "placed", "push", "wall"])
def test_stop_with_another_motion_is_not_judged(how):
    scene = Scene().command("feed_forward").stop()
    about = disturb(scene, how)
    assert set(scene.move(0.3, along(1.2), **about)) <= {FEEDS_ENERGY}
    assert scene.judge.judged_stops == 0


def test_stopped_arm_is_judged_again_after_a_push():
    scene = Scene().command("feed_forward").stop()
    assert scene.move(0.3, along(0.5), pushed=True) == []
    assert scene.move(0.35, along(0.3)) == []
    assert scene.move(1.1, along(0.1)) == [STILL_MOVES]


def test_payload_that_is_told_has_no_effect_where_the_robot_adds_its_own_gravity():
    payload = Payload(8.0, (0.0, 0.0, 0.1), link="tool0")
    truth = ArmTruth(ARM.carrying(payload), ARM, GRAVITY, own_gravity=True)
    truth.tell_payload(PayloadRequest("tool0", payload.parameters.tolist()))
    truth.tell_gravity((0.0, 0.0, 9.81))
    assert not truth.model_fits(truth.terms(HOME.tolist(), [0.0] * 6))
    assert np.allclose(truth.gravities(HOME.tolist())[0], gravity(ARM, HOME))


def test_other_motion_that_has_ended_explains_no_later_stop():
    scene = Scene().command("feed_forward")
    scene.judge.suspend("controller", True)
    scene.judge.suspend("controller", False)
    scene.stop()
    assert scene.move(0.5, along(0.7)) == [TRAVELS]


@pytest.mark.parametrize("behaviour", ["zero_effort", "none"])
def test_arm_that_may_fall_is_not_judged_after_a_stop(behaviour):
    scene = Scene(behaviour).command("feed_forward").stop()
    assert scene.move(1.0, along(0.7)) == []


def test_stop_from_a_speed_that_efforts_cannot_brake_is_not_judged():
    scene = Scene().command("feed_forward").stop(along(8.0))
    assert scene.move(0.5, along(0.7)) == []


def test_braking_takes_efforts_and_the_time_to_turn_them():
    six = np.ones(6)
    free = {"gravity": 0 * six, "limit": 100 * six, "slew_rate": 1000 * six, "inertia": six}
    assert can_brake(5 * six, effort=0 * six, **free)
    assert not can_brake(6 * six, effort=0 * six, **free)  # 18 J with 100 N m: 0.18 rad
    assert not can_brake(2 * six, effort=100 * six, **free)  # 100 ms at 100 N m add 5 rad/s
    assert can_brake(-2 * six, effort=100 * six, **free)


def test_stopped_arm_with_a_wrong_model_must_not_speed_up():
    scene = Scene(arm=ARM.carrying(Payload(8.0, (0.0, 0.0, 0.1), link="tool0"))).command("feed_forward").stop()
    assert scene.move(0.5, along(1.0)) == []
    assert scene.move(0.5, along(1.05)) == []
    assert scene.move(0.5, along(1.2)) == [RUNS_AWAY]


def test_payload_that_the_node_was_told_makes_no_wrong_model():
    payload = Payload(8.0, (0.0, 0.0, 0.1), link="tool0")
    scene = Scene(arm=ARM.carrying(payload))
    scene.truth.tell_payload(PayloadRequest("tool0", payload.parameters.tolist()))
    scene.safe = gravity(ARM.carrying(payload), HOME)
    assert scene.command("feed_forward").stop().move(0.5, along(0.7)) == [TRAVELS]


def test_wrong_wiring_counts_as_a_wrong_model():
    scene = Scene().command("feed_forward")
    scene.judge.miswire(True)
    assert scene.stop().move(0.5, along(0.7)) == []


def test_model_that_becomes_wrong_after_a_stop_has_to_be_noticed_from_then_on():
    scene = Scene().command("feed_forward").stop()
    assert scene.move(0.5) == []
    scene.judge.miswire(True)
    assert scene.move(0.15, along(0.5)) == []
    assert scene.move(0.2, along(0.5)) == []
    assert scene.move(0.2, along(0.7)) == []
    assert scene.move(0.05, along(0.7)) == [RUNS_AWAY]


def test_joint_that_speeds_up_for_a_moment_with_a_wrong_model_is_not_found():
    scene = Scene().command("feed_forward")
    scene.judge.miswire(True)
    scene.stop()
    assert scene.move(0.3, along(0.1)) == []
    for _ in range(5):
        assert scene.move(NOTICE_TIME - 0.02, along(0.5)) == []
        assert scene.move(0.05, along(0.1)) == []
    assert scene.move(NOTICE_TIME + 0.02, along(0.5)) == [RUNS_AWAY]


@pytest.mark.parametrize("called", [False, True])
def test_stop_with_a_wrong_wiring_is_judged_up_to_the_call_of_the_stop_service(called):
    """From the call on the brakes have the arm, until the next mode; without it the stop is judged anew."""
    scene = Scene().command("feed_forward")
    scene.judge.miswire(True)
    assert scene.stop().move(0.3, along(0.1)) == []
    if called:
        scene.judge.on_stop_called()
    assert scene.move(0.3, along(0.5)) == ([] if called else [RUNS_AWAY])
    scene.judge.miswire(False)
    assert scene.move(0.35, along(0.1)) == []
    assert scene.move(0.7, along(0.5)) == ([] if called else [TRAVELS])
    scene.command("feed_forward")
    assert scene.move(0.5) == []
    assert scene.stop().move(0.7, along(0.5)) == [TRAVELS]


def test_call_of_the_stop_service_with_a_right_model_is_found_and_ends_no_judgement():
    scene = Scene().command("feed_forward").stop()
    scene.judge.on_stop_called()
    assert scene.move(0.5, along(0.7)) == [FAILS, TRAVELS]


def test_stop_without_usable_states_is_judged_once_they_have_been_usable_for_a_while():
    scene = Scene().command("feed_forward")
    scene.judge.blind(True)
    assert scene.stop().move(2.0, along(0.7)) == []
    scene.judge.blind(False)
    assert scene.move(RECOVERY_TIME - 0.05, along(0.7)) == []
    assert scene.move(0.55, along(0.7)) == [TRAVELS]


def test_stop_that_damping_cannot_end_in_time_is_not_judged():
    six = np.ones(6)
    free = {"gravity": 0 * six, "limit": 1e6 * six, "slew_rate": 1e9 * six, "inertia": six}
    assert can_brake(six, effort=0 * six, damping=15.0, **free)  # ln(20) / 15: 0.2 s, and 1 / 15 rad
    assert not can_brake(six, effort=0 * six, damping=5.0, **free)  # 0.6 s, and 0.2 rad
    assert can_brake(0.3 * six, effort=0 * six, damping=8.0, **free)


@pytest.mark.parametrize("disturbed", ["controller", "load", "wiring", ""])
def test_held_effort_is_not_judged_where_something_else_has_set_it_or_what_it_has_to_hold(disturbed):
    scene = Scene().command("gravity")
    scene.safe = scene.safe + 60.0
    assert UNSAFE_HELD not in scene.move(0.1)
    if disturbed == "controller":
        scene.judge.suspend("controller", True)
        scene.judge.suspend("controller", False)
    elif disturbed == "wiring":
        scene.judge.miswire(True)
        scene.judge.miswire(False)
    elif disturbed == "load":
        scene.judge.on_load_changed()
    assert (UNSAFE_HELD in scene.move(1.5, commands=False)) == (not disturbed)


def test_stop_of_a_failsafe_process_is_judged_whatever_the_mode_of_the_node_it_replaced():
    scene = Scene().command("force")
    scene.judge.on_failsafe(True, scene.t, scene.q, STILL)
    assert scene.move(0.5, along(0.7), tip=0.5) == [TRAVELS]


def test_failsafe_process_that_is_killed_while_it_commands_leaves_nothing_to_judge():
    scene = Scene().command("force")
    scene.judge.on_failsafe(True, scene.t, scene.q, STILL)
    scene.judge.on_failsafe_lost(scene.t)
    assert scene.move(2.0, along(0.2), commands=False) == []


# --- energy -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["gravity", "hand_guiding", "stopped"])
def test_arm_that_speeds_up_by_itself_is_found_once(mode):
    scene = Scene().command(mode)
    assert scene.move(1.0, along(0.1)) == []
    assert scene.move(0.5, along(0.4)) == [FEEDS_ENERGY]


def test_arm_that_slows_down_and_speeds_up_again_is_found():
    scene = Scene().command("gravity")
    assert scene.move(0.5, along(0.4)) == []
    assert scene.move(0.5) == []
    assert scene.move(0.5, along(0.4)) == [FEEDS_ENERGY]


def test_arm_that_is_pushed_or_follows_a_target_feeds_no_energy():
    assert Scene().command("feed_forward").move(1.0, along(0.4)) == []
    scene = Scene().command("gravity")
    assert scene.move(0.5) == []
    assert scene.move(0.5, along(0.4), pushed=True) == []
    assert scene.move(0.5, along(0.4)) == []


def test_work_of_a_model_error_is_allowed():
    scene = Scene(arm=ARM.carrying(Payload(1.0, (0.0, 0.0, 0.1), link="tool0"))).command("gravity")
    assert scene.move(1.0, along(0.1)) == []
    assert scene.move(0.2, along(0.25)) == []


@pytest.mark.parametrize(("behaviour", "expected"), [("zero_effort", []), ("hold_gravity", [FEEDS_ENERGY])])
def test_arm_that_is_let_go_at_the_slew_rate_falls_as_declared(behaviour, expected):
    scene = Scene(behaviour).command("gravity")
    assert scene.move(0.5) == []
    found, step = [], 0.9 * PERIOD * LIMITS.slew_rate
    for _ in range(20):
        scene.safe = np.sign(scene.safe) * np.maximum(np.abs(scene.safe) - step, 0.0)
        found += scene.move(PERIOD, along(0.5))
    assert found == expected


# --- tip, contact, limits ---------------------------------------------------------------------------------------


def test_tip_above_its_limit_is_found_once_and_in_its_modes_only():
    scene = Scene().command("force")
    assert scene.move(0.5, tip=0.29) == []
    assert scene.move(0.5, tip=0.31) == [TIP_FAST]
    assert Scene().command("feed_forward").move(0.5, tip=1.0) == []


def test_mode_whose_tip_is_pushed_beyond_its_limit_ends_in_time():
    scene = Scene().command("hand_guiding")
    assert scene.move(0.08, tip=0.5, pushed=True) == []
    assert scene.move(0.1, tip=0.5, pushed=True) == [TIP_FAST]
    scene = Scene().command("hand_guiding")
    assert scene.move(0.08, tip=0.5, pushed=True) == []
    assert scene.stop().move(0.5, tip=0.5, pushed=True) == []


def test_mode_that_is_entered_with_a_fast_tip_ends_in_time():
    scene = Scene().command("gravity")
    assert scene.move(0.1, tip=0.5) == []
    assert scene.command("force").move(0.08, tip=0.5) == []
    assert scene.move(0.1, tip=0.5) == [TIP_FAST]


def pressing(impact: float = 0.0) -> Scene:
    """Return a scene in mode force that asks for 20 N, in front of a wall."""
    scene = Scene().command("force")
    scene.judge.contact.on_wall(0.0, 2e4)
    assert scene.move(0.2, tip=impact) == []
    scene.judge.contact.on_asked(scene.t, 20.0)
    return scene


def test_wall_that_is_pressed_harder_than_asked_is_found_once():
    assert pressing().move(0.2, force=34.0) == []
    assert pressing().move(0.2, force=36.0) == [PRESSES]


def test_speed_of_the_impact_explains_a_peak_but_no_later_and_harder_one():
    scene = pressing(0.2)
    mass = scene.truth.tip_mass(HOME)
    peak = 0.2 * np.sqrt(2e4 * mass)
    assert scene.move(0.05, force=30.0 + peak) == []
    assert scene.move(0.1, tip=0.24) == []
    assert scene.move(0.05, force=40.0 + 1.1 * peak) == [PRESSES]


def leaning(seconds: float) -> Scene:
    """Return a scene in mode impedance, whose spring has been bent for a while, in front of a wall."""
    scene = Scene().command("impedance")
    scene.judge.contact.on_wall(0.0, 2e4)
    assert scene.move(seconds) == []
    return scene


def test_spring_presses_a_wall_with_its_stiffness_times_the_way_that_it_can_have_gone():
    assert leaning(0.2).move(PERIOD, force=34.0) == []  # 0.1 m/s for 0.2 s at 1000 N/m: 1.5 * 20 N + 5 N
    assert leaning(0.2).move(PERIOD, force=38.0) == [PRESSES]
    stiffer = leaning(0.2)
    stiffer.judge.contact.spring.on_stiffness(2000.0)
    assert stiffer.move(PERIOD, force=38.0) == []


def test_spring_presses_a_wall_with_its_largest_force_at_most():
    assert leaning(3.0).move(0.2, force=79.0) == []
    assert leaning(3.0).move(0.2, force=81.0) == [PRESSES]


def test_tip_that_has_gone_far_from_its_spring_may_press_harder():
    scene = leaning(PERIOD)
    assert scene.move(0.2, tip=0.2) == []
    peak = 0.2 * np.sqrt(2e4 * scene.truth.tip_mass(HOME))
    assert scene.move(PERIOD, force=79.0 + peak) == []


def test_wrench_that_is_asked_comes_on_top_of_the_spring_unless_it_is_refused_as_too_large():
    for asked, expected in ((20.0, []), (60.0, [PRESSES])):
        scene = leaning(3.0)
        scene.judge.contact.on_asked(scene.t, asked)
        assert scene.move(PERIOD, force=100.0) == expected


def test_wall_that_is_put_into_the_arm_is_not_judged():
    scene = pressing()
    scene.judge.contact.on_wall(scene.t, 2e4)
    assert scene.move(0.2, force=100.0) == []


def test_joint_that_is_moved_beyond_its_limit_is_found_once():
    scene = Scene().command("feed_forward")
    scene.q[1] = ARM.upper[1] - 0.05
    assert scene.move(0.5, along(0.3)) == [BEYOND_LIMIT]
    scene.q[1] = ARM.upper[1] - 0.05
    assert scene.move(0.2, along(0.3), pushed=True) == []


@pytest.mark.parametrize(("speed", "expected"), [(0.5, [BEYOND_LIMIT]), (8.0, [])])
def test_joint_limit_after_a_stop_holds_where_the_arm_could_be_braked(speed, expected):
    scene = Scene().command("feed_forward")
    scene.q[1] = ARM.upper[1] - 0.05
    assert scene.stop(along(speed)).move(0.25, along(0.4)) == expected


# --- commands ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [0.001, 0.01, 0.05])
@pytest.mark.parametrize(("share", "expected"), [(0.99, []), (1.2, [EFFORT_RATE])])
def test_effort_that_changes_faster_than_declared_is_found_once_in_a_mode(period, share, expected):
    scene = Scene().command("gravity")
    change = share * period * LIMITS.slew_rate
    found = [scene.judge.on_command(scene.safe + k * change, period * k, HOME) for k in range(1, 200)]
    assert [finding.kind for each in found for finding in each] == expected


def test_change_of_one_command_may_come_at_once():
    for share, expected in ((0.99, []), (1.01, [EFFORT_RATE])):
        scene = Scene().command("gravity")
        found = scene.judge.on_command(scene.safe + share * MAX_SLEW_STEP * LIMITS.slew_rate, 1e-4, HOME)
        assert [finding.kind for finding in found] == expected


def test_change_to_the_first_command_of_a_process_that_knows_none_before_is_not_judged():
    scene = Scene().command("gravity")
    scene.judge.begin_sequence()
    jump = 1.2 * MAX_SLEW_STEP * LIMITS.slew_rate
    assert scene.judge.on_command(scene.safe + jump, 0.01, HOME) == []
    assert [each.kind for each in scene.judge.on_command(scene.safe, 0.011, HOME)] == [EFFORT_RATE]


@pytest.mark.parametrize(
    ("behaviour", "factor", "expected"),
    [
        ("hold_gravity", 1.0, []),
        ("hold_gravity", 0.0, [UNSAFE_HELD]),
        ("zero_effort", 0.0, []),
        ("zero_effort", 1.0, [UNSAFE_HELD]),
        ("none", 5.0, []),
    ],
)
def test_effort_that_is_held_after_the_last_command_is_the_declared_one(behaviour, factor, expected):
    scene = Scene(behaviour)
    scene.safe = factor * scene.safe
    assert scene.command("gravity").move(0.1) == []
    assert scene.move(2.0, commands=False) == expected


def test_effort_that_differs_by_dry_friction_is_safe_to_hold():
    scene = Scene()
    scene.safe = scene.safe + 0.05 * LIMITS.effort + [11.9, 11.9, 8.9, 2.3, 2.3, 2.3]
    assert scene.command("gravity").move(2.0, commands=False) == []
    scene = Scene()
    scene.safe = scene.safe + 0.05 * LIMITS.effort + [12.1, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert scene.command("gravity").move(2.0, commands=False) == [UNSAFE_HELD]


def test_effort_that_is_held_while_the_controller_does_not_listen_is_not_judged():
    scene = Scene()
    scene.safe = 0 * scene.safe
    scene.command("gravity").move(0.1)
    scene.judge.suspend("not listening", True)
    scene.judge.suspend("not listening", False)
    assert scene.move(2.0, commands=False) == []


def test_effort_that_is_held_where_nothing_of_ours_lives_is_not_judged():
    scene = Scene()
    scene.safe = 0 * scene.safe
    scene.command("gravity").move(0.1)
    scene.judge.on_failsafe_lost(scene.t)
    scene.judge.on_node_lost(scene.t + 0.02)
    assert scene.move(2.0, commands=False) == []


# --- in a world -------------------------------------------------------------------------------------------------


def stopped_world() -> World:
    """Return a world whose arm is pushed in gravity mode, and whose mode stops after that."""
    settings = Settings.from_values(
        {
            "robot.joints": ARM.joint_names,
            "friction.transition_velocity": 0.05,
            "commands.ramp_time": 0.1,
            "commands.slew_rate": 5.0,
        }
    )
    push = AppliedForce("tool0", (0.0, 30.0, 0.0), start=0.6, duration=0.3)
    world = World(1, ARM, HOME, WorldOptions(settings, DriverQuality(125.0), patience=9.0), contacts=[push])
    world.want_mode("gravity")
    world.at(1.6, lambda: world.node.input(ClockJump("by 1 s")))
    world.run(3.8)
    return world


def test_sound_world_is_judged_without_a_finding():
    world = stopped_world()
    assert "stopped" in [record[2] for record in world.records if record[1] == "mode"]
    assert world.motion_judge.judged_stops == 1
    assert not world.violations


def test_law_that_drives_the_arm_is_found_in_a_world(monkeypatch):
    sound = mode_manager.gravity_compensation
    monkeypatch.setattr(mode_manager, "gravity_compensation", lambda arm, damping: sound(arm, damping) + 20.0)
    found = stopped_world().violations
    assert found[FAILS] == found[TRAVELS] == found[STILL_MOVES] == found[FEEDS_ENERGY] == 1


# --- handovers --------------------------------------------------------------------------------------------------


def handed_over(speed: float = 0.0) -> Scene:
    """Return a scene in which another controller has just been switched on, by a handover."""
    scene = Scene().command("gravity")
    scene.judge.suspend("controller", True)
    scene.judge.handover.on_switch(scene.t, scene.q, along(speed))
    return scene


def test_arm_that_moves_after_a_switch_is_found_once_and_one_that_stays_is_not():
    assert handed_over().move(2.0, along(0.04), commands=False) == []
    assert handed_over().move(0.9, along(0.06), commands=False) == [HANDOVER_MOVES]


@pytest.mark.parametrize("how", ["push", "wall", "impedance", "commands lost", "moving"])
def test_motion_that_something_explains_is_not_of_the_handover(how):
    scene = handed_over(0.2 if how == "moving" else 0.0)
    if how == "impedance":
        scene.judge.on_mode(how, scene.t, scene.q, STILL)
    if how == "commands lost":
        scene.judge.suspend(how, True)
    found = scene.move(0.9, along(0.2), False, pushed=how == "push", force=9.0 if how == "wall" else 0.0)
    assert HANDOVER_MOVES not in found


def test_arm_that_moves_a_second_after_a_handover_is_found():
    scene = handed_over()
    scene.judge.handover.on_end(scene.t)
    assert scene.move(1.5, along(0.049), commands=False) == []
    scene.judge.handover.on_end(scene.t)
    assert scene.move(0.9, along(0.06), commands=False) == []
    assert scene.move(0.5, along(0.06), commands=False) == [LETS_GO]


def test_brakes_end_the_judgement_of_a_handover():
    scene = handed_over()
    scene.judge.on_brakes()
    assert scene.move(0.9, along(0.2), commands=False) == []
