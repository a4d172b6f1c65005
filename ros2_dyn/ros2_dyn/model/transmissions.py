# SPDX-License-Identifier: Apache-2.0
"""Drives that turn with two joints, from the transmissions of ros2_control in a URDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from xml.etree.ElementTree import Element

import numpy as np

from ros2_dyn.errors import ModelError
from ros2_dyn.model.joint import Joint
from ros2_dyn.model.link_spec import LinkSpec

FOUR_BAR = "transmission_interface/FourBarLinkageTransmission"
"""Its actuators turn at ``n1 qd1`` and ``qd1 + n2 qd2``, by the reductions n of its joints, each times its own."""
DIFFERENTIAL = "transmission_interface/DifferentialTransmission"
"""Its actuators turn at ``n1 qd1 + n2 qd2`` and ``n1 qd1 - n2 qd2``, each times its own reduction."""


def coupled(robot: Element, specs: Sequence[LinkSpec]) -> list[LinkSpec]:
    """Return the links with the joints that turn each drive, as the two kinds above tell; others are not looked at.

    Raises:
        ModelError: one of these transmissions is wrong.
    """
    joints = {spec.joint.name: spec.joint for spec in specs if spec.joint is not None}
    for element in robot.findall("ros2_control/transmission"):
        kind = (element.findtext("plugin") or "").strip()
        if kind in (FOUR_BAR, DIFFERENTIAL):
            (first, n1), (second, n2) = _joints(element, joints)
            if kind == FOUR_BAR:
                turns = [(second, first, 1 / n2)]
            else:
                turns = [(first, second, n2 / n1), (second, first, -n1 / n2)]
            for name, other, ratio in turns:
                if joints[name].coupled:
                    raise ModelError(_label(element), f"the motor of '{name}' is told by another transmission, too")
                joints[name] = replace(joints[name], coupled=((other, ratio),))
    return [spec if spec.joint is None else spec._replace(joint=joints[spec.joint.name]) for spec in specs]


def _joints(element: Element, joints: dict[str, Joint]) -> list[tuple[str, float]]:
    """Return the two joints of a transmission, in its order as in ros2_control, with their reductions."""
    label, found = _label(element), list[tuple[str, float]]()
    names = [each.get("name", "") for each in element.findall("joint")]
    if len(names) != 2 or len(set(names)) != 2:
        raise ModelError(label, f"expected two joints, got {', '.join(names) or 'none'}")
    for name, each in zip(names, element.findall("joint")):
        if name not in joints or joints[name].dof > 1 or joints[name].mimics is not None:
            why = "does not exist, or is fixed" if name not in joints else "has several axes, or mimics another"
            raise ModelError(label, f"its joint '{name}' {why}")
        reduction = each.findtext("mechanical_reduction", "1")
        try:
            number = float(reduction)
        except ValueError:
            number = 0.0
        if not 1e-9 < abs(number) < np.inf:
            raise ModelError(label, f"its joint '{name}' has the reduction {reduction}, expected a number other than 0")
        found.append((name, number))
    return found


def _label(element: Element) -> str:
    return f"transmission '{element.get('name', '?')}'"
