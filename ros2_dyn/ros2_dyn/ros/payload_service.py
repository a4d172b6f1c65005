# SPDX-License-Identifier: Apache-2.0
"""A driver's own service for what its arm carries, `outputs.payload_service`: Franka's SetLoad and UR's SetPayload."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from rclpy.node import Node

from ros2_dyn.errors import ProcessError
from ros2_dyn.estimation.flange_payload import FLANGES, payload_at_flange
from ros2_dyn.model import RobotModel
from ros2_dyn.model.inertia import SpatialInertia
from ros2_dyn.ros.coroutines import Waiter
from ros2_dyn.ros.messages import inertia_message
from ros2_dyn.runtime.handover_protocol import Refused
from ros2_dyn.runtime.inputs import PayloadRequest


async def tell_driver(
    node: Node, service: str, payload: PayloadRequest, model: RobotModel, now: Callable[[], float]
) -> None:
    """Hand a payload to a driver.

    Args:
        node: that calls.
        service: its name.
        payload: what a link carries.
        model: the robot without payload.
        now: the time, s.

    Raises:
        ProcessError: there is no such service of a known type.
        InputError: the payload is not at the driver's flange.
        Refused: the driver refuses it, or does not answer in time.
    """
    try:
        name = node.resolve_service_name(service)
    except RuntimeError as error:  # rclpy's RCLError
        raise ProcessError(f"outputs.payload_service: {service}", f"no service is called so ({error})") from error
    offered = dict(node.get_service_names_and_types()).get(name, [])
    kind = next((each for each in offered if each in FLANGES), "")
    if not kind:
        raise ProcessError(name, f"expected a service of type {' or '.join(FLANGES)}, found {offered or 'none'}")
    package, _, type_name = kind.split("/")
    try:
        service_type = getattr(import_module(f"{package}.srv"), type_name)
    except (ImportError, AttributeError) as error:
        raise ProcessError(name, f"its type cannot be imported: install {package} ({error})") from error
    inertia = SpatialInertia.from_parameters(np.array(payload.parameters))
    told = payload_at_flange(model, payload.link, inertia, FLANGES[kind])
    client, waiter = node.create_client(service_type, name), Waiter(node, now)
    try:
        response = await waiter.call(client, **request_fields(service_type.Request.get_fields_and_field_types(), told))
    finally:
        waiter.close()
        node.destroy_client(client)
    if not response.success:
        raise Refused(getattr(response, "error", "") or "it refused: see the driver's log")


def request_fields(known: Mapping[str, str], payload: SpatialInertia) -> dict[str, Any]:
    """Return the fields of a request, which differ by driver and by its version.

    Args:
        known: types of the request's fields by name.
        payload: in the frame of the flange.
    """
    mass, I = float(payload.mass), payload.I_com
    com = payload.com.tolist()
    message = inertia_message(mass, com, I[np.triu_indices(3)].tolist())
    if "payload" in known:  # ur_msgs of ur_robot_driver 7
        return {"payload": message}
    if "center_of_gravity" in known:  # ur_msgs before
        return {"mass": mass, "center_of_gravity": message.com}
    return {"mass": mass, "center_of_mass": com, "load_inertia": I.ravel(order="F").tolist()}
