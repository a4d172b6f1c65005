"""Calibration and reset of the collision detector, and the service that is called when it detects a collision."""

from __future__ import annotations

from rclpy import task
from rclpy.client import Client
from rclpy.node import Node
from ros2_dyn_interfaces.srv import GetCollisionResiduals
from std_srvs.srv import Trigger

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


class CollisionReaction:
    """Calls a service when a collision begins."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._service = ""
        self._client: Client | None = None

    def use(self, service: str) -> None:
        """Call a service of a name from now on; none for an empty one."""
        if service == self._service:
            return
        if self._client is not None:
            self._node.destroy_client(self._client)
        self._client = self._node.create_client(Trigger, service) if service else None
        self._service = service

    def react(self) -> None:
        """Call it."""
        if self._client is None:
            return
        if self._client.service_is_ready():
            self._client.call_async(Trigger.Request()).add_done_callback(self._done)
        else:
            self._node.get_logger().error(f"the collision_service {self._service} is not available")

    def _done(self, future: task.Future) -> None:
        response = future.result()
        if response is None or not response.success:
            why = "no answer" if response is None else response.message
            self._node.get_logger().error(f"the collision_service failed: {why}")
