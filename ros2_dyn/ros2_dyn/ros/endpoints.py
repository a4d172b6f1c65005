# SPDX-License-Identifier: Apache-2.0
"""Who publishes and who subscribes on a topic, by endpoint: names of nodes may occur twice, endpoints do not."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import QoSProfile

from ros2_dyn.errors import ProcessError

UNKNOWN_NODE = "_NODE_NAME_UNKNOWN_"
"""Node name of an endpoint whose node is gone, for example after SIGKILL. Such publishers are ignored."""


def identified_publisher(node: Node, message_type: Any, topic: str, qos: QoSProfile | int) -> tuple[Publisher, bytes]:
    """Create a publisher and return it with its endpoint's identifier.

    rclpy does not tell the identifier of a publisher. It is that of the endpoint which has appeared under the node's
    name with the publisher.

    Raises:
        ProcessError: twins of the same name appeared with each attempt.
    """
    name = node.resolve_topic_name(topic)
    for _ in range(5):  # a twin may come at the same instant
        before = _own_name(node, name)
        publisher = node.create_publisher(message_type, topic, qos)
        appeared = _own_name(node, name) - before
        if len(appeared) == 1:
            return publisher, appeared.pop()
        node.destroy_publisher(publisher)
    raise ProcessError(node.get_fully_qualified_name(), f"cannot tell its publisher on {name} from that of a twin")


def _own_name(node: Node, topic: str) -> set[bytes]:
    """Return the publishers on a topic of nodes of this name."""
    own = node.get_name(), node.get_namespace()
    infos = node.get_publishers_info_by_topic(topic)
    return {bytes(info.endpoint_gid) for info in infos if (info.node_name, info.node_namespace) == own}


def other_publishers(node: Node, topic: str, known: Collection[bytes]) -> tuple[str, ...]:
    """Return the names of the nodes of all publishers on a topic whose identifiers are not known ones.

    DDS lists the publisher of a killed process for up to 20 s. Nothing tells it from one that commands.
    """
    infos = [info for info in node.get_publishers_info_by_topic(topic) if info.node_name != UNKNOWN_NODE]
    return tuple(full_name(info) for info in infos if bytes(info.endpoint_gid) not in known)


def count_controllers(node: Node, topic: str) -> int:
    """Return the number of subscribers of a topic that may be the controller: any but `ros2 topic` and `ros2 bag`."""
    infos = node.get_subscriptions_info_by_topic(topic)
    return sum(not info.node_name.startswith(("_ros2cli", "rosbag2_recorder")) for info in infos)


def full_name(info: Any) -> str:
    """Return the name of an endpoint's node with its namespace."""
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"
