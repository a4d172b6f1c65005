# SPDX-License-Identifier: Apache-2.0
"""The driver of a simulated arm: measurements with noise and limited resolution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime.inputs import JointSample
from ros2_dyn.simulation.perturbed import quantise

DriverFault = Callable[[list[JointSample]], list[JointSample]]
"""Function from the messages of one measurement to those that the driver sends instead."""


@dataclass(frozen=True)
class DriverQuality:
    """Rate and precision of a driver."""

    rate: float = 250.0
    """Rate of the joint states, Hz."""
    position_noise: float = 1e-5
    """Standard deviation of positions, rad or m."""
    velocity_noise: float = 1e-3
    """Standard deviation of velocities, rad/s or m/s."""
    effort_noise: float = 0.0
    """Standard deviation of efforts, N m or N."""
    effort_resolution: float = 0.0
    """Efforts are multiples of this, N m or N; 0: any."""
    effort_unit: float = 1.0
    """Size of the driver's unit of effort, N m or N."""
    position_resolution: float = 0.0
    """Positions are multiples of this, rad or m; 0: any."""


class Driver:
    """Turns the true state of an arm into messages of joint states."""

    def __init__(self, joint_names: Sequence[str], quality: DriverQuality, rng: np.random.Generator) -> None:
        """Create a driver without faults.

        Args:
            joint_names: the joints in the order of the arm's model.
            quality: rate and precision.
            rng: source of the noise.
        """
        self.joint_names = tuple(joint_names)
        self.quality = quality
        self.faults: list[DriverFault] = []
        """Faults that are active, applied in this order."""
        self._rng = rng

    def measure(self, q: Array, qd: Array, effort: Array, stamp: int) -> list[JointSample]:
        """Return the messages of one instant.

        Args:
            q: true joint positions, rad or m, shape (n,).
            qd: true joint velocities, rad/s or m/s, shape (n,).
            effort: true joint efforts, N m or N, shape (n,).
            stamp: time of the measurement by the driver's clock, ns.
        """
        quality = self.quality
        noise = self._rng.standard_normal((3, len(q)))
        measured = quantise(effort + quality.effort_noise * noise[2], quality.effort_resolution) / quality.effort_unit
        position = quantise(q + quality.position_noise * noise[0], quality.position_resolution)
        velocity = qd + quality.velocity_noise * noise[1]
        samples = [JointSample(stamp, self.joint_names, position.tolist(), velocity.tolist(), measured.tolist())]
        for fault in self.faults:
            samples = fault(samples)
        return samples
