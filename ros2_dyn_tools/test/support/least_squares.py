# SPDX-License-Identifier: Apache-2.0
"""The normal equations of a few states, which a fit of the identification solves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model.spatial import Array


def weighted(columns: Array, efforts: Array, deviations: Sequence[float]) -> tuple[Array, Array]:
    """Return ``A' A`` and ``A' b`` of columns (m, n, p) and efforts (m, n), by the deviations of the joints, (n,)."""
    weights = 1.0 / np.asarray(deviations)
    A = (columns * weights[:, None]).reshape(-1, columns.shape[-1])
    return A.T @ A, A.T @ (efforts * weights).ravel()
