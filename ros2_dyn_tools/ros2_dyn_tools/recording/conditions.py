# SPDX-License-Identifier: Apache-2.0
"""What the efforts of a recording depend on besides the robot: how it stands, and what its driver does to them."""

from __future__ import annotations

from typing import NamedTuple

from ros2_dyn.dynamics.inputs import STANDARD_GRAVITY
from ros2_dyn_tools.recording.effort_filter import NO_FILTER, EffortFilter


class Conditions(NamedTuple):
    """Conditions of a recording."""

    gravity: tuple[float, ...] = STANDARD_GRAVITY
    """Acceleration of free fall in the base frame, m/s^2."""
    effort_filter: EffortFilter = NO_FILTER
    """Filter that the driver puts on the efforts."""
