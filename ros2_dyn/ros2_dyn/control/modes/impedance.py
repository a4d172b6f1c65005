# SPDX-License-Identifier: Apache-2.0
"""Mode impedance: the tip hangs on a spring and a damper, and exerts a wrench along the axes that are left free."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from math import hypot, inf
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.arm import Arm, TipTarget
from ros2_dyn.control.cartesian_impedance import (
    bounded_stiffness,
    damping_matrix,
    displacement,
    posture_acceleration,
    stiffness_matrix,
)
from ros2_dyn.control.command_settings import LEVER
from ros2_dyn.control.equilibrium import EquilibriumLimits, approach, drag
from ros2_dyn.control.events import Violation
from ros2_dyn.control.force_control import tip_part
from ros2_dyn.control.modes.base import Law, Mode, ModeReport, Needs
from ros2_dyn.control.parameter import Group, parameter
from ros2_dyn.control.ramp import Ramp
from ros2_dyn.control.soft_limits import soft_walls
from ros2_dyn.control.stiffness_tank import StiffnessTank
from ros2_dyn.control.tip_speed import speed_brake
from ros2_dyn.control.wrench_approach import WrenchApproach, braking_stiffness, travel_violation
from ros2_dyn.model.spatial import Array

LEAST_DAMPING = 2.0
"""Damping of motions that no spring acts on, 1/s."""


@dataclass(frozen=True)
class ImpedanceSettings(Group, name="impedance", title="Mode impedance"):
    """The spring of mode impedance."""

    frame: str = parameter(
        "",
        "Link along and about whose axes the stiffness acts. Empty: the base link.",
        locked=True,
    )
    stiffness: tuple[float, ...] = parameter(
        (500.0, 500.0, 500.0, 20.0, 20.0, 20.0),
        "Stiffness along and about the axes of `impedance.frame`, N/m and N m/rad. 0 leaves an axis to "
        "~/desired_wrench. Changes feed no energy into the arm. Less where the loop is late.",
        size=6,
        low=0.0,
        high=1e5,
    )

    @property
    def links(self) -> tuple[str, ...]:
        """The link of `frame`."""
        return (self.frame,)


class Task(NamedTuple):
    """Along which axes the tip is held."""

    kind: Hashable
    """What tells it from another one."""
    axes: Array
    """Axes in the base frame, shape (3, 3)."""
    stiffness: tuple[float, ...]
    """Along and about them, N/m and N m/rad, shape (6,)."""


class Spring:
    """The spring and the damper of the tip: where it is at rest, how stiff it is, and what it has dissipated."""

    def __init__(self, arm: Arm, stiffness: Array, capacity: float) -> None:
        """Begin at rest where the tip is, with a stiffness (6, 6), and an energy for stiffer ones, J."""
        self.goal = self.rest = arm.state.pose
        """Where it is to be at rest, and where it is; in the base frame, shape (4, 4)."""
        self.posture = arm.state.q
        """Positions to which motions return that do not move the tip, rad or m, shape (n,)."""
        self.wrench = np.zeros(6)
        """What it exerts at the tip, [force; moment] in base axes, N and N m, shape (6,)."""
        self.damper = np.zeros_like(arm.state.q)
        """What the damper takes away, N m or N, shape (n,)."""
        self.tank = StiffnessTank(stiffness, capacity)
        self._q = arm.state.q

    def move(self, goal: Array | None, pose: Array, limits: EquilibriumLimits, dt: float) -> None:
        """Move the equilibrium towards a pose (4, 4), None: the same as before; the tip (4, 4) drags it along."""
        self.goal = self.goal if goal is None else goal
        self.rest = drag(approach(self.rest, self.goal, limits, dt), pose, self.tank.K, limits)

    def act(self, arm: Arm, wanted: Array, wrench: Array) -> None:
        """Approach a stiffness (6, 6), and compute spring and damper at a state, beside a wrench (6,) on the tip."""
        state, loop = arm.state, arm.loop
        at = displacement(state.pose, self.rest)
        if not np.array_equal(self.tank.K, wanted):
            softer = bounded_stiffness(state, self.tank.K, loop.bandwidth(inf))
            self.tank.advance(softer, at, 0.0)  # softer costs nothing
        K = self.tank.advance(wanted, at, float(self.damper @ (state.q - self._q)))
        least, most = loop.rate(LEAST_DAMPING), loop.rate(500.0)  # however stiff the spring and light the arm
        damped = 0.8**2 * K + braking_stiffness(state, wrench)  # 0.8 of the critical one
        self.damper = damping_matrix(state, damped, least, most) @ state.qd
        self.wrench, self._q = at.wrench(K), state.q


class Impedance(Mode[ImpedanceSettings]):
    """A spring to a desired pose, or to where the mode began."""

    name = "impedance"
    needs = Needs(may_follow=("pose", "wrench"), enabling_signal=True, contact=True, known_delay=True, walls=True)
    Parameters = ImpedanceSettings

    def __init__(self, parameters: ImpedanceSettings, now: float) -> None:
        """Begin without a wrench; the spring is made at the first state. See `Mode`."""
        super().__init__(parameters, now)
        self._approach = WrenchApproach()
        self.spring: Spring | None = None
        """Made at the first state."""
        self._travel = 0.0
        self._kind: Hashable = None
        self._stiffness_before, self._task_ramp = np.zeros((6, 6)), Ramp()
        self._desired_stiffness: tuple[float, ...] = ()

    @property
    def wrench(self) -> Array:
        """What the tip is to exert now; see `Mode`."""
        return self._approach.wrench + (0.0 if self.spring is None else self.spring.wrench)

    def report(self) -> ModeReport:
        """Return the share of the desired stiffness that the spring has, of the axes with the least; 1 is all of it."""
        shares = [1.0]
        for part in (slice(3), slice(3, 6)):
            if self.spring is not None and (desired := sum(self._desired_stiffness[part])) > 0:
                shares.append(float(np.trace(self.spring.tank.K[part, part])) / desired)
        share, warning = min(shares), ""
        if share < 0.95:
            warning = f"{100 * share:.0f} % of the desired stiffness: the loop is late, or the energy tank is empty"
        return ModeReport({"share of the desired stiffness": share}, warning)

    def why_not_go_on(self, arm: Arm) -> Violation | None:
        """Return whether the tip has gone too far along axes without stiffness; see `Mode`."""
        return travel_violation(self._travel, arm)

    def law(self, arm: Arm, parameters: ImpedanceSettings, dt: float) -> Law:
        """Return the efforts; see `Mode`."""
        state, loop, commands = arm.state, arm.loop, arm.commands
        wrench = self._advance_wrench(arm, dt)
        pose = self._desired_pose(arm)
        task = _task(arm, pose, parameters)
        self._desired_stiffness = task.stiffness
        wanted = bounded_stiffness(state, self._towards(task, arm), loop.bandwidth(inf))
        if self.spring is None:
            self.spring = Spring(arm, wanted, capacity=0.5)  # J
        spring = self.spring
        speed = commands.approach_speed
        limits = EquilibriumLimits(speed, speed / LEVER, commands.max_force, commands.max_moment)
        spring.move(None if pose is None else pose.in_base(state.q.tolist()), state.pose, limits, dt)
        spring.act(arm, wanted, wrench)
        way = task.axes.T @ (state.pose[:3, 3] - spring.goal[:3, 3])
        self._travel = hypot(*way[np.equal(task.stiffness[:3], 0.0)])
        # Motions that do not move the tip return to the posture with 2 rad/s, damped with 10 1/s.
        posture = posture_acceleration(state, spring.posture, loop.bandwidth(2.0))
        still = max(0.0, loop.rate(10.0) - loop.rate(LEAST_DAMPING))
        internal = still * (state.qd - tip_part(state, state.qd))
        walls = soft_walls(arm)
        supply = state.gravity + (spring.wrench + wrench) @ state.J + state.M @ posture
        brake = speed_brake(arm)
        return Law(supply - spring.damper - state.M @ internal + brake + walls, supply=supply + walls)

    def _advance_wrench(self, arm: Arm, dt: float) -> Array:
        """Return the wrench that the tip is to exert besides the spring's, shape (6,); none where none is desired."""
        given, target = arm.wrench, np.zeros(6)
        if given is not None and arm.now - given.desired_at <= arm.commands.target_timeout:
            target = given.in_base_axes(arm.state.q.tolist())
        self._approach.advance(target, arm, dt)
        return self._approach.wrench

    def _desired_pose(self, arm: Arm) -> TipTarget | None:
        """Return the pose that was desired since the mode began."""
        known = arm.pose is not None and arm.pose.desired_at >= self.began_at - arm.commands.target_timeout
        return arm.pose if known else None

    def _towards(self, task: Task, arm: Arm) -> Array:
        """Return the stiffness, shape (6, 6), on its way from that of another task in `commands.ramp_time`."""
        if self.spring is not None and self._kind != task.kind:
            self._stiffness_before, self._task_ramp = self.spring.tank.K, Ramp(arm.now, arm.commands.ramp_time)
        self._kind = task.kind
        K, s = stiffness_matrix(task.stiffness, task.axes), self._task_ramp.share(arm.now)
        return K if s == 1 else self._stiffness_before + s * (K - self._stiffness_before)


def _task(arm: Arm, pose: TipTarget | None, parameters: ImpedanceSettings) -> Task:
    """Return the axes of the springs, and their stiffness: those of the parameters, or of a target with free axes."""
    q, stiffness = arm.state.q.tolist(), parameters.stiffness
    if pose is None or not pose.force_axes:
        return Task((), arm.robot.link_pose(parameters.frame, q)[:3, :3], stiffness)
    free = pose.force_axes
    return Task((pose.frame, free), pose.axes(q), tuple(0.0 if f else k for k, f in zip(stiffness, free)))
