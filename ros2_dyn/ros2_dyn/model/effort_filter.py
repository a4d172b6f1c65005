# SPDX-License-Identifier: Apache-2.0
"""The low-pass filter that a driver puts on the efforts before it publishes them."""

from __future__ import annotations

from math import inf, isfinite
from typing import NamedTuple

from ros2_dyn.errors import InputError

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

    def __str__(self) -> str:
        """Return the filter in words."""
        return "none" if self.kind == "none" else f"{self.cutoff:g} Hz, {KINDS[self.kind]}"


NO_FILTER = EffortFilter()


def checked_filter(kind: str, cutoff: float) -> EffortFilter:
    """Return a filter.

    Raises:
        InputError: there is no such kind, or the cut-off is no positive frequency.
    """
    if kind not in KINDS:
        raise InputError("effort_filter: kind", f"expected one of {', '.join(KINDS)}, got '{kind}'")
    if kind == "none":
        return NO_FILTER
    if not (isfinite(cutoff) and cutoff > 0):
        raise InputError("effort_filter: cutoff", f"expected a positive frequency in Hz, got {cutoff}")
    return EffortFilter(kind, cutoff)
