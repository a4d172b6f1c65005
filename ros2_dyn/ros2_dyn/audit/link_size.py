# SPDX-License-Identifier: Apache-2.0
"""The box around each link, from its geometry in the URDF, in the link's frame."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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
        drawn = [elements for kind in ("collision", "visual") if (elements := link.findall(kind))]
        boxes = [box for elements in drawn if (box := _box_around(elements, folder)) is not None]
        if boxes:  # either kind may leave out a part of the link
            lower, upper = (np.array(corners) for corners in zip(*boxes))
            sizes[link.get("name", "?")] = Box(np.min(lower, axis=0), np.max(upper, axis=0))
        elif drawn:
            unread.append(link.get("name", "?"))
    if not unread:
        return sizes, []
    problem = f"the geometry of {len(unread)} links cannot be read, as that of '{unread[0]}': sizes were not checked"
    advice = "pip install trimesh pycollada, and keep the meshes where the URDF says"
    return sizes, [Finding("note", "geometry_unread", "robot", problem, advice)]


def _box_around(elements: Sequence[Element], folder: Path | None) -> Box | None:
    """Return the box around visual or collision elements; None where one of them cannot be read."""
    try:
        corners = [corner for element in elements for corner in _corners(element, folder)]
    except Exception:  # of any reader of meshes: a link without a size is not checked, and no more
        return None
    return Box(np.min(corners, axis=0), np.max(corners, axis=0)) if corners else None


def _corners(element: Element, folder: Path | None) -> Iterator[Array]:
    """Yield the corners of a visual or collision element in the link's frame."""
    origin, shape = element.find("origin"), element.find("geometry/*")
    if shape is None:
        return
    pose = {} if origin is None else origin.attrib
    xyz, rpy = (_vector(pose.get(key, "0 0 0")) for key in ("xyz", "rpy"))
    yield from xyz + _box(shape, folder).corners @ rotation_from_rpy(rpy).T


def _vector(text: str) -> Array:
    x, y, z = map(float, text.split())
    return np.array([x, y, z])


def _box(shape: Element, folder: Path | None) -> Box:
    if shape.tag == "mesh":
        return _mesh_box(shape, folder)
    if shape.tag == "box":
        half = _vector(shape.attrib["size"]) / 2
    elif shape.tag == "sphere":
        half = np.full(3, float(shape.attrib["radius"]))
    else:  # a cylinder or capsule
        radius = float(shape.attrib["radius"])
        half = np.array([radius, radius, float(shape.attrib["length"]) / 2])
    return Box(-half, half)


def _mesh_box(mesh: Element, folder: Path | None) -> Box:
    import trimesh  # optional

    scene = trimesh.load_scene(find_mesh(mesh.attrib["filename"], folder), process=False)
    bounds = scene.bounds * _vector(mesh.get("scale", "1 1 1"))
    return Box(np.min(bounds, axis=0), np.max(bounds, axis=0))


def find_mesh(filename: str, folder: Path | None) -> Path:
    """Return the file of a mesh: in the package that its address names, or in the folder or package of the URDF.

    A description may come from the network, so an address cannot lead out of these. Links are followed, because a
    description makes none, and packages are often installed as links.

    Args:
        filename: as in the URDF: ``package://PACKAGE/PATH``, ``file://PATH`` or a path.
        folder: where the URDF lies; None: it came from the network, and has packages alone.

    Raises:
        FileNotFoundError: it is not there, or lies elsewhere.
    """
    scheme, _, path = filename.rpartition("://")
    folder = None if folder is None else Path(os.path.abspath(folder))
    for root, place in _mesh_places(scheme, path, folder):
        file = Path(os.path.normpath(place / path))
        if file.is_relative_to(root) and file != root and file.is_file():
            return file
    raise FileNotFoundError(filename)


def _mesh_places(scheme: str, path: str, folder: Path | None) -> Iterator[tuple[Path, Path]]:
    """Yield folders that a mesh must lie in, and what its path is relative to."""
    prefixes = os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    shares = [Path(prefix, "share") for prefix in prefixes if prefix]
    shares += [Path(place) for place in os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep) if place]
    if scheme == "package":
        package = path.split("/")[0]
        above = [] if folder is None else [folder, *list(folder.parents)[:-1]]
        yield from ((place / package, place) for place in (*above, *shares) if package not in ("", ".", ".."))
        return
    if folder is not None:
        package_files = (place for place in (folder, *folder.parents) if (place / "package.xml").is_file())
        root = next(package_files, folder.parent if folder.name == "urdf" else folder)
        yield from ((root, place) for place in (folder, *folder.parents) if place.is_relative_to(root))
    if os.path.isabs(path):
        for share in shares:
            package = os.path.relpath(path, share).split(os.sep)[0]
            if package not in (".", ".."):
                yield share / package, share
