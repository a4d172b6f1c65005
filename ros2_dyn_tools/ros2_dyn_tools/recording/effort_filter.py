# SPDX-License-Identifier: Apache-2.0
"""The driver's low-pass filter of efforts, applied to a model's efforts, and the candidates for it."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model import EffortFilter
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.signals import zero_phase


def through(effort_filter: EffortFilter, values: Array, step: float) -> Array:
    """Return values at equal steps, s, shape (m, ...), through a filter."""
    if effort_filter.kind == "none":
        return values
    if effort_filter.kind == "zero_phase":
        return zero_phase(values, effort_filter.cutoff, step)
    from scipy.signal import lfilter  # here, because it takes half a second to import

    keep = np.exp(-2 * np.pi * effort_filter.cutoff * step)
    return lfilter([1 - keep], [1, -keep], values, axis=0, zi=keep * values[:1])[0]


def candidates(highest: float) -> list[EffortFilter]:
    """Return the filters that a driver may have, up to a cut-off frequency, Hz."""
    cutoffs = [f for f in (1.0, 1.2, 1.5, 1.7, 1.9, 2.2, 2.7, 3.3, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0) if f <= highest]
    delayed = [f for f in cutoffs if f in (1.0, 1.5, 2.2, 3.3, 5.0, 10.0, 20.0)]
    return [
        EffortFilter(),
        *(EffortFilter("zero_phase", f) for f in cutoffs),
        *(EffortFilter("first_order", f) for f in delayed),
    ]
