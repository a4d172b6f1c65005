"""Joints that are exchanged: all their columns, those of the states, or those of the efforts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np

from ros2_dyn.doctor.diagnosis import Diagnosis, confidence
from ros2_dyn.doctor.hypothesis import Hypothesis
from ros2_dyn.doctor.judge import Judge
from ros2_dyn.doctor.scales import SCALES


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
    for factors in (np.ones(1), np.array([1.0, -1.0]), SCALES):
        scores = np.array(
            [[judge.gain_scores(hypothesis, j, now[j] * factors, c) for c in range(n)] for j in range(n)]
        )  # (joint, column, factor)
        efforts = linear_sum_assignment(-np.max(scores, axis=-1))[1].tolist()
        best = [factors[int(np.argmax(scores[j, efforts[j]]))] for j in range(n)]
        gains = [
            gain * factor if scores[j, efforts[j]].max() > scores[j, efforts[j], factors == 1.0].max(initial=-np.inf) + 15 else gain
            for j, (gain, factor) in enumerate(zip(hypothesis.gains, best))
        ]
        yield replace(hypothesis, efforts=tuple(efforts), gains=tuple(map(float, gains)))


def _exchanged(order: tuple[int, ...], i: int, j: int) -> tuple[int, ...]:
    other = list(order)
    other[i], other[j] = order[j], order[i]
    return tuple(other)


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return one diagnosis for each group of joints that are exchanged."""
    names = judge.model.joint_names
    found = []
    for group, without in zip(hypothesis.cycles, hypothesis.faults):
        speaks = evidence[without]
        kinds = [
            kind
            for kind, order in (("positions", hypothesis.states), ("efforts", hypothesis.efforts))
            if any(order[i] != i for i in group)
        ]
        orders = {"positions": hypothesis.states, "efforts": hypothesis.efforts}
        told = "; ".join(
            f"{kind}: " + ", ".join(f"{names[i]} is recorded as {names[orders[kind][i]]}" for i in group)
            for kind in kinds
        )
        remedy = "the driver has to publish each number under the name of its joint"
        if kinds == ["positions", "efforts"] and hypothesis.states == hypothesis.efforts:
            remedy += "; or put the joints' names of the recording into the order above"
        found.append(
            Diagnosis(
                "joint_order",
                None,
                [names[i] for i in group],
                confidence(speaks),
                f"{told} (evidence {speaks:.0f})",
                remedy,
            )
        )
    return found
