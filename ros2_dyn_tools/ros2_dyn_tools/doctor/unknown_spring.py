# SPDX-License-Identifier: Apache-2.0
"""A spring or a counterbalance at a joint, which the robot description lacks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ros2_dyn_tools.doctor.diagnosis import Diagnosis, confidence
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge
from ros2_dyn_tools.recording.effort_split import effort_units

LEAST_SHARE = 0.2
"""Effort of a spring that is told, as a share of the joint's: drift and wrong masses look like weaker ones."""


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypothesis with a spring at each joint more, and without each of those that it has."""
    for joint in np.flatnonzero(~judge.silent).tolist():
        yield hypothesis.with_spring(joint, joint not in hypothesis.springs)


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return the joints with a spring that counts, and its stiffness."""
    units, found = effort_units(judge.model), []
    for joint in hypothesis.springs:
        name, unit = judge.model.joint_names[joint], units[joint]
        speaks = evidence[hypothesis.with_spring(joint, False)]
        stiffness, share = _fitted(judge, hypothesis, joint)
        if share < LEAST_SHARE:
            continue
        per = "rad" if unit == "N m" else "m"
        told = f"an effort that changes by {stiffness:.3g} {unit} per {per} of this joint is not in the description"
        remedy = "a spring, a counterbalance or a cable: the node has none; the library: RobotModel.with_joint_dynamics"
        said = f"{told} (evidence {speaks:.0f})"
        found.append(Diagnosis("spring", name, round(stiffness, 3), confidence(speaks), said, remedy))
    return found


def _fitted(judge: Judge, hypothesis: Hypothesis, joint: int) -> tuple[float, float]:
    """Return the stiffness that fits best, N m/rad or N/m, and how much of the joint's effort varies with it."""
    spring = judge.spring_columns(hypothesis)[:, joint]
    columns = np.zeros((len(spring), judge.model.n, 2))
    columns[:, joint] = spring
    errors, whitened = judge.whitened(hypothesis.with_spring(joint, False), columns)
    stiffness = float(np.linalg.lstsq(whitened, errors, rcond=None)[0][0])
    efforts = judge.measured(hypothesis)[:, hypothesis.efforts[joint]] * hypothesis.scales(judge.model)[joint]
    share = abs(stiffness) * np.std(spring[:, 0]) / np.sqrt(np.mean(efforts**2))
    return stiffness / hypothesis.heavy, float(share)
