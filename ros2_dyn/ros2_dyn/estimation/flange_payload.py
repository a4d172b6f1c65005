# SPDX-License-Identifier: Apache-2.0
"""A payload as the drivers of Franka and UR take it: at the flange of their arms."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ros2_dyn.errors import InputError
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.model.spatial import Transform, identity_transform


class Flange(NamedTuple):
    """The flange of a maker's arms."""

    suffix: str
    """How the name of its link ends; what comes before is the prefix of the arm."""
    bears_tool: bool
    """Whether the driver takes all that the flange bears: the description's links beyond it, too."""


FLANGES = {"franka_msgs/srv/SetLoad": Flange("link8", False), "ur_msgs/srv/SetPayload": Flange("tool0", True)}
"""By the type of the service that takes a payload. Franka adds it to the end effector that is set in Desk."""


def payload_at_flange(model: RobotModel, link: str, payload: SpatialInertia, flange: Flange) -> SpatialInertia:
    """Return what a driver is to be told, in the frame of the flange.

    Args:
        model: the robot without payload.
        link: that carries the payload.
        payload: in that link's frame.
        flange: the flange.

    Raises:
        InputError: the robot has no such flange or several, or a link that carries something is not fixed to it.
    """
    found = [each for each in model.links if each.endswith(flange.suffix)]
    if len(found) != 1:
        raise InputError(
            "link", f"expected one link '*{flange.suffix}', the driver's flange; there are {found or 'none'}"
        )
    place, carrier = model.links[found[0]], model.link_frame(link)
    if payload.mass and carrier.body != place.body:
        raise InputError("link", f"'{link}' moves against '{found[0]}', where the driver takes a payload")
    to_body = Transform(np.swapaxes(place.X.E, -1, -2), -place.X.E @ place.X.r)
    told = payload.in_parent(carrier.X.after(to_body))
    return told + _tool(model, found[0]) if flange.bears_tool else told


def _tool(model: RobotModel, flange: str) -> SpatialInertia:
    """Return the inertia of a link and of all links beyond it, joints at 0, in its frame."""
    places, tool = {flange: identity_transform()}, SpatialInertia.zero()
    for each in model.link_specs:
        if each.parent in places:
            places[each.link] = each.X.after(places[each.parent])
        if each.link in places:
            tool += each.inertia.in_parent(places[each.link])
    return tool
