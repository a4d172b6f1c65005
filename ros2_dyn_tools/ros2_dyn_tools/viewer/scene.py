# SPDX-License-Identifier: Apache-2.0
"""The robot in the 3D scene: its links move with the joints, and turn red on a collision."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ros2_dyn.dynamics.kinematics import body_transforms
from ros2_dyn.model import BASE
from ros2_dyn.model.spatial import Array, quaternion_from_rotation
from ros2_dyn_tools.viewer.geometry import Colour, Shape, link_shapes
from ros2_dyn_tools.viewer.picture import ShownRobot

if TYPE_CHECKING:
    import viser


FIELD_OF_VIEW = 0.9
"""Angle of the picture from top to bottom, rad."""
MARGIN = 0.75
"""Share of the picture that the arm fills at the beginning."""
NEAREST = 0.2
"""Least distance of the camera, m."""


class RobotScene:
    """The robot's nodes in the scene, below `/robot`."""

    def __init__(self, server: viser.ViserServer, robot: ShownRobot) -> None:
        """Add the robot, at q = 0."""
        self._server, self.model = server, robot.model
        self._frames = [server.scene.add_frame(f"/robot/{i}", show_axes=False) for i in range(len(self.model.joints))]
        self._parts: dict[str, list[tuple[Any, Colour]]] = {}
        """Nodes of each link, with their own colours."""
        folder = Path(robot.folder) if robot.folder else None
        self._corners: list[tuple[int, Array]] = []
        """Bodies of the joints, and corners of their shapes in the body's frame, m, shape (8, 3)."""
        for link, shapes in link_shapes(self.model, robot.urdf, folder).items():
            self._parts[link] = [(self._add(link, i, shape), shape.colour) for i, shape in enumerate(shapes)]
            body, X = self.model.link_frame(link)
            if body != BASE:
                self._corners += [(body, X.r + shape.corners @ X.E) for shape in shapes]
        self._marked: tuple[bool, str] = (False, "")
        self._label: Any = None
        self.move(self.model.neutral)

    def link_node(self, link: str) -> str:
        """Return the node that moves with a link, which its frame is below."""
        body = self.model.link_frame(link).body
        return "/robot" if body == BASE else f"/robot/{body}"

    def move(self, q: Array) -> None:
        """Move the links to joint positions, rad or m, shape (n,)."""
        self._X0 = body_transforms(self.model, q)
        for frame, X in zip(self._frames, self._X0):
            frame.wxyz, frame.position = quaternion(X.E.T), X.r

    def points(self) -> Array:
        """Return the origins of the joints, then the corners of the moved shapes, base frame, m, shape (k, 3)."""
        corners = [self._X0[body].r + each @ self._X0[body].E for body, each in self._corners]
        return np.concatenate([[X.r for X in self._X0], *corners])

    def mark(self, collision: bool, link: str) -> None:
        """Turn the robot red and mark the link that was touched, or show it as it is."""
        if (collision, link) == self._marked:
            return
        self._marked = collision, link
        red: Colour = (255, 45, 35)  # the link that was touched; the others are so in part
        for name, parts in self._parts.items():
            share = 0.0 if not collision else 1.0 if name == link else 0.55
            for node, colour in parts:
                node.color = blend(colour, red, share)
        if self._label is not None:
            self._label.remove()
            self._label = None
        if collision and link in self.model.link_names:
            where = f"{self.link_node(link)}/contact"
            X = self.model.link_frame(link).X
            self._label = self._server.scene.add_label(where, f"contact: {link}", position=X.r, anchor="bottom-center")

    def remove(self) -> None:
        """Take the robot out of the scene."""
        if self._label is not None:
            self._label.remove()
        for parts in self._parts.values():
            for node, _ in parts:
                node.remove()
        for frame in self._frames:
            frame.remove()

    def _add(self, link: str, number: int, shape: Shape) -> Any:
        X = self.model.link_frame(link).X
        R = X.E.T @ shape.rotation
        # Names of links may hold anything: a number tells the nodes apart.
        name = f"{self.link_node(link)}/{self.model.link_names.index(link)}_{number}"
        pose = {"wxyz": quaternion(R), "position": X.r + X.E.T @ shape.position, "color": shape.colour}
        scene: Any = self._server.scene
        if shape.kind == "box":
            return scene.add_box(name, dimensions=shape.size, **pose)
        if shape.kind == "cylinder":
            radius, height = shape.size
            return scene.add_cylinder(name, radius=radius, height=height, radial_segments=32, **pose)
        if shape.kind == "sphere":
            return scene.add_icosphere(name, radius=shape.size[0], **pose)
        return scene.add_mesh_simple(name, vertices=shape.vertices, faces=shape.faces, side="double", **pose)


def camera(points: Array, aspect: float, hidden: float = 0.0) -> tuple[Array, Array]:
    """Return where a camera stands that shows an arm obliquely from its front and above, and the point it looks at.

    Args:
        points: of the arm, its first joint first, base frame, m, shape (k, 3).
        aspect: width of the picture over its height.
        hidden: share of the picture, from below, that a panel covers.

    Returns:
        Position and point, base frame, m, shape (3,) each. The arm just fits between the margins of what is seen of the
        picture.
    """
    lower, upper = np.min(points, axis=0), np.max(points, axis=0)
    middle = (lower + upper) / 2
    x, y, _ = middle - points[0]
    ahead = np.arctan2(y, x) if np.hypot(x, y) > 0.1 * np.max(upper - lower) else 0.0  # an upright arm looks along x
    azimuth, elevation = ahead + np.radians(45), np.radians(25)
    out = np.array([np.cos(azimuth) * np.cos(elevation), np.sin(azimuth) * np.cos(elevation), np.sin(elevation)])
    right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
    up, tan = np.cross(out, right), np.tan(FIELD_OF_VIEW / 2)
    across, along, towards = np.stack([right, up, out]) @ (points - middle).T
    room = MARGIN * (1 - hidden)
    distances = [towards + np.abs(across) / (tan * MARGIN * max(aspect, 0.3))]
    distances += [(side * along / tan + (room + side * hidden) * towards) / room for side in (1, -1)]
    distance = max(float(np.max(distances)), NEAREST)
    target = middle - hidden * tan * distance * up
    return target + distance * out, target


def quaternion(R: Array) -> Array:
    """Return a rotation matrix as a unit quaternion w, x, y, z, shape (4,)."""
    return np.roll(quaternion_from_rotation(R), 1)


def blend(colour: Colour, other: Colour, share: float) -> Colour:
    """Return a colour with a share of another."""
    r, g, b = (round((1 - share) * mine + share * theirs) for mine, theirs in zip(colour, other))
    return r, g, b
