# SPDX-License-Identifier: Apache-2.0
"""The curves of a report on a recorded motion, joint by joint."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools import palette
from ros2_dyn_tools.report.effort_report import LABELS, PUBLISHED, EffortReport

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
BEST, EARLIER = palette.INVERSE_DYNAMICS, ("#882255", "#332288")
"""Colours of the descriptions: of the best one, and of those before it."""


class Curve(NamedTuple):
    """A curve over time."""

    label: str
    """Curves of one plot with the same label belong together."""
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
    """Yield the measured effort of a joint, that of each description, and the parts of the best one's."""
    split, t = report.best.split, report.t
    points = points_of_a_curve(report)
    yield Curve("measured", *decimated(t, split.measured[:, joint], points), palette.MEASURED, 2.0)
    for variant, colour in zip(report.variants, _colours(report)):
        model = decimated(t, variant.split.model[:, joint], points)
        if variant is report.best:
            yield Curve("model", *model, colour, 2.0)
        else:
            yield Curve(variant.name, *model, colour, dash="dash", shown=False)
    for part in (*report.parts, "rest"):
        label = LABELS.get(part, part)
        yield Curve(label, *decimated(t, getattr(split, part)[:, joint], points), COLOURS[part])


def contact_curves(report: EffortReport, joint: int) -> Iterator[Curve]:
    """Yield the external effort that the observer finds on a joint, and dashed its thresholds, with each description.

    Both have the description's label, and are shown and hidden together.
    """
    points = points_of_a_curve(report)
    for variant, colour in zip(report.variants, _colours(report)):
        shown = variant.name != PUBLISHED  # its thresholds are so wide that nothing else could be seen beside them
        if variant.contact is not None:
            t, residual = variant.contact.recording.t, variant.contact.residuals[:, joint]
            e, first, last = variant.contact.thresholds[joint], t[0], t[-1]
            times, bounds = np.array([first, last, last, first, last]), np.array([e, e, np.nan, -e, -e])
            yield Curve(variant.name, *decimated(t, residual, points), colour, shown=shown)
            yield Curve(variant.name, times, bounds, colour, dash="dash", shown=shown)


def points_of_a_curve(report: EffortReport) -> int:
    """Return how many points each curve may have."""
    curves = len(report.parts) + 2 + 2 * len(report.variants)
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


def _colours(report: EffortReport) -> tuple[str, ...]:
    return (*EARLIER[: len(report.variants) - 1], BEST)
