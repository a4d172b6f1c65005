"""The control law of each mode, with what it remembers from one state to the next. A new mode is a law here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.feed_forward import joint_pd
from ros2_dyn.control.force_control import force_control, rate_limited_wrench
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.hand_guiding import HandGuidingParameters, hand_guiding
from ros2_dyn.control.modes import Mode
from ros2_dyn.control.sampled_stability import limit_rate_to_sampling
from ros2_dyn.control.tip_friction import Anchor, TipFriction
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, Terms
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.states import SynchronizedState
from ros2_dyn.runtime.target_wrench import TargetWrench


class LawInput(NamedTuple):
    """What a control law works on."""

    robot: RobotDynamics
    state: SynchronizedState
    terms: Terms
    arm: ArmState
    """The same state, and the model's terms as arrays."""
    target_wrench: TargetWrench | None
    """Of mode force."""
    external_wrench: tuple[float, ...]
    """Wrench of the surroundings at the tip, in the tip's axes, N and N m; empty where it is not known."""
    now: float
    """Time, s."""
    period: float
    """Of the states, s."""


class ControlLaws:
    """Efforts of the modes."""

    def __init__(self) -> None:
        self.begin(0.0)

    def begin(self, now: float) -> None:
        """Forget what earlier modes remembered, at a time, s."""
        self._anchor: Anchor | None = None
        self._wrench = np.zeros(6)
        self._at = now

    @property
    def wrench(self) -> Array:
        """The wrench that mode force commands now, N and N m, shape (6,); zero in the other modes."""
        return self._wrench

    def effort(self, mode: Mode, seen: LawInput) -> Array:
        """Return the whole joint effort that a mode commands, N m or N, shape (n,); NaN where it cannot be computed."""
        laws = {
            "gravity": self._gravity,
            "hand_guiding": self._hand_guiding,
            "feed_forward": self._feed_forward,
            "force": self._force,
        }
        dt, self._at = seen.now - self._at, seen.now
        try:
            return laws[mode](seen, dt)
        except np.linalg.LinAlgError:  # of a mass matrix that no robot has
            return np.full_like(seen.arm.q, np.nan)

    def _gravity(self, seen: LawInput, dt: float) -> Array:
        return gravity_compensation(seen.arm, limit_rate_to_sampling(seen.robot.settings.gravity_damping, seen.period))

    def _feed_forward(self, seen: LawInput, dt: float) -> Array:
        robot, settings = seen.robot, seen.robot.settings
        measured, desired = seen.state.measured, seen.state.desired
        assert desired is not None  # a condition of the mode
        gains = robot.in_order(settings.tracking_stiffness), robot.in_order(settings.tracking_damping)
        q_d, qd_d = desired.q or measured.q, desired.qd or measured.qd
        correction = joint_pd(measured.q, measured.qd, q_d, qd_d, *gains)
        if settings.tracking_law == "computed_torque":
            qdd = (np.array(desired.qdd) + correction).tolist()
            return settings.feed_forward_gain * np.array(robot.effort(measured.q, measured.qd, qdd, seen.now))
        return settings.feed_forward_gain * np.array(seen.terms.inverse_dynamics) + correction

    def _hand_guiding(self, seen: LawInput, dt: float) -> Array:
        model, settings, arm = seen.robot.model, seen.robot.settings, seen.arm
        limits = model.lower, model.upper, settings.effort_scale * model.effort_limit
        hand = None
        if seen.external_wrench and settings.guiding_assist_gain > 0:
            hand = (np.reshape(seen.external_wrench, (2, 3)) @ arm.pose[:3, :3].T).ravel()  # in base axes
        tau, self._anchor = hand_guiding(arm, self._anchor, guiding(settings, seen.period), *limits, hand)
        return tau

    def _force(self, seen: LawInput, dt: float) -> Array:
        settings = seen.robot.settings
        assert seen.target_wrench is not None  # a condition of the mode
        target = seen.target_wrench.in_base_axes(seen.state.measured.q)
        self._wrench = rate_limited_wrench(self._wrench, target, settings.force_rate * dt, settings.moment_rate * dt)
        damping = (
            limit_rate_to_sampling(rate, seen.period) for rate in (settings.force_damping, settings.posture_damping)
        )
        return force_control(seen.arm, self._wrench, *damping)


def guiding(settings: Settings, period: float) -> HandGuidingParameters:
    """Return how the guided arm feels, with states that come once a period, s."""
    tip = TipFriction(settings.guiding_hold_force, settings.guiding_hold_moment)
    return HandGuidingParameters(
        limit_rate_to_sampling(settings.guiding_damping, period),
        settings.guiding_friction,
        tip._replace(
            bandwidth=limit_rate_to_sampling(tip.bandwidth, period),
            sticking=limit_rate_to_sampling(tip.sticking, period),
        ),
        settings.guiding_assist_gain,
        settings.guiding_deadband,
        settings.soft_limit_margin,
        limit_rate_to_sampling(settings.soft_limit_bandwidth, period),
    )
