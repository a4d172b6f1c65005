# SPDX-License-Identifier: Apache-2.0
"""An arm that does not stand upright: gravity in its base frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Diagnosis, confidence, numbers
from ros2_dyn_tools.doctor.hypothesis import UPRIGHT, Hypothesis
from ros2_dyn_tools.doctor.judge import Judge

G = 9.81
"""Acceleration of free fall, m/s^2."""
LEAST_TILT = np.deg2rad(15)
"""Smaller angles are errors of the robot description rather."""
SQUARE = np.deg2rad(8)
"""Angle to one of the base's axes below which an arm is meant to be mounted along it."""


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield hypotheses with gravity near each of the base's axes."""
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        yield refined(judge, replace(hypothesis, gravity=_triple(G * axis)))
    yield replace(hypothesis, gravity=UPRIGHT)


def refined(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with gravity at its best, near where it is."""
    from scipy.optimize import least_squares

    g = np.array(hypothesis.gravity)
    columns = judge.weight_columns(hypothesis)
    if hypothesis.payload:
        heavier = [judge.mean(replace(hypothesis, gravity=_triple(g + e))) for e in np.eye(3)]
        columns = np.stack(heavier, axis=-1) - judge.mean(hypothesis)[..., None]
    errors, whitened = judge.whitened(hypothesis, columns)
    H, r = whitened.T @ whitened, whitened.T @ errors
    root = np.linalg.cholesky(H + 1e-6 * np.trace(H) * np.eye(3)).T
    right = np.linalg.solve(root.T, r)

    def error(u: Array) -> Array:
        return np.append(right - root @ (G * u / np.linalg.norm(u) - g), np.linalg.norm(u) - 1)

    u = least_squares(error, g / G).x
    return replace(hypothesis, gravity=_triple(G * u / np.linalg.norm(u)))


def too_small(hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis without a tilt that is small, and square where it almost is."""
    g = np.array(hypothesis.gravity)
    along = np.zeros(3)
    k = int(np.argmax(np.abs(g)))
    along[k] = np.sign(g[k]) * G
    if np.arccos(np.clip(g @ along / G**2, -1, 1)) < SQUARE:
        hypothesis = replace(hypothesis, gravity=_triple(along))
    return replace(hypothesis, gravity=UPRIGHT) if hypothesis.tilt < LEAST_TILT else hypothesis


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return how the arm is mounted, if not upright."""
    del judge
    if hypothesis.gravity == UPRIGHT:
        return []
    speaks = evidence[replace(hypothesis, gravity=UPRIGHT)]
    g = [round(x, 3) + 0.0 for x in hypothesis.gravity]
    told = f"the weight fits with a base that is tilted by {np.rad2deg(hypothesis.tilt):.0f} degrees"
    remedy = f"robot.gravity: {numbers(g)}"
    return [Diagnosis("mounting", None, g, confidence(speaks), f"{told} (evidence {speaks:.0f})", remedy)]


def _triple(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
