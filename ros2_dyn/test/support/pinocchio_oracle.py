# SPDX-License-Identifier: Apache-2.0
"""What Pinocchio computes for a robot, which is independent of this package; tests that import it need Pinocchio.

Pinocchio's models treat mimic joints as free ones. Its results are projected onto the independent joints:
``q_pinocchio = G q + offset``, ``tau = G^T tau_pinocchio``.
"""

from __future__ import annotations

import numpy as np
import pytest

from ros2_dyn.model import RobotModel

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")


class Oracle:
    """Pinocchio's results, in the model's order."""

    def __init__(self, ours: RobotModel, xml: str) -> None:
        self.ours = ours
        self.model = pin.buildModelFromXML(xml)
        self.data = self.model.createData()
        self.G = np.zeros((self.model.nv, ours.n))
        self.columns = []
        for joint, where in zip(ours.joints, ours.v_slices):
            theirs = self.model.joints[self.model.getJointId(joint.name)]
            rows = slice(theirs.idx_v, theirs.idx_v + theirs.nv)
            self.G[rows, where] = joint.multiplier * np.eye(joint.dof)
            self.columns += range(10 * (theirs.id - 1), 10 * theirs.id)

    def q(self, q: np.ndarray) -> np.ndarray:
        """Return Pinocchio's q, which has cosine and sine for a continuous joint."""
        theirs = np.zeros(self.model.nq)
        for joint, where in zip(self.ours.joints, self.ours.q_slices):
            at = self.model.joints[self.model.getJointId(joint.name)]
            value = joint.multiplier * q[where] + joint.offset if joint.dof == 1 else q[where]
            turns = joint.dof == 1 and at.nq == 2
            theirs[at.idx_q : at.idx_q + at.nq] = [np.cos(value[0]), np.sin(value[0])] if turns else value
        return theirs

    def v(self, v: np.ndarray) -> np.ndarray:
        """Return velocities or accelerations of all of Pinocchio's joints."""
        return self.G @ v

    def answers(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tip: str) -> dict[str, np.ndarray]:
        """Return the quantities to compare, by the names of a kernel's outputs."""
        model, data, G = self.model, self.data, self.G
        Q, V, A = self.q(q), self.v(qd), self.v(qdd)
        pin.computeRNEADerivatives(model, data, Q, V, A)
        dtau_dq, dtau_dqd = data.dtau_dq.copy(), data.dtau_dv.copy()
        gravity = pin.computeGeneralizedGravity(model, data, Q)
        M = pin.crba(model, data, Q)
        M = np.triu(M) + np.triu(M, 1).T
        tau = pin.rnea(model, data, Q, V, A)
        bias = pin.nonLinearEffects(model, data, Q, V)
        frame = model.getFrameId(tip)
        pin.computeJointJacobiansTimeVariation(model, data, Q, V)
        pin.updateFramePlacements(model, data)
        return {
            "tau": G.T @ tau,
            "gravity": G.T @ gravity,
            "coriolis": G.T @ (bias - gravity),
            "mass_matrix": G.T @ M @ G,
            "jacobian": pin.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED) @ G,
            "jacobian_dot": pin.getFrameJacobianTimeVariation(model, data, frame, pin.LOCAL_WORLD_ALIGNED) @ G,
            "regressor": G.T @ pin.computeJointTorqueRegressor(model, data, Q, V, A)[:, self.columns],
            "dtau_dq": G.T @ dtau_dq @ G,
            "dtau_dqd": G.T @ dtau_dqd @ G,
        }

    def acceleration(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the acceleration, by Pinocchio's own algorithm where no joint mimics another."""
        if not self.ours.has_mimic_joints:
            return self.G.T @ pin.aba(self.model, self.data, self.q(q), self.v(qd), self.G @ tau)
        M = self.answers(q, qd, 0 * qd, self.ours.default_tip)
        return np.linalg.solve(M["mass_matrix"], tau - M["gravity"] - M["coriolis"])
