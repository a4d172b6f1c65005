# SPDX-License-Identifier: Apache-2.0
"""The runtime's outputs: terms of the library, payload, robot, parameters and trajectories, and work done late."""

from math import nan

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline

from robots import joint, link, robot
from ros2_dyn.dynamics import coriolis, friction, gravity, joint_wrenches, mass_matrix, rnea
from ros2_dyn.errors import MessageError, Ros2DynError
from ros2_dyn.model import Payload
from ros2_dyn.runtime import (
    ArmRuntime,
    DesiredSample,
    JointSample,
    PayloadRequest,
    Settings,
    Update,
    run_work,
)
from ros2_dyn.runtime.inputs import Description, ModeRequest, SettingsChange
from ros2_dyn.runtime.trajectory_effort import TrajectorySample
from runtime_rig import DRIVES, NAMES, SETTINGS, SMALL_ARM, URDF, description

Q, QD, QDD = [0.1, -1.2, 1.4], [0.5, -0.4, 0.3], [1.0, 2.0, -1.0]
HEAVIER = URDF.replace('<mass value="8.393"/>', '<mass value="9.393"/>')
FLOATING = robot(link("a"), link("b", 1.0), joint("free", "floating", "a", "b"))
BOX = Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3)).parameters.tolist()
NOW = 10.0


@pytest.fixture
def runtime() -> ArmRuntime:
    """Return a runtime of the small arm."""
    return ArmRuntime(description(), SETTINGS)


def with_settings(**changes) -> Settings:
    return Settings.from_values({"robot.joints": NAMES, **DRIVES, **changes})


def state(stamp=1, q=Q, qd=QD, names=NAMES) -> JointSample:
    return JointSample(stamp, names, q, qd)


def desired(stamp=1, accelerations=QDD, positions=(), velocities=()) -> DesiredSample:
    return DesiredSample(stamp, NAMES, positions, velocities, accelerations)


def weight(runtime: ArmRuntime, stamp: int, now: float = NOW) -> np.ndarray:
    """Return the gravity efforts at a state at rest."""
    return np.array(runtime.step(state(stamp, qd=[0.0] * 3), now).terms.gravity)


def error_of(update: Update) -> str:
    """Return the error of the only reply."""
    (reply,) = update.replies
    return str(reply.error)


# --- terms


def test_terms_of_a_state_are_those_of_the_library_in_the_order_of_the_model(runtime):
    names = ("gripper", NAMES[2], NAMES[0], NAMES[1])
    update = runtime.step(state(1, [nan, Q[2], Q[0], Q[1]], [nan, QD[2], QD[0], QD[1]], names), NOW)
    rubbing = friction(SMALL_ARM, QD)
    assert_allclose(update.terms.gravity, gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)
    assert_allclose(update.terms.coriolis, coriolis(SMALL_ARM, Q, QD), rtol=0, atol=1e-10)
    assert_allclose(update.terms.friction, rubbing, rtol=0, atol=1e-10)
    assert_allclose(update.terms.inverse_dynamics, rnea(SMALL_ARM, Q, QD, np.zeros(3)) + rubbing, rtol=0, atol=1e-10)
    wrenches = joint_wrenches(SMALL_ARM, Q, QD, np.zeros(3))
    assert_allclose(update.terms.joint_wrenches, wrenches, rtol=0, atol=1e-10)
    assert update.terms.acceleration_source == "zero"
    assert update.command is None


def test_inverse_dynamics_is_that_of_the_desired_state_and_the_other_terms_of_the_measured(runtime):
    runtime.step(desired(1), NOW)
    accelerated = runtime.step(state(1), NOW).terms
    rubbing = friction(SMALL_ARM, QD)
    assert_allclose(accelerated.inverse_dynamics, rnea(SMALL_ARM, Q, QD, QDD) + rubbing, rtol=0, atol=1e-10)
    assert accelerated.acceleration_source == "desired"
    runtime.step(desired(2, positions=[0.0] * 3, velocities=[1.0] * 3), NOW)
    elsewhere = runtime.step(state(2), NOW).terms
    expected = rnea(SMALL_ARM, np.zeros(3), np.ones(3), QDD) + friction(SMALL_ARM, np.ones(3))
    assert_allclose(elsewhere.inverse_dynamics, expected, rtol=0, atol=1e-10)
    assert_allclose(elsewhere.gravity, gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)


def test_accelerations_are_estimated_from_velocities_without_a_desired_state():
    runtime = ArmRuntime(description(), with_settings(**{"states.estimate": ["acceleration"]}))
    for i in range(1, 400):
        t = 0.002 * i
        update = runtime.step(state(round(1e9 * t), qd=np.multiply(QDD, t).tolist()), NOW)
    assert update.terms.acceleration_source == "estimated"
    expected = rnea(SMALL_ARM, Q, np.multiply(QDD, t), QDD) + friction(SMALL_ARM, np.multiply(QDD, t))
    assert_allclose(update.terms.inverse_dynamics, expected, rtol=0, atol=1e-6)


def test_a_held_state_comes_out_with_the_next_one(runtime):
    moving = [state(stamp, q=[x + 1e-9 * stamp for x in Q]) for stamp in range(1, 6)]  # one that stood still is doubted
    for sample in moving[:3]:
        runtime.step(desired(sample.stamp), NOW)
        runtime.step(sample, NOW)
    assert runtime.step(moving[3], NOW).steps == ()
    assert [step.state.stamp for step in runtime.step(moving[4], NOW).steps] == [4, 5]


def test_a_rejected_message_is_an_event_with_its_topic_and_reason(runtime):
    event = runtime.step(state(q=[nan, 0, 0]), NOW).events[-1]
    assert event.topic == "joint_states"
    assert event.kind == "not finite"
    assert event.text == f"rejected a message on joint_states: position: not finite: joint '{NAMES[0]}' has nan"
    (event,) = runtime.step(desired(accelerations=[1.0]), NOW).events
    assert (event.topic, event.kind) == ("~/desired", "wrong length")


def test_a_desired_state_whose_effort_would_not_be_finite_is_left_out(runtime):
    runtime.step(desired(1, [1e308] * 3), NOW)
    update = runtime.step(state(1), NOW)
    assert [event.topic for event in update.events if event.topic] == ["~/desired"]
    assert update.terms.acceleration_source == "zero"


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"velocity": [1e200] * 3}, "too large"),
        ({"position": [1e300] * 3}, "too large"),
        ({"velocity": [nan] * 3}, "not finite"),
        ({"position": [0.1] * 2}, "wrong length"),
        ({"names": (NAMES[0],) * 3}, "joint named twice"),
        ({"stamp": 1}, "the same as the last"),
    ],
)
def test_outputs_are_right_with_the_first_good_state_after_those_that_cannot_be_used(runtime, change, kind):
    runtime.step(state(1), NOW)
    for stamp in range(2, 7):
        update = runtime.step(state(stamp)._replace(**change), NOW)
        assert kind in [event.kind for event in update.events]
        assert update.steps == ()
    terms = runtime.step(state(7), NOW).terms
    expected = rnea(SMALL_ARM, Q, QD, np.zeros(3)) + friction(SMALL_ARM, QD)
    assert_allclose(terms.inverse_dynamics, expected, rtol=0, atol=1e-10)
    assert_allclose(terms.gravity, gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)


def test_messages_without_any_joint_of_the_robot_are_logged_until_there_is_a_state(runtime):
    finger = JointSample(1, ("finger",), [0.0], [0.0])
    assert runtime.step(finger, NOW).events[-1].logged
    runtime.step(state(1), NOW)
    assert not runtime.step(finger._replace(stamp=2), NOW).events[-1].logged


def test_nothing_is_computed_before_there_is_a_robot():
    runtime = ArmRuntime(None, SETTINGS)
    assert runtime.step(state(), NOW).steps == ()
    assert runtime.step(desired(), NOW).steps == ()
    assert "no robot_description has been received" in error_of(runtime.step(PayloadRequest("", BOX), NOW))
    assert "no robot_description has been received" in error_of(runtime.step(ModeRequest("gravity"), NOW))
    run_work(runtime, runtime.step(Description(URDF), NOW), NOW)
    assert_allclose(weight(runtime, 1), gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)


def test_a_requested_state_is_the_newest_measured_one_where_it_names_no_joints(runtime):
    with pytest.raises(MessageError, match="no usable message has been received on joint_states"):
        runtime.requested_state(JointSample(0, (), ()))
    runtime.step(state(1), NOW)
    assert runtime.requested_state(JointSample(0, (), ())).q == Q
    assert runtime.requested_state(state(names=NAMES[::-1])).q == Q[::-1]


# --- payload


def test_a_payload_is_ramped_in_linearly_and_removed(runtime):
    bare, loaded = gravity(SMALL_ARM, Q), gravity(SMALL_ARM.carrying(Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3))), Q)
    assert run_work(runtime, runtime.step(PayloadRequest("", BOX, 2.0), NOW), NOW).replies
    for stamp, share in enumerate((0.0, 0.25, 0.5, 1.0, 1.0), 1):
        found = weight(runtime, stamp, NOW + 2.0 * share)
        assert_allclose(found, bare + share * (loaded - bare), rtol=0, atol=1e-10)
    runtime.step(PayloadRequest("", [0.0] * 10), NOW + 3)
    assert_allclose(weight(runtime, 6, NOW + 3), bare, rtol=0, atol=1e-10)


def test_a_payload_that_is_wrong_changes_nothing(runtime):
    run_work(runtime, runtime.step(PayloadRequest("", BOX), NOW), NOW)
    before = weight(runtime, 1)
    for request, problem in (
        (PayloadRequest("forearm_link", BOX), "'tool0' carries a payload; remove it first"),
        (PayloadRequest("hand", BOX), "no link 'hand'"),
        (PayloadRequest("base_link", BOX), "'base_link' is fixed to the base"),
        (PayloadRequest("", BOX, -1.0), "ramp_time: expected a number of seconds, not negative"),
        (PayloadRequest("", BOX, nan), "ramp_time: expected a number of seconds"),
    ):
        assert problem in error_of(runtime.step(request, NOW))
    assert_allclose(weight(runtime, 2), before, rtol=0, atol=0)


def test_a_payload_stays_with_another_robot_that_can_carry_it(runtime):
    run_work(runtime, runtime.step(PayloadRequest("forearm_link", BOX), NOW), NOW)
    run_work(runtime, runtime.step(Description(HEAVIER), NOW), NOW)
    body = Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3), "forearm_link")
    model = SETTINGS.apply(description(HEAVIER)).carrying(body)
    assert_allclose(weight(runtime, 1), gravity(model, Q), rtol=0, atol=1e-10)


def test_a_payload_on_a_link_that_another_robot_lacks_is_gone_with_an_event(runtime):
    run_work(runtime, runtime.step(PayloadRequest("forearm_link", BOX), NOW), NOW)
    update = run_work(runtime, runtime.step(Description(URDF.replace("forearm_link", "arm_link")), NOW), NOW)
    assert "payload gone" in [event.kind for event in update.events]
    assert_allclose(weight(runtime, 1), gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)


# --- robot


def test_a_new_description_takes_over_and_a_wrong_one_does_not(runtime):
    for wrong in ("<robot", FLOATING):
        update = run_work(runtime, runtime.step(Description(wrong), NOW), NOW)
        (event,) = update.events
        assert (event.kind, event.level) == ("robot rejected", "error")
        assert event.text.endswith("'mock_arm' is kept")
    assert_allclose(weight(runtime, 1), gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)
    run_work(runtime, runtime.step(Description(HEAVIER), NOW), NOW)
    expected = gravity(SETTINGS.apply(description(HEAVIER)), Q)
    assert_allclose(weight(runtime, 2), expected, rtol=0, atol=1e-10)
    assert abs(expected - gravity(SMALL_ARM, Q)).max() > 0.5


def test_a_new_robot_with_the_same_joints_keeps_the_newest_state(runtime):
    runtime.step(state(1), NOW)
    run_work(runtime, runtime.step(Description(HEAVIER), NOW), NOW)
    assert runtime.state.q == Q


# --- slow work


def test_states_are_answered_while_work_is_under_way(runtime):
    work = [*runtime.step(PayloadRequest("forearm_link", BOX), NOW).work]
    work += runtime.step(Description(HEAVIER), NOW).work
    for stamp in range(1, 6):
        assert_allclose(weight(runtime, stamp), gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)
    for each in work:
        run_work(runtime, runtime.step(each.run(), NOW), NOW)
    carrying = SETTINGS.apply(description(HEAVIER)).carrying(Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3), "forearm_link"))
    assert_allclose(weight(runtime, 6), gravity(carrying, Q), rtol=0, atol=1e-10)


def test_the_newest_description_is_used_whichever_is_ready_first(runtime):
    first, second = (runtime.step(Description(xml), NOW).work[0] for xml in (HEAVIER, URDF))
    for work in (second, first):
        run_work(runtime, runtime.step(work.run(), NOW), NOW)
    assert_allclose(weight(runtime, 1), gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)


@pytest.mark.parametrize("xml", [HEAVIER, "<robot"], ids=["good", "broken"])
def test_settings_that_change_while_a_description_is_being_loaded_apply_to_what_is_used(runtime, xml):
    (work,) = runtime.step(Description(xml), NOW).work
    other = with_settings(**{"robot.gravity": (0.0, 0.0, 9.81), "robot.tip_link": "forearm_link"})
    assert runtime.step(SettingsChange(other), NOW).work == ()
    run_work(runtime, runtime.step(work.run(), NOW), NOW)
    used = description(HEAVIER if xml == HEAVIER else URDF)
    assert_allclose(weight(runtime, 1), gravity(SETTINGS.apply(used), Q, (0, 0, 9.81)), rtol=0, atol=1e-10)
    assert runtime.robot.settings == other


def test_a_payload_that_changes_while_a_description_is_being_loaded_is_carried(runtime):
    (work,) = runtime.step(Description(HEAVIER), NOW).work
    runtime.step(PayloadRequest("", BOX), NOW)
    run_work(runtime, runtime.step(work.run(), NOW), NOW)
    model = SETTINGS.apply(description(HEAVIER)).carrying(Payload(2.0, (0, 0, 0.1), 0.1 * np.eye(3)))
    assert_allclose(weight(runtime, 1), gravity(model, Q), rtol=0, atol=1e-10)


def test_a_payload_whose_kernels_are_ready_after_another_robot_is_refused(runtime):
    (work,) = runtime.step(PayloadRequest("forearm_link", BOX)._replace(request="request"), NOW).work
    run_work(runtime, runtime.step(Description(HEAVIER), NOW), NOW)
    update = runtime.step(work.run(), NOW)
    assert update.replies[0].request == "request"
    assert "the robot or parameters changed meanwhile: ask again" in error_of(update)


# --- parameters


def test_settings_change_all_or_none(runtime):
    runtime.step(state(1), NOW)
    run_work(
        runtime,
        runtime.step(
            SettingsChange(with_settings(**{"robot.gravity": (0, 0, 9.81), "robot.tip_link": "forearm_link"})), NOW
        ),
        NOW,
    )
    assert runtime.state.q == Q
    expected = gravity(SMALL_ARM, Q, (0, 0, 9.81))
    assert_allclose(weight(runtime, 2), expected, rtol=0, atol=1e-10)
    for changes, problem in (
        ({"robot.gravity": (0, 0, -1.0), "robot.tip_link": "hand"}, "no link 'hand'"),
        ({"robot.joints": (*NAMES[:2], "nose"), "robot.gravity": (0, 0, -1.0)}, "no joint 'nose'"),
    ):
        with pytest.raises(Ros2DynError, match=problem):
            run_work(runtime, runtime.step(SettingsChange(with_settings(**changes)), NOW), NOW)
    assert_allclose(weight(runtime, 3), expected, rtol=0, atol=1e-10)
    assert runtime.robot.tip_link == "forearm_link"


def test_a_description_that_was_rejected_is_used_once_the_settings_fit_it():
    runtime = ArmRuntime(None, Settings.from_values({"robot.joints": ["nose"]}))
    update = run_work(runtime, runtime.step(Description(URDF), NOW), NOW)
    assert [event.kind for event in update.events] == ["robot rejected"]
    run_work(runtime, runtime.step(SettingsChange(SETTINGS), NOW), NOW)
    assert_allclose(weight(runtime, 1), gravity(SMALL_ARM, Q), rtol=0, atol=1e-10)


def test_friction_and_rotors_change_the_inverse_dynamics(runtime):
    bare = dict.fromkeys(("friction.viscous", "friction.coulomb"), (0.0,) * 3)
    other = with_settings(**bare, **{"robot.armature": (10.0, 20.0, 30.0)})
    run_work(runtime, runtime.step(SettingsChange(other), NOW), NOW)
    runtime.step(desired(1), NOW)
    found = runtime.step(state(1), NOW).terms
    expected = mass_matrix(SMALL_ARM, Q) @ QDD + np.multiply(np.subtract((10, 20, 30), (0.5, 0.5, 0.4)), QDD)
    expected += gravity(SMALL_ARM, Q) + coriolis(SMALL_ARM, Q, QD)
    assert_allclose(found.inverse_dynamics, expected, rtol=0, atol=1e-10)
    assert not any(found.friction)


# --- trajectories

TIMES = np.linspace(0.5, 2.5, 9)
ROWS = np.array(Q) + TIMES[:, None] ** 3


def trajectory(velocities=True, accelerations=True) -> TrajectorySample:
    """Return a cubic in reversed order, with a joint that the robot has not."""
    extra = np.ones((9, 1))
    q, qd, qdd = (np.hstack([extra, x]) for x in (ROWS[:, ::-1], *(np.outer(d, np.ones(3)) for d in _rates())))
    empty = [[]] * 9
    return TrajectorySample(
        ("extra", *NAMES[::-1]), TIMES.tolist(), q, qd if velocities else empty, qdd if accelerations else empty
    )


def _rates() -> tuple[np.ndarray, np.ndarray]:
    return 3 * TIMES**2, 6 * TIMES


def efforts(runtime: ArmRuntime, sample: TrajectorySample) -> np.ndarray:
    """Return the efforts of a trajectory in the order of the model."""
    table = runtime.trajectory_task(NOW).effort(sample)
    assert not np.any(table[:, 0])
    return table[:, :0:-1]


def test_every_point_of_a_trajectory_gets_its_effort(runtime):
    qd, qdd = (np.outer(d, np.ones(3)) for d in _rates())
    expected = rnea(SMALL_ARM, ROWS, qd, qdd) + friction(SMALL_ARM, qd)
    assert_allclose(efforts(runtime, trajectory()), expected, rtol=0, atol=1e-9)
    # A cubic is its own Hermite spline, so that accelerations may be missing.
    assert_allclose(efforts(runtime, trajectory(accelerations=False)), expected, rtol=0, atol=1e-4)


def test_velocities_that_a_trajectory_leaves_out_are_those_of_a_clamped_spline(runtime):
    spline = CubicSpline(TIMES, ROWS, bc_type="clamped")
    expected = rnea(SMALL_ARM, ROWS, spline(TIMES, 1), spline(TIMES, 2)) + friction(SMALL_ARM, spline(TIMES, 1))
    assert_allclose(efforts(runtime, trajectory(False, False)), expected, rtol=0, atol=1e-9)


def test_efforts_of_a_robot_that_compensates_gravity_are_without_it():
    runtime = ArmRuntime(description(), with_settings(**{"commands.command_effort": "gravity_compensated"}))
    raw = efforts(ArmRuntime(description(), SETTINGS), trajectory())
    assert_allclose(efforts(runtime, trajectory()), raw - gravity(SMALL_ARM, ROWS), rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"positions": [[]] * 9}, "points: empty"),
        ({"times": [0.0] * 9, "accelerations": [[]] * 9}, "points.time_from_start: not increasing"),
        ({"names": ("extra", *NAMES[:2], "nose")}, "joint missing"),
        ({"velocities": [[0.0]] * 9}, r"points\[0\].velocities: wrong length: expected 4, got 1"),
        ({"positions": np.full((9, 4), nan)}, "points.positions: not finite"),
        ({"accelerations": np.full((9, 4), 1e308)}, "points: too large"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_trajectory_that_cannot_be_used_is_refused(runtime, changes, problem):
    with pytest.raises(MessageError, match=problem):
        efforts(runtime, trajectory()._replace(**changes))
