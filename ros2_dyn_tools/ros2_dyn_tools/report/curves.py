# SPDX-License-Identifier: Apache-2.0
"""The curves of a report on a recorded motion, joint by joint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools import palette
from ros2_dyn_tools.report.effort_report import DESCRIBED, LABELS, EffortReport

POINTS = 80_000
"""Points of all curves of a report together. A page of 6 MB has room for as many beside the library that draws them."""
COLOURS = {
    "inertia": palette.INERTIA,
    "coriolis": palette.CORIOLIS,
    "gravity": palette.GRAVITY,
    "friction": palette.FRICTION,
    "spring": palette.SPRING,
    "rest": palette.EXTERNAL,
}
"""Of the parts; what the model leaves unexplained is to it as an external effort."""
EARLIER = "#882255"
"""Colour of the robot as described."""


class Curve(NamedTuple):
    """A curve over time."""

    label: str
    t: Array
    """Time since the recording began, s, shape (k,)."""
    values: Array
    """N m or N, shape (k,); NaN where the curve is interrupted."""
    colour: str
    width: float = 1.2
    dash: str = "solid"
    """Solid or dash."""
    shown: bool = True
    """Whether the page shows it before the reader asks for it."""


def effort_curves(report: EffortReport, joint: int) -> Iterator[Curve]:
    """Yield the measured effort of a joint, what the robot as described and as identified expects, and its parts."""
    split, points = report.identified, points_of_a_curve(report)

    def curve(label: str, values: Array, colour: str, width: float = 1.2, **style: Any) -> Curve:
        return Curve(label, *decimated(report.t, values[:, joint], points), colour, width, **style)

    yield curve("measured", split.measured, palette.MEASURED, 2.0)
    yield curve(DESCRIBED, report.described.model, EARLIER, dash="dash", shown=False)
    yield curve("model", split.model, palette.INVERSE_DYNAMICS, 2.0)
    for part in (*report.parts, "rest"):
        yield curve(LABELS.get(part, part), getattr(split, part), COLOURS[part])


def contact_curves(report: EffortReport, joint: int) -> Iterator[Curve]:
    """Yield the external effort that the observer finds on a joint, and dashed its thresholds."""
    if report.contact is None:
        return
    t, residual, e = report.contact.recording.t, report.contact.residuals[:, joint], report.contact.thresholds[joint]
    first, last = t[0], t[-1]
    times, bounds = np.array([first, last, last, first, last]), np.array([e, e, np.nan, -e, -e])
    yield Curve("external", *decimated(t, residual, points_of_a_curve(report)), palette.EXTERNAL)
    yield Curve("threshold", times, bounds, palette.EXTERNAL, dash="dash")


def points_of_a_curve(report: EffortReport) -> int:
    """Return how many points each curve may have."""
    curves = len(report.parts) + 5
    return max(200, POINTS // (curves * report.model.n))


def decimated(t: Array, values: Array, points: int) -> tuple[Array, Array]:
    """Return the least and the greatest of each of equal intervals: no peak is lost.

    Args:
        t: time, s, shape (m,).
        values: shape (m,).
        points: most that are returned.
    """
    if len(t) <= points:
        return t, values
    intervals = np.array_split(np.arange(len(t)), points // 2)
    kept = sorted({int(i[extreme(values[i])]) for i in intervals for extreme in (np.argmin, np.argmax)})
    return t[kept], values[kept]
