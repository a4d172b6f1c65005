"""The box around each link, from its geometry in the URDF, in the link's frame."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np

from ros2_dyn.model.finding import Finding
from ros2_dyn.model.spatial import Array, rotation_from_rpy


class Box(NamedTuple):
    """An axis-aligned box, m."""

    lower: Array
    """Its corner with the smallest coordinates, shape (3,)."""
    upper: Array

    @property
    def diagonal(self) -> float:
        """The distance of opposite corners, m."""
        return float(np.linalg.norm(self.upper - self.lower))

    @property
    def corners(self) -> Array:
        """All corners, shape (8, 3)."""
        return np.array(list(product(*zip(self.lower, self.upper))))

    def farthest(self, point: Array) -> float:
        """Return the distance of the farthest corner from a point, m."""
        return float(np.max(np.linalg.norm(self.corners - point, axis=1)))

    def distance(self, point: Array) -> float:
        """Return how far outside a point is, m; 0 inside."""
        return float(np.linalg.norm(point - np.clip(point, self.lower, self.upper)))


def link_sizes(robot: Element, folder: Path | None) -> tuple[dict[str, Box], list[Finding]]:
    """Return the box of each link with geometry that can be read, and what is to be said of the others.

    Args:
        robot: the URDF.
        folder: where it lies.
    """
    sizes: dict[str, Box] = {}
    unread: list[str] = []
    for link in robot.findall("link"):
        corners: list[Array] = []
        for geometry in (*link.iter("collision"), *link.iter("visual")):
            try:
                corners += _corners(geometry, folder)
            except (OSError, ValueError, TypeError, ImportError, AttributeError, KeyError, IndexError):
                unread.append(link.get("name", "?"))
                break
        else:
            if corners:
                sizes[link.get("name", "?")] = Box(np.min(corners, axis=0), np.max(corners, axis=0))
    if not unread:
        return sizes, []
    problem = f"the meshes of {len(unread)} links cannot be read, as that of '{unread[0]}': sizes were not checked there"
    return sizes, [Finding("note", "mesh_unread", "robot", problem, "pip install trimesh, and keep the meshes in place")]


def _corners(element: Element, folder: Path | None) -> Iterator[Array]:
    """Yield the corners of a visual or collision element in the link's frame."""
    origin, shape = element.find("origin"), element.find("geometry/*")
    if shape is None:
        return
    xyz, rpy = ([float(x) for x in origin.get(key, "0 0 0").split()] if origin is not None else [0.0] * 3 for key in ("xyz", "rpy"))
    R = rotation_from_rpy(np.array(rpy))
    yield from np.array(xyz) + _box(shape, folder).corners @ R.T


def _box(shape: Element, folder: Path | None) -> Box:
    if shape.tag == "mesh":
        return _mesh_box(shape, folder)
    if shape.tag == "box":
        half = np.array([float(x) for x in shape.attrib["size"].split()]) / 2
    elif shape.tag == "sphere":
        half = np.full(3, float(shape.attrib["radius"]))
    else:  # a cylinder or capsule
        radius = float(shape.attrib["radius"])
        half = np.array([radius, radius, float(shape.attrib["length"]) / 2])
    return Box(-half, half)


def _mesh_box(mesh: Element, folder: Path | None) -> Box:
    import trimesh  # optional

    scale = np.array([float(x) for x in mesh.get("scale", "1 1 1").split()])
    bounds = trimesh.load(find_mesh(mesh.attrib["filename"], folder), force="mesh", process=False).bounds * scale
    return Box(np.min(bounds, axis=0), np.max(bounds, axis=0))


def find_mesh(filename: str, folder: Path | None) -> Path:
    """Return the file of a mesh: below the URDF's folder or one above it, or in a package.

    Raises:
        FileNotFoundError: it is not there.
    """
    path = Path(filename.split("://", 1)[-1])
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    places = [Path(prefix, "share") for prefix in prefixes if prefix]
    places += [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
    if folder is not None:
        places = [folder, *folder.parents, *places]
    for place in places:
        if (place / path).is_file():
            return place / path
    raise FileNotFoundError(filename)
