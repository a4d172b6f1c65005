# SPDX-License-Identifier: Apache-2.0
"""The hypothesis that explains a recording best: a beam search, fault by fault, and what of it is certain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ros2_dyn_tools.doctor import (
    delay,
    effort_gain,
    effort_meaning,
    friction_notes,
    mounting,
    swapped_joints,
    unknown_payload,
    unknown_spring,
)
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import FAULT_PRICE, Judge

WIDTH = 3
"""Hypotheses that are followed at a time: two faults may hide each other."""
DEPTH = 7
"""Faults that are found at most."""
FACTORS, ROUNDS = (0.8, 0.93, 1.07, 1.25), 6
"""Factors by which a gain, or the description's weight, is changed with a payload, and how many times at most."""
MORE = (1.0, 1.3, 1.6)
"""Factors by which a gain of all joints is more than the one that fits without a payload."""
QUICK_SAMPLES, THOROUGH_SAMPLES = 80, 200
"""Samples that are compared while searching, and in the end."""
MODULES = (effort_gain, effort_meaning, mounting, delay, unknown_payload, unknown_spring, swapped_joints)


def search(judge: Judge) -> list[Hypothesis]:
    """Return hypotheses that differ in kind, the one with the best score first."""
    start = Hypothesis.nothing_wrong(judge.model.n)
    scores = {start: judge.score(start)}
    beam, visited = [start], set[Hypothesis]()
    for _ in range(DEPTH):
        for each in beam:
            if each not in visited:
                visited.add(each)
                scores.update((move, judge.score(move)) for move in _moves(judge, each) if move not in scores)
        best = _best_of_each_kind(scores)
        if best[0] in visited:
            break
        beam = best
    best = _best_of_each_kind(scores)
    return [*best, *_in_percent(judge, best), *_with_gain_and_payload(judge, best[0])]


def _in_percent(judge: Judge, hypotheses: list[Hypothesis]) -> Iterator[Hypothesis]:
    """Yield those with free gains in percent instead: a unit that is used looks like some gains at first."""
    for each in hypotheses:
        if each.free_gains:
            percent = effort_gain.in_percent(each)
            yield max(
                [percent, *unknown_payload.moves(judge, percent), *effort_gain.moves(judge, percent)], key=judge.score
            )


def _with_gain_and_payload(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield that of a gain of all joints and a payload: with a wrong gain, a payload looks like a lack of one."""
    if hypothesis.payload:
        bare = replace(hypothesis, payload=())
        gain = effort_gain.of_all(judge, bare)
        others = [replace(bare, common_gain=gain * factor) for factor in MORE]
        yield max((unknown_payload.added(judge, each) for each in others), key=judge.score)


def _best_of_each_kind(scores: dict[Hypothesis, float]) -> list[Hypothesis]:
    best: dict[tuple[object, ...], Hypothesis] = {}
    for each in sorted(scores, key=lambda each: scores[each], reverse=True):
        best.setdefault(each.kind, each)
    return list(best.values())[:WIDTH]


def _moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    for module in MODULES:
        yield from module.moves(judge, hypothesis)


def certain(judge: Judge, hypotheses: list[Hypothesis]) -> tuple[Hypothesis, dict[Hypothesis, float]]:
    """Return the best of some hypotheses, without faults that are not certain, and the evidence for those left.

    Args:
        judge: a thorough one.
        hypotheses: that `search` has found.

    Returns:
        The hypothesis, and for each of its `faults` the evidence against its absence.
    """
    return max((_certain(judge, each) for each in hypotheses), key=lambda each: judge.score(each[0]))


def _certain(judge: Judge, hypothesis: Hypothesis) -> tuple[Hypothesis, dict[Hypothesis, float]]:
    hypothesis = _without_small(refined(judge, hypothesis))
    while hypothesis.faults:
        score = judge.score(hypothesis)
        left = {each: refined(judge, each) for each in hypothesis.faults}
        evidence = {each: score - judge.score(other) + FAULT_PRICE for each, other in left.items()}
        spare = {each: evidence[each] - _needed(hypothesis, each) for each in left}
        for each, other in left.items():
            if explains_less(judge, hypothesis, other):
                spare[each] = -np.inf
        weakest = min(spare, key=lambda each: spare[each])
        if spare[weakest] > 0:
            return hypothesis, evidence
        hypothesis = _without_small(left[weakest])
    return hypothesis, {}


def explains_less(judge: Judge, hypothesis: Hypothesis, without: Hypothesis) -> bool:
    """Return whether a gain leaves more of the efforts: it is likely only because all else may be wrong then."""
    if np.array_equal(hypothesis.units(judge.model), without.units(judge.model)):
        return False
    return friction_notes.unexplained(judge, hypothesis) > friction_notes.unexplained(judge, without)


def _needed(hypothesis: Hypothesis, without: Hypothesis) -> float:
    """Return the evidence that is needed for the fault that another hypothesis lacks."""
    return unknown_payload.evidence_needed(hypothesis) if hypothesis.payload != without.payload else FAULT_PRICE


def refined(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with its numbers at their best."""
    for _ in range(2):
        hypothesis = effort_gain.as_heavy(judge, effort_gain.refined(judge, hypothesis))
        if hypothesis.gravity != Hypothesis.nothing_wrong(judge.model.n).gravity:
            hypothesis = mounting.refined(judge, hypothesis)
        hypothesis = unknown_payload.refined(judge, hypothesis)
        hypothesis = delay.refined(judge, hypothesis)
    return _gain_with_payload(judge, hypothesis)


def _gain_with_payload(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with its payload, if it has one, and the gain of all joints or `heavy` fitted together.

    They look alike, so that one after the other comes to an end far from the best of both.
    """
    if not hypothesis.payload:
        return hypothesis
    name = "heavy" if abs(hypothesis.common_gain) == 1.0 else "common_gain"
    for _ in range(ROUNDS):
        others = [replace(hypothesis, **{name: getattr(hypothesis, name) * factor}) for factor in FACTORS]
        best = max([hypothesis, *(unknown_payload.refined(judge, each) for each in others)], key=judge.score)
        if best == hypothesis:
            break
        hypothesis = best
    return hypothesis


def _without_small(hypothesis: Hypothesis) -> Hypothesis:
    return delay.too_small(mounting.too_small(effort_gain.too_small(hypothesis)))
