# SPDX-License-Identifier: Apache-2.0
"""Time stamps that are late or early against efforts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ros2_dyn_tools.doctor.diagnosis import Diagnosis, confidence
from ros2_dyn_tools.doctor.hypothesis import Hypothesis
from ros2_dyn_tools.doctor.judge import Judge

LEAST_DELAY = 0.045
"""Delay that is told, s: the friction of joints that do not slide yet looks like 20 to 40 ms."""
DELAYS = np.round(np.arange(-15, 16) * 0.02, 2)
"""Delays that are tried, s."""


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypothesis with the best of the delays."""
    others = [replace(hypothesis, delay=float(x)) for x in DELAYS]
    yield max(others, key=lambda each: float(np.sum(judge.joint_scores(each))))


def refined(judge: Judge, hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis with its delay, if there is one, at its best."""
    if hypothesis.delay == 0.0:
        return hypothesis
    near = [replace(hypothesis, delay=hypothesis.delay + x) for x in np.linspace(-0.02, 0.02, 9).tolist()]
    return max(near, key=lambda each: float(np.sum(judge.joint_scores(each))))


def too_small(hypothesis: Hypothesis) -> Hypothesis:
    """Return the hypothesis without a delay that is small."""
    return replace(hypothesis, delay=0.0) if abs(hypothesis.delay) < LEAST_DELAY else hypothesis


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return by how much efforts are late."""
    del judge
    if hypothesis.delay == 0.0:
        return []
    speaks = evidence[replace(hypothesis, delay=0.0)]
    late = "later" if hypothesis.delay > 0 else "earlier"
    told = f"efforts are recorded {abs(1e3 * hypothesis.delay):.0f} ms {late} than the positions they belong to"
    remedy = "the driver has to stamp positions and efforts of one message with the time of both"
    return [
        Diagnosis(
            "delay", None, round(hypothesis.delay, 4), confidence(speaks), f"{told} (evidence {speaks:.0f})", remedy
        )
    ]
