"""Where a robot loses a direction of motion, and whether it stands at an edge of what it can reach (Craig 5.8)."""

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
DIRECTIONS = 256
"""Directions that are tried where several are lost at once."""


class Singularity(NamedTuple):
    """What kind of place a q is."""

    kind: Kind
    lost: Array
    """Directions [linear; angular] in which the link cannot move, though it can elsewhere: orthonormal rows in the
    base's axes, shape (k, 6); none if q is regular."""
    singular_values: Array
    """Of the Jacobian's rows that count, the largest first."""


def singular_values(J: ArrayLike) -> Array:
    """The singular values of a Jacobian (..., 6, n), the largest first, shape (..., min(6, n)).

    Lengths in m and angles in rad count alike.
    """
    return np.linalg.svd(np.asarray(J, dtype=float), compute_uv=False)


def manipulability(J: ArrayLike) -> Array:
    """``sqrt(det(J J^T))`` (Yoshikawa 1985), of J^T J where n < 6: the product of the singular values, shape (...)."""
    return np.prod(singular_values(J), axis=-1)


def singularity(
    model: RobotModel,
    q: ArrayLike,
    link: str | None = None,
    point: ArrayLike | None = None,
    task: Literal["pose", "position", "orientation"] = "pose",
    tolerance: float = 1e-6,
) -> Singularity:
    """Whether the Jacobian has less rank at q than elsewhere, which directions are lost, and of which kind q is.

    A boundary singularity is one of an arm stretched out or folded: in some lost direction every motion of the joints
    that does not move the link at first moves it, at second order, to the same side or not at all. An interior one is
    one of joint axes that line up: such motions lead to both sides, or the joints turn while the link stays. This is
    decided by the second order alone, and for the pose of the arm at hand: an edge of what it reaches without leaving
    its elbow's side may lie inside what it reaches with the elbow elsewhere.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (nq,).
        link: the link that the point is fixed to; `model.default_tip` for None.
        point: the point in that link's frame, m, shape (3,); the link's origin for None.
        task: what of the link's motion counts.
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
    forms = [_second_order(model, q, Vt[rank:], u, link, point) for u in lost]
    kind: Kind = "boundary" if _one_sided(np.array(forms), tolerance) else "interior"
    return Singularity(kind, lost, sigma)


def _rank(sigma: Array, tolerance: float) -> int:
    return int(np.sum(sigma > tolerance * max(1.0, sigma[0])))


def _anywhere(model: RobotModel, seed: int) -> Array:
    """A random q; planar and floating joints, whose Jacobians have full rank anywhere, are neutral."""
    q = model.neutral
    angles = np.random.default_rng(seed).uniform(-np.pi, np.pi, size=model.nq)
    for joint, where in zip(model.joints, model.q_slices):
        q[where] = angles[where] if joint.dof == 1 else q[where]
    return q


def _moved_elsewhere(lost: Array, elsewhere: list[Array]) -> Array:
    """Those of the directions in which the link moves somewhere: a planar arm leaves its plane nowhere."""
    moves = sum(lost @ J @ J.T @ lost.T for J in elsewhere)
    strength, directions = np.linalg.eigh(moves)
    return directions[:, strength > 1e-9 * strength[-1]].T @ lost


def _second_order(
    model: RobotModel, q: Array, null: Array, u: Array, link: str | None, point: ArrayLike | None
) -> Array:
    """The quadratic form of how far joint velocities in the null space, given as rows, lead along u at second order.

    It is ``u . Jdot(q, n) n`` for a velocity n, and its symmetric matrix follows from sums and single ones.
    """

    def along(n: Array) -> float:
        return float(u @ (jacobian_dot(model, q, n, link, point) @ n))

    single = [along(n) for n in null]
    k = len(null)
    pairs = [[along(null[i] + null[j]) - single[i] - single[j] for j in range(k)] for i in range(k)]
    return np.array(pairs).reshape(k, k) / 2


def _one_sided(forms: Array, tolerance: float) -> bool:
    """Whether some combination of the forms (k, m, m) is not zero and nowhere negative."""
    flat = forms.reshape(len(forms), -1)
    _, sizes, combinations = np.linalg.svd(flat.T, full_matrices=False)
    combinations = combinations[sizes > tolerance]
    if not len(combinations):
        return False  # the link stays where it is
    forms = np.einsum("ck,kij->cij", combinations, forms)
    rng = np.random.default_rng(0)
    tries = [[1.0]] if len(forms) == 1 else rng.normal(size=(DIRECTIONS, len(forms)))
    for weights in np.concatenate([np.eye(len(forms)), tries]):
        values = np.linalg.eigvalsh(np.einsum("c,cij->ij", weights, forms))
        largest = np.max(np.abs(values))
        if np.all(values > -tolerance * largest) or np.all(values < tolerance * largest):
            return True
    return False
