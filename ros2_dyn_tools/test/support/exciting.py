# SPDX-License-Identifier: Apache-2.0
"""Motions of simulated arms that excite what is to be identified, with exact derivatives."""

from __future__ import annotations

import numpy as np

from ros2_dyn.dynamics import rnea
from ros2_dyn.dynamics.presliding import stretches
from ros2_dyn.model import RobotModel
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion


def exciting_motion(model: RobotModel, seconds: float, rate: float, seed: int = 1) -> EvenMotion:
    """Return sums of sines in all joints, of 0.1 to 0.7 Hz, without efforts."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(seconds * rate)) / rate
    w = 2 * np.pi * rng.uniform(0.1, 0.7, size=(5, 1, model.n))
    a, phase = rng.uniform(0.2, 0.6, size=w.shape) / w, rng.uniform(0, 2 * np.pi, size=w.shape)
    x = w * t[:, None] + phase
    q, qd, qdd = ((a * f).sum(axis=0) for f in (np.sin(x), w * np.cos(x), -(w**2) * np.sin(x)))
    return EvenMotion(t, q, qd, qdd, np.zeros_like(q))


def efforts(model: RobotModel, motion: EvenMotion, gravity: np.ndarray | None = None) -> np.ndarray:
    """Return the efforts that a robot needs in a motion, with all its friction, joint by joint in plain words."""
    tau = rnea(model, motion.q, motion.qd, motion.qdd, gravity)
    still = np.zeros_like(motion.q)
    load = np.abs(rnea(model, motion.q, still, still, gravity))
    for i, joint in enumerate(model.joints):
        d, qd = joint.dynamics, motion.qd[:, i]
        sign = np.tanh(qd / d.transition_velocity)
        excess = (d.breakaway - d.coulomb) * np.exp(-((qd / d.stribeck_velocity) ** 2))
        tau[:, i] += d.viscous * qd + (d.coulomb + excess + d.load * load[:, i]) * sign + d.offset
        for distance, effort in d.presliding:
            tau[:, i] += effort * stretches(motion.q[:, i : i + 1], [distance])[:, 0, 0]
    return tau


def recording(motion: EvenMotion, efforts: np.ndarray) -> Recording:
    """Return what a driver would have published."""
    return Recording(motion.t, motion.q, motion.qd, efforts)
