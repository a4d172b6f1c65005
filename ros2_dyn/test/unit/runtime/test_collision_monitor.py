# SPDX-License-Identifier: Apache-2.0
"""Collisions as the runtime detects them: a moving arm that is pushed, in virtual time."""

from __future__ import annotations

from collections.abc import Callable
from math import exp

import numpy as np
import pytest
from numpy.testing import assert_allclose

from driven_arms import swing
from robots import mock_arm
from ros2_dyn.dynamics import forward_kinematics, friction, gravity, jacobian, rnea
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn.runtime import ArmRuntime, CollisionUpdate, JointSample, PayloadRequest, Settings, Update
from ros2_dyn.runtime.inputs import CollisionCalibration, CollisionReset, SettingsChange, TimePassed
from runtime_rig import DRIVES, NAMES, SMALL_ARM, description

PERIOD = 2_000_000
"""Of the states, ns."""
K = 25.0
SETTLED = round(8 / K / (1e-9 * PERIOD))
"""Number of states after which the observer has settled."""
THRESHOLD = (5.0, 5.0, 5.0)
FORCE = np.array([10.0, -20.0, 15.0])


class PushedArm:
    """Plays the states of an arm in motion, which is pushed."""

    def __init__(self, **changes) -> None:
        settings = Settings.from_values({"robot.joints": NAMES, "collision.bandwidth": K, **DRIVES, **changes})
        self.runtime = ArmRuntime(description(), settings)
        self.i = 500_000
        self.model: RobotModel = SMALL_ARM
        self.push: Callable[[np.ndarray], np.ndarray] = lambda q: np.zeros(3)
        self.measured: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray] = lambda tau, q, e: tau
        self.updates: list[Update] = []

    @property
    def now(self) -> float:
        """Time, s."""
        return 1e-9 * PERIOD * self.i

    def step(self, moving: bool = True) -> np.ndarray:
        """Play the state of the next instant, with the effort that the motors exert; return the joint positions."""
        self.i += 1
        q, qd, qdd = swing(self.now, len(NAMES), 0.3 * moving)
        e = self.push(q)
        tau = rnea(self.model, q, qd, qdd) + friction(self.model, qd) - e
        effort = list(self.measured(tau, q, e))
        sample = JointSample(self.i * PERIOD, NAMES, q.tolist(), qd.tolist(), effort)
        self.updates.append(self.runtime.step(sample, self.now))
        return q

    def play(self, states: int = SETTLED, moving: bool = True) -> np.ndarray:
        """Play some states; return the last joint positions."""
        for _ in range(states):
            q = self.step(moving)
        return q

    @property
    def seen(self) -> CollisionUpdate:
        """The external efforts at the newest state."""
        found = self.updates[-1].collision
        assert found is not None
        return found

    @property
    def begins(self) -> int:
        """Number of collisions that have begun."""
        return sum(update.collision is not None and update.collision.begins for update in self.updates)


def tip_push(q: np.ndarray) -> np.ndarray:
    """Return the efforts of a force at the tip in base axes."""
    return jacobian(SMALL_ARM, q)[:3].T @ FORCE


# --- a push


def test_a_push_is_a_collision_that_begins_once_and_stays_until_it_is_reset():
    arm = PushedArm(**{"collision.threshold": THRESHOLD})
    arm.play()
    arm.push = tip_push
    q = arm.play()
    assert_allclose(arm.seen.residual, tip_push(q), rtol=0.05, atol=0.5)
    assert arm.seen.collision
    assert tuple(arm.seen.threshold) == THRESHOLD
    assert list(arm.seen.exceeded) == [abs(r) > e for r, e in zip(arm.seen.residual, THRESHOLD)]
    assert [event.kind for update in arm.updates for event in update.events].count("collision") == 1
    arm.push = lambda q: np.zeros(3)
    arm.play()
    assert arm.seen.collision
    assert arm.runtime.collision_latched
    assert arm.begins == 1
    arm.runtime.step(CollisionReset(), arm.now)
    arm.play(10)
    assert not arm.seen.collision


def test_the_wrench_of_a_push_at_the_tip_is_in_the_axes_of_the_tip():
    model, q = mock_arm(), [0.1, -1.2, 1.4, -1.8, -1.5, 0.3]
    runtime = ArmRuntime(model, Settings())
    effort = gravity(model, q) - jacobian(model, q)[:3].T @ FORCE
    for i in range(1, 300):
        sample = JointSample(i * PERIOD, model.joint_names, q, [0.0] * 6, effort.tolist())
        seen = runtime.step(sample, 1e-9 * PERIOD * i).collision
    R = forward_kinematics(model, q)[:3, :3]
    assert_allclose(seen.wrench.wrench, [*(R.T @ FORCE), 0, 0, 0], rtol=0, atol=0.5)  # damped least squares


def test_the_touched_link_is_named_and_the_tip_has_no_wrench():
    arm = PushedArm(**{"collision.threshold": THRESHOLD})
    arm.push = lambda q: jacobian(SMALL_ARM, q, "upper_arm_link", [-0.3, 0.0, 0.0])[:3].T @ np.array([30.0, 80.0, 50.0])
    arm.play()
    assert arm.seen.contact.link == "upper_arm_link"
    assert arm.seen.wrench == ((), "'upper_arm_link' is touched, not the tip")


def test_a_step_of_the_external_effort_is_seen_through_a_low_pass_of_the_bandwidth():
    arm = PushedArm()
    arm.play()
    arm.push = lambda q: np.array([10.0, 0, 0])
    rising = []
    for _ in range(60):
        arm.step()
        rising.append(arm.seen.residual[0])
    t = 1e-9 * PERIOD * (np.arange(1, 61) - 0.5)  # half of the effort's mean over the first interval
    tolerance = 0.1 + 10 * (1 - exp(-K * 1e-9 * PERIOD / 2))
    assert_allclose(rising, 10 * (1 - np.exp(-K * t)), rtol=0, atol=tolerance)


# --- conventions of efforts


@pytest.mark.parametrize(
    ("changes", "measured"),
    [
        ({}, lambda tau, q, e: tau),
        ({"states.measured_effort": "gravity_compensated"}, lambda tau, q, e: tau - gravity(SMALL_ARM, q)),
        ({"states.measured_effort": "external"}, lambda tau, q, e: e),
        ({"states.effort_gain": (10.0, 10.0, 5.0)}, lambda tau, q, e: tau / [10, 10, 5]),
    ],
    ids=["raw", "gravity compensated", "external", "motor currents"],
)
def test_the_external_effort_is_the_same_by_every_convention(changes, measured):
    arm = PushedArm(**changes)
    arm.measured, arm.push = measured, tip_push
    q = arm.play()
    assert_allclose(arm.seen.residual, tip_push(q), rtol=0.05, atol=0.8)


def test_a_known_payload_is_no_collision():
    payload = Payload(3.0, (0, 0, 0.1), np.zeros((3, 3)))
    arm = PushedArm()
    arm.model = SMALL_ARM.carrying(payload)
    arm.play()
    assert np.max(np.abs(arm.seen.residual)) > 5.0
    arm.runtime.step(PayloadRequest("", payload.parameters.tolist()), arm.now)
    arm.play(400)
    assert_allclose(arm.seen.residual, 0, atol=0.1)


# --- efforts that are missing


@pytest.mark.parametrize(("ramp_time", "kind"), [(0.0, "raw"), (0.3, "gravity_compensated")])
def test_a_payload_that_changes_amid_a_motion_is_no_external_effort(ramp_time, kind):
    """The momentum by the model steps with its mass, and the arm does not."""
    arm, places = PushedArm(**{"states.measured_effort": kind}), ((0.0, 0.0, 0.05), np.zeros((3, 3)))
    if kind != "raw":
        arm.measured = lambda tau, q, e: tau - gravity(arm.model, q)
    arm.play()
    whole = Payload(3.0, *places).parameters.tolist()
    arm.runtime.step(PayloadRequest("", whole, ramp_time), arm.now)
    start, worst = arm.now, 0.0
    while arm.now < start + 0.5:
        share = min(1.0, (arm.now + 1e-9 * PERIOD - start) / ramp_time) if ramp_time else 1.0
        arm.model = SMALL_ARM.carrying(Payload(3.0 * share, *places))
        arm.step()
        worst = max(worst, np.max(np.abs(arm.seen.residual)))
    assert worst < 0.4


@pytest.mark.parametrize("effort", [1.2e308, -1e7])
def test_a_huge_effort_is_rejected_and_leaves_nothing_in_the_observer(effort):
    arm = PushedArm()
    arm.play()
    arm.measured = lambda tau, q, e: np.full(3, effort)
    arm.play(2)
    assert all("effort: too large" in update.events[0].text for update in arm.updates[-2:])
    arm.measured = lambda tau, q, e: tau
    arm.play()
    assert np.abs(arm.seen.residual).max() < 0.5


def test_a_detector_that_has_lost_its_input_says_so_once():
    arm = PushedArm(**{"collision.threshold": THRESHOLD})
    arm.play(100)
    assert not arm.runtime.detector_blind
    arm.measured = lambda tau, q, e: []
    arm.play(200)
    assert arm.runtime.detector_blind
    assert [e.kind for update in arm.updates for e in update.events if "detector" in e.kind] == ["detector blind"]
    arm.measured = lambda tau, q, e: tau
    arm.play(10)
    assert not arm.runtime.detector_blind


@pytest.mark.parametrize("measured", [lambda tau, q, e: [], lambda tau, q, e: tau * np.nan], ids=["missing", "NaN"])
def test_states_without_a_usable_effort_are_computed_and_not_observed(measured):
    arm = PushedArm(**{"collision.threshold": THRESHOLD})
    arm.play(50)
    arm.measured = measured
    arm.play(50)
    assert arm.updates[-1].collision is None
    assert arm.updates[-1].terms is not None
    arm.measured = lambda tau, q, e: tau
    arm.play()
    assert_allclose(arm.seen.residual, 0, atol=0.1)
    assert not arm.seen.collision


def test_nothing_is_observed_where_collisions_are_not_detected():
    arm = PushedArm(**{"collision.bandwidth": 0.0})
    arm.play(10)
    assert arm.updates[-1].collision is None
    (reply,) = arm.runtime.step(CollisionReset(), arm.now).replies
    assert "collision.bandwidth" in str(reply.error)


# --- parameters


def test_a_latched_collision_survives_another_observer():
    arm = PushedArm(**{"collision.threshold": THRESHOLD})
    arm.push = tip_push
    arm.play()
    other = Settings.from_values(
        {"robot.joints": NAMES, "collision.bandwidth": 10.0, "collision.threshold": THRESHOLD, **DRIVES}
    )
    arm.runtime.step(SettingsChange(other), arm.now)
    assert arm.runtime.collision_latched


def test_an_observer_goes_on_where_other_parameters_change():
    arm = PushedArm(**{"collision.threshold": THRESHOLD})
    arm.push = lambda q: np.array([3.0, 0, 0])
    arm.play()
    before = arm.seen.residual[0]
    same = {"robot.joints": NAMES, "collision.bandwidth": K, "collision.threshold": THRESHOLD, **DRIVES}
    arm.runtime.step(SettingsChange(Settings.from_values({**same, "commands.stop_service": "other_5"})), arm.now)
    arm.step()
    assert arm.seen.residual[0] == pytest.approx(before, abs=0.1)


# --- calibration


def calibrated(arm: PushedArm, moving: bool = True) -> tuple[str, list[float] | None]:
    """Calibrate; return the error and the thresholds."""
    assert arm.runtime.step(CollisionCalibration("calibration"), arm.now).replies == ()
    for _ in range(1100):
        arm.step(moving)
        for reply in arm.runtime.step(TimePassed(), arm.now).replies:
            assert reply.request == "calibration"
            return str(reply.error or ""), reply.value
    raise AssertionError("the calibration does not end")


def test_calibrated_thresholds_are_above_all_that_a_free_motion_shows():
    arm = PushedArm(**{"collision.calibration_time": 2.0})
    error = np.array([2.0, 3.0, 1.0])
    arm.push = lambda q: error * np.sin(0.05 * arm.i)  # as of a model that is not right
    arm.play(200)
    problem, thresholds = calibrated(arm)
    assert problem == ""
    seen = error / np.sqrt(2)  # through the observer's low-pass
    assert np.all(np.array(thresholds) > seen)
    assert np.all(np.array(thresholds) < 20 * seen)


def test_a_calibration_of_an_arm_at_rest_is_refused():
    arm = PushedArm(**{"collision.calibration_time": 2.0})
    arm.play(20, moving=False)
    problem, thresholds = calibrated(arm, moving=False)
    assert thresholds is None
    assert NAMES[0] in problem
    assert "never moved" in problem


def test_a_calibration_without_efforts_is_refused_at_once():
    arm = PushedArm()
    (reply,) = arm.runtime.step(CollisionCalibration("calibration"), 0.0).replies
    assert "joint_states has not given an effort of all joints yet" in str(reply.error)


def test_a_calibration_with_a_gap_in_the_states_is_refused():
    arm = PushedArm(**{"collision.calibration_time": 2.0})
    arm.play(200)
    arm.runtime.step(CollisionCalibration(), arm.now)
    arm.play(100)
    arm.i += 500
    arm.play(500)
    (reply,) = arm.runtime.step(TimePassed(), arm.now).replies
    assert "states were missing, or time was set back, during the calibration: repeat it" in str(reply.error)


def test_a_calibration_ends_when_the_observer_changes():
    arm = PushedArm(**{"collision.calibration_time": 2.0})
    arm.play(20)
    arm.runtime.step(CollisionCalibration("calibration"), arm.now)
    other = Settings.from_values({"robot.joints": NAMES, "collision.bandwidth": 10.0, **DRIVES})
    _, reply = arm.runtime.step(SettingsChange(other), arm.now).replies
    assert reply.request == "calibration"
    assert "the robot or parameters changed during the calibration: repeat it" in str(reply.error)
