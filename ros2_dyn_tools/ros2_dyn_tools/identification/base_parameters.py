# SPDX-License-Identifier: Apache-2.0
"""The combinations of parameters that efforts depend on, by a QR decomposition of the regressor.

Gautier, Numerical calculation of the base inertial parameters of robots (1991); Khalil and Dombre 2002, 9.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics import regressor
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

INERTIAL = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
"""Names of a body's parameters, in the order of `inertial_parameters`."""
DEPENDENT = 1e-5
"""Distance of a column from the span of those before it, as a fraction of its norm, up to which it depends on them.

Also the norm, as a fraction of the largest, up to which a column is zero. Angles in descriptions are rounded: 1.5708.
"""
STATES_PER_PARAMETER = 3
SEED = 1


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters beta = B @ pi of standard parameters pi, so that ``Y @ pi = Y[:, independent] @ beta``."""

    names: tuple[str, ...]
    """Names of the standard parameters, p of them."""
    independent: Array
    """Indices of the standard parameters whose columns are independent, shape (r,); the others are added to them."""
    B: Array
    """The combinations, shape (r, p); the identity in the independent columns."""

    def __len__(self) -> int:
        """Return the number of base parameters."""
        return len(self.independent)

    def of(self, standard: ArrayLike) -> Array:
        """Return the base parameters, shape (..., r), of standard parameters, shape (..., p)."""
        return np.asarray(standard) @ self.B.T

    def columns(self, Y: Array) -> Array:
        """Return the regressor of the base parameters, shape (..., r), of one of standard parameters, (..., p)."""
        return Y[..., self.independent]

    def combinations(self) -> tuple[str, ...]:
        """Return each base parameter in words, such as "forearm_link.mx + 0.612 wrist_1_link.m"."""
        return tuple(self._in_words(k) for k in range(len(self)))

    def _in_words(self, k: int) -> str:
        first = int(self.independent[k])
        others = [i for i in np.flatnonzero(np.abs(self.B[k]) > 1e-6) if i != first]
        terms = "".join(f" {'-' if self.B[k, i] < 0 else '+'} {_factor(self.B[k, i])}{self.names[i]}" for i in others)
        return self.names[first] + terms


def _factor(value: float) -> str:
    """Return a factor in a product, empty for 1."""
    return "" if abs(abs(value) - 1) < 1e-6 else f"{abs(value):.4g} "


def base_of(Y: Array, names: Sequence[str]) -> BaseParameters:
    """Return the base parameters of a regressor.

    Columns are taken in their order: one that depends on the columns before it is added to them. For bodies from the
    base outwards it is the choice of Khalil and Dombre: what a body can hand to the body before it, it does.

    Args:
        Y: the regressor in at least as many rows as columns, of states that excite all that can be, shape (..., p).
        names: names of the columns.

    Raises:
        InputError: there are too few rows.
    """
    Y = Y.reshape(-1, Y.shape[-1])
    if len(Y) < len(names):
        raise InputError("Y", f"expected at least {len(names)} rows, as many as parameters, got {len(Y)}")
    norms = np.linalg.norm(Y, axis=0)
    visible = norms > DEPENDENT * np.max(norms, initial=0.0)
    scale = np.where(visible, norms, 1.0)
    independent = _independent(Y / scale * visible)
    others = np.setdiff1d(np.arange(len(names)), independent)
    # Pivots found, columns are ordered: Y[:, independent] = Q R1, Y[:, others] = Q R2, so the others are R1^-1 R2.
    Q, R1 = np.linalg.qr(Y[:, independent] / scale[independent])
    weights = np.linalg.solve(R1, Q.T @ (Y[:, others] / scale[others]))
    B = np.zeros((len(independent), len(names)))
    B[:, independent] = np.eye(len(independent))
    B[:, others] = weights * scale[others] / scale[independent, None]
    B[np.abs(B) < 1e-9] = 0.0
    return BaseParameters(tuple(names), independent, B)


def _independent(Y: Array) -> Array:
    """Return the indices of columns of norm 1 or 0 that do not depend on those before them, by Householder steps."""
    R, rank, found = Y.copy(), 0, []
    for k in range(R.shape[1]):
        distance = float(np.linalg.norm(R[rank:, k]))
        if distance < DEPENDENT:
            continue
        found.append(k)
        mirror = R[rank:, k].copy()
        mirror[0] += np.copysign(distance, mirror[0])
        mirror /= np.linalg.norm(mirror)
        R[rank:, k:] -= 2.0 * np.outer(mirror, mirror @ R[rank:, k:])
        rank += 1
    return np.array(found, dtype=int)


def inertial_names(model: RobotModel) -> tuple[str, ...]:
    """Return the names of `inertial_parameters`: link and parameter."""
    return tuple(f"{link}.{name}" for link in model.child_links for name in INERTIAL)


def base_parameters(model: RobotModel, gravity: ArrayLike | None = None) -> BaseParameters:
    """Return the base inertial parameters of a robot.

    Args:
        model: the robot; only its kinematics are used.
        gravity: acceleration of free fall in the base frame, m/s^2, shape (3,); [0, 0, -9.81] for None.
    """
    names = inertial_names(model)
    return base_of(regressor(model, *random_states(model, STATES_PER_PARAMETER * len(names)), gravity), names)


def random_states(model: RobotModel, rows: int, seed: int = SEED) -> tuple[Array, Array, Array]:
    """Return random q, shape (m, nq), and qd and qdd, shape (m, n), whose efforts are at least so many numbers."""
    rng = np.random.default_rng(seed)
    m = rows // model.n + 1
    q = rng.uniform(-np.pi, np.pi, size=(m, model.nq))
    for joint, where in zip(model.joints, model.q_slices):
        if joint.dof > 1:  # the last numbers are a rotation
            rotation = q[:, where][:, 3 if joint.type == "floating" else 2 :]
            rotation /= np.linalg.norm(rotation, axis=1, keepdims=True)
    qd, qdd = rng.uniform(-3, 3, size=(2, m, model.n))
    return q, qd, qdd
