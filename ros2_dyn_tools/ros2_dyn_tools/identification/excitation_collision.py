# SPDX-License-Identifier: Apache-2.0
"""Distances between the links of a robot, by Pinocchio and Coal (optional: ``pip install pin``)."""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array

CLEARANCE = 0.02
"""Distance that links keep from each other, m, or half of that in the posture at the start if this is less."""
TOUCHING = 0.002
"""Distance at the start up to which links are taken for touching ones, m."""
FLOOR = (100.0, 100.0, 10.0)
"""Size of the floor, m."""
STEP = 1e-4
"""Step of the differences of positions, rad or m."""


class SelfCollision:
    """Pairs of links that can touch: not those of one body or of neighbours. Meshes are their convex hulls."""

    def __init__(self, urdf: Path, model: RobotModel, posture: Array, floor: float | None = None) -> None:
        """Read the collision geometry.

        Args:
            urdf: the description; meshes in ``package://`` are looked for in ROS's paths and in folders above it.
            model: the robot, of all joints of the description or some; the others are at 0.
            posture: positions at the start, shape (n,); links that touch there are not checked.
            floor: height in the base frame, m, that all links stay above, apart from the first one; None: no floor.

        Raises:
            InputError: Pinocchio is not installed, or cannot read the description, or it has no collision geometry.
        """
        try:
            import pinocchio
        except ImportError as error:
            raise InputError("self-collision", "Pinocchio is not installed: pip install pin") from error
        self._pinocchio: Any = pinocchio
        try:
            self._model = pinocchio.buildModelFromUrdf(os.fspath(urdf))
            kind, folders = pinocchio.GeometryType.COLLISION, _package_folders(urdf)
            self._geometry = pinocchio.buildGeomFromUrdf(self._model, os.fspath(urdf), kind, package_dirs=folders)
        except (ValueError, RuntimeError, IndexError) as error:
            raise InputError("self-collision", f"Pinocchio cannot read the geometry: {str(error).strip()}") from error
        if len(self._geometry.geometryObjects) == 0:
            raise InputError("self-collision", "the description has no collision geometry")
        for shape in self._geometry.geometryObjects:
            _replace_by_hull(shape)
        if floor is not None:
            self._add_floor(floor)
        self._places = [
            (self._model.joints[self._model.getJointId(joint.name)], joint, where.start)
            for joint, where in zip(model.joints, model.q_slices)
            if self._model.existJointName(joint.name)
        ]
        self._watch(self._candidates())
        start = self.distances(posture)
        self.touching = tuple(names for names, distance in zip(self.pairs, start) if distance < TOUCHING)
        """Pairs of shapes that touch in the posture, so that they are not checked."""
        self._watch([pair for pair, distance in zip(self._watched, start) if distance >= TOUCHING])
        self._clearance = np.minimum(CLEARANCE, start[start >= TOUCHING] / 2)

    def _add_floor(self, height: float) -> None:
        """Add a large box below a height, m, which is fixed to the base."""
        import coal  # comes with Pinocchio

        place = self._pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, height - FLOOR[2] / 2]))
        self._geometry.addGeometryObject(self._pinocchio.GeometryObject("floor", 0, place, coal.Box(*FLOOR)))

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Names of the shapes that are checked."""
        shapes = self._geometry.geometryObjects
        return tuple((shapes[i].name, shapes[j].name) for i, j in self._watched)

    def _candidates(self) -> list[tuple[int, int]]:
        shapes, parents = self._geometry.geometryObjects, self._model.parents

        def apart(a: int, b: int) -> bool:
            return a != b and parents[a] != b and parents[b] != a

        numbers = combinations(range(len(shapes)), 2)
        return [(i, j) for i, j in numbers if apart(shapes[i].parentJoint, shapes[j].parentJoint)]

    def _watch(self, pairs: list[tuple[int, int]]) -> None:
        pin = self._pinocchio
        self._watched = pairs
        self._geometry.removeAllCollisionPairs()
        for i, j in pairs:
            self._geometry.addCollisionPair(pin.CollisionPair(i, j))
        self._data = self._model.createData()
        self._geometry_data = pin.GeometryData(self._geometry)

    def distances(self, q: Array) -> Array:
        """Return the distances of the pairs, m, negative where they overlap, at positions of shape (n,)."""
        if not self._watched:
            return np.zeros(0)
        whole = self._pinocchio.neutral(self._model)
        for place, joint, index in self._places:
            position = float(joint.position(q[index]))
            turns = place.nq > place.nv  # a continuous joint: its cosine and sine
            whole[place.idx_q : place.idx_q + place.nq] = [np.cos(position), np.sin(position)] if turns else position
        self._pinocchio.computeDistances(self._model, self._data, self._geometry, self._geometry_data, whole)
        return np.array([result.min_distance for result in self._geometry_data.distanceResults])

    def closeness(self, q: Array) -> tuple[Array, Array]:
        """Return the sum over pairs of (1 - distance / 2 clearance)^2 where near, (m,), and its gradient, (m, n)."""
        values, gradient = np.array([self._nearness(x) for x in q]), np.zeros_like(q)
        moves = STEP * np.eye(q.shape[1])
        for k in np.flatnonzero(values):
            gradient[k] = [(self._nearness(q[k] + e) - self._nearness(q[k] - e)) / (2 * STEP) for e in moves]
        return values, gradient

    def _nearness(self, q: Array) -> float:
        return float(np.sum(np.maximum(1 - self.distances(q) / (2 * self._clearance), 0.0) ** 2))

    def is_free(self, q: Array) -> bool:
        """Return whether all pairs keep their clearance at positions of shape (m, n)."""
        return all(np.all(self.distances(x) >= self._clearance) for x in q)


def _package_folders(urdf: Path) -> list[str]:
    """Return where packages may be: folders above the description, and those of ROS."""
    prefixes = [prefix for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix]
    sources = [place for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
    above = [os.fspath(folder) for folder in urdf.resolve().parents]
    return [*above, *(os.fspath(Path(prefix, "share")) for prefix in prefixes), *sources]


def _replace_by_hull(shape: Any) -> None:
    """Replace the mesh of a shape by its convex hull: distances are faster, and those of overlaps are known."""
    if hasattr(shape.geometry, "buildConvexHull"):
        shape.geometry.buildConvexHull(True, "Qt")
        if shape.geometry.convex is not None:
            shape.geometry = shape.geometry.convex
