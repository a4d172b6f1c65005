# SPDX-License-Identifier: Apache-2.0
"""Factor and solve symmetric positive-definite systems: ``H = L^T D L`` (RBDA section 6.5, Table 6.3)."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model.spatial import Array


def solve(H: Array, b: Array) -> Array:
    """Return ``H^-1 b`` for symmetric positive-definite matrices, without branches on values, so that it can be traced.

    The factorisation goes from the last row to the first, as in RBDA. Entries of a mass matrix that are zero because
    two joints are on different branches of the tree stay zero.

    Args:
        H: shape (..., n, n).
        b: shape (..., n, m).

    Returns:
        Shape (..., n, m).
    """
    n = H.shape[-1]
    rows = [[H[..., i, j, None] for j in range(i + 1)] for i in range(n)]  # becomes L below the diagonal, D on it
    for k in reversed(range(n)):
        for i in reversed(range(k)):
            scaled = rows[k][i] / rows[k][k]
            for j in range(i + 1):
                rows[i][j] = rows[i][j] - scaled * rows[k][j]
            rows[k][i] = scaled
    batch = np.broadcast_shapes(H.shape[:-2], b.shape[:-2])
    x = [np.broadcast_to(b[..., i, :], (*batch, b.shape[-1])) for i in range(n)]
    for i in reversed(range(n)):  # L^T y = b
        for j in range(i):
            x[j] = x[j] - rows[i][j] * x[i]
    x = [x_i / rows[i][i] for i, x_i in enumerate(x)]
    for i in range(n):  # L x = y
        for j in range(i):
            x[i] = x[i] - rows[i][j] * x[j]
    return np.stack(x, axis=-2)
