# SPDX-License-Identifier: Apache-2.0
"""Gains that are tried, and the best of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ros2_dyn.model.spatial import Array

SIZES = np.geomspace(1e-3, 1e3, 121)
SCALES: Array = np.concatenate([[1.0, -1.0], SIZES, -SIZES])
"""Factors of an effort: none and the other sign first, then any."""
FINE: Array = np.geomspace(1 / 1.15, 1.15, 29)
"""Factors between two of the `SIZES`."""


def best_of(scores: Callable[[Array], Array], scales: Array) -> tuple[float, float]:
    """Return the best scale and its score."""
    values = scores(scales)
    best = int(np.argmax(values))
    return float(scales[best]), float(values[best])
