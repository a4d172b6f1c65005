# SPDX-License-Identifier: Apache-2.0
"""A timeline from a recording of joint states: all terms at once, and the external efforts in a thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from ros2_dyn.dynamics.presliding import friction_along
from ros2_dyn.errors import InputError
from ros2_dyn.estimation.collision import CollisionDetector
from ros2_dyn.estimation.wrench_estimator import isolate_contact
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array
from ros2_dyn.runtime import Settings
from ros2_dyn_tools.recording.detection import observations
from ros2_dyn_tools.recording.effort_filter import Conditions
from ros2_dyn_tools.recording.recording import Recording
from ros2_dyn_tools.viewer.picture import (
    CORIOLIS,
    CURVES,
    EXTERNAL,
    FRICTION,
    GRAVITY,
    INVERSE_DYNAMICS,
    MEASURED,
    THRESHOLD,
    ShownRobot,
)
from ros2_dyn_tools.viewer.timeline import NOT_TOUCHED, Timeline

USUAL = Conditions()
CUTOFF = 10.0
"""Frequency, Hz, at which `accelerations` halves; the gain is that of a Butterworth filter, forwards and backwards."""
SHOWN_FOR = 1.0
"""How long a collision is shown after its end, s."""


def recorded_motion(
    robot: ShownRobot,
    recording: Recording,
    source: str,
    threshold: Sequence[float] = (),
    conditions: Conditions = USUAL,
) -> Timeline:
    """Return the timeline of a recording; `observe_all` adds its external efforts.

    Args:
        robot: with the joints in the recording's order.
        recording: its motion, with the total efforts of the joints, N m or N.
        source: what is shown, in words.
        threshold: thresholds of the collision detector, N m or N, shape (n,); empty: none.
        conditions: how the robot stands, and the filter of its driver.

    Raises:
        InputError: the number of thresholds is not that of the joints.
    """
    model, m = robot.model, len(recording.t)
    if threshold and len(threshold) != model.n:
        raise InputError("threshold", f"expected {model.n} numbers, got {len(threshold)}")
    gravity = np.asarray(conditions.gravity, dtype=float)
    qdd = accelerations(recording.t, recording.qd)
    efforts = np.full((m, CURVES, model.n), np.nan)
    efforts[:, MEASURED] = recording.effort
    rows = {"effort": INVERSE_DYNAMICS, "gravity": GRAVITY, "coriolis": CORIOLIS, "friction": FRICTION}
    kernel = compile_kernel(model, tuple(rows), "numpy", ("q", "qd", "qdd", "gravity"))
    terms = kernel(recording.q, recording.qd, qdd, np.broadcast_to(gravity, (m, 3)))
    for row, term in zip(rows.values(), terms):
        efforts[:, row] = term
    along = friction_along(model, recording.q, recording.qd, gravity) - efforts[:, FRICTION]
    efforts[:, FRICTION] += along
    efforts[:, INVERSE_DYNAMICS] += along
    efforts[:, THRESHOLD] = threshold or np.nan
    return Timeline(
        robot,
        recording.t,
        recording.q,
        recording.qd,
        qdd,
        efforts,
        gravity,
        model.default_tip,
        source,
        np.zeros(m, dtype=bool),
        np.full(m, NOT_TOUCHED, dtype=np.int32),
        SHOWN_FOR if threshold else 0.0,
    )


def accelerations(t: Array, qd: Array) -> Array:
    """Return joint accelerations without delay, rad/s^2 or m/s^2, shape (m, n).

    Args:
        t: increasing times, s, shape (m,).
        qd: joint velocities, rad/s or m/s, shape (m, n).
    """
    if len(t) < 2:
        return np.zeros_like(qd)
    step = float(np.median(np.diff(t)))
    pad = int(0.5 / step) + 1  # a state has no influence after that time
    padded = np.pad(qd, ((pad, pad), (0, 0)), "reflect", reflect_type="odd")
    gain = 1 / (1 + (np.fft.rfftfreq(len(padded), step) / CUTOFF) ** 4)
    smooth = np.fft.irfft(gain[:, None] * np.fft.rfft(padded, axis=0), len(padded), axis=0)[pad:-pad]
    return np.asarray(np.gradient(smooth, t, axis=0))


def observe_all(timeline: Timeline, recording: Recording, conditions: Conditions = USUAL) -> None:
    """Fill external efforts and collisions, state by state."""
    model, names = timeline.robot.model, timeline.robot.model.link_names
    threshold = timeline.efforts[0, THRESHOLD]
    e = np.where(np.isfinite(threshold), threshold, np.inf).tolist()
    detector = CollisionDetector(e) if np.any(np.isfinite(e)) else None
    for i, residual in enumerate(observations(model, recording, Settings().collision.bandwidth, conditions)):
        timeline.efforts[i, EXTERNAL] = residual
        if detector is None:
            continue
        detector.update(residual)
        if any(detector.exceeded):
            timeline.collision[i] = True
            timeline.touched[i] = _touched(model, names, residual, e, detector.exceeded)
        elif detector.collision:
            detector.reset()


def observe_aside(timeline: Timeline, recording: Recording, conditions: Conditions = USUAL) -> threading.Thread:
    """Fill them in a thread, which is returned."""
    thread = threading.Thread(target=observe_all, args=(timeline, recording, conditions), daemon=True)
    thread.start()
    return thread


def _touched(
    model: RobotModel, names: Sequence[str], residual: Sequence[float], e: Sequence[float], exceeded: Sequence[bool]
) -> int:
    limits = [each if above else np.inf for each, above in zip(e, exceeded)]
    link = isolate_contact(model, residual, limits).link
    return names.index(link) if link else NOT_TOUCHED
