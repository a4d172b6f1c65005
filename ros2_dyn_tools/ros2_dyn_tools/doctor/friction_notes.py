# SPDX-License-Identifier: Apache-2.0
"""Friction of the joints, and what is left of the efforts when it is subtracted."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Note, numbers
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge
from ros2_dyn_tools.doctor.recorded_samples import FRICTIONS
from ros2_dyn_tools.recording.effort_split import effort_units

OFFSET = FRICTIONS.index("offset")
LITTLE = 0.5
"""Share of a joint's mean square effort below which something is amiss that is not told."""


def split(judge: Judge, hypothesis: Hypothesis) -> tuple[Array, Array]:
    """Return the parameters of friction that fit best, (n, 6), and what is left of the efforts, N m or N, (m, n)."""
    from scipy.optimize import lsq_linear

    columns = judge.friction_columns(hypothesis)
    efforts = judge.measured(hypothesis)[:, list(hypothesis.efforts)] * hypothesis.scales(judge.model)
    rest = efforts - judge.mean(hypothesis)
    least = np.zeros(len(FRICTIONS))
    least[OFFSET] = -np.inf
    parameters, left = np.zeros((judge.model.n, len(FRICTIONS))), rest.copy()
    for j in np.flatnonzero(~judge.silent):
        A, lower = columns[:, j], least
        if j in hypothesis.springs:
            A, lower = np.hstack([A, judge.spring_columns(hypothesis)[:, j]]), np.append(least, [-np.inf, -np.inf])
        solution = lsq_linear(A, rest[:, j], (lower, np.inf)).x
        parameters[j] = solution[: len(FRICTIONS)]
        left[:, j] -= A @ solution
    return parameters, left


def notes(judge: Judge, hypothesis: Hypothesis) -> list[Note]:
    """Return friction as parameter lines, whose numbers they are, and what remains unexplained, joint by joint."""
    parameters, left = split(judge, hypothesis)
    parameters = np.round(parameters / hypothesis.heavy, 4)
    dry = parameters[:, 1] + parameters[:, 4:].sum(axis=1)  # when sliding, the springs before sliding are at their ends
    found = [
        Note("joints", None, f"robot.joints: [{', '.join(judge.model.joint_names)}]"),
        Note("friction", None, f"friction.viscous: {numbers(parameters[:, 0])}"),
        Note("friction", None, f"friction.coulomb: {numbers(dry)}"),
    ]
    share = explained(judge, hypothesis, left)
    rms = np.sqrt(np.mean(left**2, axis=0)) / hypothesis.heavy
    names, units = judge.model.joint_names, effort_units(judge.model)
    for j in np.flatnonzero(~judge.silent):
        told = f"{rms[j]:.3g} {units[j]} RMS, {100 * share[j]:.0f} % explained"
        if share[j] < LITTLE:
            told += ": is this its description, and was it not touched?"
        found.append(Note("remains", names[j], told))
    return found


def unexplained(judge: Judge, hypothesis: Hypothesis) -> float:
    """Return the share of the mean square efforts that model and friction leave, 0 to 1, on average of the joints."""
    _, left = split(judge, hypothesis)
    return float(np.mean(1 - explained(judge, hypothesis, left)[~judge.silent]))


def explained(judge: Judge, hypothesis: Hypothesis, left: Array) -> Array:
    """Return the share of each joint's mean square effort that model and friction explain, 0 to 1, shape (n,)."""
    efforts = judge.measured(hypothesis)[:, list(hypothesis.efforts)] * hypothesis.scales(judge.model)
    return np.clip(1 - np.mean(left**2, axis=0) / np.maximum(np.mean(efforts**2, axis=0), 1e-300), 0.0, 1.0)
