# SPDX-License-Identifier: Apache-2.0
"""Recordings made wrong in known ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.dynamics import gravity, rnea
from ros2_dyn.model import Payload, RobotModel
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import even_motion

UPRIGHT = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Wrong:
    """What is done to a recording; nothing by default."""

    payload: tuple[float, ...] = ()
    """Mass and centre of mass at the tip, kg and m, shape (4,)."""
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    """In the base frame, m/s^2: the arm is mounted otherwise."""
    compensated: bool = False
    springs: tuple[tuple[int, float], ...] = ()
    """Joints with a spring that rests in the middle of the motion, and its stiffness, N m/rad or N/m."""
    external: float = 0.0
    """Standard deviation of efforts that are noise alone, N m."""
    delay: float = 0.0
    """Of the efforts, s."""
    signs: tuple[int, ...] = ()
    """Joints with the other sign."""
    gains: tuple[tuple[int, float], ...] = ()
    """Joints, and what their efforts are multiplied with."""
    gain: float = 1.0
    """What all efforts are multiplied with."""
    percent: bool = False
    """Whether efforts are percent of their limits."""
    swapped: tuple[int, ...] = ()
    """Two joints that are exchanged."""
    swapped_efforts: tuple[int, ...] = ()
    """Two joints whose efforts are exchanged."""
    degrees: bool = False
    """Positions and velocities are in degrees."""
    degrees_of_positions: bool = False
    """Positions are in degrees, velocities in rad/s."""

    def codes(self, n: int) -> set[tuple[str, int | None]]:
        """Return the codes that the doctor has to tell, with the joint where it is one's."""
        if self.external:
            found: set[tuple[str, int | None]] = {("external_only", None)}
        else:
            found = {("sign", j) for j in self.signs} if len(self.signs) < n else {("sign", None)}
            found |= {("gain", j) for j, _ in self.gains}
            found |= {("spring", j) for j, _ in self.springs}
            found |= {("gain", None)} if self.percent or self.gain != 1 else set()
            wrong = {
                "payload": self.payload,
                "mounting": self.gravity != (0.0, 0.0, -9.81),
                "gravity_compensated": self.compensated,
                "delay": self.delay,
                "joint_order": self.swapped or self.swapped_efforts,
            }
            found |= {(code, None) for code, so in wrong.items() if so}
        if self.degrees or self.degrees_of_positions:
            found.add(("degrees", None))
        return found or {("ok", None)}


def wrong_recording(model: RobotModel, recording: Recording, what: Wrong, seed: int = 0) -> Recording:
    """Return a copy of a recording made wrong, in the order in which it would go wrong: arm, driver, message."""
    t, q, qd, effort = recording
    g = np.array(what.gravity)
    effort = effort + gravity(model, q, g) - gravity(model, q)
    if what.payload:
        motion = even_motion(recording, 5.0)
        mass, *com = what.payload
        loaded = model.carrying(Payload(mass, com))
        state = motion.q, motion.qd, motion.qdd
        extra = rnea(loaded, *state, g) - rnea(model, *state, g)
        effort = effort + np.stack([np.interp(t, motion.t, x) for x in extra.T], axis=1)
    if what.compensated:
        effort = effort - gravity(model, q)
    stiffness = np.zeros(model.n)
    stiffness[[joint for joint, _ in what.springs]] = [each for _, each in what.springs]
    effort = effort + stiffness * (q - np.mean(q, axis=0))
    if what.external:
        effort = np.random.default_rng(seed).normal(0, what.external, effort.shape)
    effort = np.stack([np.interp(t - what.delay, t, x) for x in effort.T], axis=1)
    factors = np.full(model.n, what.gain)
    factors[list(what.signs)] *= -1
    for joint, gain in what.gains:
        factors[joint] *= gain
    if what.percent:
        factors *= 100 / model.effort_limit
    effort = effort * factors
    if what.swapped:
        q, qd, effort = (_exchanged(x, what.swapped) for x in (q, qd, effort))
    if what.swapped_efforts:
        effort = _exchanged(effort, what.swapped_efforts)
    if what.degrees or what.degrees_of_positions:
        q = np.rad2deg(q)
    if what.degrees:
        qd = np.rad2deg(qd)
    return Recording(t, q, qd, effort)


def _exchanged(columns: np.ndarray, joints: tuple[int, ...]) -> np.ndarray:
    i, j = joints
    order = np.arange(columns.shape[1])
    order[[i, j]] = j, i
    return columns[:, order]
