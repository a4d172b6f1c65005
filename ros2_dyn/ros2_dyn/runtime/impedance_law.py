# SPDX-License-Identifier: Apache-2.0
"""Mode impedance: its spring, where that is at rest, its damper and its posture, from one state to the next."""

from __future__ import annotations

from collections.abc import Hashable
from math import inf
from typing import NamedTuple

import numpy as np

from ros2_dyn.control.equilibrium import EquilibriumLimits, approach, drag
from ros2_dyn.control.force_control import tip_part
from ros2_dyn.control.impedance import (
    bounded_stiffness,
    damping_matrix,
    displacement,
    posture_acceleration,
    stiffness_matrix,
)
from ros2_dyn.control.mode_settings import ForceSettings, ImpedanceSettings
from ros2_dyn.control.ramp import Ramp
from ros2_dyn.control.stiffness_tank import StiffnessTank
from ros2_dyn.control.tip_speed import BRAKE_RATE, tip_speed_brake
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.law_input import LawInput
from ros2_dyn.runtime.target_hybrid import TargetHybrid
from ros2_dyn.runtime.target_pose import TargetPose

LEAST_DAMPING = 2.0
"""Damping of motions that no spring acts on, 1/s."""
MOST_DAMPING = 500.0
"""Largest damping, 1/s, however stiff the spring and light the arm."""


class Task(NamedTuple):
    """Along which axes the tip is held."""

    kind: Hashable
    """What tells it from another one."""
    axes: Array
    """Axes in the base frame, shape (3, 3)."""
    stiffness: tuple[float, ...]
    """Along and about them, N/m and N m/rad, shape (6,)."""


class ImpedanceLaw:
    """The spring of one arm."""

    def __init__(self, now: float) -> None:
        """Begin at a time, s, with the spring at rest where the tip is at the next state."""
        self.spring = np.zeros(6)
        """What the spring exerts at the tip, [force; moment] in base axes, N and N m, shape (6,)."""
        self.travel = 0.0
        """Distance of the tip from the desired pose along axes without stiffness, m."""
        self._began = now
        self._goal = self._rest = self._posture = np.zeros(0)
        self._tank: StiffnessTank | None = None
        self._kind: Hashable = None
        self._before, self._ramp = np.zeros((6, 6)), Ramp()
        self._desired: tuple[float, ...] = ()
        self._damper = self._q = np.zeros(0)

    @property
    def stiffness_share(self) -> float:
        """The share of the desired stiffness that the spring has, along or about all axes: 1 is all of it."""
        if self._tank is None:
            return 1.0
        shares = [1.0]
        for part in (slice(3), slice(3, 6)):
            if (desired := sum(self._desired[part])) > 0:
                shares.append(float(np.trace(self._tank.K[part, part])) / desired)
        return min(shares)

    def effort(self, seen: LawInput, wrench: Array, dt: float) -> tuple[Array, Array]:
        """Return the efforts at a state, and the part of them that is passive or wanted, N m or N, (n,) each.

        Args:
            seen: the state, and all that is known of it.
            wrench: [force; moment] that the tip is to exert besides, in base axes, N and N m, shape (6,).
            dt: time since the last call, s.
        """
        arm, settings = seen.arm, seen.settings
        task = self._task(seen)
        self._desired = task.stiffness
        bandwidth = seen.limit_bandwidth(inf)
        wanted = bounded_stiffness(arm, self._changed(task, seen), bandwidth)
        if self._tank is None:
            self._goal = self._rest = arm.pose
            self._posture, self._tank = arm.q, StiffnessTank(wanted, settings.mode(ImpedanceSettings).stiffness_energy)
            self._q, self._damper = arm.q, np.zeros_like(arm.q)
        self._move(seen, dt)
        at = displacement(arm.pose, self._rest)
        if not np.array_equal(self._tank.K, wanted):
            self._tank.advance(bounded_stiffness(arm, self._tank.K, bandwidth), at, 0.0)  # softer costs nothing
        K = self._tank.advance(wanted, at, float(self._damper @ (arm.q - self._q)))
        ratios = stiffness_matrix(settings.mode(ImpedanceSettings).damping_ratio, task.axes)
        least = seen.limit(LEAST_DAMPING)
        self._damper = damping_matrix(arm, ratios @ K @ ratios, least, seen.limit(MOST_DAMPING)) @ arm.qd
        self._q = arm.q
        self.spring = at.wrench(K)
        self.travel = self._free_travel(arm.pose, task)
        posture = posture_acceleration(
            arm, self._posture, seen.limit_bandwidth(settings.mode(ImpedanceSettings).posture_bandwidth)
        )
        still = max(0.0, seen.limit(settings.mode(ForceSettings).posture_damping) - least) * (
            arm.qd - tip_part(arm, arm.qd)
        )
        supply = arm.gravity + (self.spring + wrench) @ arm.J + arm.M @ posture
        brake = tip_speed_brake(arm, settings.commands.max_tip_speed, seen.limit(BRAKE_RATE))
        return supply - self._damper - arm.M @ still + brake, supply

    def _task(self, seen: LawInput) -> Task:
        """Return the axes of the springs, and their stiffness: those of the parameters, or of a hybrid target."""
        q, stiffness, target = (
            seen.state.measured.q,
            seen.settings.mode(ImpedanceSettings).stiffness,
            self._target(seen),
        )
        if not isinstance(target, TargetHybrid):
            return Task((), seen.robot.stiffness_frame.pose(q)[:3, :3], tuple(stiffness))
        free = target.force_axes
        return Task((target.frame, free), target.axes(q), tuple(0.0 if f else k for k, f in zip(stiffness, free)))

    def _changed(self, task: Task, seen: LawInput) -> Array:
        """Return the stiffness, shape (6, 6), on its way from that of another task in `ramp_time`."""
        K = stiffness_matrix(task.stiffness, task.axes)
        if self._kind is None or self._tank is None:
            self._kind = task.kind
        elif self._kind != task.kind:
            self._kind, self._before, self._ramp = (
                task.kind,
                self._tank.K,
                Ramp(seen.now, seen.settings.commands.ramp_time),
            )
        s = self._ramp.share(seen.now)
        return K if s == 1 else self._before + s * (K - self._before)

    def _target(self, seen: LawInput) -> TargetPose | None:
        """Return what was desired since the mode began."""
        target = seen.target_pose
        known = target is not None and target.time.arrived_at >= self._began - seen.settings.commands.target_timeout
        return target if known else None

    def _move(self, seen: LawInput, dt: float) -> None:
        """Move the equilibrium towards what was desired, and let the tip drag it along."""
        assert self._tank is not None
        settings, target = seen.settings, self._target(seen)
        if target is not None:
            self._goal = target.in_base(seen.state.measured.q)
        limits = EquilibriumLimits(
            settings.mode(ImpedanceSettings).speed,
            settings.mode(ImpedanceSettings).turn_rate,
            settings.commands.max_force,
            settings.commands.max_moment,
        )
        self._rest = drag(approach(self._rest, self._goal, limits, dt), seen.arm.pose, self._tank.K, limits)

    def _free_travel(self, pose: Array, task: Task) -> float:
        """Return the distance of a pose from the desired one along axes without stiffness, m."""
        way = task.axes.T @ (pose[:3, 3] - self._goal[:3, 3])
        return float(np.linalg.norm(way[np.equal(task.stiffness[:3], 0.0)]))
