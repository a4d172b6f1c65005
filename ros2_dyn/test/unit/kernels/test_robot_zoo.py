"""The robots of example-robot-data: every one that Pinocchio loads agrees with it, by the book and by every kernel.

Pinocchio's models here take mimic joints for free ones. What it finds is projected onto the joints that are free, which
is what mimicking means: ``q_theirs = G q + offset``, ``tau = G^T tau_theirs``.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from robots import example_robots, random_positions
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.model import RobotModel

pin = pytest.importorskip("pinocchio", reason="Pinocchio (pip install pin) is not installed")

TOLERANCE = 1e-9
REFUSED = {
    "alex_psyonic_hands.urdf": "joint 'Left_index_q2': it mimics 'index_q1', which does not exist",
    "quadrotor_base.urdf": "it has no moving joint",
    "iris_simple.urdf": "it has no moving joint",
    "romeo_laas_small.urdf": "link 'body': its <inertia> has a negative principal moment, -0.0213 kg m^2",
    "ur3.urdf": "robot: it has no root link",
}
FUSED = (
    ("tau", "gravity", "coriolis"),
    ("mass_matrix", "qdd"),
    ("jacobian", "jacobian_dot"),
    ("regressor",),
    ("dtau_dq", "dtau_dqd"),
)
"""Programs of moderate length, whatever the robot."""
BACKENDS = ("python", "numpy", "numba") if find_spec("numba") else ("python", "numpy")


FOLDER = example_robots()
ROBOTS = {str(path.relative_to(FOLDER)): path for path in sorted(FOLDER.rglob("*.urdf"))}
WALKERS = [name for name in ROBOTS if Path(name).name in ("a1.urdf", "bolt.urdf", "hextilt_flying_arm_5.urdf")]


class Oracle:
    """Pinocchio's answers, in our order."""

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
        """Our q as theirs, which has cosine and sine for a continuous joint."""
        theirs = np.zeros(self.model.nq)
        for joint, where in zip(self.ours.joints, self.ours.q_slices):
            at = self.model.joints[self.model.getJointId(joint.name)]
            value = joint.multiplier * q[where] + joint.offset if joint.dof == 1 else q[where]
            turns = joint.dof == 1 and at.nq == 2
            theirs[at.idx_q : at.idx_q + at.nq] = [np.cos(value[0]), np.sin(value[0])] if turns else value
        return theirs

    def answers(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, tip: str) -> dict[str, np.ndarray]:
        """Everything that is compared, by the names of a kernel's outputs."""
        model, data, G = self.model, self.data, self.G
        Q, V, A = self.q(q), G @ qd, G @ qdd
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
        """Forward dynamics; Pinocchio's own algorithm where no joint mimics another."""
        if not self.ours.has_mimic_joints:
            return self.G.T @ pin.aba(self.model, self.data, self.q(q), self.G @ qd, self.G @ tau)
        M = self.answers(q, qd, 0 * qd, self.ours.default_tip)
        return np.linalg.solve(M["mass_matrix"], tau - M["gravity"] - M["coriolis"])


def by_the_book(model: RobotModel, q, qd, qdd) -> dict[str, np.ndarray]:
    """The functions of `ros2_dyn.dynamics`."""
    derivatives = dynamics.rnea_derivatives(model, q, qd, qdd)
    return {
        "tau": dynamics.rnea(model, q, qd, qdd),
        "gravity": dynamics.gravity(model, q),
        "coriolis": dynamics.coriolis(model, q, qd),
        "mass_matrix": dynamics.mass_matrix(model, q),
        "jacobian": dynamics.jacobian(model, q),
        "jacobian_dot": dynamics.jacobian_dot(model, q, qd),
        "regressor": dynamics.regressor(model, q, qd, qdd),
        "dtau_dq": derivatives.dtau_dq,
        "dtau_dqd": derivatives.dtau_dqd,
    }


def assert_close(ours, theirs, what: str) -> None:
    """Relative to the largest number there is."""
    scale = max(1.0, float(np.max(np.abs(theirs))))
    difference = float(np.max(np.abs(np.asarray(ours) - theirs)))
    assert difference <= TOLERANCE * scale, f"{what}: {difference:.2e} of {scale:.2e}"


def load(name: str) -> tuple[RobotModel, str]:
    """A robot; with a floating base if the name says so."""
    path, _, floating = name.partition(" on a ")
    xml = ROBOTS[path].read_text(encoding="utf-8", errors="replace")
    if floating:
        root = RobotModel.from_urdf(xml).base_link
        joint = f'<joint name="{floating}" type="{floating}"><parent link="world_"/><child link="{root}"/>'
        axis = '<axis xyz="0 0 1"/>' if floating == "planar" else ""
        xml = xml.replace("</robot>", f'<link name="world_"/>{joint}{axis}</joint></robot>')
    return RobotModel.from_urdf(xml), xml


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data (pip install example-robot-data) is not installed")
def test_all_robots_are_there():
    """66 with moving joints that Pinocchio loads; refused are two of these, two without joints, and a stub."""
    assert (len(ROBOTS), len(REFUSED)) == (69, 5)


@pytest.mark.parametrize("name", [name for name in ROBOTS if Path(name).name in REFUSED])
def test_refused(name):
    """The link or joint at fault is named."""
    with pytest.raises(ModelError) as refusal:
        load(name)
    assert REFUSED[Path(name).name] in str(refusal.value)


@pytest.mark.parametrize(
    "name",
    [name for name in ROBOTS if Path(name).name not in REFUSED]
    + [f"{name} on a {joint}" for name in WALKERS for joint in ("floating", "planar")],
)
def test_agrees_with_pinocchio(name):
    """At random states, to 1e-9 of the largest number; and forward dynamics inverts it."""
    model, xml = load(name)
    oracle = Oracle(model, xml)
    rng = np.random.default_rng(len(name))
    states = [(random_positions(model, rng), *rng.uniform(-2, 2, size=(2, model.n))) for _ in range(2)]
    theirs = [oracle.answers(*state, model.default_tip) for state in states]
    can_accelerate = np.linalg.matrix_rank(theirs[0]["mass_matrix"]) == model.n
    for (q, qd, qdd), expected in zip(states, theirs):
        for what, value in by_the_book(model, q, qd, qdd).items():
            assert_close(value, expected[what], f"book, {what}")
        if can_accelerate:
            expected["qdd"] = oracle.acceleration(q, qd, expected["tau"])
            assert_close(dynamics.forward_dynamics(model, q, qd, expected["tau"]), expected["qdd"], "book, qdd")
        else:
            with pytest.raises(InputError, match="joints that move no inertia"):
                dynamics.forward_dynamics(model, q, qd, expected["tau"])

    for backend in BACKENDS:
        for outputs in FUSED:
            wanted = [output for output in outputs if output != "qdd" or can_accelerate]
            kernel = compile_kernel(model, wanted, backend)
            for (q, qd, qdd), expected in zip(states, theirs):
                for what, value in zip(wanted, kernel(q, qd, qdd, expected["tau"])):
                    assert_close(value, expected[what], f"{backend}, {what}")
