# SPDX-License-Identifier: Apache-2.0
"""What the services of the collision detector answer."""

from __future__ import annotations

from ros2_dyn_interfaces.srv import GetCollisionResiduals

from ros2_dyn.ros.messages import time_message
from ros2_dyn.runtime.collision_monitor import CollisionUpdate


def fill_residuals(response: GetCollisionResiduals.Response, seen: CollisionUpdate) -> None:
    """Answer `get_collision_residuals`."""
    response.joint_names = list(seen.robot.model.joint_names)
    response.stamp = time_message(seen.state.stamp)
    response.residual, response.threshold = list(seen.residual), list(seen.threshold)
    response.exceeded, response.collision = list(seen.exceeded), seen.collision
    response.contact_link = seen.contact.link if any(seen.exceeded) else ""
    if not seen.wrench.wrench:
        response.message = f"no external_wrench: {seen.wrench.reason}"
        return
    message, wrench = response.external_wrench, response.external_wrench.wrench
    message.header.stamp, message.header.frame_id = response.stamp, seen.robot.tip_link
    force, torque = wrench.force, wrench.torque
    force.x, force.y, force.z, torque.x, torque.y, torque.z = seen.wrench.wrench
