# SPDX-License-Identifier: Apache-2.0
"""Mode feed_forward: the model's effort of the desired motion plus a joint PD (Craig 10.3 and 10.4)."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ros2_dyn.control.arm import Arm, DesiredState
from ros2_dyn.control.command_settings import robot_adds_friction
from ros2_dyn.control.events import Violation
from ros2_dyn.control.joint_pd import joint_pd
from ros2_dyn.control.modes.base import Law, Mode, Needs
from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.control.position_limits import positions_beyond
from ros2_dyn.dynamics import friction as joint_friction
from ros2_dyn.model.spatial import Array

TOLERANCE = 0.3
"""Distance of a joint from its desired position above which the mode stops, rad or m."""


@dataclass(frozen=True)
class FeedForwardSettings(Group, name="feed_forward", title="Mode feed_forward"):
    """How mode feed_forward follows its target."""

    gain: float = parameter(1.0, "Fraction of the model's effort that is commanded.", low=0.0, high=1.0)
    law: str = parameter(
        "joint_pd",
        "Law of the tracking: joint_pd (gains in N m/rad and N m s/rad), or computed_torque (gains in 1/s^2 and 1/s).",
        choices=("joint_pd", "computed_torque"),
        locked=True,
    )
    stiffness: tuple[float, ...] = parameter(
        (),
        "Stiffness of each joint, in the unit of `feed_forward.law`. Not set: 0.",
        per_joint=True,
        example=[500.0, 500.0],
    )
    damping: tuple[float, ...] = parameter(
        (),
        "Damping of each joint, in the unit of `feed_forward.law`. Not set: 0.",
        per_joint=True,
        example=[50.0, 50.0],
    )


class FeedForward(Mode[FeedForwardSettings]):
    """Follows a desired motion of the joints."""

    name = "feed_forward"
    needs = Needs(target="joints")
    Parameters = FeedForwardSettings

    def why_not_go_on(self, arm: Arm) -> Violation | None:
        """Return whether the desired motion is far away, or one that the joints cannot make; see `Mode`."""
        desired = arm.desired
        if desired is None:
            return None
        if impossible := _impossible_motion(arm, desired):
            return Violation("target impossible", f": {impossible}")
        if not desired.q:
            return None
        if beyond := positions_beyond(arm.positions, desired.q):
            return Violation("target beyond limit", f": {beyond}")
        distance = float(np.max(np.abs(arm.state.q - desired.q)))
        if not distance <= TOLERANCE:
            return Violation("target far", f": {distance:.3g} rad or m away, {TOLERANCE} are allowed")
        return None

    def law(self, arm: Arm, parameters: FeedForwardSettings, dt: float) -> Law:
        """Return the efforts; see `Mode`."""
        robot, state, desired = arm.robot, arm.state, arm.desired
        assert desired is not None  # the mode needs a target
        q, qd = state.q.tolist(), state.qd.tolist()
        q_d, qd_d = desired.q or q, desired.qd or qd
        computed_torque = parameters.law == "computed_torque"
        inverse = np.eye(len(q)) if computed_torque else np.linalg.inv(state.M)  # those gains are of a unit mass
        gains = robot.in_order(parameters.stiffness), robot.in_order(parameters.damping)
        stiffness, damping = _bearable_gains(arm, inverse, *gains)
        correction = joint_pd(q, qd, q_d, qd_d, stiffness=stiffness, damping=damping)
        own = np.zeros(len(q))
        if robot_adds_friction(arm.commands.convention):
            own = joint_friction(robot.model, qd if computed_torque else qd_d, state.gravity)
        if computed_torque:
            qdd = (np.array(desired.qdd) + correction).tolist()
            return Law(parameters.gain * (robot.effort(q, qd, qdd, arm.now) - own))
        own = own + robot.presliding.tau  # a spring that is pushed away by what it is measured to be lets go of the arm
        return Law(parameters.gain * (arm.inverse_dynamics - own) + correction)


def _impossible_motion(arm: Arm, desired: DesiredState) -> str:
    """Return which joint is desired to move faster than it may, or with an acceleration that no effort gives it."""
    limits = arm.limits
    speed, inertial = np.abs(desired.qd or np.zeros_like(arm.state.q)), np.abs(arm.state.M @ desired.qdd)
    for i in np.flatnonzero(speed > limits.velocity):
        return f"'{limits.joint_names[i]}' with {speed[i]:.3g} rad/s or m/s, {limits.velocity[i]:.3g} are allowed"
    # Where an arm can be held at all, what holds it takes one effort limit, and what accelerates it another at most.
    for i in np.flatnonzero(inertial > 2 * limits.effort):
        return (
            f"'{limits.joint_names[i]}' needs {inertial[i]:.3g} N m or N to accelerate, it has {limits.effort[i]:.3g}"
        )
    return ""


def _bearable_gains(arm: Arm, inverse: Array, stiffness: list[float], damping: list[float]) -> tuple[Array, Array]:
    """Return gains, shape (n,) each, reduced to what the loop bears with the inverse (n, n) of a mass matrix."""
    loop, K, D = arm.loop, np.array(stiffness), np.array(damping)
    omega, rate = sqrt(_largest_eigenvalue(inverse, K)), _largest_eigenvalue(inverse, D)
    if omega > 0:
        K = K * (loop.bandwidth(omega) / omega) ** 2
    if rate > 0:
        D = D * min(1.0, 1.0 / (rate * (loop.period + loop.delay)))  # the product is stable below 3/2
    return K, D


def _largest_eigenvalue(inverse: Array, gains: Array) -> float:
    """Return the largest eigenvalue of ``M^-1 diag(gains)`` for gains that are not negative."""
    root = np.sqrt(gains)
    return float(np.linalg.eigvalsh(root[:, None] * inverse * root)[-1])
