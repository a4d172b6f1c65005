# SPDX-License-Identifier: Apache-2.0
"""Recordings of simulated arms of many kinds, none of which is quite its description, with errors of all kinds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from doctor_cases import PAIRED, random_fault, together
from recordings import efforts, recording, sines
from ros2_dyn.dynamics import rnea
from ros2_dyn.model import JointDynamics, RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn_tools.campaign.arm_pool import arm_names, nominal_arm, with_effort_limits
from ros2_dyn_tools.doctor import Diagnosis
from ros2_dyn_tools.doctor.effort_gain import LEAST_GAIN, UNSURE
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.recording.signals import EvenMotion
from wrong_recordings import Wrong, wrong_recording

ANGLE, DELAY = np.deg2rad(10), 0.02
"""Errors of an angle, rad, and of a delay, s, that count as right; of others the factor that is no gain."""


class AnyArm(NamedTuple):
    """A recording, what it is compared with, and what is wrong."""

    name: str
    description: RobotModel
    recording: Recording
    what: Wrong
    late: float
    """By how much the driver's filter delays efforts, s."""

    def right(self, found: Diagnosis) -> bool:
        """Return whether a finding is true, and its number near the truth, where its confidence says so."""
        joint = None if found.joint is None else self.description.joint_names.index(found.joint)
        done = self.what.codes(self.description.n) | ({("delay", None)} if abs(self._delay) > DELAY else set())
        if found.code == "sign":
            return ("sign", None) in done or ("sign", joint) in done
        if (found.code, joint) not in done or found.confidence <= UNSURE:
            return (found.code, joint) in done
        if found.code == "mounting":
            g, h = (np.array(each) / np.linalg.norm(each) for each in (found.value, self.what.gravity))
            return bool(np.arccos(np.clip(g @ h, -1, 1)) < ANGLE)
        if found.code == "delay":
            return abs(found.value - self._delay) < DELAY
        if found.code == "gain" and not self.what.percent:
            factor = found.value * (self.what.gain if joint is None else dict(self.what.gains)[joint])
        else:
            factor = found.value / self.what.payload[0] if found.code == "payload" else 1.0
        return bool(np.max(np.abs(np.log(factor))) < np.log(LEAST_GAIN))

    @property
    def _delay(self) -> float:
        return self.what.delay + self.late


def any_arm(seed: int) -> AnyArm:
    """Return the arm, its errors and its faults that follow from a number."""
    rng = np.random.default_rng(seed)
    name = str(rng.choice(arm_names()))
    description = nominal_arm(name)
    description = description.with_joint_dynamics({joint: JointDynamics() for joint in description.joint_names})
    if rng.random() < 0.2:  # limits that nobody has measured
        wrong = dict(zip(description.joint_names, (rng.choice([0.2, 10.0]) * description.effort_limit).tolist()))
        description = with_effort_limits(description, wrong)
    motion = _motion(description, rng)
    arm = _with_drives(_with_other_bodies(description, float(rng.choice([0.05, 0.15, 0.3])), rng), motion, rng)
    driver = EffortFilter("first_order", _log_uniform(rng, 2.0, 20.0)) if rng.random() < 0.3 else NO_FILTER
    effort = driver.apply(_measured(efforts(arm, motion), rng), float(motion.t[1]))
    jitter = rng.normal(0, _log_uniform(rng, 1e-6, 3e-4), motion.q.shape)
    found = recording(motion._replace(q=motion.q + jitter), effort)
    late = 0.0 if driver == NO_FILTER else 1 / (2 * np.pi * driver.cutoff)
    what = _wrong(description.n, rng)
    if what.payload:  # as heavy as the arm may carry
        mass = _log_uniform(rng, 0.03, 0.3) * sum(float(body.mass) for body in description.inertia)
        what = together(what, Wrong(payload=(mass, *what.payload[1:])))
    return AnyArm(name, description, wrong_recording(arm, found, what, seed), what, late)


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _wrong(n: int, rng: np.random.Generator) -> Wrong:
    """Return nothing, one fault, or two of different kinds at different joints."""
    kinds = rng.choice([*PAIRED, "external"], int(rng.choice([0, 1, 2], p=[0.3, 0.5, 0.2])), replace=False)
    joints = rng.permutation(n).tolist()
    faults = [random_fault(str(kind), joints[i], (joints[2], joints[3]), rng) for i, kind in enumerate(kinds)]
    if {"common gain", "percent"} <= set(kinds) or {"order", "order of efforts"} <= set(kinds) or "external" in kinds:
        faults = faults[:1]
    return together(*faults)


def _motion(model: RobotModel, rng: np.random.Generator) -> EvenMotion:
    lower, upper = np.maximum(model.lower, -2.5), np.minimum(model.upper, 2.5)
    w = 2 * np.pi * rng.uniform(0.05, rng.choice([0.25, 0.6]), (3, model.n))
    amplitude = rng.uniform(0.3, 1.0, (3, model.n))
    amplitude *= rng.uniform(0.1, 0.45) * (upper - lower) / np.sum(amplitude, axis=0)
    amplitude *= np.minimum(1.0, 0.8 * model.velocity_limit / np.sum(amplitude * w, axis=0))
    t = np.arange(0, rng.uniform(10.0, 60.0), 1 / rng.choice([30.0, 100.0, 250.0]))
    motion = sines(t, amplitude, w, rng.uniform(0, 2 * np.pi, (3, model.n)))
    return motion._replace(q=motion.q + (lower + upper) / 2)


def _with_other_bodies(model: RobotModel, error: float, rng: np.random.Generator) -> RobotModel:
    """Return a robot whose masses, centres and inertias differ, by a relative error."""
    bodies = []
    for I in model.inertia:
        mass, inertia = np.exp(rng.normal(0, error, 2))
        size = np.sqrt(np.trace(I.I_com) / max(float(I.mass), 1e-9))
        com = I.com + rng.normal(0, 0.5 * error, 3) * size
        bodies.append(SpatialInertia.from_com(float(mass * I.mass), com, mass * inertia * I.I_com))
    return model.with_inertia(bodies)


def _with_drives(model: RobotModel, motion: EvenMotion, rng: np.random.Generator) -> RobotModel:
    """Return the robot with friction of all kinds, in proportion to what its joints bear."""
    size = np.sqrt(np.mean(rnea(model, motion.q, motion.qd, motion.qdd) ** 2, axis=0))
    size = np.maximum(size, 0.02 * np.max(size)) * _log_uniform(rng, 0.3, 2.0)
    speed, acceleration = (np.sqrt(np.mean(x**2, axis=0)) + 1e-9 for x in (motion.qd, motion.qdd))
    drives = {}
    for i, joint in enumerate(model.joint_names):
        shares = rng.uniform(0, 0.2, 8) * rng.choice([0.1, 1.0], 8)
        viscous, coulomb, static, load, offset, fine, coarse, armature = shares.tolist()
        drives[joint] = JointDynamics(
            viscous=viscous * size[i] / speed[i],
            coulomb=coulomb * size[i],
            static=(coulomb + static) * size[i],
            load=0.5 * load,
            offset=0.3 * rng.choice([-1, 1]) * offset * size[i],
            presliding=((0.01, fine * size[i]), (0.04, coarse * size[i])) if rng.random() < 0.5 else (),
            armature=armature * size[i] / acceleration[i],
            transition_velocity=_log_uniform(rng, 0.005, 0.05),
        )
    return model.with_joint_dynamics(drives)


def _measured(tau: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return efforts with noise, white and slow, gains of each joint that are a little off, and steps."""
    size = np.std(tau, axis=0) + 0.01 * np.max(np.std(tau, axis=0))
    slow = np.cumsum(rng.normal(size=tau.shape), axis=0)
    slow = (slow - np.mean(slow, axis=0)) / np.std(slow, axis=0)
    white = rng.normal(size=tau.shape)
    tau = tau * rng.normal(1, rng.choice([0.0, 0.05]), tau.shape[1])
    tau = tau + size * (_log_uniform(rng, 1e-3, 0.1) * white + _log_uniform(rng, 1e-3, 0.05) * slow)
    step = size * rng.choice([1e-6, 0.03])
    return step * np.round(tau / step)
