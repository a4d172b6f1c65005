"""How every node of this package starts and stops, on Humble to Rolling."""

from __future__ import annotations

from collections.abc import Callable

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node

from ros2_dyn.errors import Ros2DynError


def run_node(make_node: Callable[[], Node]) -> int:
    """Spin a node until it is interrupted or its context is shut down; the exit status of the process.

    An error of this package while the node is made (a wrong parameter, a broken robot description) is logged as one
    line and ends the process with status 1.
    """
    rclpy.init()
    node = None
    try:
        node = make_node()
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (Ros2DynError, ParameterException) as error:
        get_logger("ros2_dyn").fatal(str(error))
        return 1
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
