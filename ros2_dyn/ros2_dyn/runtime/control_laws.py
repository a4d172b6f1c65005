"""The control law of each mode, with what it remembers from one state to the next. A new mode is a law here."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.contact_watch import ContactWatch
from ros2_dyn.control.feed_forward import joint_pd
from ros2_dyn.control.force_control import force_control, rate_limited_wrench
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.hand_guiding import HandGuidingParameters, hand_guiding
from ros2_dyn.control.modes import Mode
from ros2_dyn.control.sampled_stability import limit_rate_to_sampling
from ros2_dyn.control.soft_limits import soft_limits
from ros2_dyn.control.tip_friction import Anchor, TipFriction
from ros2_dyn.control.tip_speed import BRAKE_RATE
from ros2_dyn.dynamics import friction as joint_friction
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.effort_convention import robot_adds_friction
from ros2_dyn.runtime.robot_dynamics import RobotDynamics, Terms
from ros2_dyn.runtime.settings import Settings
from ros2_dyn.runtime.states import SynchronizedState
from ros2_dyn.runtime.target_wrench import TargetWrench


class LawInput(NamedTuple):
    """What a control law works on."""

    robot: RobotDynamics
    settings: Settings
    """Those of the robot, with gains that may be on their way to other values."""
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
    walls: tuple[Array, Array]
    """Lower and upper limits that the soft walls belong to, rad or m, each of shape (n,)."""


class ControlLaws:
    """Efforts of the modes."""

    def __init__(self) -> None:
        self.contact = ContactWatch()
        """What the tip does in mode force."""
        self.begin(0.0)

    def begin(self, now: float) -> None:
        """Forget what earlier modes remembered, at a time, s."""
        self._anchor: Anchor | None = None
        self._wrench = np.zeros(6)
        self._at = now
        self.contact.begin()

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
        damping = limit_rate_to_sampling(seen.settings.gravity_damping, seen.period)
        return gravity_compensation(seen.arm, damping) + walls(seen)

    def _feed_forward(self, seen: LawInput, dt: float) -> Array:
        robot, settings = seen.robot, seen.settings
        measured, desired = seen.state.measured, seen.state.desired
        assert desired is not None  # a condition of the mode
        gains = robot.in_order(settings.tracking_stiffness), robot.in_order(settings.tracking_damping)
        q_d, qd_d = desired.q or measured.q, desired.qd or measured.qd
        correction = joint_pd(measured.q, measured.qd, q_d, qd_d, *gains)
        computed_torque = settings.tracking_law == "computed_torque"
        own = np.zeros(len(q_d))
        if robot_adds_friction(settings.command_effort):
            own = joint_friction(robot.model, measured.qd if computed_torque else qd_d)
        if computed_torque:
            qdd = (np.array(desired.qdd) + correction).tolist()
            return settings.feed_forward_gain * (robot.effort(measured.q, measured.qd, qdd, seen.now) - own)
        return settings.feed_forward_gain * (seen.terms.inverse_dynamics - own) + correction

    def _hand_guiding(self, seen: LawInput, dt: float) -> Array:
        settings, arm = seen.settings, seen.arm
        limits = *seen.walls, seen.robot.effort_limit
        hand = None
        if seen.external_wrench and settings.guiding_assist_gain > 0:
            hand = (np.reshape(seen.external_wrench, (2, 3)) @ arm.pose[:3, :3].T).ravel()  # in base axes
        tau, self._anchor = hand_guiding(arm, self._anchor, guiding(settings, seen.period), *limits, hand)
        return tau

    def _force(self, seen: LawInput, dt: float) -> Array:
        settings = seen.settings
        assert seen.target_wrench is not None  # a condition of the mode
        target = seen.target_wrench.in_base_axes(seen.state.measured.q)
        self._wrench = rate_limited_wrench(self._wrench, target, settings.force_rate * dt, settings.moment_rate * dt)
        damping, posture_damping = (
            limit_rate_to_sampling(rate, seen.period) for rate in (settings.force_damping, settings.posture_damping)
        )
        self.contact.observe(seen.arm, self._wrench[:3], target[:3], damping, settings.max_tip_speed, seen.now)
        return force_control(seen.arm, self._wrench, damping, posture_damping)


def walls(seen: LawInput) -> Array:
    """Return the efforts of the soft walls before the joint limits, N m or N, shape (n,)."""
    settings = seen.settings
    bandwidth = limit_rate_to_sampling(settings.soft_limit_bandwidth, seen.period)
    return soft_limits(seen.arm, *seen.walls, seen.robot.effort_limit, settings.soft_limit_margin, bandwidth)


def guiding(settings: Settings, period: float) -> HandGuidingParameters:
    """Return how the guided arm feels, with states that come once a period, s."""
    friction = settings.guiding_friction if settings.command_effort == "raw" else 0.0  # most robots add it themselves
    tip = TipFriction(settings.guiding_hold_force, settings.guiding_hold_moment)
    return HandGuidingParameters(
        limit_rate_to_sampling(settings.guiding_damping, period),
        friction,
        tip._replace(
            bandwidth=limit_rate_to_sampling(tip.bandwidth, period),
            sticking=limit_rate_to_sampling(tip.sticking, period),
        ),
        settings.guiding_assist_gain,
        settings.guiding_deadband,
        settings.soft_limit_margin,
        limit_rate_to_sampling(settings.soft_limit_bandwidth, period),
        settings.max_tip_speed,
        limit_rate_to_sampling(BRAKE_RATE, period),
    )
