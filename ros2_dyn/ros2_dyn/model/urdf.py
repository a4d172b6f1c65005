# SPDX-License-Identifier: Apache-2.0
"""Links of a robot from a URDF: strip what does not concern dynamics, parse, and name the element that is wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args
from xml.etree import ElementTree

import numpy as np
from urdf_parser_py import urdf
from urdf_parser_py.xml_reflection.core import ParseError

from ros2_dyn.errors import InputError, ModelError
from ros2_dyn.model.description_bounds import check_elements, check_text, checked_link
from ros2_dyn.model.finding import Finding
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.joint import Joint, JointType
from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.link_spec import LinkSpec
from ros2_dyn.model.spatial import Array, Transform, identity_transform, rotation_from_rpy
from ros2_dyn.model.transmissions import coupled

# Elements that concern kinematics and inertia, with their attributes (required ones are marked !) and children.
# Everything else is dropped before parsing, so that a broken mesh or plug-in does not matter. See also `transmissions`.
KEPT: dict[str, tuple[str, str]] = {
    "link": ("name!", "inertial"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value!", ""),
    "inertia": ("ixx! ixy! ixz! iyy! iyz! izz!", ""),
    "joint": ("name! type!", "origin parent child axis limit dynamics mimic"),
    "origin": ("xyz rpy", ""),
    "parent": ("link!", ""),
    "child": ("link!", ""),
    "axis": ("xyz!", ""),
    "limit": ("lower upper effort! velocity!", ""),
    "dynamics": ("damping friction", ""),
    "mimic": ("joint! multiplier offset", ""),
}
MIMICKED = ("revolute", "continuous", "prismatic")
"""Types of the joints that others can mimic."""


def read(xml: str) -> tuple[str, list[LinkSpec], tuple[Finding, ...]]:
    """Return the robot's name, its links, depth first, children in document order, and what was odd in the text.

    What other parsers accept is read as they read it, and found to be odd.

    Raises:
        ModelError: the text is no URDF, one of its elements is wrong, its links are not one tree, or it is too large.
    """
    check_text(xml)
    found: list[Finding] = []
    robot = robot_element(xml, found)
    check_elements(robot)
    links = _by_name(_parse_element(element, urdf.Link, found) for element in robot.findall("link"))
    joints = _by_name(_parse_element(element, urdf.Joint, found) for element in robot.findall("joint"))
    specs = coupled(robot, [checked_link(spec) for spec in _walk(links, joints, found)])
    return robot.get("name", "robot"), specs, tuple(found)


def robot_element(xml: str, found: list[Finding]) -> ElementTree.Element:
    """Return the root element of a description; note what is odd around it.

    Raises:
        ModelError: the text is no URDF.
    """
    text = xml.lstrip("\ufeff \t\r\n")
    if text != xml and text.startswith("<?xml"):
        problem = f"{len(xml) - len(text)} characters stand before the XML declaration, which has to come first"
        found.append(Finding("warning", "xml_declaration", "robot description", problem, "remove them"))
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        hint = " (a xacro file has to be expanded first)" if "xacro:" in xml else ""
        raise ModelError("robot description", f"not well-formed XML: {error}{hint}") from error
    if robot.tag != "robot":
        raise ModelError("robot description", f"expected the root element <robot>, found <{robot.tag}>")
    if any("xacro" in element.tag for element in robot.iter()):
        raise ModelError("robot description", "this is a xacro file; expand it first, with the command xacro")
    return robot


def _by_name(elements: Iterator[Any]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for element in elements:
        if element.name in named:
            raise ModelError(f"{type(element).__name__.lower()} '{element.name}'", "the name is used twice")
        named[element.name] = element
    return named


def _walk(links: dict[str, urdf.Link], joints: dict[str, urdf.Joint], found: list[Finding]) -> Iterator[LinkSpec]:
    """Yield the links from the root outwards, without recursion, because chains may be long."""
    parent_joint: dict[str, urdf.Joint] = {}
    child_joints: defaultdict[str, list[urdf.Joint]] = defaultdict(list)
    for joint in joints.values():
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                raise ModelError(f"joint '{joint.name}'", f"its {role} link '{link}' does not exist")
        if joint.child in parent_joint:
            other = parent_joint[joint.child].name
            raise ModelError(f"link '{joint.child}'", f"it is the child of two joints, '{other}' and '{joint.name}'")
        parent_joint[joint.child] = joint
        child_joints[joint.parent].append(joint)

    root = _root([link for link in links if link not in parent_joint])
    yield LinkSpec(root, None, identity_transform(), None, _inertia(links[root]))
    pending = child_joints[root][::-1]
    seen = 1
    while pending:
        joint = pending.pop()
        X = _origin(joint.origin, f"joint '{joint.name}'")
        moving = None if joint.type == "fixed" else _moving_joint(joint, joints, found)
        yield LinkSpec(joint.child, joint.parent, X, moving, _inertia(links[joint.child]))
        pending += child_joints[joint.child][::-1]
        seen += 1
    if seen < len(links):
        raise ModelError("robot", "some of its links form a loop, which no joint connects to the root")


def _root(roots: list[str]) -> str:
    if not roots:
        raise ModelError("robot", "it has no root link: every link is the child of a joint, or there is none")
    if len(roots) > 1:
        raise ModelError(f"link '{roots[1]}'", f"no joint connects it to '{roots[0]}'; expected one root link")
    return roots[0]


def _parse_element(element: ElementTree.Element, kind: type, found: list[Finding]) -> Any:
    label = f"{element.tag} '{element.get('name', '?')}'"
    try:
        return kind.from_xml_string(ElementTree.tostring(_strip(element, label, found)))  # type: ignore[attr-defined]
    except (ParseError, ValueError, TypeError, AttributeError, AssertionError) as error:
        raise ModelError(label, " ".join(str(getattr(error, "e", error)).split())) from error


def _strip(element: ElementTree.Element, label: str, findings: list[Finding]) -> ElementTree.Element:
    """Return a copy with the elements and attributes of KEPT only."""
    attributes, children = (words.split() for words in KEPT[element.tag])
    stripped = ElementTree.Element(element.tag)
    for attribute in attributes:
        value = element.get(attribute.rstrip("!"))
        if value is not None:
            stripped.set(attribute.rstrip("!"), value)
        elif attribute.endswith("!"):
            raise ModelError(label, f"its <{element.tag}> has no attribute '{attribute[:-1]}'")
    if element.tag == "limit" and not {"lower", "upper"} & set(stripped.attrib):
        stripped.set("lower", "-inf")  # URDF's default, 0 for both, would lock the joint, which nobody means
        stripped.set("upper", "inf")
    for tag in children:
        found = element.findall(tag)
        if len(found) > 1:
            problem = f"<{tag}> is given {len(found)} times: the first counts"
            findings.append(Finding("warning", "given_twice", label, problem, "remove the others"))
        stripped.extend([_strip(child, label, findings) for child in found[:1]])
    return stripped


def _inertia(link: urdf.Link) -> SpatialInertia:
    """Return the link's inertia in the link's frame, zero where the URDF gives none."""
    label = f"link '{link.name}'"
    if link.inertial is None:
        return SpatialInertia.zero()
    mass = link.inertial.mass
    I_com = np.zeros((3, 3)) if link.inertial.inertia is None else np.array(link.inertial.inertia.to_matrix())
    if not np.isfinite(mass):
        raise ModelError(label, f"mass is {mass}, expected a finite number of kg")
    if not np.all(np.isfinite(I_com)):
        raise ModelError(label, "its <inertia> is not finite")
    X = _origin(link.inertial.origin, label)
    return SpatialInertia.from_com(mass, np.zeros(3), I_com).in_parent(X)


def _origin(pose: urdf.Pose | None, label: str) -> Transform:
    """Return the transform from the frame that an <origin> is given in to the frame that it defines."""
    xyz = np.array(pose.xyz if pose is not None and pose.xyz is not None else [0.0, 0.0, 0.0], dtype=float)
    rpy = np.array(pose.rpy if pose is not None and pose.rpy is not None else [0.0, 0.0, 0.0], dtype=float)
    if not (np.all(np.isfinite(xyz)) and np.all(np.isfinite(rpy))):
        raise ModelError(label, f"its <origin> is not finite: xyz {xyz}, rpy {rpy}")
    return Transform(rotation_from_rpy(rpy).T, xyz)


def _moving_joint(joint: urdf.Joint, joints: dict[str, urdf.Joint], found: list[Finding]) -> Joint:
    label = f"joint '{joint.name}'"
    if joint.type not in get_args(JointType):
        raise ModelError(label, f"its type is '{joint.type}', expected one of fixed, {', '.join(get_args(JointType))}")
    axis = np.array([0.0, 0.0, 1.0]) if joint.type == "floating" else _axis(joint, label)
    limits, dynamics = _limits(joint, label, found), _joint_dynamics(joint, label)
    return Joint(joint.name, joint.type, axis, *limits, dynamics, *_mimic(joint, joints, found))


def _mimic(joint: urdf.Joint, joints: dict[str, urdf.Joint], found: list[Finding]) -> tuple[Any, ...]:
    """Return the independent joint that this one mimics, directly or through others, with multiplier and offset.

    It is empty for a joint that mimics none, and for one that cannot mimic what it names: that is a joint of its own.
    """
    first, multiplier, offset, passed = joint, 1.0, 0.0, [joint.name]
    while joint.mimic is not None:
        factor, shift = (
            default if x is None else x for x, default in ((joint.mimic.multiplier, 1), (joint.mimic.offset, 0))
        )
        if not (np.isfinite(factor) and np.isfinite(shift)):
            problem = f"its <mimic> has multiplier {factor} and offset {shift}, expected finite numbers"
            raise ModelError(f"joint '{joint.name}'", problem)
        other = joints.get(joint.mimic.joint)
        if other is None or other.name in passed or other.type not in MIMICKED:
            why = "does not exist" if other is None else "mimics it" if other.name in passed else f"is {other.type}"
            problem = f"it mimics '{joint.mimic.joint}', which {why}: it is taken as a joint of its own"
            found.append(Finding("error", "mimic_impossible", f"joint '{first.name}'", problem, "remove its <mimic>"))
            return ()
        multiplier, offset = multiplier * factor, offset + multiplier * shift
        passed.append(other.name)
        joint = other
    return (joint.name, multiplier, offset) if joint is not first else ()


def _joint_dynamics(joint: urdf.Joint, label: str) -> JointDynamics:
    if joint.dynamics is None:
        return JointDynamics()
    try:
        return JointDynamics(viscous=joint.dynamics.damping or 0.0, coulomb=joint.dynamics.friction or 0.0)
    except InputError as error:
        names = {"viscous": "damping", "coulomb": "friction"}
        raise ModelError(label, f"its <dynamics> has a wrong {names[error.argument]}: {error.problem}") from error


def _axis(joint: urdf.Joint, label: str) -> Array:
    axis: Array = np.array([1.0, 0.0, 0.0] if joint.axis is None else joint.axis, dtype=float)  # URDF's default
    length = float(np.linalg.norm(axis))
    if not (np.isfinite(length) and length > 1e-9):
        raise ModelError(label, f"its <axis> is {axis}, expected a direction")
    return axis / length


def _limits(joint: urdf.Joint, label: str, found: list[Finding]) -> tuple[float, float, float, float]:
    if joint.limit is None:
        return -np.inf, np.inf, np.inf, np.inf
    limit = joint.limit
    turns_freely = joint.type == "continuous"
    lower, upper = (-np.inf, np.inf) if turns_freely else (limit.lower, limit.upper)
    if np.isnan(lower) or np.isnan(upper):
        raise ModelError(label, f"its <limit> has lower {lower} and upper {upper}, expected numbers")
    if lower > upper:
        problem = f"its <limit> has lower {lower} above upper {upper}: they are read the other way round"
        found.append(Finding("error", "limits_upside_down", label, problem, "swap them"))
        lower, upper = upper, lower
    for name, value in (("effort", limit.effort), ("velocity", limit.velocity)):
        if not value >= 0:
            raise ModelError(label, f"its <limit> has {name} {value}, expected a number, not negative")
    return lower, upper, limit.velocity, limit.effort
