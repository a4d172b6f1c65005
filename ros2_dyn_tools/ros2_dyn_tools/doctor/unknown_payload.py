# SPDX-License-Identifier: Apache-2.0
"""A tool or payload that the robot description lacks: mass and centre of mass at the tip."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Diagnosis, Note, confidence, numbers
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import FAULT_PRICE, Judge

LEAST_MASS = 0.5
"""Mass of a payload that is told, kg."""
NOTHING = 0.1
"""Mass that counts as none, kg."""
CERTAIN = 4.0
"""Mass of a payload that is told, as a multiple of its standard deviation."""
LEAST_EVIDENCE = 100.0
"""Evidence that is needed for a payload: masses of a description that are wrong, above all alike, look like one."""
COM_DOUBT = 0.15
"""Standard deviation of a payload's centre from the tip, m."""


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypothesis with the payload that fits best, or without one."""
    for mass in (1.0, -0.5):
        yield _fitted(judge, replace(hypothesis, payload=(mass, 0.0, 0.0, 0.0)))
    if hypothesis.payload:
        yield replace(hypothesis, payload=())


def added(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with the payload that fits best."""
    return _fitted(judge, replace(hypothesis, payload=(1.0, 0.0, 0.0, 0.0)))


def refined(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with its payload, if there is one, at its best."""
    return _fitted(judge, hypothesis) if hypothesis.payload else hypothesis


def _fitted(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    for _ in range(2):  # the deviations depend on the errors
        x, _ = _solved(judge, hypothesis)
        if abs(x[0]) < NOTHING:
            return replace(hypothesis, payload=())
        hypothesis = replace(hypothesis, payload=tuple(map(float, x)))
    return hypothesis


def _solved(judge: Judge, hypothesis: Hypothesis) -> tuple[Array, float]:
    """Return mass and centre of mass, shape (4,), and the standard deviation of the mass."""
    from scipy.optimize import least_squares

    bare = replace(hypothesis, payload=())
    columns = judge.tip_columns(bare)
    errors, whitened = judge.whitened(hypothesis, columns)
    if hypothesis.payload:
        errors = errors + whitened @ judge.tip_parameters(hypothesis.payload)
    H, r = whitened.T @ whitened, whitened.T @ errors
    values, vectors = np.linalg.eigh(H)
    known = values > 1e-9 * values[-1]
    root = np.sqrt(values[known])[:, None] * vectors[:, known].T
    right = (vectors[:, known].T @ r) / np.sqrt(values[known])

    def error(x: Array) -> Array:
        return np.concatenate([right - root @ judge.tip_parameters(x), x[1:] / COM_DOUBT])

    start = np.array(hypothesis.payload)
    solution = least_squares(error, start, x_scale=[1.0, 0.1, 0.1, 0.1])
    covariance = np.linalg.pinv(solution.jac.T @ solution.jac)
    return solution.x, float(np.sqrt(covariance[0, 0]))


def evidence_needed(hypothesis: Hypothesis) -> float:
    """Return the evidence without which a payload is left out; a lack of one, which is not told, needs the usual."""
    return FAULT_PRICE if hypothesis.payload[0] < 0 else LEAST_EVIDENCE


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return the payload that the description lacks; a tool that the arm lacks is not told here."""
    if not hypothesis.payload:
        return []
    _, deviation = _solved(judge, hypothesis)
    speaks = evidence[replace(hypothesis, payload=())]
    (mass, *com), deviation = hypothesis.load, deviation / hypothesis.heavy
    if mass < max(LEAST_MASS, CERTAIN * deviation):
        return []
    told = f"{mass:.2f} kg (standard deviation {deviation:.2f} kg) with the centre of mass at {numbers(com)} m in"
    tip = judge.model.default_tip
    where = ", ".join(f"{axis}: {x:.3g}" for axis, x in zip("xyz", com))
    request = f"{{link: {tip}, inertia: {{m: {mass:.3g}, com: {{{where}}}}}}}"
    remedy = f"~/set_payload with {request}, or more <inertial> of the link '{tip}'"
    said = f"{told} '{tip}' fits (evidence {speaks:.0f})"
    return [Diagnosis("payload", None, round(mass, 3), confidence(speaks), said, remedy)]


def notes(hypothesis: Hypothesis) -> list[Note]:
    """Return that the arm lacks a tool which the description has, where it seems so."""
    if not hypothesis.payload or hypothesis.load[0] > -LEAST_MASS:
        return []
    return [Note("payload", None, f"the description seems to have {-hypothesis.load[0]:.2f} kg too much at the tip")]
