# SPDX-License-Identifier: Apache-2.0
"""What an observer makes of an external effort that sets in and stays."""

from __future__ import annotations

from functools import lru_cache
from math import pi

import numpy as np

from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn_tools.recording.signals import zero_phase

STEPS = 40
"""Steps within a time constant, where there is no closed form."""


def step_response(since: Array, bandwidth: float, effort_filter: EffortFilter = NO_FILTER) -> Array:
    """Return the residual of an observer after a step of external effort as a share of its height.

    Args:
        since: times since the step, s.
        bandwidth: bandwidth of the observer, 1/s.
        effort_filter: filter of the driver, which the observer puts on the model, too. Behind one that looks ahead,
            the residual rises before the step.
    """
    if effort_filter.kind == "zero_phase":
        return np.interp(since, *_behind_zero_phase(bandwidth, effort_filter))
    K, t = bandwidth, np.maximum(since, 0.0)
    if effort_filter.kind == "none":
        return 1 - np.exp(-K * t)
    w = 2 * pi * effort_filter.cutoff
    w = w if abs(w - K) > 1e-6 * K else w * (1 + 1e-6)  # the limit of equal poles, to six digits
    return 1 - (w * np.exp(-K * t) - K * np.exp(-w * t)) / (w - K)


@lru_cache(maxsize=8)
def _behind_zero_phase(bandwidth: float, effort_filter: EffortFilter) -> tuple[Array, Array]:
    """Return times around a step, s, and the response at them."""
    from scipy.signal import lfilter  # here, because it takes half a second to import

    memory = effort_filter.memory + 10 / bandwidth
    step = min(1 / bandwidth, 1 / (2 * pi * effort_filter.cutoff)) / STEPS
    t = step * np.arange(-int(memory / step), int(memory / step) + 1)
    passed = zero_phase(np.heaviside(t, 0.5), effort_filter.cutoff, step)
    keep = np.exp(-bandwidth * step)
    return t, lfilter([1 - keep], [1, -keep], passed)
