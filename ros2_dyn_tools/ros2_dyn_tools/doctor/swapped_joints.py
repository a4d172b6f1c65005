# SPDX-License-Identifier: Apache-2.0
"""Joints that are exchanged: all their columns, those of the states, or those of the efforts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Diagnosis, confidence
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import FAULT_PRICE, Judge
from ros2_dyn_tools.doctor.scales import SCALES


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield hypotheses with other orders."""
    yield from _assigned(judge, hypothesis)
    for i, j in combinations(range(judge.model.n), 2):
        states = _exchanged(hypothesis.states, i, j)
        yield replace(hypothesis, states=states)
        yield replace(hypothesis, states=states, efforts=_exchanged(hypothesis.efforts, i, j))


def _assigned(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the best orders of the efforts: with the gains as they are, with free signs, and with free gains."""
    from scipy.optimize import linear_sum_assignment

    n = judge.model.n
    now = hypothesis.scales(judge.model)
    every = np.array([[judge.gain_scores(hypothesis, j, now[j] * SCALES, c) for c in range(n)] for j in range(n)])
    for count in (1, 2, len(SCALES)):
        factors, scores = SCALES[:count], every[:, :, :count]
        efforts = linear_sum_assignment(-np.max(scores, axis=-1))[1].tolist()
        gains = [
            gain * _factor(scores[j, column], factors)
            for j, (gain, column) in enumerate(zip(hypothesis.gains, efforts))
        ]
        yield replace(hypothesis, efforts=tuple(efforts), gains=tuple(gains))


def _factor(scores: Array, factors: Array) -> float:
    """Return the best of the factors; the first, 1, where that is not clearly worse."""
    best = int(np.argmax(scores))
    return float(factors[best]) if scores[best] > scores[0] + FAULT_PRICE else 1.0


def _exchanged(order: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    other = list(order)
    other[i], other[j] = order[j], order[i]
    return tuple(other)


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return one diagnosis for each group of joints that are exchanged."""
    names, found = judge.model.joint_names, []
    remedy = "the driver has to publish each number under the name of its joint"
    for group, without in zip(hypothesis.cycles, hypothesis.faults):
        told = "; ".join(
            f"{kind}: " + ", ".join(f"{names[i]} is recorded as {names[order[i]]}" for i in group)
            for kind, order in (("positions", hypothesis.states), ("efforts", hypothesis.efforts))
            if any(order[i] != i for i in group)
        )
        said = f"{told} (evidence {evidence[without]:.0f})"
        joints = [names[i] for i in group]
        found.append(Diagnosis("joint_order", None, joints, confidence(evidence[without]), said, remedy))
    return found
