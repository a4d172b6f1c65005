# SPDX-License-Identifier: Apache-2.0
"""The robots that are measured: a planar 2R arm, a six-axis and a seven-axis arm, and a tree of 30 joints."""

from __future__ import annotations

from pathlib import Path

import numpy as np

MOCK_ARM = Path(__file__).parents[1] / "ros2_dyn" / "config" / "mock_arm.urdf"


def robots() -> dict[str, str]:
    """Their URDFs, by name."""
    return {
        "2R": chain(2, seed=2),
        "6-axis": MOCK_ARM.read_text(encoding="utf-8"),
        "7-axis": chain(7, seed=7),
        "tree 30": chain(30, seed=30, branches=True),
    }


def chain(n: int, seed: int = 0, branches: bool = False) -> str:
    """Revolute joints with right angles between them, as arms have, and full inertia tensors."""
    rng = np.random.default_rng(seed)
    parts = ['<robot name="chain">', '<link name="l0"/>']
    for i in range(1, n + 1):
        points = rng.normal(size=(5, 3)) * 0.1
        I = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points - points.mean(axis=0))
        tensor = zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), I[np.triu_indices(3)])
        inertia = " ".join(f'{key}="{value}"' for key, value in tensor)
        com = " ".join(map(str, rng.uniform(-0.1, 0.1, 3)))
        parent = int(rng.integers(max(0, i - 6), i)) if branches else i - 1
        angle = rng.choice([0.0, np.pi / 2, -np.pi / 2])
        parts += [
            f'<link name="l{i}"><inertial><origin xyz="{com}"/><mass value="{rng.uniform(0.5, 3)}"/>',
            f"<inertia {inertia}/></inertial></link>",
            f'<joint name="j{i:03}" type="revolute"><parent link="l{parent}"/><child link="l{i}"/>',
            f'<origin xyz="{rng.uniform(0.1, 0.4)} 0 {rng.uniform(0, 0.2)}" rpy="{angle} 0 0"/><axis xyz="0 0 1"/>',
            '<limit lower="-3" upper="3" effort="100" velocity="3"/></joint>',
        ]
    return "".join([*parts, "</robot>"])
