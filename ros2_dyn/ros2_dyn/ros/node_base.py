# SPDX-License-Identifier: Apache-2.0
"""What every node of this package does alike: declare its parameters, start and stop, on Humble to Rolling."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import rclpy
from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.logging import get_logger
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.signals import uninstall_signal_handlers

from ros2_dyn.errors import Ros2DynError
from ros2_dyn.ros import executor

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
"""Quality of service of topics that tell what stands, as robot_description: reliable, kept for later subscribers."""
TIME_TO_END = 1.0
"""Time from the first Ctrl-C, s, after which another one ends a process whose callback is stuck."""
N = TypeVar("N", bound=Node)


def declare(
    node: Node,
    name: str,
    default: Any,
    description: str,
    *,
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


def run_node(make_node: Callable[[], N], spin: Callable[[N], None] = executor.spin) -> int:
    """Spin a node until it is interrupted or its context is shut down; return the exit status of the process.

    An error while the node is made (a wrong parameter, a broken robot description) is logged as one line and ends the
    process with status 1.
    """
    signal.signal(signal.SIGINT, _on_interrupt)
    try:
        return _start(make_node, spin)
    finally:
        # Signals end in a thread of rclpy, which would abort the process where it needs an interpreter that has ended.
        uninstall_signal_handlers()
        rclpy.try_shutdown()
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _start(make_node: Callable[[], N], spin: Callable[[N], None]) -> int:
    try:
        rclpy.init()
    except RuntimeError as error:  # such as a parameter file that does not exist
        get_logger("ros2_dyn").fatal(str(error).splitlines()[0])
        return 1
    if signal.getsignal(signal.SIGINT) is not _on_interrupt:
        return 0  # interrupted before rclpy listened
    return _run(make_node, spin)


def _run(make_node: Callable[[], N], spin: Callable[[N], None]) -> int:
    node = None
    try:
        node = make_node()
        gc.freeze()  # what exists now lives as long as the node: scanning it would cause latency spikes
        spin(node)
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
    return 0


def _on_interrupt(*_: Any) -> None:
    """Let rclpy shut down cleanly on the first Ctrl-C.

    Raising KeyboardInterrupt inside a callback would leave it half finished.
    """
    signal.signal(signal.SIGINT, partial(_on_further_interrupt, time.monotonic()))


def _on_further_interrupt(first: float, *_: Any) -> None:
    """End the process at once, where it has had time to end since the first Ctrl-C and has not."""
    if time.monotonic() - first > TIME_TO_END:
        os._exit(0)
