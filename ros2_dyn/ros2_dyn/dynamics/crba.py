# SPDX-License-Identifier: Apache-2.0
"""Joint-space inertia matrix: the composite-rigid-body algorithm (RBDA section 6.2, Table 6.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.recursions import joint_transforms, zeros
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array


def mass_matrix(model: RobotModel, q: ArrayLike) -> Array:
    """Return the joint-space inertia matrix ``M(q)`` (RBDA's H), symmetric and positive definite.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., nq).

    Returns:
        Shape (..., n, n); kg m^2, kg m or kg, by the types of the two joints.

    Raises:
        InputError: the shape is wrong or a value is not finite.
    """
    (q,) = joint_vectors(model, q=q)
    X = joint_transforms(model, q)

    # Inwards: the composite inertia of each body and its descendants, as if their joints were locked.
    I_c = list(model.inertia)
    for i in reversed(range(len(model.joints))):
        if model.lambda_[i] != BASE:
            I_c[model.lambda_[i]] = I_c[model.lambda_[i]] + I_c[i].in_parent(X[i])

    # The forces that accelerate the composite body i, one per row, give row i of M for the joints j that support it.
    M = zeros((model.n, model.n), q) + model.drives.inertia
    for i, joint in enumerate(model.joints):
        F = I_c[i].as_rows().momentum(joint.S.T)
        j, rows = i, model.v_slices[i]
        M[..., rows, rows] += F @ joint.S
        while model.lambda_[j] != BASE:
            F = X[j].as_rows().force_back(F)
            j = model.lambda_[j]
            columns, block = model.v_slices[j], F @ model.joints[j].S
            M[..., rows, columns] += block
            M[..., columns, rows] += np.swapaxes(block, -1, -2)
    return M
