# SPDX-License-Identifier: Apache-2.0
"""Drives: the motor and gear of each joint, which other joints may turn as well, as in the wrist of many arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import ModelError
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.spatial import Array

MAX_CONDITION = 1e6
"""Condition number of the coupling above which the drives do not move the joints one by one."""


class Drives(NamedTuple):
    """The d drives of a robot, one for each degree of freedom of each joint, at the joint's side of its gear.

    They turn at ``matrix @ qd``. By virtual work, their efforts f load the joints with ``matrix.T @ f``.
    """

    matrix: Array
    """Shape (d, n)."""
    rows: tuple[slice, ...]
    """Rows of each joint."""
    places: list[int]
    """Where in q the position of each degree of freedom is; of a joint with several, where its first number is."""
    coupling: Array
    """Rows of the joints that mimic no other, shape (n, n): the identity where no drive turns with several joints."""
    inverse: Array
    """Inverse of the coupling."""
    inertia: Array
    """Inertia matrix of the rotors, kg m^2 or kg, shape (n, n)."""
    coupled: bool
    """Whether a drive turns with several joints."""

    def efforts(self, tau: Array) -> Array:
        """Return the efforts (..., n) of the drives that give the joints' efforts (..., n)."""
        return tau @ self.inverse


def drives(joints: Sequence[Joint], q_slices: Sequence[slice], v_slices: Sequence[slice]) -> Drives:
    """Return the drives of some joints; those that are not among them, because they are locked, turn none.

    Raises:
        ModelError: a ratio is not finite, or the drives do not move the joints one by one.
    """
    n = max(where.stop for where in v_slices)
    places = {joint.name: where for joint, where in zip(joints, v_slices) if joint.mimics is None and joint.dof == 1}
    blocks, rows, first = [], [], 0
    for joint, where in zip(joints, v_slices):
        block = np.zeros((joint.dof, n))
        block[:, where] = joint.multiplier * np.eye(joint.dof)
        for name, ratio in joint.coupled:
            if name in places:
                block[:, places[name]] += ratio
        blocks.append(block)
        rows.append(slice(first, first := first + joint.dof))
    coupling = np.concatenate([block for joint, block in zip(joints, blocks) if joint.mimics is None])
    matrix, armature = np.concatenate(blocks), np.array([j.dynamics.armature for j in joints for _ in range(j.dof)])
    own = [(joint, at.start) for joint, at in zip(joints, q_slices) if joint.mimics is None]
    starts = [start for joint, start in own for _ in range(joint.dof)]
    inverse = _inverse(coupling)
    inertia = matrix.T @ (armature[:, None] * matrix)
    return Drives(matrix, tuple(rows), starts, coupling, inverse, inertia, inverse is not coupling)


def _inverse(coupling: Array) -> Array:
    if np.array_equal(coupling, np.eye(len(coupling))):
        return coupling
    if not np.all(np.isfinite(coupling)) or np.linalg.cond(coupling, 1) > MAX_CONDITION:
        raise ModelError("transmissions", "the drives that they couple do not move the joints one by one")
    return np.linalg.inv(coupling)
