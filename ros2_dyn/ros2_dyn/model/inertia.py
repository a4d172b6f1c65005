# SPDX-License-Identifier: Apache-2.0
"""Inertia of a rigid body: mass, centre of mass and rotational inertia, with the reference point in the name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ros2_dyn.model.spatial import Array, Transform, cross, join, matvec, skew

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
"""Names of the moments of inertia, in URDF's order."""


@dataclass(frozen=True, eq=False)
class SpatialInertia:
    """Rigid-body inertia in the coordinates of some frame (RBDA 2.63).

    Books differ in the reference point of the rotational inertia. It is stored about the frame's origin here.
    """

    mass: Array
    """Mass, kg, shape ()."""
    h: Array
    """First moment of mass, mass times centre of mass, kg m, shape (..., 3)."""
    I_origin: Array
    """Rotational inertia about the frame's origin, kg m^2, shape (..., 3, 3)."""

    @classmethod
    def from_com(cls, mass: float, com: Array, I_com: Array) -> SpatialInertia:
        """Make it from the rotational inertia about the centre of mass (RBDA 2.63: I_origin = I_com - m c~ c~).

        Args:
            mass: mass, kg.
            com: centre of mass in the frame, m, shape (3,).
            I_com: rotational inertia about the centre of mass in the frame's axes, kg m^2, shape (3, 3).
        """
        c = skew(np.asarray(com, dtype=float))
        return cls(np.asarray(mass, dtype=float), mass * np.asarray(com, dtype=float), I_com - mass * c @ c)

    @classmethod
    def from_parameters(cls, parameters: Array) -> SpatialInertia:
        """Make it from inertial parameters (..., 10) in the order of `parameters`."""
        xx, xy, yy, xz, yz, zz = (parameters[..., k] for k in range(4, 10))
        rows = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        I_origin = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
        return cls(parameters[..., 0], parameters[..., 1:4], I_origin)

    @classmethod
    def zero(cls) -> SpatialInertia:
        """Return the inertia of a massless body."""
        return cls(np.zeros(()), np.zeros(3), np.zeros((3, 3)))

    @property
    def com(self) -> Array:
        """Centre of mass, m, shape (3,); the origin for a massless body."""
        return self.h / self.mass if self.mass != 0 else np.zeros(3)

    @property
    def I_com(self) -> Array:
        """Rotational inertia about the centre of mass, kg m^2, shape (3, 3)."""
        c = skew(self.com)
        return self.I_origin + self.mass * c @ c

    @property
    def parameters(self) -> Array:
        """Inertial parameters, in which forces are linear, shape (10,).

        They are m, m c (3), and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin.
        """
        I = self.I_origin
        return np.array([self.mass, *self.h, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        """Return the inertia of two bodies fixed to each other, both given in the same frame."""
        mass = np.asarray(self.mass + other.mass)
        return SpatialInertia(mass, self.h + other.h, self.I_origin + other.I_origin)

    def in_parent(self, X: Transform) -> SpatialInertia:
        """Return this inertia of frame B in the coordinates of frame A, where X is ``B_X_A`` (RBDA section 2.13)."""
        R = np.swapaxes(X.E, -1, -2)
        h = matvec(R, self.h)
        h_A = h + self.mass * X.r
        I_A = R @ self.I_origin @ X.E - skew(X.r) @ skew(h) - skew(h_A) @ skew(X.r)
        return SpatialInertia(self.mass, h_A, I_A)

    def momentum(self, v: Array) -> Array:
        """Return ``I v``, the spatial momentum (..., 6) of the body at the velocity v (..., 6) (RBDA section 2.12)."""
        w, v0 = v[..., :3], v[..., 3:]
        return join(matvec(self.I_origin, w) + cross(self.h, v0), self.mass[..., None] * v0 - cross(self.h, w))

    def force(self, v: Array, a: Array) -> Array:
        """Return ``I a + v x* I v``, the force that gives a body of velocity v the acceleration a (RBDA 5.9).

        Multiplied out, the linear velocity enters only through the classical acceleration of the frame's origin.
        """
        w, wd = v[..., :3], a[..., :3]
        acceleration = a[..., 3:] + cross(w, v[..., 3:])
        moment = matvec(self.I_origin, wd) + cross(w, matvec(self.I_origin, w)) + cross(self.h, acceleration)
        return join(moment, self.mass[..., None] * acceleration + cross(wd, self.h) + cross(w, cross(w, self.h)))

    def as_rows(self) -> SpatialInertia:
        """Return the same inertia with an axis added, to act on arrays (..., k, 6) of k vectors."""
        return SpatialInertia(self.mass[..., None], self.h[..., None, :], self.I_origin[..., None, :, :])

    def matrix(self) -> Array:
        """Return the 6x6 matrix of RBDA 2.63, shape (..., 6, 6)."""
        h = skew(self.h)
        return np.block([[self.I_origin, h], [h.T, self.mass * np.eye(3)]])
