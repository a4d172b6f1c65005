"""What every node of this package does alike: declare its parameters, start and stop, on Humble to Rolling."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from ros2_dyn.errors import Ros2DynError

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Quality of service of robot_description: reliable, and kept for subscribers that come later."""
N = TypeVar("N", bound=Node)


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    low: float | None = None,
    high: float | None = None,
    read_only: bool = True,
) -> Any:
    """Declare a parameter and return its value.

    Args:
        node: the node.
        name: name of the parameter.
        default: its default; or its `Parameter.Type`, for a parameter that may be left out, and is None then.
        description: its meaning and unit.
        low: minimum of a number, where `high` is given; 0 for None.
        high: maximum of a number; None: not a number, or one of any size.
        read_only: whether it is set once, at the start.
    """
    descriptor = ParameterDescriptor(description=description, read_only=read_only)
    if high is not None and isinstance(default, int):
        descriptor.integer_range = [IntegerRange(from_value=int(low or 0), to_value=int(high))]
    elif high is not None:
        descriptor.floating_point_range = [FloatingPointRange(from_value=float(low or 0.0), to_value=float(high))]
    return node.declare_parameter(name, default, descriptor).value


def run_node(make_node: Callable[[], N], spin: Callable[[N], None] = rclpy.spin) -> int:
    """Spin a node until it is interrupted or its context is shut down; return the exit status of the process.

    An error while the node is made (a wrong parameter, a broken robot description) is logged as one line and ends the
    process with status 1.
    """
    try:
        signal.signal(signal.SIGINT, _on_interrupt)
        return _start(make_node, spin)
    except KeyboardInterrupt:
        return 0
    finally:
        rclpy.try_shutdown()  # puts back the handler of before rclpy.init, which calls ours; SIG_IGN cannot be called
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _start(make_node: Callable[[], N], spin: Callable[[N], None]) -> int:
    try:
        rclpy.init()
    except RuntimeError as error:  # such as a parameter file that does not exist
        get_logger("ros2_dyn").fatal(str(error).splitlines()[0])
        return 1
    return _run(make_node, spin)


def _run(make_node: Callable[[], N], spin: Callable[[N], None]) -> int:
    node = None
    try:
        node = make_node()
        gc.freeze()  # what exists now lives as long as the node: scanning it would cause latency spikes
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
        with suppress(KeyboardInterrupt):
            signal.signal(signal.SIGINT, _ignore_interrupt)  # a further Ctrl-C must not break what ends the node
        if node is not None:
            node.destroy_node()
    return 0


def _on_interrupt(*_: Any) -> None:
    """Let rclpy shut down cleanly on the first Ctrl-C; a second Ctrl-C raises at once.

    Raising KeyboardInterrupt inside a callback would leave it half finished.
    """
    signal.signal(signal.SIGINT, _on_second_interrupt)


def _on_second_interrupt(*_: Any) -> None:
    signal.signal(signal.SIGINT, _ignore_interrupt)  # what is raised once is handled once
    raise KeyboardInterrupt


def _ignore_interrupt(*_: Any) -> None:
    """Take a signal without doing anything."""
