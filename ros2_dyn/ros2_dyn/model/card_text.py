# SPDX-License-Identifier: Apache-2.0
"""The text of a robot card: YAML, with units in its comments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from textwrap import indent
from typing import Any

from ros2_dyn.model.card import CardAbout, CardSpread, RobotCard, rounded_dynamics
from ros2_dyn.model.effort_filter import NO_FILTER, EffortFilter
from ros2_dyn.model.inertial import MOMENTS, Inertial, rounded
from ros2_dyn.model.joint_dynamics import JointDynamics

LINE_BREAKS = "\x85\u2028\u2029"
"""Characters that PyYAML takes for line breaks, and does not escape where it writes others plainly."""
VERSION = 1
"""Version of the format."""
FORMAT = "ros2_dyn_card"
"""Key of the version."""
HEADER = "# Robot card: what was identified of one arm, to be used with its URDF. SI units. See docs/cards.md.\n"
COMMENTS = {
    "about": "temperature, degrees Celsius; held_out_rms, N m or N; data: SHA-256 of each recording",
    "links": "mass, kg; com: centre of mass in the link's frame, m; inertia about it in the link's axes, kg m^2",
    "massless": "links whose inertia is in that of a link they are fixed to",
    "joints": "N m and rad, or N and m: viscous, N m s/rad; coulomb, static, offset, N m; armature, kg m^2; ...",
    "effort_gain": "N m or N for each unit of the measured effort",
    "gravity": "acceleration of free fall in the base frame as it was found, m/s^2",
    "effort_filter": "low-pass filter that the driver puts on the efforts: kind; cutoff, Hz",
    "kinematics": "what tells whether a URDF moves like the one that the numbers belong to",
    "spread": "standard deviations over the identifications, in the units of the numbers",
}
"""What is said above each part."""
PARTS = (FORMAT, "robot", "urdf", *COMMENTS)
"""Keys of a card."""
NO_DYNAMICS = JointDynamics()


def card_text(card: RobotCard) -> str:
    """Return a card as text; numbers have six digits."""
    parts = [HEADER]
    for key, value in _parts(card).items():
        if value in (None, {}, [], "") and not (key == "spread" and card.spread):
            continue
        comment = f"\n# {COMMENTS[key]}\n" if key in COMMENTS else ""
        parts.append(comment + _yaml(key, value))
    return "".join(parts)


def _yaml(key: str, value: Any) -> str:
    """Return an entry, with its innermost lists and mappings on one line each."""
    import yaml

    if key == "about":
        return f"{key}:\n" + indent("".join(_yaml(name, told) for name, told in value.items()), "  ")
    flow = None if isinstance(value, (dict, list)) else False
    text = json.dumps([key, value], ensure_ascii=False)
    plain = not any(each in text for each in LINE_BREAKS)
    return str(yaml.safe_dump({key: value}, default_flow_style=flow, sort_keys=False, width=110, allow_unicode=plain))


def _parts(card: RobotCard) -> dict[str, Any]:
    """Return the parts of a card as YAML holds them, in its order."""
    return {
        FORMAT: VERSION,
        "robot": card.robot,
        "urdf": card.urdf,
        "about": _about(card.about),
        "joints": {name: plain_dynamics(dynamics) for name, dynamics in card.joints.items()},
        "effort_gain": _numbers(card.effort_gain),
        "gravity": _list(card.gravity),
        "effort_filter": _filter(card.effort_filter),
        "links": {name: plain_inertial(each) for name, each in card.links.items() if each != Inertial()},
        "massless": [name for name, each in card.links.items() if each == Inertial()],
        "kinematics": dict(card.kinematics),
        "spread": None if card.spread is None else _spread(card.spread),
    }


def _about(about: CardAbout) -> dict[str, Any]:
    told = {each.name: getattr(about, each.name) for each in fields(CardAbout)}
    told |= {"data": list(about.data), "held_out_rms": _numbers(about.held_out_rms)}
    told["temperature"] = None if about.temperature is None else rounded(about.temperature)
    told["identifications"] = about.identifications if about.identifications > 1 else None
    return {name: value for name, value in told.items() if value not in (None, "", [], {})}


def _spread(spread: CardSpread) -> dict[str, Any]:
    told = {
        "joints": {name: _numbers(numbers) for name, numbers in spread.joints.items()},
        "effort_gain": _numbers(spread.effort_gain),
        "gravity": _list(spread.gravity),
        "links": {name: plain_inertial(each) for name, each in spread.links.items()},
    }
    return {name: value for name, value in told.items() if value not in (None, {})}


def plain_inertial(inertial: Inertial) -> dict[str, Any]:
    """Return an inertia by the names of its parts."""
    return {
        "mass": rounded(inertial.mass),
        "com": _list(inertial.com),
        "inertia": dict(zip(MOMENTS, _list(inertial.inertia) or ())),
    }


def plain_dynamics(dynamics: JointDynamics) -> dict[str, Any]:
    """Return the numbers of a joint that are not the default, by name."""
    short = rounded_dynamics(dynamics)
    told = {each.name: getattr(short, each.name) for each in fields(JointDynamics)}
    told = {name: value for name, value in told.items() if value != getattr(NO_DYNAMICS, name)}
    return told | ({"presliding": [list(pair) for pair in short.presliding]} if short.presliding else {})


def _filter(effort_filter: EffortFilter) -> dict[str, Any] | None:
    if effort_filter == NO_FILTER:
        return None
    return {"kind": effort_filter.kind, "cutoff": rounded(effort_filter.cutoff)}


def _numbers(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: rounded(x) for name, x in numbers.items()}


def _list(numbers: tuple[float, ...] | None) -> list[float] | None:
    return None if numbers is None else [rounded(x) for x in numbers]
