# SPDX-License-Identifier: Apache-2.0
"""Unit, gain and sign of the efforts, joint by joint or of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.doctor.diagnosis import Diagnosis, Note, confidence, numbers
from ros2_dyn_tools.doctor.hypothesis import SCALE_DOUBT, Hypothesis, scale_price
from ros2_dyn_tools.doctor.judge import FAULT_PRICE, Judge
from ros2_dyn_tools.doctor.scales import FINE, SCALES, best_of

OPEN: Array = np.geomspace(0.05, 20.0, 201)
"""Factors by which a gain may be another."""
NEARLY = 2.0
"""Less evidence than that of the best gain that likely ones have."""
MUCH_FRICTION = 0.5
"""What the model leaves of an effort, RMS, as a share of it, where friction is most of it."""
HEAVIER = float(np.exp(2 * SCALE_DOUBT))
"""Factor by which a description may be too heavy, or too light, and a gain so much more or less, at 2 deviations."""
VAGUE = 2.0
"""Ratio of the greatest and the least likely gain from which the finding is not sure."""
UNSURE = 0.5
"""Its confidence then."""
LEAST_GAIN = 1.4
"""Gains nearer to 1 than this factor are errors of the robot description rather."""


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield hypotheses with other gains of one joint, of some, or of all."""
    n = judge.model.n
    now = hypothesis.scales(judge.model)
    scores = np.array([judge.gain_scores(hypothesis, j, now[j] * SCALES) for j in range(n)])
    by_itself = [SCALES[int(np.argmax(row))] if row.max() > row[0] + FAULT_PRICE else 1.0 for row in scores]
    yield _with_factors(hypothesis, by_itself)
    signs = [-1.0 if row[1] > row[0] + FAULT_PRICE else 1.0 for row in scores]
    yield _with_factors(hypothesis, signs)
    for j in range(n):
        for factor in (signs[j], by_itself[j]):
            yield _with_factors(hypothesis, [factor if i == j else 1.0 for i in range(n)])
    for factor in (-1.0, SCALES[int(np.argmax(scores.sum(axis=0)))]):
        yield replace(hypothesis, common_gain=hypothesis.common_gain * float(factor))
    yield in_percent(hypothesis, not hypothesis.percent)
    yield as_heavy(judge, hypothesis)
    if hypothesis.free_gains > 1:
        yield in_common(hypothesis)


def as_heavy(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with the description as much too heavy as is likeliest."""
    scales = hypothesis.scales(judge.model)

    def total(factors: Array) -> Array:
        rows = [judge.gain_scores(hypothesis, j, scales[j] * factors) for j in range(judge.model.n)]
        return np.asarray(np.sum(rows, axis=0)) - scale_price(hypothesis.heavy * factors)

    return replace(hypothesis, heavy=hypothesis.heavy * best_of(total, FINE)[0])


def of_all(judge: Judge, hypothesis: Hypothesis) -> float:
    """Return the gain of all joints that fits best."""
    now = hypothesis.scales(judge.model)
    scores = [judge.gain_scores(hypothesis, j, now[j] * SCALES) for j in range(judge.model.n)]
    return hypothesis.common_gain * float(SCALES[int(np.argmax(np.sum(scores, axis=0)))])


def in_percent(hypothesis: Hypothesis, percent: bool = True) -> Hypothesis:
    """Return the hypothesis with percent of the effort limits, or without, in place of its gains; signs stay."""
    common, *gains = _signs((hypothesis.common_gain, *hypothesis.gains))
    return replace(hypothesis, common_gain=common, gains=tuple(gains), percent=percent)


def in_common(hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with the middle one of its gains as the gain of all joints."""
    middle = sorted(map(abs, hypothesis.gains))[len(hypothesis.gains) // 2]
    gains = tuple(gain / middle for gain in hypothesis.gains)
    return too_small(replace(hypothesis, common_gain=hypothesis.common_gain * middle, gains=gains))


def _signs(gains: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(float(np.sign(gain)) for gain in gains)


def _with_factors(hypothesis: Hypothesis, factors: list[float]) -> Hypothesis:
    return replace(hypothesis, gains=tuple(float(a * b) for a, b in zip(hypothesis.gains, factors)))


def refined(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with its gains other than 1 and -1 at their best."""
    if abs(hypothesis.common_gain) != 1.0:
        scales = hypothesis.scales(judge.model)

        def total(factors: Array) -> Array:
            rows = [judge.gain_scores(hypothesis, j, scales[j] * factors) for j in range(judge.model.n)]
            return np.asarray(np.sum(rows, axis=0))

        factor, _ = best_of(total, FINE)
        hypothesis = replace(hypothesis, common_gain=hypothesis.common_gain * factor)
    gains = list(hypothesis.gains)
    scales = hypothesis.scales(judge.model)
    for j, gain in enumerate(gains):
        if abs(gain) != 1.0:
            factor, _ = best_of(lambda x, j=j: judge.gain_scores(hypothesis, j, scales[j] * x), FINE)  # type: ignore[misc]
            gains[j] = gain * factor
    return replace(hypothesis, gains=tuple(gains))


def too_small(hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis without gains that are near 1."""

    def rounded(gain: float) -> float:
        near = abs(np.log(abs(gain))) < np.log(LEAST_GAIN)
        return float(np.sign(gain)) if near else gain

    return replace(hypothesis, gains=tuple(map(rounded, hypothesis.gains)), common_gain=rounded(hypothesis.common_gain))


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return what is wrong with signs and gains."""
    units = hypothesis.units(judge.model)
    lines = f"states.effort_gain: {numbers(units * judge.effort_gain)}"
    found = _told(
        None,
        hypothesis.common_gain,
        lambda gain: evidence[replace(hypothesis, common_gain=gain)],
        lines,
        _likely(judge, hypothesis, range(judge.model.n)),
    )
    if hypothesis.percent:
        speaks = evidence[replace(hypothesis, percent=False)]
        told = f"efforts are percent of the effort limits (evidence {speaks:.0f})"
        gains = [round(float(x), 6) for x in np.abs(units)]
        found.append(Diagnosis("gain", None, gains, confidence(speaks), told, lines))
    for j, name in enumerate(judge.model.joint_names):

        def without(gain: float, j: int = j) -> float:
            gains = (*hypothesis.gains[:j], gain, *hypothesis.gains[j + 1 :])
            return evidence[replace(hypothesis, gains=gains)]

        found += _told(name, hypothesis.gains[j], without, lines, _likely(judge, hypothesis, [j]))
    return found


def heavy_notes(hypothesis: Hypothesis) -> list[Note]:
    """Return that the description is too heavy or too light, where it seems so: a gain of all joints looks alike."""
    heavy = hypothesis.heavy
    if abs(np.log(heavy)) < np.log(HEAVIER):
        return []
    told = f"the description seems to be {heavy:.2f} times as heavy as the arm, or a unit of effort {heavy:.2f} N m"
    return [Note("gain", None, f"{told} or N: record the motion once more with a known load (passport --load)")]


class _Likely(NamedTuple):
    """How well a gain is known."""

    least: float
    """Factor by which it may be less."""
    greatest: float
    """Factor by which it may be more."""
    sure: bool
    """Whether that is not much, and the effort is not friction for the most part, whose size nobody knows."""


def _likely(judge: Judge, hypothesis: Hypothesis, joints: Sequence[int]) -> _Likely:
    scales = hypothesis.scales(judge.model)
    scores = np.sum([judge.gain_scores(hypothesis, j, scales[j] * OPEN) for j in joints], axis=0)
    likely = OPEN[scores > np.max(scores) - NEARLY]
    likely = likely * np.geomspace(1 / HEAVIER, HEAVIER, len(likely))
    effort = (judge.measured(hypothesis)[:, list(hypothesis.efforts)] * scales)[:, list(joints)]
    rest = effort - judge.mean(hypothesis)[:, list(joints)]
    explained = np.sum(rest**2) < MUCH_FRICTION**2 * np.sum(effort**2)
    return _Likely(float(likely[0]), float(likely[-1]), bool(explained and likely[-1] < VAGUE * likely[0]))


def _told(
    joint: str | None, gain: float, evidence: Callable[[float], float], lines: str, likely: _Likely
) -> list[Diagnosis]:
    """Return the diagnoses of one gain; the evidence is that against another one."""
    whose, found = joint or "all joints", []
    if gain < 0:
        speaks = evidence(abs(gain))
        told = f"the efforts of {whose} fit the model, and friction takes energy, with the other sign"
        found.append(Diagnosis("sign", joint, -1.0, confidence(speaks), f"{told} (evidence {speaks:.0f})", lines))
    if abs(gain) != 1.0:
        speaks = evidence(float(np.sign(gain)))
        low, high = abs(gain) * likely.least, abs(gain) * likely.greatest
        told = f"one unit of effort of {whose} is {abs(gain):.3g}, likely {low:.3g} to {high:.3g}, N m or N"
        if not likely.sure:
            told += ", but most of it is friction, or little is told of it"
        sure = confidence(speaks) if likely.sure else min(confidence(speaks), UNSURE)
        found.append(Diagnosis("gain", joint, round(abs(gain), 6), sure, f"{told} (evidence {speaks:.0f})", lines))
    return found
