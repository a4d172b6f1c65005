"""What every node of this package does alike: declare its parameters, start and stop, on Humble to Rolling."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable
from typing import Any, TypeVar

import rclpy
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from ros2_dyn.errors import Ros2DynError

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Of robot_description: reliable, and kept for those who come later."""

N = TypeVar("N", bound=Node)


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    low: float = 0.0,
    high: float | None = None,
    read_only: bool = True,
) -> Any:
    """Declare a parameter and return its value.

    Args:
        node: the node.
        name: name of the parameter.
        default: its default; or its `Parameter.Type`, for a parameter that may be left out, and is None then.
        description: its meaning and unit.
        low: least value of a number, where `high` is given.
        high: greatest value of a number; None: not a number, or one of any size.
        read_only: whether it is set once, at the start.
    """
    descriptor = ParameterDescriptor(description=description, read_only=read_only)
    if high is not None:
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(low), to_value=high)]
    return node.declare_parameter(name, default, descriptor).value


def run_node(make_node: Callable[[], N], spin: Callable[[N], None] = rclpy.spin) -> int:
    """Spin a node until it is interrupted or its context is shut down; the exit status of the process.

    An error while the node is made (a wrong parameter, a broken robot description) is logged as one line and ends the
    process with status 1.

    Args:
        make_node: makes it.
        spin: serves it until its context is shut down.
    """
    signal.signal(signal.SIGINT, _interrupted)
    rclpy.init()
    node = None
    try:
        node = make_node()
        gc.freeze()  # what is there now stays: the collector need not look at it again and again
        spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    except (Ros2DynError, ParameterException) as error:
        get_logger("ros2_dyn").fatal(str(error))
        return 1
    except Exception:
        if rclpy.ok():
            raise
        # Otherwise the context was shut down while a callback was publishing: this is the end, not an error.
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def _interrupted(*_: Any) -> None:
    """Leave the end to rclpy, which shuts its context down: an exception amid a callback would leave it half done.

    Who interrupts twice does not want to wait.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
