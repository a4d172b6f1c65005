# SPDX-License-Identifier: Apache-2.0
"""The control law of each mode, with what it remembers from one state to the next. A new mode is a law here."""

from __future__ import annotations

from math import hypot, sqrt

import numpy as np

from ros2_dyn.control.contact_watch import ContactWatch
from ros2_dyn.control.feed_forward import joint_pd
from ros2_dyn.control.force_control import approach_rate, force_control, rate_limited_wrench, tip_mobility
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.hand_guiding import HandGuidingParameters, hand_guiding
from ros2_dyn.control.mode_settings import FeedForwardSettings, ForceSettings, GravitySettings, HandGuidingSettings
from ros2_dyn.control.modes import Mode
from ros2_dyn.control.sampled_stability import (
    limit_bandwidth_to_sampling,
    longest_delay,
    speed_before_damping,
)
from ros2_dyn.control.soft_limits import soft_limits
from ros2_dyn.control.tip_friction import Anchor, TipFriction, sticking_rate
from ros2_dyn.control.tip_speed import BRAKE_RATE
from ros2_dyn.dynamics import friction as joint_friction
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.effort_convention import robot_adds_friction
from ros2_dyn.runtime.handover_hold import HandoverHold
from ros2_dyn.runtime.impedance_law import ImpedanceLaw
from ros2_dyn.runtime.law_input import LawInput
from ros2_dyn.runtime.settings import Settings

MAX_TRACKING_RATE_TIMES_DELAY = 1.0
"""Maximum product of a tracking law's damping rate and the loop's delay: stable below 3/2."""
MAX_FREE_SPEED = 0.2
"""Speed of a tip that has lost its wall, m/s, which the desired wrench must not exceed."""
APPROACH_STABILITY = 0.3
"""Fraction of the approach speed by which the force's growth may change the tip's speed within the loop's delay."""
MIN_TIME = 1e-6
"""Time between two states that is told from none, s."""
SAME_PLACE = 1e-9
"""Motion of the anchor below which the tip sticks, m."""


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
        self._impedance_law = ImpedanceLaw(now)
        self.hold: HandoverHold | None = None
        """What mode gravity adds during a handover."""
        self.supply: Array | None = None
        """The part of the newest effort that is passive or wanted, N m or N, shape (n,); None: it is not known."""
        self.reduced_for = 0.0
        """For how long the delay has allowed less than the desired wrench, s."""

    @property
    def wrench(self) -> Array:
        """What modes force and impedance exert at the tip now, N and N m, shape (6,); zero in the other modes."""
        return self._wrench + self._impedance_law.spring

    @property
    def stiffness_share(self) -> float:
        """The share of its desired stiffness that mode impedance has."""
        return self._impedance_law.stiffness_share

    @property
    def travel(self) -> float:
        """How far the tip has gone where nothing but a wall would hold it, m."""
        return max(self.contact.travel, self._impedance_law.travel)

    def effort(self, mode: Mode, seen: LawInput) -> Array:
        """Return the whole joint effort that a mode commands, N m or N, shape (n,); NaN where it cannot be computed."""
        laws = {
            "gravity": self._gravity,
            "hand_guiding": self._hand_guiding,
            "feed_forward": self._feed_forward,
            "force": self._force,
            "impedance": self._impedance,
        }
        dt, self._at, self.supply = seen.now - self._at, seen.now, None
        try:
            return laws[mode](seen, dt)
        except np.linalg.LinAlgError:  # of a mass matrix that no robot has
            return np.full_like(seen.arm.q, np.nan)

    def _gravity(self, seen: LawInput, dt: float) -> Array:
        wall, damping = walls(seen), np.zeros_like(seen.arm.q)
        if self.hold is not None:
            rate = seen.limit(seen.settings.commands.stop_damping)
            spring, damping = self.hold.efforts(seen.arm, rate, seen.robot.effort_limit, seen.now)
            wall = wall + spring
        self.supply = seen.arm.gravity + wall
        return gravity_compensation(seen.arm, seen.limit(seen.settings.mode(GravitySettings).damping)) + wall + damping

    def _feed_forward(self, seen: LawInput, dt: float) -> Array:
        robot, settings = seen.robot, seen.settings
        measured, desired = seen.state.measured, seen.state.desired
        assert desired is not None  # a condition of the mode
        own_settings = settings.mode(FeedForwardSettings)
        gains = robot.in_order(own_settings.stiffness), robot.in_order(own_settings.damping)
        q_d, qd_d = desired.q or measured.q, desired.qd or measured.qd
        correction = joint_pd(measured.q, measured.qd, q_d, qd_d, *self._bearable_gains(seen, *gains))
        computed_torque = own_settings.law == "computed_torque"
        own = np.zeros(len(q_d))
        if robot_adds_friction(settings.commands.command_effort):
            own = joint_friction(robot.model, measured.qd if computed_torque else qd_d, seen.arm.gravity)
        if computed_torque:
            qdd = (np.array(desired.qdd) + correction).tolist()
            return settings.mode(FeedForwardSettings).gain * (
                robot.effort(measured.q, measured.qd, qdd, seen.now) - own
            )
        own = own + robot.presliding.tau  # a spring that is pushed away by what it is measured to be lets go of the arm
        return settings.mode(FeedForwardSettings).gain * (seen.terms.inverse_dynamics - own) + correction

    def _bearable_gains(self, seen: LawInput, stiffness: list[float], damping: list[float]) -> tuple[Array, Array]:
        """Return the gains of the tracking law, reduced to what the loop bears."""
        inverse = np.eye(len(stiffness))  # the gains of computed torque are those of a unit mass
        if seen.settings.mode(FeedForwardSettings).law == "joint_pd":
            inverse = np.linalg.inv(seen.arm.M)
        K, D = np.array(stiffness), np.array(damping)
        omega, rate = sqrt(_largest_eigenvalue(inverse, K)), _largest_eigenvalue(inverse, D)
        if omega > 0:
            K = K * (limit_bandwidth_to_sampling(omega, seen.period, seen.delay) / omega) ** 2
        if rate > 0:
            D = D * min(1.0, MAX_TRACKING_RATE_TIMES_DELAY / (rate * (seen.period + seen.delay)))
        return K, D

    def _hand_guiding(self, seen: LawInput, dt: float) -> Array:
        settings, arm = seen.settings, seen.arm
        limits = *seen.walls, seen.robot.effort_limit
        hand = None
        if seen.external_wrench and settings.mode(HandGuidingSettings).assist_gain > 0:
            hand = (np.reshape(seen.external_wrench, (2, 3)) @ arm.pose[:3, :3].T).ravel()  # in base axes
        before, feel = self._anchor, guiding(settings, seen)
        tau, self._anchor = hand_guiding(arm, before, feel, *limits, hand)
        sticks = before is not None and float(np.linalg.norm(self._anchor.position - before.position)) < SAME_PLACE
        damping = feel.damping + (sticking_rate(arm, feel.tip) if sticks else 0.0)
        self.supply = tau + damping * arm.momentum
        return tau

    def _force(self, seen: LawInput, dt: float) -> Array:
        settings = seen.settings
        assert seen.target_wrench is not None  # a condition of the mode
        target = seen.target_wrench.in_base_axes(seen.state.measured.q)
        mobility = tip_mobility(seen.arm)
        bearable = self._bearable(target, mobility, seen, dt)
        self._approach(bearable, mobility, seen, dt)
        self.supply = seen.arm.gravity + self._wrench @ seen.arm.J
        damping, posture_damping = (
            seen.limit(settings.mode(ForceSettings).damping),
            seen.limit(settings.mode(ForceSettings).posture_damping),
        )
        self.contact.observe(
            seen.arm, self._wrench[:3], bearable[:3], damping, settings.commands.max_tip_speed, seen.now
        )
        return force_control(seen.arm, self._wrench, damping, posture_damping)

    def _impedance(self, seen: LawInput, dt: float) -> Array:
        target, mobility = np.zeros(6), tip_mobility(seen.arm)
        given = seen.target_wrench
        if given is not None and seen.now - given.time.desired_at <= seen.settings.commands.target_timeout:
            target = given.in_base_axes(seen.state.measured.q)
        self._approach(self._bearable(target, mobility, seen, dt), mobility, seen, dt)
        tau, supply = self._impedance_law.effort(seen, self._wrench, dt)
        self.supply = supply + (wall := walls(seen))
        return tau + wall

    def _bearable(self, target: Array, mobility: Array, seen: LawInput, dt: float) -> Array:
        """Return the part of a wrench under which a tip that loses its wall stays slow enough."""
        speed = least_free_speed(mobility, target, seen.period, seen.delay)
        self.reduced_for = self.reduced_for + dt if speed > MAX_FREE_SPEED else 0.0
        return target * min(1.0, MAX_FREE_SPEED / speed) if speed > 0 else target

    def _approach(self, target: Array, mobility: Array, seen: LawInput, dt: float) -> None:
        """Change the wrench towards a target, more slowly where the tip already moves the way it pushes."""
        settings, arm = seen.settings, seen.arm
        steps = settings.mode(ForceSettings).force_rate * dt, settings.mode(ForceSettings).moment_rate * dt
        pull = mobility @ target
        growth = mobility @ (rate_limited_wrench(self._wrench, target, *steps) - self._wrench)
        share, size, jerk = 1.0, hypot(*pull), hypot(*growth) / max(dt, MIN_TIME)
        if size > 0 and jerk > 0:
            share = approach_rate(
                float(pull @ arm.tip_velocity[:3]) / size, settings.mode(ForceSettings).approach_speed
            )
            added = speed_before_damping(jerk, seen.period, seen.delay) * longest_delay(seen.period, seen.delay)
            share *= min(1.0, APPROACH_STABILITY * settings.mode(ForceSettings).approach_speed / added)
        if share < 0:
            target, share = np.zeros(6), -share
        self._wrench = rate_limited_wrench(self._wrench, target, *(share * step for step in steps))


def _largest_eigenvalue(inverse: Array, gains: Array) -> float:
    """Return the largest eigenvalue of ``M^-1 diag(gains)`` for gains that are not negative."""
    root = np.sqrt(gains)
    return float(np.linalg.eigvalsh(root[:, None] * inverse * root)[-1])


def least_free_speed(mobility: Array, wrench: Array, period: float, delay: float) -> float:
    """Return the speed of a free tip under a wrench and the strongest damping that the loop bears, m/s.

    Args:
        mobility: see `tip_mobility`.
        wrench: [force; moment], N and N m, shape (6,).
        period: see `longest_delay`.
        delay: see `longest_delay`.
    """
    return speed_before_damping(hypot(*(mobility @ wrench)), period, delay)


def walls(loop: LawInput) -> Array:
    """Return the efforts of the soft walls before the joint limits, N m or N, shape (n,)."""
    settings = loop.settings
    bandwidth = loop.limit_bandwidth(settings.commands.soft_limit_bandwidth)
    return soft_limits(loop.arm, *loop.walls, loop.robot.effort_limit, settings.commands.soft_limit_margin, bandwidth)


def guiding(settings: Settings, loop: LawInput) -> HandGuidingParameters:
    """Return how the guided arm feels in a loop."""
    friction = (
        settings.mode(HandGuidingSettings).friction if settings.commands.command_effort == "raw" else 0.0
    )  # most robots add it themselves
    tip = TipFriction(settings.mode(HandGuidingSettings).hold_force, settings.mode(HandGuidingSettings).hold_moment)
    return HandGuidingParameters(
        loop.limit(settings.mode(HandGuidingSettings).damping),
        friction,
        tip._replace(bandwidth=loop.limit_bandwidth(tip.bandwidth), sticking=loop.limit(tip.sticking)),
        settings.mode(HandGuidingSettings).assist_gain,
        settings.mode(HandGuidingSettings).deadband,
        settings.commands.soft_limit_margin,
        loop.limit_bandwidth(settings.commands.soft_limit_bandwidth),
        settings.commands.max_tip_speed,
        loop.limit(BRAKE_RATE),
    )
