# SPDX-License-Identifier: Apache-2.0
"""The ramp of everything that must not step: efforts, gains, payloads, springs."""

from __future__ import annotations

from math import inf
from typing import NamedTuple


class Ramp(NamedTuple):
    """A change that takes place linearly in time."""

    start: float = -inf
    """When it begins, s."""
    duration: float = 0.0
    """How long it takes, s; 0: it is a step."""

    def share(self, now: float) -> float:
        """Return the share of the change that has taken place at a time, s: from 0 to 1."""
        if now < self.start:
            return 0.0
        return (now - self.start) / self.duration if now < self.start + self.duration else 1.0
