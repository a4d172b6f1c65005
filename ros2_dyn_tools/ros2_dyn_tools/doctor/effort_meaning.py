# SPDX-License-Identifier: Apache-2.0
"""Efforts that lack what carries the robot's weight, or all that the robot's own motion needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ros2_dyn_tools.doctor.diagnosis import Diagnosis, confidence
from ros2_dyn_tools.doctor.hypothesis import UPRIGHT, Hypothesis
from ros2_dyn_tools.doctor.judge import Judge


def moves(judge: Judge, hypothesis: Hypothesis) -> Iterator[Hypothesis]:
    """Yield the hypothesis that gravity is compensated, or that it is not."""
    del judge
    yield replace(hypothesis, compensated=not hypothesis.compensated)
    if hypothesis.gravity != UPRIGHT:  # what is left of a compensated weight may look like another mounting
        yield replace(hypothesis, compensated=not hypothesis.compensated, gravity=UPRIGHT)


def diagnose(judge: Judge, hypothesis: Hypothesis, evidence: dict[Hypothesis, float]) -> list[Diagnosis]:
    """Return whether gravity is compensated."""
    if not hypothesis.compensated:
        return []
    speaks = evidence[replace(hypothesis, compensated=False)]
    told = f"without the weight of the robot the model fits better (evidence {speaks:.0f})"
    remedy = "states.measured_effort: gravity_compensated"
    return [Diagnosis("gravity_compensated", None, "gravity_compensated", confidence(speaks), told, remedy)]


def external_only(evidence: float) -> Diagnosis:
    """Return the diagnosis that efforts have nothing to do with the motion."""
    told = f"neither inertia, weight nor friction of the moving robot is in the efforts (evidence {evidence:.0f})"
    return Diagnosis("external_only", None, "external", confidence(evidence), told, "states.measured_effort: external")
