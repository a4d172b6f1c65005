# SPDX-License-Identifier: Apache-2.0
"""Tracking: the model's effort for the desired motion plus a joint PD (Craig 10.3 and 10.4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.model.spatial import Array


def joint_pd(
    q: ArrayLike, qd: ArrayLike, q_d: ArrayLike, qd_d: ArrayLike, *, stiffness: ArrayLike, damping: ArrayLike
) -> Array:
    """Return ``stiffness (q_d - q) + damping (qd_d - qd)`` for each joint.

    It has two uses. Added to the effort of the desired motion (`rnea` at q_d, qd_d and qdd_d) it gives feed-forward
    with a joint PD; gains are in N m/rad and N m s/rad. Added to the desired acceleration (then `rnea` at the measured
    q and qd) it gives computed torque; gains are in 1/s^2 and 1/s, and with an exact model the errors of all joints
    decay independently.

    Args:
        q: measured positions, rad or m, shape (n,).
        qd: measured velocities, rad/s or m/s, shape (n,).
        q_d: desired positions, shape (n,).
        qd_d: desired velocities, shape (n,).
        stiffness: gain of the position error, one for each joint or one for all, shape (n,) or ().
        damping: gain of the velocity error, one for each joint or one for all, shape (n,) or ().

    Returns:
        An effort or an acceleration, shape (n,).
    """
    q, qd, q_d, qd_d = (np.asarray(x, dtype=float) for x in (q, qd, q_d, qd_d))
    return np.asarray(stiffness) * (q_d - q) + np.asarray(damping) * (qd_d - qd)
