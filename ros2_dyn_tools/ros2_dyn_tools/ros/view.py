# SPDX-License-Identifier: Apache-2.0
"""The page of the live robot."""

from __future__ import annotations

from typing import Protocol

import rclpy

from ros2_dyn.ros.node_base import run_node
from ros2_dyn_tools.ros.viewer_node import Topics, ViewerNode, spin_beside
from ros2_dyn_tools.viewer.page import Page
from ros2_dyn_tools.viewer.server import announce, start_server


class Arguments(Protocol):
    """What the command was given."""

    urdf: str
    topic: str
    node: str
    host: str
    port: int


def show_live(arguments: Arguments) -> int:
    """Serve the page of the live robot until it is interrupted; return the exit status.

    Raises:
        InputError: viser is not installed, or the address is not free.
    """
    server = start_server(arguments.host, arguments.port)

    def make() -> ViewerNode:
        return ViewerNode(Topics(arguments.node, arguments.topic), arguments.urdf)

    def spin(node: ViewerNode) -> None:
        page = Page(server, node, "ros2_dyn")
        announce(server)
        end = spin_beside(node)
        try:
            page.run(until=lambda: not rclpy.ok())
        finally:
            end()

    try:
        return run_node(make, spin)
    finally:
        server.stop()
