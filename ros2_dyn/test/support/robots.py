# SPDX-License-Identifier: Apache-2.0
"""Robots for the tests: planar arms with closed forms, the mock arm, and random trees."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ros2_dyn.model import JointDynamics, RobotModel

MOCK_ARM = Path(__file__).parents[2] / "config" / "mock_arm.urdf"
HOME = [0.0, -1.2, 1.4, -1.8, -1.57, 0.0]
"""Joint positions of the mock arm far from limits and singularities, rad."""


def mock_arm() -> RobotModel:
    """Return the six-axis arm of this package."""
    return RobotModel.from_urdf_file(MOCK_ARM)


def link(name: str, mass: float = 0.0, com=(0, 0, 0), inertia=(0, 0, 0, 0, 0, 0), rpy=(0, 0, 0)) -> str:
    """Return a <link>; `inertia` is ixx ixy ixz iyy iyz izz about the centre of mass, in axes rotated by rpy."""
    if mass == 0:
        return f'<link name="{name}"/>'
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    tensor = " ".join(f'{key}="{value!r}"' for key, value in zip(keys, map(float, inertia)))
    pose = f'<origin xyz="{_text(com)}" rpy="{_text(rpy)}"/>'
    return f'<link name="{name}"><inertial>{pose}<mass value="{mass!r}"/><inertia {tensor}/></inertial></link>'


def joint(name: str, type: str, parent: str, child: str, xyz=(0, 0, 0), rpy=(0, 0, 0), axis=(0, 0, 1)) -> str:
    """Return a <joint>, with limits where URDF requires them."""
    limit = '<limit lower="-3" upper="3" effort="100" velocity="2"/>' if type in ("revolute", "prismatic") else ""
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/><axis xyz="{_text(axis)}"/>{limit}</joint>'
    )


def robot(*elements: str) -> str:
    """Return a <robot>."""
    return f'<robot name="test">{"".join(elements)}</robot>'


MASS = 4.0
"""Mass of `CART`, kg."""


def cart(mass: float) -> RobotModel:
    """Return a mass, kg, on a horizontal rail."""
    return RobotModel.from_urdf(
        robot(link("base"), link("cart", mass), joint("x", "prismatic", "base", "cart", axis=(1, 0, 0)))
    )


def planar_2r(l1: float, l2: float, first: dict, second: dict) -> str:
    """Return two links that turn about z; frame {3} is the link "tip" (Craig's example 5.3)."""
    return robot(
        link("base"),
        link("first", **first),
        link("second", **second),
        link("tip"),
        joint("theta1", "revolute", "base", "first"),
        joint("theta2", "revolute", "first", "second", xyz=(l1, 0, 0)),
        joint("tip_joint", "fixed", "second", "tip", xyz=(l2, 0, 0)),
    )


def coupled(model: RobotModel, **ratios: dict[str, float]) -> RobotModel:
    """Return the robot with drives that turn with other joints, too: ratios by the other joints, by the joint."""

    def of(spec):
        if spec.joint is None or spec.joint.name not in ratios:
            return spec
        return spec._replace(joint=replace(spec.joint, coupled=tuple(ratios[spec.joint.name].items())))

    return RobotModel.from_links(model.name, map(of, model.link_specs))


def random_tree(seed: int, joints: int = 8) -> str:
    """Return a tree with branches, all simple joint types, any axes, fixed joints and full inertia tensors."""
    rng = np.random.default_rng(seed)
    elements = [random_link(rng, "link0")]
    types = rng.permutation(["revolute", "continuous", "prismatic", "fixed"] * (1 + joints // 4))
    for i, type in enumerate(types, start=1):
        # Half of the links continue the chain, the others branch off anywhere.
        parent = i - 1 if rng.random() < 0.5 else rng.integers(i)
        elements.append(random_link(rng, f"link{i}"))
        elements.append(
            joint(
                f"joint{i}",
                str(type),
                f"link{parent}",
                f"link{i}",
                xyz=rng.uniform(-0.5, 0.5, 3),
                rpy=rng.uniform(-np.pi, np.pi, 3),
                axis=rng.normal(size=3),
            )
        )
    return robot(*elements)


def arm_and_trees(trees: int, joints: int = 8) -> dict[str, RobotModel]:
    """Return the mock arm and some random trees, by name."""
    random = {f"tree_{seed}": RobotModel.from_urdf(random_tree(seed, joints)) for seed in range(trees)}
    return {"mock_arm": mock_arm()} | random


def for_each(robots: dict[str, RobotModel]) -> pytest.MarkDecorator:
    """Return the mark of a test of each of some robots, which are its argument `model`."""
    return pytest.mark.parametrize("model", robots.values(), ids=robots)


def close(ours, theirs, tolerance: float = 1e-10) -> None:
    """Compare numbers relative to the largest one."""
    assert_allclose(ours, theirs, rtol=0, atol=tolerance * max(1.0, float(np.max(np.abs(theirs)))))


def general_tree(seed: int) -> RobotModel:
    """Return a random tree on a floating base, with a planar joint, mimic joints, friction, springs and rotors."""
    rng = np.random.default_rng(seed)
    mimic = '<mimic joint="joint1" multiplier="-0.7" offset="0.2"/></joint>'
    parts = [
        random_tree(seed, 4).removesuffix("</robot>"),
        link("world"),
        joint("base_joint", "floating", "world", "link0"),
        random_link(rng, "sled"),
        joint(
            "sled_joint", "planar", "link2", "sled", rng.uniform(-1, 1, 3), rng.uniform(-1, 1, 3), rng.normal(size=3)
        ),
        random_link(rng, "finger"),
        joint("finger_joint", "revolute", "link3", "finger", axis=rng.normal(size=3)).replace("</joint>", mimic),
        random_link(rng, "nail"),
        joint("nail_joint", "prismatic", "finger", "nail", axis=(1, 2, 3)).replace("</joint>", mimic),
        "</robot>",
    ]
    xml = "".join(parts).replace('name="joint1" type="fixed"', 'name="joint1" type="revolute"')
    model = RobotModel.from_urdf(xml)
    numbers = rng.uniform(0.1, 1, size=(len(model.joints), 6))
    return model.with_joint_dynamics(
        {
            joint.name: JointDynamics(*row[:3], stiffness=row[3], rest=row[4], armature=row[5])
            for joint, row in zip(model.joints, numbers)
            if joint.dof == 1
        }
    )


def random_link(rng: np.random.Generator, name: str) -> str:
    """Return a <link> with an offset centre of mass and a physically valid inertia, in tilted axes."""
    points = rng.normal(size=(5, 3)) * 0.2  # five points of equal mass
    mass = rng.uniform(0.2, 5)
    I = mass / 5 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points - points.mean(axis=0))
    upper = I[np.triu_indices(3)]
    return link(name, mass, rng.uniform(-0.3, 0.3, 3), upper, rng.uniform(-np.pi, np.pi, 3))


def random_state(model: RobotModel, seed: int, *batch: int):
    """Return random q, qd and qdd of shape (*batch, n)."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, size=(3, *batch, model.n))


def random_positions(model: RobotModel, rng: np.random.Generator) -> np.ndarray:
    """Return a random q with valid rotations."""
    q = rng.uniform(-2, 2, size=model.nq)
    for joint, where in zip(model.joints, model.q_slices):
        rotation = q[where][3 if joint.type == "floating" else 2 :]
        if joint.dof > 1:
            rotation /= np.linalg.norm(rotation)
    return q


def _text(values) -> str:
    return " ".join(repr(float(value)) for value in values)


def example_robots() -> Path:
    """Return the folder of example-robot-data's robots; one that does not exist where it is not installed."""
    try:
        return Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")))
    except PackageNotFoundError:
        return Path("example-robot-data is not installed")


CART = cart(MASS)
