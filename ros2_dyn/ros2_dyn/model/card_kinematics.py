# SPDX-License-Identifier: Apache-2.0
"""Digests of a robot's kinematics, link by link: numbers of one robot mean nothing for a robot that moves otherwise.

A digest does not depend on where the arm stands, on links that are fixed in between, or on their masses and limits.
Lengths count to 1e-6 m, rotations and axes to 1e-6.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from ros2_dyn.model.joint import Joint
from ros2_dyn.model.spatial import Array, Transform, identity_transform

if TYPE_CHECKING:
    from ros2_dyn.model.robot_model import RobotModel

HEX_DIGITS = 8
"""Length of a digest."""


class _Place(NamedTuple):
    """Where a frame is fixed."""

    body: str
    """The nearest link, towards the base, that one of the joints moves."""
    X: Transform
    """Transform from that link's frame, all other joints at zero."""
    passed: tuple[str, ...] = ()
    """Other joints in between."""


def kinematics_digests(model: RobotModel, joints: Collection[str]) -> dict[str, str]:
    """Return a digest for each link that some joints move, directly or behind others.

    That of a link which one of the joints moves tells what the joint is like, and where it is fixed to the body before;
    what is before the first of the joints is left out. That of another link tells where it is fixed to its body.
    """
    places: dict[str, _Place] = {}
    digests: dict[str, str] = {}
    for spec in model.link_specs:
        before = places.get(spec.parent or "")
        place = before and before._replace(X=spec.X.after(before.X))
        joint = spec.joint
        if joint is not None and joint.name in joints:
            digests[spec.link] = _digest(_plain_joint(joint), _plain_place(place), place and place.passed)
            places[spec.link] = _Place(spec.link, identity_transform())
        elif place is not None:
            digests[spec.link] = _digest(_plain_place(place))
            passed = () if joint is None else (joint.name,)
            places[spec.link] = place._replace(passed=place.passed + passed)
    return digests


def _digest(*content: object) -> str:
    return sha256(json.dumps(content).encode()).hexdigest()[:HEX_DIGITS]


def _plain_joint(joint: Joint) -> list[object]:
    return [joint.name, joint.type, _text(joint.axis), joint.mimics, _number(joint.multiplier), _number(joint.offset)]


def _plain_place(place: _Place | None) -> list[object] | None:
    return place and [place.body, _text(place.X.E), _text(place.X.r)]


def _text(numbers: Array) -> list[str]:
    return [_number(float(x)) for x in numbers.ravel()]


def _number(x: float) -> str:
    text = f"{x:.6f}"
    return "0.000000" if text == "-0.000000" else text
