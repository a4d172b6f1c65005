# SPDX-License-Identifier: Apache-2.0
"""The low-pass filter that a driver puts on the efforts before it publishes them, and the candidates for it."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn.model.spatial import Array
from ros2_dyn_tools.recording.signals import zero_phase

KINDS = {
    "none": "none",
    "first_order": "first order, with its delay",
    "zero_phase": "second order, zero phase",
}
"""Kinds of filters, in words."""


class EffortFilter(NamedTuple):
    """A low-pass filter; a model's efforts have to pass it, too, before they are compared with the driver's."""

    kind: str = "none"
    """"none", "first_order" (with its delay), or "zero_phase" (Butterworth of order 2, forwards and backwards), which
    only a recording that was filtered afterwards can have."""
    cutoff: float = inf
    """Cut-off frequency, Hz."""

    @property
    def memory(self) -> float:
        """Time after which the filter has forgotten all but a millionth of a value, s."""
        return 3.0 / self.cutoff

    @property
    def causal(self) -> EffortFilter:
        """The filter, or none if it looks ahead: an observer beside the arm cannot."""
        return EffortFilter() if self.kind == "zero_phase" else self

    def __str__(self) -> str:
        """Return the filter in words."""
        return "none" if self.kind == "none" else f"{self.cutoff:g} Hz, {KINDS[self.kind]}"

    def apply(self, values: Array, step: float) -> Array:
        """Return values at equal steps, s, shape (m, ...), through the filter."""
        if self.kind == "none":
            return values
        if self.kind == "zero_phase":
            return zero_phase(values, self.cutoff, step)
        from scipy.signal import lfilter  # here, because it takes half a second to import

        keep = np.exp(-2 * np.pi * self.cutoff * step)
        return lfilter([1 - keep], [1, -keep], values, axis=0, zi=keep * values[:1])[0]


NO_FILTER = EffortFilter()


class Conditions(NamedTuple):
    """What the efforts of a recording depend on besides the robot: how it stands, and what its driver does to them."""

    gravity: tuple[float, ...] = STANDARD_GRAVITY
    """Acceleration of free fall in the base frame, m/s^2."""
    effort_filter: EffortFilter = NO_FILTER
    """Filter that the driver puts on the efforts."""


def candidates(highest: float) -> list[EffortFilter]:
    """Return the filters that a driver may have, up to a cut-off frequency, Hz."""
    cutoffs = [f for f in (1.0, 1.2, 1.5, 1.7, 1.9, 2.2, 2.7, 3.3, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0) if f <= highest]
    delayed = [f for f in cutoffs if f in (1.0, 1.5, 2.2, 3.3, 5.0, 10.0, 20.0)]
    return [
        NO_FILTER,
        *(EffortFilter("zero_phase", f) for f in cutoffs),
        *(EffortFilter("first_order", f) for f in delayed),
    ]
