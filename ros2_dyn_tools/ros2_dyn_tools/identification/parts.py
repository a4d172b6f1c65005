# SPDX-License-Identifier: Apache-2.0
"""The parts of a motion: what is fitted, in contiguous folds with gaps between them, and what is kept for the test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.signals import EvenMotion

FOLDS = 6
"""Folds of the fit part; settings are chosen by what each tells about the others."""
GAP = FOLDS
"""States near the border of two folds: part of the last fit, but of no fold."""
TEST = FOLDS + 1
"""States of the test part, which no choice depends on."""
NONE = -1
"""States that are left out: the ends of a motion, which filters distort."""
GAP_TIME = 0.5
"""Time on each side of a border between two folds, s."""
FEWEST = 100
"""States that the fit part needs at least."""


class Split(NamedTuple):
    """Which states are fitted."""

    start: float = 2 / 3
    """Where the test part begins, as a share of the whole time."""
    end: float = 1.0
    """Where it ends."""
    trim: float = 0.5
    """Time that is left out at each end of a motion, s."""


def parts_of(motions: Sequence[EvenMotion], split: Split) -> list[Array]:
    """Return the part of each state: 0 to FOLDS - 1, GAP, TEST or NONE, shape (m,) for each motion.

    Several motions are taken one after the other.

    Raises:
        InputError: too little is left to fit.
    """
    starts = np.cumsum([0.0, *(motion.t[-1] - motion.t[0] for motion in motions)])
    t = np.concatenate([motion.t - motion.t[0] + start for motion, start in zip(motions, starts)])
    inside = np.concatenate([_inside(motion, split.trim) for motion in motions])
    test = inside & (t >= split.start * starts[-1]) & (t < split.end * starts[-1] + (split.end == 1.0))
    fitted = np.flatnonzero(inside & ~test)
    if len(fitted) < FEWEST:
        raise InputError("recording", f"expected at least {FEWEST} states to fit, got {len(fitted)}")
    parts = np.full(len(t), NONE)
    parts[test] = TEST
    parts[fitted] = np.arange(len(fitted)) * FOLDS // len(fitted)
    borders = t[fitted[np.searchsorted(parts[fitted], np.arange(1, FOLDS))]]
    for border in borders:
        parts[fitted[np.abs(t[fitted] - border) < GAP_TIME]] = GAP
    ends = np.cumsum([len(motion.t) for motion in motions])
    return np.split(parts, ends[:-1])


def _inside(motion: EvenMotion, trim: float) -> Array:
    return (motion.t >= motion.t[0] + trim) & (motion.t <= motion.t[-1] - trim)


def excerpts(motions: Sequence[EvenMotion], parts: Sequence[Array], longest: float) -> list[Array]:
    """Return parts with fewer states: pieces of 30 s that are spread evenly over the fit part, so that it has a length.

    Args:
        motions: the motions.
        parts: of `parts_of`.
        longest: length of what is kept of the fit part, s; what is shorter is kept whole.
    """
    step = motions[0].step
    total = step * sum(int(np.sum((part != NONE) & (part != TEST))) for part in parts)
    if total <= longest:
        return list(parts)
    every = int(np.ceil(total / longest))
    chosen = []
    for motion, part in zip(motions, parts):
        number = ((motion.t - motion.t[0]) / 30.0).astype(int)
        chosen.append(np.where((number % every == 0) & (part != TEST), part, NONE))
    return chosen
