# SPDX-License-Identifier: Apache-2.0
"""The robots of example-robot-data agree with Pinocchio: all of them by the book, and by the kernels of every backend.

The kernels of all robots take many minutes, most of them for compilation, and run where FULL=1. By default they run for
PART: five robots that cover chains and trees, and all types of joints: revolute, continuous, prismatic, planar,
floating and mimic. The book's functions run for all robots always, up to tiago_dual with its 101 degrees of freedom.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from pinocchio_oracle import Oracle
from robots import example_robots, random_positions
from ros2_dyn import dynamics
from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.kernels import compile_kernel
from ros2_dyn.kernels.compile_c import why_no_c
from ros2_dyn.model import RobotModel
from tiers import FULL

TOLERANCE = 1e-9
REFUSED = {
    "quadrotor_base.urdf": "it has no moving joint",
    "iris_simple.urdf": "it has no moving joint",
    "ur3.urdf": "robot: it has no root link",
}
FUSED = (
    ("tau", "gravity", "coriolis"),
    ("mass_matrix", "qdd"),
    ("jacobian", "jacobian_dot"),
    ("regressor",),
    ("dtau_dq", "dtau_dqd"),
)
"""Outputs of the kernels: programs of moderate length for any robot."""
BACKENDS = ("python", "numpy") if why_no_c() else ("python", "numpy", "c")


FOLDER = example_robots()
FILES = {str(path.relative_to(FOLDER)): path for path in sorted(FOLDER.rglob("*.urdf"))}
WALKERS = [name for name in FILES if Path(name).name in ("a1.urdf", "bolt.urdf", "hextilt_flying_arm_5.urdf")]
ROBOTS = [name for name in FILES if Path(name).name not in REFUSED]
ROBOTS += [f"{name} on a {joint}" for name in WALKERS for joint in ("floating", "planar")]
PART = {
    "double_pendulum_continuous.urdf",  # continuous joints
    "iris.urdf",  # four joints on one body
    "panda.urdf",  # an arm; a gripper of prismatic joints, one of which mimics the other
    "bolt.urdf on a floating",  # two legs
    "hextilt_flying_arm_5.urdf on a planar",
}
"""File names of the robots whose kernels are tested by default."""
BRIEFLY_IN_C = {"panda.urdf", "hextilt_flying_arm_5.urdf on a planar"}
"""Those of which C computes only the Jacobians by default: a compiler takes ten seconds for all outputs."""
COMPILED = ROBOTS if FULL else [name for name in ROBOTS if Path(name).name in PART]


def by_the_book(model: RobotModel, q, qd, qdd) -> dict[str, np.ndarray]:
    """Return the same quantities by the functions of `ros2_dyn.dynamics`."""
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
    """Compare relative to the largest number."""
    scale = max(1.0, float(np.max(np.abs(theirs))))
    difference = float(np.max(np.abs(np.asarray(ours) - theirs)))
    assert difference <= TOLERANCE * scale, f"{what}: {difference:.2e} of {scale:.2e}"


def load(name: str) -> tuple[RobotModel, str]:
    """Return a robot and its URDF, with a floating or planar base if the name ends so."""
    path, _, base = name.partition(" on a ")
    xml = FILES[path].read_text(encoding="utf-8", errors="replace")
    if base:
        root = RobotModel.from_urdf(xml).base_link
        joint = f'<joint name="{base}" type="{base}"><parent link="world_"/><child link="{root}"/>'
        axis = '<axis xyz="0 0 1"/>' if base == "planar" else ""
        xml = xml.replace("</robot>", f'<link name="world_"/>{joint}{axis}</joint></robot>')
    return RobotModel.from_urdf(xml), xml


def programs(name: str, backend: str) -> list[tuple[str, ...]]:
    """Return the outputs of each kernel that is tested of a robot."""
    briefly = backend == "c" and not FULL and Path(name).name in BRIEFLY_IN_C
    return [outputs for outputs in FUSED if not briefly or "jacobian" in outputs]


class Case:
    """A robot at two random states, and Pinocchio's results there."""

    def __init__(self, name: str) -> None:
        self.model, xml = load(name)
        self.oracle = Oracle(self.model, xml)
        rng = np.random.default_rng(len(name))
        model = self.model
        self.states = [(random_positions(model, rng), *rng.uniform(-2, 2, size=(2, model.n))) for _ in range(2)]
        self.expected = [self.oracle.answers(*state, model.default_tip) for state in self.states]
        if self.can_accelerate:
            for (q, qd, _), expected in zip(self.states, self.expected):
                expected["qdd"] = self.oracle.acceleration(q, qd, expected["tau"])

    @cached_property
    def can_accelerate(self) -> bool:
        """Whether every joint moves some inertia."""
        return bool(np.linalg.matrix_rank(self.expected[0]["mass_matrix"]) == self.model.n)


@pytest.mark.skipif(not FILES, reason="example-robot-data (pip install example-robot-data) is not installed")
def test_example_robot_data_has_69_urdfs_of_which_3_are_refused():
    assert (len(FILES), len(REFUSED)) == (69, 3)
    assert {Path(name).name for name in ROBOTS} >= PART


@pytest.mark.parametrize("name", [name for name in FILES if Path(name).name in REFUSED])
def test_refused_urdf_raises_error_that_names_the_element(name):
    with pytest.raises(ModelError) as refusal:
        load(name)
    assert REFUSED[Path(name).name] in str(refusal.value)


@pytest.mark.parametrize("name", ROBOTS)
def test_book_agrees_with_pinocchio_at_random_states(name):
    case = Case(name)
    for (q, qd, qdd), expected in zip(case.states, case.expected):
        for what, value in by_the_book(case.model, q, qd, qdd).items():
            assert_close(value, expected[what], what)
        if case.can_accelerate:
            assert_close(dynamics.forward_dynamics(case.model, q, qd, expected["tau"]), expected["qdd"], "qdd")
        else:
            with pytest.raises(InputError, match="joints that move no inertia"):
                dynamics.forward_dynamics(case.model, q, qd, expected["tau"])


@pytest.mark.parametrize("name", COMPILED)
def test_kernels_of_every_backend_agree_with_pinocchio_at_random_states(name):
    case = Case(name)
    for backend in BACKENDS:
        for outputs in programs(name, backend):
            wanted = [output for output in outputs if output != "qdd" or case.can_accelerate]
            kernel = compile_kernel(case.model, wanted, backend)
            for (q, qd, qdd), expected in zip(case.states, case.expected):
                for what, value in zip(wanted, kernel(q, qd, qdd, expected["tau"])):
                    assert_close(value, expected[what], f"{backend}, {what}")
