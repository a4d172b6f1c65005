# SPDX-License-Identifier: Apache-2.0
"""Singularities: lost directions of motion, at the boundary of the workspace or inside it (Craig 5.8)."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors, vector
from ros2_dyn.dynamics.kinematics import jacobian, jacobian_dot
from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

Kind = Literal["regular", "boundary", "interior"]
NEAR_SINGULARITY = 0.02
"""Singular value of a tip's Jacobian below which an arm is near a singularity; rows in m and rad."""
DIRECTIONS = 256
"""Number of directions that are tested where several are lost at once."""


class Singularity(NamedTuple):
    """Kind of singularity at a q."""

    kind: Kind
    """Kind: regular (no singularity), boundary or interior."""
    lost: Array
    """Directions [linear; angular] in which the link can move at other q, but not here.

    They are orthonormal rows in the base's axes, shape (k, 6), with k = 0 where q is regular.
    """
    singular_values: Array
    """Singular values of the Jacobian's rows of the task, the largest first."""


def singular_values(J: ArrayLike) -> Array:
    """Return the singular values of a Jacobian (..., 6, n), the largest first, shape (..., min(6, n)).

    Lengths in m and angles in rad have the same weight.
    """
    return np.linalg.svd(np.asarray(J, dtype=float), compute_uv=False)


def manipulability(J: ArrayLike) -> Array:
    """Return Yoshikawa's (1985) ``sqrt(det(J J^T))``, the product of the singular values, shape (...).

    For n < 6 it is ``sqrt(det(J^T J))``.
    """
    return np.prod(singular_values(J), axis=-1)


def singularity(
    model: RobotModel,
    q: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    task: Literal["pose", "position", "orientation"] = "pose",
    *,
    tolerance: float = 1e-6,
) -> Singularity:
    """Compare the Jacobian's rank at q with its rank elsewhere; return the lost directions and the kind of singularity.

    At a boundary singularity the arm is stretched out or folded. In some lost direction, every joint motion that does
    not move the link at first order moves it to the same side at second order, or not at all. At an interior
    singularity joint axes are aligned: such motions move the link to both sides, or not at all.

    The test uses second order only, and is local to the branch of the inverse kinematics: a boundary for one side of
    the elbow may be inside the workspace of the other.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (nq,).
        link: the link that the point is fixed to; `model.default_tip` for None.
        point: the point in that link's frame, m, shape (3,); the link's origin for None.
        task: part of the link's motion that is considered.
        tolerance: a singular value counts as zero below this, or this times the largest.

    Raises:
        InputError: a shape is wrong, a value is not finite, the task is unknown or the robot has no such link.
    """
    tasks = {"pose": slice(0, 6), "position": slice(0, 3), "orientation": slice(3, 6)}
    if task not in tasks:
        raise InputError("task", f"expected one of {', '.join(tasks)}; got '{task}'")
    (q,) = joint_vectors(model, q=vector("q", q, model.nq).reshape(model.nq))
    rows = tasks[task]
    U, sigma, Vt = np.linalg.svd(jacobian(model, q, link, point)[rows])
    rank = _rank(sigma, tolerance)
    elsewhere = [jacobian(model, _anywhere(model, seed), link, point)[rows] for seed in range(8)]
    if rank == max(_rank(np.linalg.svd(J, compute_uv=False), tolerance) for J in elsewhere):
        return Singularity("regular", np.zeros((0, 6)), sigma)
    directions = _moved_elsewhere(U[:, rank:].T, elsewhere)
    lost = np.zeros((len(directions), 6))
    lost[:, rows] = directions
    forms = [_second_order(model, q, Vt[rank:], u, link, point=point) for u in lost]
    kind: Kind = "boundary" if _one_sided(np.array(forms), tolerance) else "interior"
    return Singularity(kind, lost, sigma)


def _rank(sigma: Array, tolerance: float) -> int:
    return int(np.sum(sigma > tolerance * max(1.0, sigma[0])))


def _anywhere(model: RobotModel, seed: int) -> Array:
    """Return a random q; planar and floating joints, whose Jacobians have full rank anywhere, are neutral."""
    q = model.neutral
    angles = np.random.default_rng(seed).uniform(-np.pi, np.pi, size=model.nq)
    for joint, where in zip(model.joints, model.q_slices):
        q[where] = angles[where] if joint.dof == 1 else q[where]
    return q


def _moved_elsewhere(lost: Array, elsewhere: list[Array]) -> Array:
    """Return those lost directions in which the link can move at other q; a planar arm never leaves its plane."""
    moves = sum(lost @ J @ J.T @ lost.T for J in elsewhere)
    strength, directions = np.linalg.eigh(moves)
    return directions[:, strength > 1e-9 * strength[-1]].T @ lost


def _second_order(
    model: RobotModel, q: Array, null: Array, u: Array, link: str | None, *, point: ArrayLike | None
) -> Array:
    """Return the quadratic form of the second-order motion along u by joint velocities in the null space.

    It is ``u . Jdot(q, n) n`` for a velocity n. Its symmetric matrix follows from its values for the rows of `null` and
    for their pairwise sums.
    """

    def along(n: Array) -> float:
        return float(u @ (jacobian_dot(model, q, n, link, point) @ n))

    single = [along(n) for n in null]
    k = len(null)
    pairs = [[along(null[i] + null[j]) - single[i] - single[j] for j in range(k)] for i in range(k)]
    return np.array(pairs).reshape(k, k) / 2


def _one_sided(forms: Array, tolerance: float) -> bool:
    """Return whether some linear combination of the forms (k, m, m) is nonzero and nonnegative everywhere."""
    flat = forms.reshape(len(forms), -1)
    _, sizes, combinations = np.linalg.svd(flat.T, full_matrices=False)
    combinations = combinations[sizes > tolerance]
    if not len(combinations):
        return False  # the link does not move
    forms = np.einsum("ck,kij->cij", combinations, forms)
    rng = np.random.default_rng(0)
    tries = [[1.0]] if len(forms) == 1 else rng.normal(size=(DIRECTIONS, len(forms)))
    for weights in np.concatenate([np.eye(len(forms)), tries]):
        values = np.linalg.eigvalsh(np.einsum("c,cij->ij", weights, forms))
        largest = np.max(np.abs(values))
        if np.all(values > -tolerance * largest) or np.all(values < tolerance * largest):
            return True
    return False
