# SPDX-License-Identifier: Apache-2.0
"""Run an observer and a collision detector over a recording."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf, pi

import numpy as np

from ros2_dyn.dynamics.presliding import presliding
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.calibration import Calibration
from ros2_dyn.estimation.collision import CollisionDetector
from ros2_dyn.estimation.momentum_observer import OBSERVER_TERMS, MomentumObserver
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, Conditions, EffortFilter
from ros2_dyn_tools.recording.effort_split import BLOCK
from ros2_dyn_tools.recording.recording import Recording

USUAL = Conditions()
MOST_STEPS = 2000
"""Steps that are tried in a recording, about."""


def observe(model: RobotModel, recording: Recording, bandwidth: float, conditions: Conditions = USUAL) -> Array:
    """Return the external efforts of the momentum observer at each state, N m or N, shape (m, n).

    Args:
        model: the robot, with the joints in the recording's order.
        recording: the motion, with the total efforts of the joints, N m or N.
        bandwidth: bandwidth of the observer, 1/s.
        conditions: how the robot stands, and the filter of its driver; one that looks ahead counts as none.
    """
    residuals = np.empty(recording.q.shape)
    for row, external in zip(residuals, observations(model, recording, bandwidth, conditions)):
        row[:] = external
    return residuals


def observations(
    model: RobotModel, recording: Recording, bandwidth: float, conditions: Conditions = USUAL
) -> Iterator[list[float]]:
    """Yield the external efforts at each state, N m or N, shape (n,); see `observe`."""
    kernel = compile_kernel(model, OBSERVER_TERMS, "numpy", ("q", "qd", "gravity"))
    gravity = np.broadcast_to(conditions.gravity, (len(recording.t), 3))
    held = presliding(model, recording.q)
    momentum = MomentumObserver(bandwidth, conditions.effort_filter.causal.cutoff)
    for start in range(0, len(recording.t), BLOCK):
        part = slice(start, start + BLOCK)
        terms = [*kernel(recording.q[part], recording.qd[part], gravity[part])]
        terms[-1] = terms[-1] + held[part]
        for t, *rows in zip(recording.t[part].tolist(), recording.effort[part], *terms):
            tau, *values = (row.tolist() for row in rows)
            momentum.observe(t, tau, values)
            yield momentum.value


def calibrate(model: RobotModel, recording: Recording, residuals: Array) -> tuple[float, ...]:
    """Return the thresholds, N m or N, shape (n,), that a recording without contact gives.

    With them all joints together are expected to give a false alarm in 100 hours.

    Args:
        model: the robot, with the joints in the recording's order.
        recording: the motion.
        residuals: external efforts at each state, N m or N, shape (m, n).

    Raises:
        InputError: the recording does not suffice; see `Calibration.thresholds`.
    """
    calibration = Calibration(model.joint_names)
    for t, r, qd in zip(recording.t.tolist(), residuals, recording.qd):
        calibration.update(t, r.tolist(), qd.tolist())
    return tuple(calibration.thresholds(0.01))


def detect(residuals: Array, thresholds: Sequence[float]) -> list[int]:
    """Return the indices of the states at which collisions begin.

    A collision ends when no joint exceeds its threshold any more.
    """
    detector = CollisionDetector(thresholds)
    begins = []
    for i, r in enumerate(residuals.tolist()):
        if detector.update(r):
            begins.append(i)
        elif detector.collision and not any(detector.exceeded):
            detector.reset()
    return begins


def step_response(since: Array, bandwidth: float, effort_filter: EffortFilter = NO_FILTER) -> Array:
    """Return the residual of an observer after a step of external effort as a share of its height.

    Args:
        since: times since the step, s.
        bandwidth: bandwidth of the observer, 1/s.
        effort_filter: filter of the driver, which the observer puts on the model, too, unless it looks ahead.
    """
    K, t = bandwidth, np.maximum(since, 0.0)
    w = 2 * pi * effort_filter.causal.cutoff
    if w == inf:
        return 1 - np.exp(-K * t)
    w = w if abs(w - K) > 1e-6 * K else w * (1 + 1e-6)  # the limit of equal poles, to six digits
    return 1 - (w * np.exp(-K * t) - K * np.exp(-w * t)) / (w - K)


def smallest_steps(
    recording: Recording,
    residuals: Array,
    thresholds: Sequence[float],
    *,
    bandwidth: float,
    within: float = 0.5,
    effort_filter: EffortFilter = NO_FILTER,
) -> tuple[Array, Array]:
    """Return at which states steps of external effort were tried, and the smallest that is detected of each joint.

    Args:
        recording: the motion.
        residuals: external efforts without the step, N m or N, shape (m, n).
        thresholds: thresholds of the detector, N m or N, shape (n,).
        bandwidth: bandwidth of the observer, 1/s.
        within: maximum time from the step to its detection, s.
        effort_filter: filter of the driver, which the observer puts on the model, too.

    Returns:
        Indices of the states, at most `MOST_STEPS`, shape (k,); heights, N m or N, shape (k, n, 2), of a step upwards
        and one downwards; 0 where a threshold is exceeded without a step.

    Raises:
        InputError: the recording is shorter than that time.
    """
    period = float(np.median(np.diff(recording.t)))
    ahead = int(within / period)
    begins = np.arange(0, len(residuals) - ahead, max(1, ahead // 20, len(residuals) // MOST_STEPS))
    if not len(begins):
        raise InputError("recording", f"what is left of it is shorter than {within:g} s: record longer")
    needed = np.empty((len(begins), residuals.shape[1], 2))
    for k, i in enumerate(begins.tolist()):
        then = slice(i + 1, i + 1 + ahead)
        rise = step_response(recording.t[then] - recording.t[i], bandwidth, effort_filter)[:, None]
        for side, sign in enumerate((1.0, -1.0)):
            needed[k, :, side] = np.min((np.array(thresholds) - sign * residuals[then]) / rise, axis=0)
    return begins, np.maximum(needed, 0.0)
