# SPDX-License-Identifier: Apache-2.0
"""What the links of a robot look like: the shapes and meshes of its URDF, or sticks between its joints."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from ros2_dyn.audit.link_size import find_mesh
from ros2_dyn.model import RobotModel
from ros2_dyn.model.spatial import Array, rotation_from_rpy

Colour = tuple[int, int, int]
GREY: Colour = (176, 182, 190)
STICK_COLOUR: Colour = (120, 140, 165)


class Shape(NamedTuple):
    """A piece of a link."""

    kind: str
    """box, cylinder, sphere or mesh."""
    size: tuple[float, ...]
    """Edges of a box; radius and length of a cylinder along z; radius of a sphere; m."""
    position: Array
    """Of its centre or a mesh's origin in the link's frame, m, shape (3,)."""
    rotation: Array
    """From its axes to the link's, shape (3, 3)."""
    colour: Colour = GREY
    vertices: Array | None = None
    """Of a mesh, m, shape (v, 3)."""
    faces: Array | None = None
    """Of a mesh: indices of vertices, shape (f, 3)."""

    @property
    def corners(self) -> Array:
        """Corners of a box around it in the link's frame, m, shape (8, 3)."""
        if self.vertices is not None:
            lower, upper = np.min(self.vertices, axis=0), np.max(self.vertices, axis=0)
        else:
            d = 2 * self.size[0]
            edges = {"box": self.size, "cylinder": (d, d, self.size[-1]), "sphere": (d, d, d)}[self.kind]
            lower, upper = -np.array(edges) / 2, np.array(edges) / 2
        return self.position + np.array(list(product(*zip(lower, upper)))) @ self.rotation.T


def link_shapes(model: RobotModel, urdf: str, folder: Path | None) -> dict[str, list[Shape]]:
    """Return the shapes of each link: visual ones, or those for collisions, or sticks where neither can be read.

    Args:
        model: the robot.
        urdf: its description; empty: there is none.
        folder: where the description lies.
    """
    shapes: dict[str, list[Shape]] = {}
    robot = ElementTree.fromstring(urdf) if urdf else Element("robot")
    colours = {each.get("name", ""): found for each in robot.findall("material") if (found := _colour(each))}
    for link in robot.findall("link"):
        name = link.get("name", "")
        for kind in ("visual", "collision"):
            if name in model.link_names and name not in shapes and (elements := link.findall(kind)):
                try:
                    shapes[name] = [shape for each in elements for shape in _shapes(each, folder, colours)]
                except Exception:  # of any reader of meshes: the link is shown otherwise
                    continue
    sticks = _sticks(model)
    bare = not any(shapes.values())
    missing = {link.get("name", "") for link in robot.findall("link") if link.find("visual") is not None} - set(shapes)
    shapes |= {name: sticks[name] for name in sticks if bare or name in missing}
    return shapes


def _shapes(element: Element, folder: Path | None, colours: dict[str, Colour]) -> Iterator[Shape]:
    origin, shape, material = element.find("origin"), element.find("geometry/*"), element.find("material")
    if shape is None:
        return
    pose = {} if origin is None else origin.attrib
    xyz, rpy = (_numbers(pose.get(key, "0 0 0")) for key in ("xyz", "rpy"))
    colour = None
    if material is not None:
        colour = _colour(material) or colours.get(material.get("name", ""))
    place = {"position": xyz, "rotation": rotation_from_rpy(rpy)}
    if shape.tag == "mesh":
        yield from _mesh(shape, folder, colour, place)
    elif shape.tag == "box":
        yield Shape("box", tuple(_numbers(shape.attrib["size"])), **place, colour=colour or GREY)
    elif shape.tag == "sphere":
        yield Shape("sphere", (float(shape.attrib["radius"]),), **place, colour=colour or GREY)
    else:  # a cylinder or capsule
        size = float(shape.attrib["radius"]), float(shape.attrib["length"])
        yield Shape("cylinder", size, **place, colour=colour or GREY)


def _mesh(element: Element, folder: Path | None, colour: Colour | None, place: dict[str, Any]) -> Iterator[Shape]:
    """Yield the parts of a mesh, in their own colours where the URDF gives none."""
    import trimesh  # comes with viser

    scene = trimesh.load_scene(find_mesh(element.attrib["filename"], folder))
    scale = _numbers(element.get("scale", "1 1 1"))
    parts = [part for part in scene.dump() if isinstance(part, trimesh.Trimesh)]
    if sum(len(part.faces) for part in parts) > 400_000:  # too many for a browser: a box is shown
        lower, upper = scene.bounds * scale
        centre = place["position"] + place["rotation"] @ ((lower + upper) / 2)
        size = tuple(np.abs(upper - lower).tolist())
        yield Shape("box", size, centre, place["rotation"], colour or GREY)
        return
    for part in parts:
        yield Shape(
            "mesh", (), **place, colour=colour or _own_colour(part), vertices=part.vertices * scale, faces=part.faces
        )


def _own_colour(mesh: Any) -> Colour:
    visual = mesh.visual
    found = getattr(getattr(visual, "material", visual), "main_color", None)
    return GREY if found is None else (int(found[0]), int(found[1]), int(found[2]))


def _colour(material: Element) -> Colour | None:
    element = material.find("color")
    if element is None:
        return None
    r, g, b = (round(255 * min(max(x, 0.0), 1.0)) for x in _numbers(element.get("rgba", "0.7 0.7 0.7 1"))[:3])
    return r, g, b


def _numbers(text: str) -> Array:
    numbers = np.array([float(word) for word in text.split()])
    if not np.all(np.isfinite(numbers)):
        raise ValueError(f"not finite: {text}")
    return numbers


def _sticks(model: RobotModel) -> dict[str, list[Shape]]:
    """Return for each link a cylinder from its frame to that of each child link, at q = 0."""
    sticks: dict[str, list[Shape]] = {spec.link: [] for spec in model.link_specs}
    for spec in model.link_specs:
        length = float(np.linalg.norm(spec.X.r))
        if spec.parent is None or length < 0.01:
            continue
        radius = max(0.08 * length, 0.01)
        shape = Shape("cylinder", (radius, length), spec.X.r / 2, _turned_to(spec.X.r / length), STICK_COLOUR)
        sticks[spec.parent].append(shape)
        ball = Shape("sphere", (1.4 * radius,), np.zeros(3), np.eye(3), STICK_COLOUR)
        sticks[spec.link].append(ball)
    return sticks


def _turned_to(direction: Array) -> Array:
    """Return a rotation that takes the z axis to a direction, a unit vector of shape (3,)."""
    helper = np.eye(3)[np.argmin(np.abs(direction))]
    x = np.cross(helper, direction)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(direction, x), direction], axis=1)
