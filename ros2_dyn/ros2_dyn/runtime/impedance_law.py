"""Mode impedance: its spring, where that is at rest, its damper and its posture, from one state to the next."""

from __future__ import annotations

from math import inf

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
from ros2_dyn.control.stiffness_tank import StiffnessTank
from ros2_dyn.control.tip_speed import BRAKE_RATE, tip_speed_brake
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.law_input import LawInput
from ros2_dyn.runtime.settings import Settings

LEAST_DAMPING = 2.0
"""Damping of motions that no spring acts on, 1/s."""
MOST_DAMPING = 500.0
"""Largest damping, 1/s, however stiff the spring and light the arm."""


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
        self._power = 0.0

    def effort(self, seen: LawInput, wrench: Array, dt: float) -> tuple[Array, Array]:
        """Return the efforts at a state, and the part of them that is passive or wanted, N m or N, (n,) each.

        Args:
            seen: the state, and all that is known of it.
            wrench: [force; moment] that the tip is to exert besides, in base axes, N and N m, shape (6,).
            dt: time since the last call, s.
        """
        arm, settings = seen.arm, seen.settings
        axes = seen.robot.stiffness_frame.pose(seen.state.measured.q)[:3, :3]
        bandwidth = seen.limit_bandwidth(inf)
        wanted = bounded_stiffness(arm, stiffness_matrix(settings.impedance_stiffness, axes), bandwidth)
        if self._tank is None:
            self._goal = self._rest = arm.pose
            self._posture, self._tank = arm.q, StiffnessTank(wanted, settings.stiffness_energy)
        self._move(seen, dt)
        at = displacement(arm.pose, self._rest)
        self._tank.advance(bounded_stiffness(arm, self._tank.K, bandwidth), at, 0.0)  # softer costs nothing
        K = self._tank.advance(wanted, at, self._power * dt)
        ratios = stiffness_matrix(settings.impedance_damping_ratio, axes)
        least = seen.limit(LEAST_DAMPING)
        damper = damping_matrix(arm, ratios @ K @ ratios, least, seen.limit(MOST_DAMPING)) @ arm.qd
        self._power = float(arm.qd @ damper)
        self.spring = at.wrench(K)
        self.travel = self._free_travel(arm.pose, axes, settings)
        posture = posture_acceleration(arm, self._posture, seen.limit_bandwidth(settings.posture_bandwidth))
        still = max(0.0, seen.limit(settings.posture_damping) - least) * (arm.qd - tip_part(arm, arm.qd))
        supply = arm.gravity + (self.spring + wrench) @ arm.J + arm.M @ posture
        brake = tip_speed_brake(arm, settings.max_tip_speed, seen.limit(BRAKE_RATE))
        return supply - damper - arm.M @ still + brake, supply

    def _move(self, seen: LawInput, dt: float) -> None:
        """Move the equilibrium towards what was desired since the mode began, and let the tip drag it along."""
        assert self._tank is not None
        settings, target = seen.settings, seen.target_pose
        if target is not None and target.time.arrived_at >= self._began - settings.target_timeout:
            self._goal = target.in_base(seen.state.measured.q)
        limits = EquilibriumLimits(
            settings.impedance_speed, settings.impedance_turn_rate, settings.max_force, settings.max_moment
        )
        self._rest = drag(approach(self._rest, self._goal, limits, dt), seen.arm.pose, self._tank.K, limits)

    def _free_travel(self, pose: Array, axes: Array, settings: Settings) -> float:
        """Return the distance of a pose from the desired one along axes without stiffness, m."""
        way = axes.T @ (pose[:3, 3] - self._goal[:3, 3])
        return float(np.linalg.norm(way[np.equal(settings.impedance_stiffness[:3], 0.0)]))
