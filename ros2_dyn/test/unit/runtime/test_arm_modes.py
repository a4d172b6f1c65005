# SPDX-License-Identifier: Apache-2.0
"""The modes of the runtime in virtual time: what each commands, what refuses it, what ends it, and in which order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from robots import joint, link, mock_arm
from ros2_dyn.control.effort_limiter import MAX_SLEW_STEP
from ros2_dyn.control.modes import MODES
from ros2_dyn.dynamics import gravity, rnea, static_torque
from ros2_dyn.errors import InputError
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime import ArmRuntime, DesiredSample, JointSample, PayloadRequest, Settings, WrenchSample
from ros2_dyn.runtime.inputs import (
    ClockJump,
    CollisionReset,
    Description,
    EnableSignal,
    FailsafeArmed,
    ModeRequest,
    SettingsChange,
)
from ros2_dyn.runtime.run_work import run_work
from runtime_rig import DRIVES, HOME, NAMES, SMALL_ARM, URDF, RuntimeRig, description, no_failsafe

PROOF_TIME = 0.3
"""Time for which the last effort is repeated, s."""

G = gravity(SMALL_ARM, HOME)
UNDAMPED = {"gravity.damping": 0.0, "hand_guiding.damping": 0.0, "force.damping": 0.0, "hand_guiding.friction": 0.0}
HEAVIER = URDF.replace('<mass value="8.393"/>', '<mass value="9.393"/>')


def rig(start_states: int = 15, **changes) -> RuntimeRig:
    """Return a rig whose arm stays at home, whatever is commanded, with states that have come for a while."""
    settings = Settings.from_values(
        {"robot.joints": NAMES, "commands.ramp_time": 0.05, **DRIVES, **UNDAMPED, **changes}
    )
    made = RuntimeRig(settings, moves=False)
    made.targets, made.noise = False, (1e-9, 0.0)
    made.step(start_states)
    return made


def give_desired(rig: RuntimeRig, q=HOME, qdd=(1.0, 1.0, 1.0)) -> None:
    """Give a desired state of the next measured one."""
    sample = DesiredSample(0, NAMES, list(q), [0.0] * 3, list(qdd))
    rig.take(rig.runtime.step(sample, rig.now))


def give_wrench(rig: RuntimeRig, force, frame="") -> None:
    """Give a desired wrench."""
    rig.take(rig.runtime.step(WrenchSample(0, frame, (*force, 0.0, 0.0, 0.0)), rig.now))


def play(rig: RuntimeRig, n: int, target) -> None:
    """Play states with a target."""
    for _ in range(n):
        target()
        rig.step()


def enter(rig: RuntimeRig, mode: str, target=lambda: None) -> None:
    """Enter a mode, and play its ramp."""
    play(rig, 3, target)
    reply = rig.set_mode(mode)
    assert reply.error is None, reply.error
    play(rig, 15, target)
    assert rig.runtime.mode == mode, rig.runtime.reason


def leave(rig: RuntimeRig) -> None:
    """Leave a mode, and play until commands end: once the last effort has been commanded for `PROOF_TIME`."""
    assert rig.set_mode("monitor").error is None
    proof, last = round(PROOF_TIME / rig.period), rig.commanded
    while rig.runtime.commands:
        rig.step()
        assert rig.commanded < last + 2 * proof + 25
    ended = [command.effort for command in rig.commands[-proof:]]
    assert rig.commanded >= last + proof
    assert_allclose(ended, np.tile(ended[-1], (proof, 1)), rtol=0, atol=1e-5)
    assert rig.runtime.mode == "monitor"


# --- what is commanded


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_commands_its_law_after_the_ramp_without_steps(mode):
    """One without contact keeps what held the arm beyond its model, and so leaves it at rest."""
    made = rig(0, **{"commands.max_force": 1000.0})
    beyond = np.array([0.0, 3.0, -2.0])
    made.measured = lambda: G + beyond
    made.held = G + beyond
    made.step(40)
    push = static_torque(SMALL_ARM, HOME, [3.0, 0, -10.0, 0, 0, 0], frame="wrist_3_link")
    expected = {
        "gravity": G,
        "hand_guiding": G,
        "feed_forward": rnea(SMALL_ARM, HOME, np.zeros(3), np.ones(3)),
        "force": G + push,
        "impedance": G + push,
    }

    def target():
        give_desired(made)
        give_wrench(made, (3.0, 0.0, -10.0), "wrist_3_link")

    enter(made, mode, target)
    play(made, 40, target)
    kept = 0.0 if MODES[mode].needs.contact else beyond
    assert_allclose(made.commands[-1].effort, expected[mode] + kept, rtol=0, atol=1e-6)
    commands = np.array([G + beyond, *(command.effort for command in made.commands)])
    step = made.settings.commands.slew_rate * 0.8 * SMALL_ARM.effort_limit * MAX_SLEW_STEP
    assert np.all(np.abs(np.diff(commands, axis=0)) <= step * (1 + 1e-12))
    assert np.linalg.norm(push) > 1
    assert not made.violations


def test_modes_follow_one_another_and_monitor_ends_commands():
    made = rig()
    for mode in ("gravity", "hand_guiding"):
        enter(made, mode)
    leave(made)
    before = made.commanded
    made.step(10)
    assert made.commanded == before
    assert made.modes == ["monitor", "gravity", "hand_guiding", "monitor"]
    assert_allclose(made.commands[-1].effort, G, rtol=0, atol=1e-6)  # what the controller goes on with


def test_commands_are_in_the_order_of_the_controller():
    order = [2, 0, 1]
    made = rig(**{"robot.joints": [NAMES[i] for i in order]})
    reply = made.set_mode("gravity")
    assert reply.error is None
    update = made.step()
    assert_array_equal(update.command.data, update.command.effort[order])


def test_a_robot_that_carries_itself_is_commanded_without_gravity():
    made = rig(0, **{"commands.command_effort": "gravity_compensated", "states.measured_effort": "gravity_compensated"})
    made.measured = lambda: np.zeros(3)
    made.held = np.zeros(3)
    made.step(15)
    enter(made, "gravity")
    assert_allclose(made.commands[-1].effort, np.zeros(3), rtol=0, atol=1e-6)


def test_computed_torque_commands_inverse_dynamics_of_the_corrected_acceleration():
    made = rig(
        **{
            "feed_forward.law": "computed_torque",
            "feed_forward.stiffness": (100.0,) * 3,
            "feed_forward.damping": (20.0,) * 3,
        }
    )
    goal = HOME + 0.01
    enter(made, "feed_forward", lambda: give_desired(made, goal, np.zeros(3)))
    expected = rnea(SMALL_ARM, HOME, np.zeros(3), np.full(3, 1.0))
    assert_allclose(made.commands[-1].effort, expected, rtol=0, atol=1e-5)


def test_the_force_changes_at_its_rate():
    made = rig()

    def target():
        give_wrench(made, (0.0, 0.0, -10.0))

    target()
    made.step()
    assert made.set_mode("force").error is None
    play(made, 10, target)  # 80 ms: the ramp of the mode is over, and the force is at 4 N
    expected = G + static_torque(SMALL_ARM, HOME, [0, 0, -4.0, 0, 0, 0])
    assert_allclose(made.commands[-1].effort, expected, rtol=0, atol=1e-5)


# --- what refuses a mode


@pytest.mark.parametrize("mode", ["dance", "stopped", ""])
def test_a_mode_that_cannot_be_entered_is_refused_with_those_that_can(mode):
    made = rig()
    text = f"mode: expected one of monitor, feed_forward, force, gravity, hand_guiding, impedance; got '{mode}'"
    assert made.refusal(mode) == text
    assert isinstance(made.replies[1].error, InputError)


def test_a_mode_is_refused_before_there_are_states():
    made = RuntimeRig(moves=False)
    assert "no usable state on joint_states yet" in made.refusal("gravity")


def test_modes_that_follow_a_target_are_refused_without_one():
    made = rig()
    assert "none is usable; publish on ~/desired first" in made.refusal("feed_forward")
    assert "none is usable; publish on ~/desired_wrench first" in made.refusal("force")
    give_wrench(made, (1.0, 0.0, 0.0), "nowhere")
    assert "none is usable" in made.refusal("force")
    assert made.events[-1].topic == "~/desired_wrench"


def test_a_target_far_away_is_refused():
    made = rig()
    give_desired(made, HOME + 1)
    made.step()
    assert "target far: 1 rad or m away, 0.3 are allowed" in made.refusal("feed_forward")


def test_without_a_measured_effort_a_mode_begins_from_gravity():
    made = rig()
    made.measured = lambda: np.full(3, np.nan)
    made.step()
    made.held = G
    enter(made, "gravity")
    assert_allclose([command.effort for command in made.commands], np.tile(G, (len(made.commands), 1)), atol=1e-6)


def no_longer_measured(missing: float) -> tuple[RuntimeRig, np.ndarray]:
    """Return a rig whose efforts are no longer measured, and the efforts that had held it."""
    made = rig(0, **{"commands.model_tolerance": 10.0})
    held = made.held = G + np.array([0.0, 3.0, 1.0])
    made.step(60)
    made.measured = lambda: np.full(3, missing)
    return made, held


def first_command(made: RuntimeRig) -> np.ndarray:
    """Return the first command of mode gravity, N m, shape (3,)."""
    made.step(60)
    assert made.set_mode("gravity").error is None
    made.step()
    return np.array(made.commands[0].effort)


@pytest.mark.parametrize("missing", [np.nan, 0.0])
def test_where_efforts_are_no_longer_measured_a_mode_begins_from_what_held_the_arm(missing):
    """A controller may hold it still. Drivers send zeros where they do not measure."""
    made, held = no_longer_measured(missing)
    assert_allclose(first_command(made), held, rtol=0, atol=0.5)  # one step of the slew rate


@pytest.mark.parametrize("tool", ["", "forearm_link"])
def test_another_payload_forgets_what_held_the_arm(tool):
    """On another link it did not, and 10 N m of 2 kg were missing."""
    (made, _), payload = no_longer_measured(np.nan), Payload(2.0, (0.0, 0.0, 0.1), 0.1 * np.eye(3), tool or None)
    made.take(made.runtime.step(PayloadRequest(tool, payload.parameters.tolist()), made.now))
    carrying = SMALL_ARM.carrying(payload)
    assert_allclose(first_command(made), gravity(carrying, HOME), rtol=0, atol=1e-5)


def test_another_mount_forgets_what_held_the_arm():
    """It began with the effort of the old one: with twice the weight, turned over."""
    made, _ = no_longer_measured(np.nan)
    settings = Settings.from_values({**made.settings.values(), "robot.gravity": (0.0, 0.0, 9.81)})
    made.take(made.runtime.step(SettingsChange(settings), made.now))
    assert_allclose(first_command(made), -G, rtol=0, atol=1e-5)


@pytest.mark.parametrize("factor", [0.02, 0.4])
def test_efforts_in_another_unit_tell_what_holds_an_arm_whose_base_leans(factor):
    """But for what a common factor explains, too. A Romeo went 0.32 rad by what its model lacked."""
    made = rig(0, **{"commands.model_tolerance": 10.0})
    made.held = held = G + np.array([0.0, 1.5, -1.0])
    made.measured = lambda: factor * held
    expected = held * (G @ G) / (held @ G)
    assert_allclose(first_command(made), expected, rtol=0, atol=1e-5)
    made.step(500)
    assert_allclose(made.commands[-1].effort, expected, rtol=0, atol=1e-5)


def test_efforts_of_noise_do_not_tell_what_holds_the_arm():
    made, rng = rig(0, **{"commands.model_tolerance": 10.0}), np.random.default_rng(1)
    made.held = G
    made.measured = lambda: 0.001 * G + rng.normal(0.0, 1.0, 3)
    first_command(made)
    made.step(500)
    assert_allclose(made.commands[-1].effort, G, rtol=0, atol=1e-6)


def check_stopped_for_want_of_states(made: RuntimeRig, reason: str) -> None:
    """Check that the declared effort is repeated until states come again or the mode is left."""
    assert made.runtime.mode == "stopped"
    assert reason in made.runtime.reason
    sent = made.commanded
    made.silence(5.0)
    assert made.commanded == sent + 500
    efforts = [command.effort for command in made.commands[-500:]]
    assert_allclose(efforts, np.tile(G, (500, 1)), rtol=0, atol=1e-6)
    assert_array_equal(efforts, np.tile(efforts[-1], (500, 1)))
    made.step(5)
    assert made.runtime.mode == "stopped"
    assert made.commanded >= sent + 505
    made.silence(1.0)  # half of what a mode that is left waits
    sent = made.commanded
    assert made.set_mode("monitor").error is None
    made.silence(1.5)
    assert (made.runtime.mode, made.runtime.commands) == ("monitor", False)
    assert made.commanded <= sent + 112
    assert not made.violations


def test_a_mode_whose_states_lose_their_stamps_is_stopped_and_can_be_left():
    made = rig()
    enter(made, "gravity")
    made.step(15, stamp=0)
    check_stopped_for_want_of_states(made, "state stale: it has no stamp")


def test_a_mode_is_refused_without_a_controller_and_with_a_second_commander():
    made = rig()
    made.use_link(subscribers=0)
    assert "there is no subscriber on /controller/commands" in made.refusal("gravity")
    made.use_link(subscribers=1, other_publishers=("other",))
    assert "'other' publishes on /controller/commands, too" in made.refusal("gravity")
    made.use_link(other_publishers=())
    assert made.set_mode("gravity").error is None


def test_a_second_commander_amid_a_mode_is_braked_against_for_a_second_and_then_left_alone():
    """It may be silent: the last command carries the arm."""
    made = rig()
    enter(made, "gravity")
    made.use_link(other_publishers=("/other",))
    assert made.runtime.mode == "stopped"
    assert made.runtime.reason == "second commander: '/other' publishes on /controller/commands, too"
    made.step(60)
    made.use_link(other_publishers=("/other",))
    assert made.runtime.commands
    made.step(200)
    made.use_link(other_publishers=("/other",))
    assert not made.runtime.commands
    assert made.runtime.reason.startswith("second commander")


def test_a_failsafe_process_that_took_over_ends_the_mode_at_once_and_is_to_be_released():
    made = rig()
    enter(made, "gravity")
    made.use_link(failsafe_commands=True, other_publishers=("/dynamics_failsafe",))
    assert made.runtime.mode == "monitor"
    assert made.runtime.reason.startswith("failsafe took over: this node was held up")
    assert "ended or was held up; /dynamics_failsafe/release ends that" in made.refusal("gravity")


def test_a_mode_is_refused_while_other_parameters_are_being_prepared():
    made = rig()
    other = Settings.from_values({"robot.joints": NAMES[:2], "commands.ramp_time": 0.05})
    (work,) = made.runtime.step(SettingsChange(other), made.now).work
    assert "another robot or other parameters are being prepared: ask again" in made.refusal("gravity")
    made.take(made.runtime.step(work.run(), made.now))
    made.settings = other
    made.step(15)
    assert made.set_mode("gravity").error is None
    assert made.step().command.effort.shape == (2,)


# --- the failsafe process


def test_a_mode_waits_for_the_failsafe_process_and_is_refused_without_it():
    made = rig()
    made.arm_failsafe = no_failsafe
    assert made.refusal("gravity") == "gravity: the failsafe process did not start: it ended with status 1"
    made.arm_failsafe = lambda config: None
    assert made.set_mode("gravity").error is None


def test_monitor_takes_back_a_mode_that_waits_for_the_failsafe_process():
    made, configs = rig(), []
    asked = made.runtime.step(ModeRequest("gravity", 1), made.now)
    configs.append(asked.failsafe)
    first, second = made.runtime.step(ModeRequest("monitor", 2), made.now).replies
    assert "monitor was requested meanwhile" in str(first.error)
    assert (first.request, second.request, second.error) == (1, 2, None)
    made.take(made.runtime.step(FailsafeArmed(configs[0]), made.now))
    assert made.step().command is None
    assert made.runtime.mode == "monitor"


@pytest.mark.parametrize("mode", ["gravity", "hand_guiding", "impedance"])
def test_an_arm_with_a_joint_that_mimics_another_enters_the_modes(mode):
    """Its levers were counted with those of the joints that follow: a ValueError."""
    palm, fingers, arm = mock_arm().default_tip, "", mock_arm().joint_names
    for name, limit in (("finger", ""), ("follower", '<mimic joint="finger_joint"/>')):
        slide = joint(name + "_joint", "prismatic", palm, name)
        fingers += link(name, 0.1, inertia=(1e-4, 0, 0, 1e-4, 0, 1e-4)) + slide.replace("</joint>", limit + "</joint>")
    text, names = URDF.replace("</robot>", fingers + "</robot>"), (*arm, "finger_joint")
    model = RobotModel.from_urdf(text)
    assert len(model.joints) == model.n + 1
    runtime = ArmRuntime(model, Settings.from_values({"robot.joints": names}))
    q = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0, 0.01]
    tau, now = gravity(model, q).tolist(), 1.0
    for _ in range(50):
        now += 0.004
        runtime.step(EnableSignal(True), now)
        runtime.step(JointSample(round(1e9 * now), names, q, [0.0] * model.n, tau), now)
    asked = runtime.step(ModeRequest(mode), now)
    update = runtime.step(FailsafeArmed(asked.failsafe), now)
    assert (update.replies[0].error, runtime.mode) == (None, mode)


def test_the_failsafe_process_is_armed_once_for_the_same_configuration():
    made, configs = rig(), []
    made.arm_failsafe = configs.append
    for mode in ("gravity", "hand_guiding", "monitor", "gravity"):
        made.set_mode(mode)
        made.step(20)
    assert len(configs) == 1
    assert configs[0].description == description()
    assert configs[0].settings == made.settings.of_a_stop()


def test_the_failsafe_process_is_armed_again_after_another_configuration_has_failed():
    made, configs = rig(), []
    values = {"robot.joints": NAMES, "commands.ramp_time": 0.05, **DRIVES, **UNDAMPED}
    made.set_mode("gravity")
    leave(made)
    made.arm_failsafe = no_failsafe
    made.take(
        made.runtime.step(SettingsChange(Settings.from_values({**values, "commands.effort_scale": 0.7})), made.now)
    )
    assert "did not start" in made.refusal("gravity")
    made.take(made.runtime.step(SettingsChange(Settings.from_values(values)), made.now))
    made.arm_failsafe = configs.append
    assert made.set_mode("gravity").error is None
    assert len(configs) == 1


def test_no_failsafe_process_is_needed_where_commands_are_to_end_at_once():
    made = rig(**{"commands.stop_behaviour": "none"})
    made.arm_failsafe = lambda config: pytest.fail("it was asked for")
    assert made.set_mode("gravity").error is None


def test_a_mode_whose_limits_change_while_the_failsafe_process_is_armed_is_refused():
    made = rig()
    update = made.runtime.step(ModeRequest("gravity", "request"), made.now)
    assert update.replies == ()
    made.runtime.step(
        SettingsChange(Settings.from_values({"robot.joints": NAMES, "commands.effort_scale": 0.7, **DRIVES})), made.now
    )
    (reply,) = made.runtime.step(FailsafeArmed(update.failsafe), made.now).replies
    assert reply.request == "request"
    assert "the robot or parameters changed meanwhile: ask again" in str(reply.error)
    assert made.runtime.mode == "monitor"


def test_a_mode_stops_without_its_failsafe_process_and_can_be_entered_again():
    made = rig()
    enter(made, "gravity")
    made.use_link(failsafe_alive=False)
    assert made.runtime.mode == "stopped"
    assert made.runtime.reason.startswith("failsafe lost")
    assert "has not come to rest after a stop" in str(made.set_mode("gravity").error)
    made.step(100)
    assert made.set_mode("gravity").error is None
    assert made.runtime.mode == "gravity"


# --- what ends a mode


def test_a_collision_stops_feed_forward_and_no_mode_begins_until_it_is_reset():
    made = rig(**{"collision.threshold": (10.0,) * 3, "collision.bandwidth": 50.0})
    made.measured = lambda: G + pushed

    def target():
        give_desired(made, HOME, np.zeros(3))

    pushed = np.zeros(3)
    play(made, 12, target)
    enter(made, "feed_forward", target)
    pushed = np.array([40.0, 0.0, 0.0])
    play(made, 20, target)
    assert (made.runtime.mode, made.runtime.reason) == ("stopped", "collision")
    assert_allclose(made.commands[-1].effort, G, rtol=0, atol=1e-6)
    pushed = np.zeros(3)
    play(made, 30, target)
    assert "a collision is latched: ~/reset_collision ends it" in str(made.set_mode("gravity").error)
    (reply,) = made.runtime.step(CollisionReset(), made.now).replies
    assert reply.error is None
    assert made.set_mode("gravity").error is None


@pytest.mark.parametrize("mode", ["feed_forward", "force"])
def test_a_mode_stops_without_its_target_and_does_not_go_on_by_itself(mode):
    made = rig()

    def target():
        give_desired(made)
        give_wrench(made, (0.0, 0.0, 5.0))

    enter(made, mode, target)
    made.step(15)
    assert made.runtime.mode == "stopped"
    assert made.runtime.reason.startswith("target stale")
    play(made, 15, target)
    assert made.runtime.mode == "stopped"


def test_the_hold_effort_is_repeated_when_states_stop_until_they_come_again():
    made = rig(**{"commands.max_force": 1000.0})

    def target():
        give_wrench(made, (0.0, 0.0, 20.0))

    enter(made, "force", target)
    before = made.commanded
    made.silence(0.2)
    assert_allclose(made.commands[-1].effort, G, rtol=0, atol=1e-3)
    assert made.runtime.reason.startswith("state stale: the newest was measured")
    assert 1 <= made.commanded - before <= 20
    check_stopped_for_want_of_states(made, "state stale: the newest was measured")
    sent = made.commanded
    made.step(20)
    assert made.commanded == sent
    assert not made.violations


def test_commands_end_without_a_subscriber():
    made = rig()
    enter(made, "gravity")
    made.use_link(subscribers=0)
    assert (made.runtime.mode, made.runtime.reason) == ("monitor", "no subscriber on /controller/commands")
    assert made.step().command is None


def test_mode_after_the_controller_was_gone_begins_from_what_the_joints_exert_and_not_from_the_newest_command():
    """Something else has held the arm meanwhile, and the newest command may be anything."""
    made = rig(**{"commands.max_force": 1000.0, "commands.slew_rate": 1.0})
    enter(made, "force", lambda: give_wrench(made, (0.0, 0.0, -30.0), "wrist_3_link"))
    assert np.abs(made.commands[-1].effort - G).max() > 5.0
    made.use_link(subscribers=0)
    made.held = G
    made.step(20)
    made.use_link(subscribers=1)
    assert made.set_mode("gravity").error is None
    assert_allclose(made.step().command.effort, G, rtol=0, atol=0.1)


def test_a_clock_that_jumps_stops_a_mode_and_nothing_else():
    made = rig()
    made.take(made.runtime.step(ClockJump("back by 3 s"), made.now))
    assert made.runtime.mode == "monitor"
    enter(made, "gravity")
    made.take(made.runtime.step(ClockJump("back by 3 s"), made.now))
    assert (made.runtime.mode, made.runtime.reason) == ("stopped", "clock jumped: back by 3 s")


@pytest.mark.parametrize(("xml", "mode"), [(HEAVIER, "stopped"), (URDF.replace(NAMES[2], "another_joint"), "stopped")])
def test_a_new_description_stops_a_mode_under_the_new_model_or_is_rejected(xml, mode):
    made = rig()
    enter(made, "gravity")
    made.take(made.runtime.step(Description(xml), made.now))
    made.step(30)
    if xml == HEAVIER:
        assert (made.runtime.mode, made.runtime.reason) == (mode, "robot changed")
        heavier = gravity(made.settings.apply(description(HEAVIER)), HOME)
        assert_allclose(made.commands[-1].effort, heavier, rtol=0, atol=1e-6)
        assert abs(heavier - G).max() > 0.5
    else:  # `joints` names a joint that it has not
        assert made.runtime.mode == "gravity"


def test_a_new_description_with_other_joints_ends_commands_at_once():
    settings = Settings.from_values({"commands.ramp_time": 0.05, **UNDAMPED})
    made = RuntimeRig(Settings.from_values({"robot.joints": NAMES}), moves=False)
    made.settings = settings
    made.targets = False
    model = settings.apply(description())
    q, g = [0.3, -1.2, 1.4, 0, 0.5, 0], gravity(model, [0.3, -1.2, 1.4, 0, 0.5, 0])
    made.runtime = type(made.runtime)(description(), settings)
    made.take(made.runtime.step(made.link, made.now))
    full = {"names": model.joint_names, "position": q, "velocity": [0.0] * 6, "effort": g.tolist()}
    made.change = lambda sample: sample._replace(**full)
    made.judged = False  # it has other joints than those of the small arm
    made.step(15)
    assert made.set_mode("gravity").error is None
    made.step(5)
    made.take(made.runtime.step(Description(URDF.replace(NAMES[2], "another_joint")), made.now))
    assert (made.runtime.mode, made.runtime.reason, made.runtime.commands) == ("monitor", "robot changed", False)


# --- parameters


@pytest.mark.parametrize(
    "change",
    [{"commands.effort_scale": 0.9}, {"states.timeout": 2.0}, {"robot.joints": NAMES[::-1]}, {"robot.joints": ()}],
)
def test_parameters_of_the_limits_are_locked_while_a_mode_commands(change):
    made = rig()
    enter(made, "gravity")
    values = {"robot.joints": NAMES, "commands.ramp_time": 0.05, **DRIVES, **UNDAMPED, **change}
    if change == {"robot.joints": ()}:
        values = {**values, **dict.fromkeys(("friction.viscous", "friction.coulomb", "robot.armature"), ())}
    changed = Settings.from_values(values)
    name = next(iter(change))
    with pytest.raises(InputError, match=f"{name}: cannot be changed while mode gravity commands: enter monitor first"):
        run_work(made.runtime, made.runtime.step(SettingsChange(changed), made.now), made.now)
    made.step(5)
    assert made.runtime.mode == "gravity"
    made.set_mode("monitor")
    with pytest.raises(InputError, match=f"{name}: cannot be changed while mode monitor commands"):
        run_work(made.runtime, made.runtime.step(SettingsChange(changed), made.now), made.now)
    leave(made)
    made.take(made.runtime.step(SettingsChange(changed), made.now))
    assert made.runtime.settings == changed


def test_gains_may_change_while_a_mode_commands():
    made = rig()
    enter(made, "gravity")
    values = {"robot.joints": NAMES, "commands.ramp_time": 0.05, **DRIVES, **UNDAMPED, "gravity.damping": 2.0}
    changed = Settings.from_values(values)
    made.take(made.runtime.step(SettingsChange(changed), made.now))
    made.step(5)
    assert (made.runtime.mode, made.runtime.settings) == ("gravity", changed)
    assert not made.violations


# --- targets


def test_the_newest_desired_wrench_is_used_whichever_is_ready_first():
    made = rig()
    samples = [WrenchSample(0, frame, (0.0, 0.0, z, 0, 0, 0)) for frame, z in (("tool0", 1.0), ("wrist_1_link", 2.0))]
    first, second = (made.runtime.step(sample, made.now + i).work[0] for i, sample in enumerate(samples))
    for work in (second, first):
        made.take(made.runtime.step(work.run(), made.now + 2))
    assert made.runtime.targets.wrench.frame == "wrist_1_link"


def wrench(made: RuntimeRig, age: float, z: float, frame: str = "") -> WrenchSample:
    """Return a desired wrench whose stamp is some time ago, s."""
    received = made.stamp(0.0)
    return WrenchSample(received - round(1e9 * age), frame, (0.0, 0.0, z, 0.0, 0.0, 0.0), received)


def test_the_age_of_a_desired_wrench_counts_from_its_stamp():
    made = rig()
    made.targets = False
    play(made, 10, lambda: made.take(made.runtime.step(wrench(made, 0.5, 1.0), made.now)))
    assert "target stale: 0.508 s old" in made.set_mode("force").error.problem
    play(made, 10, lambda: made.take(made.runtime.step(wrench(made, 0.05, 1.0), made.now)))
    assert made.set_mode("force").error is None
    play(made, 20, lambda: None)
    assert made.runtime.mode == "stopped"
    assert "target stale: 0.1" in made.runtime.reason


@pytest.mark.parametrize("ahead", [0.0, 0.9])
def test_an_older_desired_wrench_does_not_replace_a_newer_one(ahead):
    made = rig()
    made.take(made.runtime.step(wrench(made, -ahead, 1.0), made.now))
    made.now += 0.02
    made.take(made.runtime.step(wrench(made, 0.0, 2.0), made.now))
    update = made.take(made.runtime.step(wrench(made, 0.01, 3.0), made.now))
    assert "older than the last: by 0.010000 s" in update.events[0].text
    assert made.runtime.targets.wrench.in_base_axes(HOME)[2] == 2.0


def test_an_older_desired_wrench_whose_frame_is_ready_later_does_not_replace_a_newer_one():
    made = rig()
    late = made.runtime.step(wrench(made, 0.3, 1.0, "tool0"), made.now).work[0]
    made.now += 0.02
    made.take(made.runtime.step(wrench(made, 0.0, 2.0), made.now))
    made.take(made.runtime.step(late.run(), made.now + 0.3))
    assert made.runtime.targets.wrench.frame == ""


def test_a_desired_wrench_in_a_known_frame_needs_no_work():
    made = rig()
    give_wrench(made, (0.0, 0.0, 1.0), "tool0")
    assert made.runtime.step(WrenchSample(0, "tool0", (1.0,) * 6), made.now).work == ()


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (WrenchSample(0, "nowhere", (0.0,) * 6), "unknown frame"),
        (WrenchSample(0, "", (np.nan,) * 6), "not finite"),
    ],
)
def test_a_desired_wrench_that_cannot_be_used_is_rejected(sample, reason):
    made = rig()
    (event,) = made.runtime.step(sample, made.now).events
    assert (event.topic, event.kind) == ("~/desired_wrench", reason)


def test_a_mode_is_refused_where_the_newest_states_repeat_their_numbers_with_velocities():
    made = rig()
    made.step(2, position=HOME.tolist(), velocity=[0.1] * 3)
    reply = made.set_mode("gravity")
    assert "joint_states cannot be believed: it repeats the same numbers" in str(reply.error)
    made.step(2)
    assert made.set_mode("gravity").error is None


def test_a_mode_is_refused_where_the_newest_state_jumps_though_its_desired_state_has_not_come():
    """The mode began at the state before, and knew for `states.timeout` nothing of an arm that was elsewhere."""
    made = rig()
    for _ in range(4):  # desired states that answer measured ones, so that these wait for them
        made.step()
        stamp = made.runtime.state.stamp
        made.take(made.runtime.step(DesiredSample(stamp, NAMES, [], [], [0.0] * 3), made.now))
    made.step(1, position=(HOME + 1.0).tolist())
    reply = made.set_mode("gravity")
    assert "joint_states cannot be believed" in str(reply.error)
    assert made.runtime.mode == "monitor"


def test_a_mode_stops_where_states_that_repeat_the_one_of_its_entry_go_on():
    made = rig()
    made.step(1, position=HOME.tolist(), velocity=[0.1] * 3)
    assert made.set_mode("gravity").error is None
    made.step(20, position=HOME.tolist(), velocity=[0.1] * 3)
    check_stopped_for_want_of_states(made, "it repeats the same numbers")


def test_a_mode_is_refused_where_the_newest_state_arrived_long_ago_under_a_stamp_ahead_of_the_clock():
    made = rig()
    made.driver_offset = 0.05
    made.step()
    made.silence(0.12)
    reply = made.set_mode("gravity")
    assert "is 0.120 s behind this node's clock" in str(reply.error)


def test_a_mode_is_refused_on_a_state_whose_stamp_was_ahead_of_the_clock_however_long_ago_it_arrived():
    made = rig()
    made.driver_offset = 0.1
    made.step()
    made.silence(0.05)
    assert "is 0.099 s ahead of this node's clock" in str(made.set_mode("gravity").error)
