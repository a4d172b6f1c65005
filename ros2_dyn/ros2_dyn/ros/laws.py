"""The effort of each mode at a state, with what the laws remember from one state to the next."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.effort_guard import Mode
from ros2_dyn.control.feed_forward import joint_pd
from ros2_dyn.control.force_control import force_control, limited_rate
from ros2_dyn.control.gravity_compensation import gravity_compensation
from ros2_dyn.control.hand_guiding import hand_guiding
from ros2_dyn.control.sampling import bearable
from ros2_dyn.control.tip_friction import Anchor
from ros2_dyn.model.spatial import Array
from ros2_dyn.ros.pairing import Pair
from ros2_dyn.ros.robot import Efforts, Robot
from ros2_dyn.ros.target_wrench import TargetWrench


class Laws:
    """What the modes command; it needs no more than a robot, and what it is to follow."""

    def __init__(self) -> None:
        self.target_wrench: TargetWrench | None = None
        self.desired_at = -inf
        """When the newest desired state came, by a steady clock, s."""
        self.begin(0.0)

    def begin(self, now: float) -> None:
        """Forget what earlier modes remembered, at a time of a steady clock, s."""
        self._anchor: Anchor | None = None
        self._wrench = np.zeros(6)
        self._at = now

    def target_age(self, mode: Mode, pair: Pair, now: float) -> float:
        """Of what a mode follows, s; inf: there is nothing to follow."""
        if mode == "force":
            return inf if self.target_wrench is None else now - self.target_wrench.received_at
        if mode == "feed_forward":
            return inf if pair.desired is None else now - self.desired_at
        return 0.0

    def effort(
        self, mode: Mode, robot: Robot, pair: Pair, efforts: Efforts, arm: ArmState, now: float, period: float
    ) -> Array:
        """What a mode commands: all that the joints exert, N m or N, shape (n,); NaN where that cannot be told.

        Args:
            mode: one that commands.
            robot: the robot.
            pair: the measured and the desired state.
            efforts: the model's, there.
            arm: what else the model says of the measured state.
            now: time of a steady clock, s.
            period: of the states, s.
        """
        dt, self._at = now - self._at, now
        laws: dict[Mode, Callable[[], Array]] = {
            "gravity": lambda: gravity_compensation(arm, bearable(robot.settings.control.gravity_damping, period)),
            "feed_forward": lambda: self._feed_forward(robot, pair, efforts, now),
            "hand_guiding": lambda: self._hand_guiding(robot, arm, period),
            "force": lambda: self._force(robot, arm, dt, period),
        }
        try:
            return laws[mode]()
        except np.linalg.LinAlgError:  # of a mass matrix that no robot has
            return np.full_like(arm.q, np.nan)

    def _feed_forward(self, robot: Robot, pair: Pair, efforts: Efforts, now: float) -> Array:
        control, measured, desired = robot.settings.control, pair.measured, pair.desired
        assert desired is not None  # the guard stops a mode without target
        gains = (robot.in_order(control.tracking_stiffness), robot.in_order(control.tracking_damping))
        q_d, qd_d = desired.q or measured.q, desired.qd or measured.qd
        correction = joint_pd(measured.q, measured.qd, q_d, qd_d, *gains)
        if control.tracking == "computed_torque":
            qdd = (np.array(desired.qdd) + correction).tolist()
            return control.feed_forward_gain * np.array(robot.effort(measured.q, measured.qd, qdd, now))
        return control.feed_forward_gain * np.array(efforts.inverse_dynamics) + correction

    def _hand_guiding(self, robot: Robot, arm: ArmState, period: float) -> Array:
        model, control = robot.model, robot.settings.control
        limits = (model.lower, model.upper, control.effort_scale * model.effort_limit)
        tau, self._anchor = hand_guiding(arm, self._anchor, control.guiding(period), *limits, _hand(robot, arm))
        return tau

    def _force(self, robot: Robot, arm: ArmState, dt: float, period: float) -> Array:
        control = robot.settings.control
        assert self.target_wrench is not None  # the guard stops a mode without target
        target = self.target_wrench.in_base_axes(arm.q.tolist())
        self._wrench = limited_rate(self._wrench, target, control.force_rate * dt, control.moment_rate * dt)
        damping = (bearable(rate, period) for rate in (control.force_damping, control.posture_damping))
        return force_control(arm, self._wrench, *damping)


def _hand(robot: Robot, arm: ArmState) -> Array | None:
    """The wrench that the tip is pushed with, in base axes, where it is known and of use."""
    if robot.monitor is None or robot.settings.control.guiding_assistance == 0:
        return None
    wrench = robot.monitor.wrench().wrench
    return (np.reshape(wrench, (2, 3)) @ arm.pose[:3, :3].T).ravel() if wrench else None
