# SPDX-License-Identifier: Apache-2.0
"""Wrenches as arrows: the external one at the tip, those through the joints, the commanded one, and pushes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ros2_dyn.dynamics.kinematics import body_transforms, link_transform
from ros2_dyn.model import BASE, RobotModel
from ros2_dyn.model.spatial import Array, Transform
from ros2_dyn_tools.viewer.geometry import Colour
from ros2_dyn_tools.viewer.picture import LinkWrench, Picture

if TYPE_CHECKING:
    import viser


class Kind(NamedTuple):
    """One kind of wrench."""

    name: str
    colour: Colour
    """Of forces."""
    moment_colour: Colour
    force_scale: float
    """Length of a force's arrow, m/N."""
    moment_scale: float
    """Length of a moment's arrow, m/(N m)."""
    radius: float = 0.006
    """Radius of an arrow's shaft, m."""


KINDS = {
    "external": Kind("external, at the tip", (213, 94, 0), (240, 170, 110), 0.02, 0.1),
    "commanded": Kind("commanded", (0, 140, 100), (110, 200, 170), 0.02, 0.1),
    "push": Kind("push on a simulated arm", (170, 0, 130), (225, 130, 205), 0.02, 0.1, 0.012),
    "joints": Kind("through each joint", (0, 95, 170), (120, 180, 225), 0.001, 0.005),
}
"""By kind; forces are drawn in the first colour, moments in the lighter one."""
MIN_LENGTH, MAX_LENGTH = 0.01, 1.0
"""Arrows that would be shorter are not drawn, and longer ones are cut, m."""
SKIN = 0.05
"""Distance of the head of a push from the middle of the link, which would hide it, m."""


def arrow_points(model: RobotModel, picture: Picture) -> dict[str, Array]:
    """Return where the arrows of each kind begin and end in the base frame, m, shape (2 k, 2, 3): forces, then moments.

    Args:
        model: the robot.
        picture: its state and wrenches.
    """
    X0 = body_transforms(model, picture.q)
    own = {link: link_transform(model, X0, link) for link in model.child_links}
    joints = [LinkWrench(link, link, wrench) for link, wrench in zip(model.child_links, picture.joint_wrenches)]
    wrenches: dict[str, Sequence[LinkWrench | None]] = {
        "joints": joints,
        "external": [picture.external],
        "commanded": [picture.commanded],
        "push": [],
    }
    found: dict[str, Array] = {}
    for name, kind in KINDS.items():
        arrows = [_arrows(model, X0, own, each, kind) for each in wrenches[name] if each is not None]
        found[name] = np.concatenate(arrows, axis=1).reshape(-1, 2, 3) if arrows else np.zeros((0, 2, 3))
    scale, force = KINDS["push"].force_scale, 0.0 if picture.push is None else float(np.linalg.norm(picture.push[:3]))
    if picture.push is not None and MIN_LENGTH / scale <= force < np.inf:
        u = picture.push[:3] / force
        head = push_point(model, X0, picture.push) - SKIN * u
        found["push"] = np.array([[head - min(scale * force, MAX_LENGTH) * u, head], [head, head]])  # without a moment
    return found


def push_point(model: RobotModel, X0: list[Transform], push: Array) -> Array:
    """Return where a force pushes the arm: where its line of action passes the arm.

    A force at p has the moment (p - tip) x F about the tip, which gives its line of action. The arm is taken for the
    lines between the origins of its joints. The outermost of those that are nearest, to a centimetre, counts.

    Args:
        model: the robot.
        X0: its `body_transforms`.
        push: [force; moment] about the default tip, base frame, N and N m, shape (6,); the force is not zero.

    Returns:
        Point of the line of action, base frame, m, shape (3,).
    """
    tip, force = link_transform(model, X0, model.default_tip).r, push[:3]
    on_line, u = tip + np.cross(force, push[3:]) / (force @ force), force / np.linalg.norm(force)
    pairs = [(X0[body].r, X0[parent].r) for body, parent in enumerate(model.lambda_) if parent != BASE]
    pairs += [(tip, X0[model.link_frame(model.default_tip).body].r)]
    outer, inner = np.array(pairs[::-1]).swapaxes(0, 1)
    seen_along = np.eye(3) - np.outer(u, u)
    a, b = (outer - on_line) @ seen_along, (inner - outer) @ seen_along
    share = np.clip(-np.sum(a * b, axis=1) / np.maximum(np.sum(b * b, axis=1), 1e-12), 0.0, 1.0)[:, None]
    nearest = np.argmin(np.round(np.linalg.norm(a + share * b, axis=1), 2))
    return on_line + u * (u @ ((outer + share * (inner - outer))[nearest] - on_line))


def _arrows(model: RobotModel, X0: list[Transform], own: dict[str, Transform], shown: LinkWrench, kind: Kind) -> Array:
    """Return the arrows of force and moment, shape (2, 1, 2, 3)."""
    at, axes = (own[link] if link in own else link_transform(model, X0, link) for link in (shown.link, shown.frame))
    vectors = np.reshape(shown.wrench, (2, 3)) @ axes.E * np.array([[kind.force_scale], [kind.moment_scale]])
    length = np.nan_to_num(np.linalg.norm(vectors, axis=1, keepdims=True))
    vectors = np.where(length >= MIN_LENGTH, vectors, 0.0)
    vectors = vectors * np.minimum(1.0, MAX_LENGTH / np.maximum(length, 1e-9))
    return np.stack([np.broadcast_to(at.r, (2, 3)), at.r + vectors], axis=1)[:, None]


class Arrows:
    """The arrows in the scene, below `/wrenches`."""

    def __init__(self, server: viser.ViserServer) -> None:
        """Add them, without length."""
        self._server = server
        self.visible = dict.fromkeys(KINDS, True)
        """Which kinds are shown."""
        self._nodes: dict[str, Any] = {}
        self._newtons = server.scene.add_label("/wrenches/push/newtons", "", visible=False, anchor="bottom-center")

    def draw(self, model: RobotModel, picture: Picture) -> None:
        """Draw the wrenches of a picture."""
        for name, points in arrow_points(model, picture).items():
            if not self.visible[name]:
                points = points[:0]
            forces, moments = points[: len(points) // 2], points[len(points) // 2 :]
            radius = KINDS[name].radius
            self._set(f"/wrenches/{name}/forces", forces, KINDS[name].colour, radius)
            self._set(f"/wrenches/{name}/moments", moments, KINDS[name].moment_colour, radius)
            if name == "push":
                self._label(forces, picture.push)

    def _label(self, forces: Array, push: Array | None) -> None:
        """Write a push in N to the tail of its arrow; there is at most one."""
        self._newtons.visible = bool(len(forces))
        if len(forces) and push is not None:
            self._newtons.text, self._newtons.position = f"{np.linalg.norm(push[:3]):.0f} N", forces[0, 0]

    def _set(self, name: str, points: Array, colour: Colour, r: float) -> None:
        long_enough = np.any(points[:, 0] != points[:, 1], axis=1)
        points = points[long_enough].astype(np.float32)
        node = self._nodes.get(name)
        if node is not None and len(points):
            node.points, node.visible = points, True
        elif node is not None:
            node.visible = False
        elif len(points):
            self._nodes[name] = self._server.scene.add_arrows(
                name, points, _linear(colour), shaft_radius=r, head_radius=2.4 * r, head_length=5 * r
            )


def _linear(colour: Colour) -> Colour:
    """Return a colour as viser wants those of arrows: proportional to light, where all others are in sRGB."""
    r, g, b = (round(255 * (each / 255) ** 2.2) for each in colour)
    return r, g, b


def legend() -> str:
    """Return the legend as HTML, with the scale of each kind."""
    rows, box = [], "display:inline-block;width:1.1em;height:.45em;margin-right:2px"
    for kind in KINDS.values():
        boxes = "".join(
            f'<span style="{box};background:rgb{colour}"></span>' for colour in (kind.colour, kind.moment_colour)
        )
        scale = f"{0.1 / kind.force_scale:g} N, {0.1 / kind.moment_scale:g} N&#8239;m"
        cells = f"<td style='white-space:nowrap'>{boxes}</td><td>{kind.name}</td><td style='opacity:.65'>{scale}</td>"
        rows.append(f"<tr>{cells}</tr>")
    head = "<tr style='opacity:.65'><td></td><td>force, moment (lighter)</td><td>10 cm are</td></tr>"
    return f'<table style="font-size:12px;border-spacing:6px 1px;margin:0 4px">{head}{"".join(rows)}</table>'
