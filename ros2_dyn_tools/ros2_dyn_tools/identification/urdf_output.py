# SPDX-License-Identifier: Apache-2.0
"""An arm as files: its description with other inertias and friction, all else as it was, and a parameter file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.dom import minidom

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.pseudo_inertia import is_consistent
from ros2_dyn_tools.identification.parameter_output import joint_parameters, write_parameter_file


def write_arm(
    path: Path,
    xml: str,
    told: RobotModel,
    found: RobotModel,
    *,
    others: Mapping[str, Any] | None = None,
    comment: str = "",
) -> None:
    """Write an arm as a URDF and, beside it as .yaml, a parameter file with the friction and rotors.

    Args:
        path: of the URDF.
        xml: the description.
        told: the robot that was made from it, perhaps with some joints locked.
        found: the same robot with the parameters that were found.
        others: further parameters, by name.
        comment: that stands above them.

    Raises:
        InputError: a file cannot be written.
    """
    try:
        path.write_text(identified_urdf(xml, told, found), encoding="utf-8")
    except OSError as error:
        raise InputError("output", f"'{path}' cannot be written: {os.strerror(error.errno or 0)}") from error
    values = joint_parameters(found) | {"friction.transition_velocity": found.joints[0].dynamics.transition_velocity}
    comment = comment or f"What {path.name} cannot hold."
    write_parameter_file(path.with_suffix(".yaml"), values | dict(others or {}), comment)


def identified_urdf(xml: str, told: RobotModel, found: RobotModel) -> str:
    """Return the text of a URDF with the bodies and friction that were found.

    A link that others are fixed to, or are joined to by joints that were locked, carries them. They keep the inertia
    that they have if what is left for the link can exist; if not, the link gets all of it, and they get none.

    Args:
        xml: the description.
        told: the robot that was made from it, perhaps with some joints locked.
        found: the same robot with the parameters that were found.
    """
    document = minidom.parseString(xml.strip().encode())
    (robot,) = _children(document, "robot")
    links = {each.getAttribute("name").strip(): each for each in _children(robot, "link")}
    joints = {each.getAttribute("name").strip(): each for each in _children(robot, "joint")}
    for link, body in inertias(told, found).items():
        for each in _children(links[link], "inertial"):
            links[link].removeChild(each)
        if body.mass > 0:
            links[link].appendChild(_inertial(document, body))
    for joint in found.joints:
        damping_and_friction = {"damping": joint.dynamics.viscous, "friction": joint.dynamics.coulomb}
        elements = _children(joints[joint.name], "dynamics") or [document.createElement("dynamics")]
        for each in elements:
            for name, value in damping_and_friction.items():
                each.setAttribute(name, _text(value))
            joints[joint.name].appendChild(each)
    return document.toxml(encoding="utf-8").decode() + "\n"


def inertias(told: RobotModel, found: RobotModel) -> Mapping[str, SpatialInertia]:
    """Return the inertias of the links whose inertia changes, each in the link's frame."""
    changed: dict[str, SpatialInertia] = {}
    own = {spec.link: spec.inertia for spec in told.link_specs}
    for i, body in enumerate(found.inertia):
        link = told.child_links[i]
        others = [name for name, frame in told.links.items() if frame.body == i and name != link]
        rest = body.parameters - sum(own[name].in_parent(told.links[name].X).parameters for name in others)
        if others and is_consistent(rest):
            changed[link] = SpatialInertia.from_parameters(rest)
        else:
            changed[link] = body
            changed |= {name: SpatialInertia.zero() for name in others}
    return changed


def _children(element: minidom.Node, tag: str) -> list[minidom.Element]:
    """Return the elements of a name right below another one."""
    return [e for e in element.childNodes if isinstance(e, minidom.Element) and e.tagName == tag]


def _inertial(document: minidom.Document, body: SpatialInertia) -> minidom.Element:
    """Return the element <inertial> of a body, its inertia about the centre of mass and in the axes of the link."""
    I = body.I_com
    places = {"ixx": (0, 0), "ixy": (0, 1), "ixz": (0, 2), "iyy": (1, 1), "iyz": (1, 2), "izz": (2, 2)}
    inertial = document.createElement("inertial")
    for tag, attributes in (
        ("origin", {"xyz": " ".join(_text(x) for x in body.com), "rpy": "0 0 0"}),
        ("mass", {"value": _text(body.mass)}),
        ("inertia", {name: _text(I[place]) for name, place in places.items()}),
    ):
        element = document.createElement(tag)
        for name, value in attributes.items():
            element.setAttribute(name, value)
        inertial.appendChild(element)
    return inertial


def _text(value: object) -> str:
    """Return a number with all its digits."""
    return repr(float(value))  # type: ignore[arg-type]
