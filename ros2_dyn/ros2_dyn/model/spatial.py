# SPDX-License-Identifier: Apache-2.0
"""Spatial vector algebra: the arithmetic of RBDA chapter 2, in the compact form of its appendix A.

A spatial vector is [angular; linear], shape (..., 6): a motion is [omega; v], a force is [n; f]. A Plücker transform
``B_X_A`` is stored as a rotation ``E`` and a position ``r`` (RBDA equation 2.24), not as a 6x6 matrix.
``E`` (..., 3, 3) turns coordinates of A into coordinates of B, ``r`` (..., 3) is B's origin in A.

Every function takes leading batch axes, and arrays of floats or of symbols.
"""

from __future__ import annotations

from math import hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]  # floats, or symbols while a kernel is traced


YZX, ZXY = np.array([1, 2, 0]), np.array([2, 0, 1])


def matvec(A: Array, x: Array) -> Array:
    """Return the product of a matrix (..., k, k) and a vector (..., k), batch axes broadcast."""
    return (A @ x[..., None])[..., 0]


def dot(a: Array, b: Array) -> Array:
    """Return the scalar product over the last axis, batch axes broadcast."""
    return (a[..., None, :] @ b[..., :, None])[..., 0, 0]


def cross(a: Array, b: Array) -> Array:
    """Return the vector product of (..., 3) and (..., 3), batch axes broadcast."""
    return a.take(YZX, -1) * b.take(ZXY, -1) - a.take(ZXY, -1) * b.take(YZX, -1)


def _matrix(*entries: Any) -> Array:
    """Return the matrix (..., 3, 3) of its nine entries (...), row by row."""
    if all(isinstance(each, float) for each in entries):  # a single matrix of numbers, in a tenth of the time
        return np.array(entries).reshape(3, 3)
    return np.stack(entries, axis=-1).reshape(*np.shape(entries[0]), 3, 3)


def _components(vectors: Array) -> list[Any]:
    """Return the components of vectors (..., k): k numbers of a single one, which is quicker, or k arrays (...)."""
    return vectors.tolist() if vectors.ndim == 1 else [vectors[..., i] for i in range(vectors.shape[-1])]


def skew(a: Array) -> Array:
    """Return the matrix (..., 3, 3) with ``skew(a) @ b == cross(a, b)``."""
    x, y, z = _components(a)
    zero = 0 * x
    return _matrix(zero, -z, y, z, zero, -x, -y, x, zero)


def clip(x: Array, low: ArrayLike, high: ArrayLike) -> Array:
    """Return numbers within bounds, in a fifth of the time of `np.clip`."""
    return np.minimum(np.maximum(x, low), high)


def join(angular: Array, linear: Array) -> Array:
    """Return the spatial vector [angular; linear] (..., 6) of its halves (..., 3)."""
    if angular.shape != linear.shape:
        angular, linear = np.broadcast_arrays(angular, linear)
    return np.concatenate([angular, linear], axis=-1)


def swap(vector: Array) -> Array:
    """Exchange the halves of vectors (..., 6): from RBDA's order to that of geometry_msgs, and back."""
    return np.concatenate([vector[..., 3:], vector[..., :3]], axis=-1)


def turn(E: Array, vectors: Array) -> Array:
    """Rotate both halves of vectors (..., 6) by a rotation (..., 3, 3)."""
    return np.concatenate([matvec(E, vectors[..., :3]), matvec(E, vectors[..., 3:])], axis=-1)


def cross_motion(v: Array, m: Array) -> Array:
    """Return ``v x m``, the rate of change of a motion m that moves with velocity v (RBDA 2.31)."""
    w, v0 = v[..., :3], v[..., 3:]
    return join(cross(w, m[..., :3]), cross(w, m[..., 3:]) + cross(v0, m[..., :3]))


def cross_force(v: Array, f: Array) -> Array:
    """Return ``v x* f``, the rate of change of a force f that moves with velocity v (RBDA 2.32)."""
    w, v0 = v[..., :3], v[..., 3:]
    return join(cross(w, f[..., :3]) + cross(v0, f[..., 3:]), cross(w, f[..., 3:]))


class Transform(NamedTuple):
    """Plücker transform ``B_X_A`` from coordinates of frame A to coordinates of frame B."""

    E: Array
    """Rotation (..., 3, 3) from A's coordinates to B's."""
    r: Array
    """Position (..., 3) of B's origin in A's coordinates, m."""

    def motion(self, m: Array) -> Array:
        """Return ``B_X_A m``, a motion m of A in coordinates of B (RBDA 2.24)."""
        return join(matvec(self.E, m[..., :3]), matvec(self.E, m[..., 3:] - cross(self.r, m[..., :3])))

    def motion_back(self, m: Array) -> Array:
        """Return ``A_X_B m``, a motion m of B in coordinates of A."""
        R = np.swapaxes(self.E, -1, -2)
        angular = matvec(R, m[..., :3])
        return join(angular, matvec(R, m[..., 3:]) + cross(self.r, angular))

    def force_back(self, f: Array) -> Array:
        """Return ``A_X_B* f = (B_X_A)^T f``, a force f of B in coordinates of A (RBDA Table 5.1, last line)."""
        R = np.swapaxes(self.E, -1, -2)
        linear = matvec(R, f[..., 3:])
        return join(matvec(R, f[..., :3]) + cross(self.r, linear), linear)

    def matrix(self) -> Array:
        """Return the matrix of ``B_X_A`` (..., 6, 6) for motions; its transpose takes forces of B to A (RBDA 2.24)."""
        E, r = np.broadcast_arrays(self.E, skew(self.r))
        zero = 0 * E
        return np.concatenate(
            [np.concatenate([E, zero], axis=-1), np.concatenate([-E @ r, E], axis=-1)],
            axis=-2,
        )

    def dyadic_back(self, A: Array) -> Array:
        """Return ``X^T A X``: a matrix (..., 6, 6) from motions to forces, such as an inertia, from B to A."""
        X = self.matrix()
        return np.swapaxes(X, -1, -2) @ A @ X

    def as_rows(self) -> Transform:
        """Return the same transform with an axis added, to act on arrays (..., k, 6) of k vectors."""
        return Transform(self.E[..., None, :, :], self.r[..., None, :])

    def after(self, first: Transform) -> Transform:
        """Return ``C_X_A = C_X_B B_X_A``: this transform (C_X_B) after `first` (B_X_A)."""
        R = np.swapaxes(first.E, -1, -2)
        return Transform(self.E @ first.E, first.r + matvec(R, self.r))


def identity_transform() -> Transform:
    """Return the transform of a frame to itself."""
    return Transform(np.eye(3), np.zeros(3))


def rotation_from_rpy(rpy: Array) -> Array:
    """Return the rotation (3, 3) of URDF's fixed-axis roll, pitch and yaw, rad, from child coordinates to the parent's.

    Entries that are zero up to rounding (for example for a pitch of pi/2) are set to zero, so that they fold away.
    """
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    Rz = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    R = Rz @ Ry @ Rx
    return np.where(np.abs(R) < 1e-15, 0.0, R)


def rotation_from_quaternion(quaternion: Array) -> Array:
    """Return the rotation (..., 3, 3), child to parent coordinates, of a unit quaternion [x, y, z, w] (..., 4)."""
    x, y, z, w = _components(quaternion)
    return _matrix(
        *(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        *(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        *(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def quaternion_from_rotation(R: Array) -> Array:
    """Return the unit quaternion [x, y, z, w] (4,) of a rotation (3, 3), with w >= 0.

    Each row of the matrix is a multiple of the quaternion; the largest is exact also for half turns (Shepperd 1978).
    """
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    rows = (
        (1 + a - e - i, b + d, c + g, h - f),
        (b + d, 1 - a + e - i, f + h, c - g),
        (c + g, f + h, 1 - a - e + i, d - b),
        (h - f, c - g, d - b, 1 + a + e + i),
    )
    row = max(rows, key=lambda each: hypot(*each))
    length = hypot(*row) if row[3] >= 0 else -hypot(*row)
    return np.array([x / length for x in row])
