# SPDX-License-Identifier: Apache-2.0
"""Cartesian impedance: the tip hangs on a spring and a damper (Hogan 1985; Ott 2008).

    tau = g + J^T (f + F) - D qd + M qdd_posture

The spring has the potential ``V = x^T K x / 2`` of the tip's displacement x, a vector of length and twice the vector
part of a unit quaternion (Caccavale et al. 1999). No inverse of J is needed, so that singularities do not matter.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.control.arm_state import ArmState
from ros2_dyn.control.force_control import tip_part
from ros2_dyn.model.spatial import Array, clip, quaternion_from_rotation, skew


class Displacement(NamedTuple):
    """Where a tip is, seen from where its spring is at rest."""

    x: Array
    """[linear; angular] in base axes, m and about rad, shape (6,): the way, and twice the quaternion's vector part."""
    rates: Array
    """``dx / dt`` for each component of the tip's velocity [linear; angular], shape (6, 6)."""

    def wrench(self, K: Array) -> Array:
        """Return [force; moment] of a spring of stiffness K (6, 6) on the tip, in base axes, N and N m, shape (6,)."""
        return -self.rates.T @ (K @ self.x)

    def energy(self, K: Array) -> float:
        """Return the potential of a spring of stiffness K (6, 6), J."""
        return float(self.x @ K @ self.x) / 2


def displacement(pose: Array, rest: Array) -> Displacement:
    """Return the displacement of a tip.

    Args:
        pose: of the tip in the base frame, homogeneous, shape (4, 4).
        rest: pose where the spring is at rest, shape (4, 4).
    """
    quaternion, rates = quaternion_from_rotation(pose[:3, :3] @ rest[:3, :3].T), np.eye(6)
    epsilon = quaternion[:3]
    rates[3:, 3:] = quaternion[3] * np.eye(3) - skew(epsilon)
    return Displacement(np.concatenate([pose[:3, 3] - rest[:3, 3], 2 * epsilon]), rates)


def stiffness_matrix(stiffness: ArrayLike, R: Array) -> Array:
    """Return a stiffness in base axes, shape (6, 6).

    Args:
        stiffness: along the axes of a frame and about them, N/m and N m/rad, shape (6,).
        R: rotation of that frame in the base frame, shape (3, 3).
    """
    k, K = np.asarray(stiffness, dtype=float), np.zeros((6, 6))
    K[:3, :3], K[3:, 3:] = (R * k[:3]) @ R.T, (R * k[3:]) @ R.T
    return K


def bounded_stiffness(state: ArmState, K: Array, bandwidth: float) -> Array:
    """Return a stiffness on which no motion of the arm is faster than a bandwidth.

    The linear and the angular part are reduced each for itself, to half of ``bandwidth^2`` at most, where their sum
    could be faster: the largest eigenvalue of a sum is at most the sum of the largest.

    Args:
        state: state of the arm.
        K: stiffness, shape (6, 6), without coupling of both parts.
        bandwidth: rad/s.
    """
    parts, most = (slice(3), slice(3, 6)), bandwidth**2
    squares = np.array([state.mobility[part, part] @ K[part, part] for part in parts])
    if np.trace(squares.sum(axis=0)) <= most:  # no eigenvalue is negative: each is at most their sum
        return K
    fastest = np.linalg.eigvals(squares).real.max(axis=-1).tolist()
    if sum(fastest) <= most:
        return K
    bounded = K.copy()
    for part, squared in zip(parts, fastest):
        bounded[part, part] *= min(1.0, most / 2 / squared) if squared > 0 else 1.0
    return bounded


def damping_matrix(state: ArmState, K: Array, least: float, most: float) -> Array:
    """Return the joint damping D (n, n) of an arm on a spring: twice the geometric mean of M and J^T K J.

    This is double diagonalisation (Albu-Schäffer et al. 2003) in joint space, where it needs no inverse of J: each
    motion with ``J^T K J u = omega^2 M u`` is damped at the rate ``2 omega``.

    Args:
        state: state of the arm.
        K: stiffness times the damping ratios of its rows and columns, shape (6, 6): 1 is critical damping.
        least: rate of motions on which the spring does not act, 1/s, and of all that would be damped less.
        most: largest rate, 1/s.
    """
    A = state.scaled_jacobian
    squared, U = np.linalg.eigh(A.T @ K @ A)
    LU = state.root @ U
    return (LU * clip(2 * np.sqrt(np.maximum(squared, 0.0)), min(least, most), most)) @ LU.T


def posture_acceleration(state: ArmState, q_posture: ArrayLike, bandwidth: float) -> Array:
    """Return the acceleration towards a posture that does not accelerate the tip, rad/s^2 or m/s^2, shape (n,).

    Args:
        state: state of the arm.
        q_posture: joint positions, rad or m, shape (n,).
        bandwidth: of that motion, rad/s.
    """
    wanted = bandwidth**2 * (np.asarray(q_posture, dtype=float) - state.q)
    return wanted - tip_part(state, wanted)
