# SPDX-License-Identifier: Apache-2.0
"""A service that the node calls when something happens: `collision.service`, `commands.stop_service`."""

from __future__ import annotations

from rclpy import task
from rclpy.client import Client
from rclpy.node import Node
from std_srvs.srv import Trigger


class TriggerService:
    """Calls a service of type std_srvs/Trigger whose name is a parameter."""

    def __init__(self, node: Node, parameter: str) -> None:
        """Call nothing yet; the parameter's name is for the log."""
        self._node, self._parameter = node, parameter
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

    def call(self) -> None:
        """Call it."""
        if self._client is None:
            return
        if self._client.service_is_ready():
            self._client.call_async(Trigger.Request()).add_done_callback(self._done)
        else:
            self._node.get_logger().error(f"the {self._parameter} {self._service} is not available")

    def _done(self, future: task.Future) -> None:
        response = future.result()
        if response is None or not response.success:
            why = "no answer" if response is None else response.message
            self._node.get_logger().error(f"the {self._parameter} failed: {why}")
