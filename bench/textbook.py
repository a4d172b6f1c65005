# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics as one first writes it from RBDA Table 5.1, in dense 6x6 matrices: a peer, to be compared with."""

from __future__ import annotations

import numpy as np

from ros2_dyn.model import RobotModel


def skew(r: np.ndarray) -> np.ndarray:
    """The matrix of the vector product."""
    x, y, z = r
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def cross(v: np.ndarray) -> np.ndarray:
    """``v x`` as a 6x6 matrix; ``v x* = -(v x)^T``."""
    w = skew(v[:3])
    return np.block([[w, np.zeros((3, 3))], [skew(v[3:]), w]])


class Textbook:
    """The recursion for revolute joints, with all that does not depend on the state made before."""

    def __init__(self, model: RobotModel) -> None:
        self.parents = model.lambda_
        self.axes = [joint.axis for joint in model.joints]
        self.X_tree = [X.matrix() for X in model.X_tree]
        self.S = [joint.S[:, 0] for joint in model.joints]
        self.I = [I.matrix() for I in model.inertia]
        self.a0 = np.array([0, 0, 0, 0, 0, 9.81])

    def rnea(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Joint efforts."""
        X: list[np.ndarray] = []
        v: list[np.ndarray] = []
        a: list[np.ndarray] = []
        f: list[np.ndarray] = []
        for i, parent in enumerate(self.parents):
            k = skew(self.axes[i])
            E = np.eye(3) - np.sin(q[i]) * k + (1 - np.cos(q[i])) * (k @ k)
            X_J = np.zeros((6, 6))
            X_J[:3, :3] = X_J[3:, 3:] = E
            X.append(X_J @ self.X_tree[i])
            vJ = self.S[i] * qd[i]
            v_parent, a_parent = (np.zeros(6), self.a0) if parent < 0 else (v[parent], a[parent])
            v.append(X[i] @ v_parent + vJ)
            across = cross(v[i])
            a.append(X[i] @ a_parent + self.S[i] * qdd[i] + across @ vJ)
            f.append(self.I[i] @ a[i] - across.T @ (self.I[i] @ v[i]))
        tau = np.zeros(len(q))
        for i in reversed(range(len(q))):
            tau[i] = self.S[i] @ f[i]
            if self.parents[i] >= 0:
                f[self.parents[i]] = f[self.parents[i]] + X[i].T @ f[i]
        return tau
