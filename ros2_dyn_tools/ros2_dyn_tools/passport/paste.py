# SPDX-License-Identifier: Apache-2.0
"""Thresholds and payloads as the interfaces of known drivers take them, ready to paste."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ros2_dyn_tools.passport.felt_forces import AXES
from ros2_dyn_tools.passport.passport import Passport

FRANKA = ("panda", "fer", "fr3", "fp3")
"""How the names of Franka's arms begin."""


class Line(NamedTuple):
    """Something to paste."""

    whom: str
    text: str


def lines(found: Passport) -> Iterator[Line]:
    """Yield what was found in the words of drivers."""
    if found.contact is not None:
        levels = [float(f"{x:.3g}") for x in found.contact.thresholds]
        yield Line("ros2_dyn", f"collision.threshold: {levels}")
        forces = {each.direction: each.force for each in found.felt if not each.joint}
        limits = [forces.get(each, np.inf) for each in (*AXES, *(f"about {axis}" for axis in AXES))]
        if found.model.name.startswith(FRANKA) and np.all(np.isfinite(limits)):
            yield Line("Franka, to begin with: its own estimator differs", _franka(levels, limits))
    if found.payload:
        yield from _payload(*found.payload)


def _franka(levels: list[float], limits: list[float]) -> str:
    upper = [float(f"{x:.3g}") for x in limits]
    fields = {"lower_torque": levels, "upper_torque": levels, "lower_force": upper, "upper_force": upper}
    values = ", ".join(f"{name}_thresholds_nominal: {numbers}" for name, numbers in fields.items())
    service = "/service_server/set_force_torque_collision_behavior"
    return f'ros2 service call {service} franka_msgs/srv/SetForceTorqueCollisionBehavior "{{{values}}}"'


def _payload(mass: float, *com: float) -> Iterator[Line]:
    """Yield a payload in the tip's axes; its inertia about the centre of mass is not known, and taken as 0."""
    m, x, y, z = (float(f"{each:.3g}") for each in (mass, *com))
    load = f"mass: {m}, center_of_mass: {[x, y, z]}, load_inertia: {[0.0] * 9}"
    yield Line("Franka", f'ros2 service call /service_server/set_load franka_msgs/srv/SetLoad "{{{load}}}"')
    cog = f"{{x: {x}, y: {y}, z: {z}}}"
    service = "/io_and_status_controller/set_payload ur_msgs/srv/SetPayload"
    yield Line("UR", f'ros2 service call {service} "{{mass: {m}, center_of_gravity: {cog}}}"')
    yield Line("UR, URScript", f"set_target_payload({m}, {[x, y, z]}, [0, 0, 0, 0, 0, 0])")
    millimetres = [round(1e3 * each, 1) for each in com]
    yield Line("KUKA", f"mass {m} kg, centre of mass {millimetres} mm")
