"""The joint-space inertia matrix: the composite-rigid-body algorithm (RBDA section 6.2, Table 6.2)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ros2_dyn.dynamics.inputs import joint_vectors
from ros2_dyn.dynamics.passes import joint_transforms, stack_matrix
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, dot


def mass_matrix(model: RobotModel, q: ArrayLike) -> Array:
    """The joint-space inertia matrix ``M(q)`` (RBDA's H), symmetric and positive definite.

    Args:
        model: the robot.
        q: joint positions, rad or m, shape (..., n).

    Returns:
        Shape (..., n, n); kg m^2, kg m or kg, by the types of the two joints.

    Raises:
        InputError: the shape is wrong or a value is not finite.
    """
    (q,) = joint_vectors(model, q=q)
    X = joint_transforms(model, q)

    # Inwards: the inertia of each body with all that hangs on it, as if the joints beyond were locked.
    I_c = list(model.inertia)
    for i in reversed(range(model.n)):
        if model.lambda_[i] != BASE:
            I_c[model.lambda_[i]] = I_c[model.lambda_[i]] + I_c[i].in_parent(X[i])

    # The force that accelerates that composite body, carried inwards: row i of M as far as j supports i.
    zero = 0 * q[..., 0]
    M = [[zero] * model.n for _ in range(model.n)]
    for i in range(model.n):
        F = I_c[i].momentum(model.joints[i].S)
        j = i
        M[i][i] = dot(model.joints[i].S, F)
        while model.lambda_[j] != BASE:
            F = X[j].force_back(F)
            j = model.lambda_[j]
            M[i][j] = M[j][i] = dot(model.joints[j].S, F)
    return stack_matrix(M)
