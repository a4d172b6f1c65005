"""Maxwell-slip elements: springs between a joint and its housing that slip (Al-Bender et al. 2005)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ros2_dyn.model.spatial import Array


def presliding(q: Array, distances: Sequence[float]) -> Array:
    """Return the effort of each element as a share of that at which it slips, -1 to 1, shape (m, n, k).

    Args:
        q: joint positions, rad or m, shape (m, n); the elements are relaxed at the first one.
        distances: displacements at which the elements slip, rad or m, shape (k,).
    """
    limits = np.asarray(distances, dtype=float)
    z = np.zeros((*q.shape, len(limits)))
    if len(limits):
        moves = np.diff(q, axis=0)[..., None]
        for before, after, move in zip(z[:-1], z[1:], moves):
            np.add(before, move, out=after)
            np.minimum(after, limits, out=after)
            np.maximum(after, -limits, out=after)
        z /= limits
    return z
