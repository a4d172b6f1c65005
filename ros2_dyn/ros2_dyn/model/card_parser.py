# SPDX-License-Identifier: Apache-2.0
"""The robot card of a text, with every name and number checked, since a card may be anybody's."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from ros2_dyn.errors import InputError
from ros2_dyn.model.card import CardAbout, CardSpread, RobotCard
from ros2_dyn.model.card_kinematics import HEX_DIGITS
from ros2_dyn.model.card_text import FORMAT, PARTS, VERSION
from ros2_dyn.model.effort_filter import NO_FILTER, EffortFilter, checked_filter
from ros2_dyn.model.inertial import MOMENTS, Inertial
from ros2_dyn.model.joint_dynamics import JointDynamics
from ros2_dyn.model.strict_yaml import complete, mapping, number, numbers, parse_yaml, sequence, string, vector

MAX_TEXT = 200_000
"""Characters of a card; one of six joints has 4000, one of a humanoid with hands less than 60 000."""
MAX_LINE = 2000
"""Characters of a text in it."""


def parse_card(text: str) -> RobotCard:
    """Return the card of a text.

    Raises:
        InputError: something in it is unknown, missing, not finite or too large; the error names the part by its keys.
    """
    if len(text) > MAX_TEXT:
        raise InputError("text", f"it is too long: expected at most {MAX_TEXT} characters")
    data = parse_yaml(text)
    if not isinstance(data, dict) or data.get(FORMAT) != str(VERSION):
        problem = f"expected {FORMAT}: {VERSION}; it is no robot card, or one for another version of ros2_dyn"
        raise InputError(FORMAT, problem)
    parts = mapping("card", data, PARTS)
    spread = parts.get("spread")
    return RobotCard(
        robot=_name("robot", parts.get("robot")),
        links=_inertials("links", parts.get("links", {})) | _massless(parts),
        joints={
            name: _dynamics(f"joints: {name}", each)
            for name, each in mapping("joints", parts.get("joints", {})).items()
        },
        kinematics=_digests(parts.get("kinematics", {})),
        effort_gain=numbers("effort_gain", parts.get("effort_gain", {})),
        gravity=vector("gravity", parts["gravity"], 3) if "gravity" in parts else None,
        effort_filter=_filter(parts["effort_filter"]) if "effort_filter" in parts else NO_FILTER,
        about=_about(parts.get("about", {})),
        spread=None if spread is None else _spread(spread),
        urdf=string("urdf", parts.get("urdf", ""), MAX_LINE),
    )


def _name(where: str, data: Any) -> str:
    if not string(where, data):
        raise InputError(where, "expected a name")
    return str(data)


def _inertials(where: str, data: Any) -> dict[str, Inertial]:
    return {name: _inertial(f"{where}: {name}", each) for name, each in mapping(where, data).items()}


def _inertial(where: str, data: Any) -> Inertial:
    parts = complete(where, data, Inertial._fields)
    moments = complete(f"{where}: inertia", parts["inertia"], MOMENTS)
    return Inertial(
        number(f"{where}: mass", parts["mass"]),
        vector(f"{where}: com", parts["com"], 3),
        tuple(number(f"{where}: {name}", moments[name]) for name in MOMENTS),
    )


def _massless(parts: dict[str, Any]) -> dict[str, Inertial]:
    names = [_name("massless", each) for each in sequence("massless", parts.get("massless", []))]
    if twice := [name for name in names if name in parts.get("links", {})]:
        raise InputError("massless", f"'{twice[0]}' is in `links`, too")
    return dict.fromkeys(names, Inertial())


def _dynamics(where: str, data: Any) -> JointDynamics:
    parts = mapping(where, data, [each.name for each in fields(JointDynamics)])
    elements = sequence(f"{where}: presliding", parts.pop("presliding", []))
    presliding = tuple((x, effort) for x, effort in (vector(f"{where}: presliding", each, 2) for each in elements))
    told = {name: number(f"{where}: {name}", each) for name, each in parts.items()}
    try:
        return JointDynamics(**told, presliding=presliding)
    except InputError as error:
        raise InputError(where, str(error)) from error


def _digests(data: Any) -> dict[str, str]:
    digests = mapping("kinematics", data)
    for link, digest in digests.items():
        if len(string(f"kinematics: {link}", digest)) != HEX_DIGITS:
            raise InputError(f"kinematics: {link}", f"expected {HEX_DIGITS} hexadecimal digits, got '{digest}'")
    return digests


def _filter(data: Any) -> EffortFilter:
    parts = complete("effort_filter", data, EffortFilter._fields)
    kind = string("effort_filter: kind", parts["kind"])
    return checked_filter(kind, number("effort_filter: cutoff", parts["cutoff"]))


def _about(data: Any) -> CardAbout:
    told = mapping("about", data, [each.name for each in fields(CardAbout)])
    for name, value in told.items():
        where = f"about: {name}"
        if name == "held_out_rms":
            told[name] = numbers(where, value)
        elif name == "data":
            told[name] = tuple(string(where, each) for each in sequence(where, value))
        elif name == "temperature":
            told[name] = number(where, value)
        elif name == "identifications":
            told[name] = int(number(where, value))
        else:
            told[name] = string(where, value, MAX_LINE)
    return CardAbout(**told)


def _spread(data: Any) -> CardSpread:
    parts = mapping("spread", data, [each.name for each in fields(CardSpread)])
    joints = mapping("spread: joints", parts.get("joints", {}))
    return CardSpread(
        links=_inertials("spread: links", parts.get("links", {})),
        joints={name: numbers(f"spread: joints: {name}", each) for name, each in joints.items()},
        effort_gain=numbers("spread: effort_gain", parts.get("effort_gain", {})),
        gravity=vector("spread: gravity", parts["gravity"], 3) if "gravity" in parts else None,
    )
