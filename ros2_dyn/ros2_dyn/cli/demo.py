"""The demo: a simulated arm and the node `dynamics` talk ROS 2 to each other, and a table shows what they say."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

import rclpy
from ament_index_python.packages import get_package_share_directory
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.live import Live
from rich.table import Table

from ros2_dyn.cli.processes import Processes
from ros2_dyn.ros.effort_monitor import EffortMonitor

SETTLING = 1.0
"""Seconds after the first complete instant that are shown but not counted: discovery is not over for every topic."""
PATIENCE = 30.0
"""Seconds to wait for that first instant."""
REFRESH = 0.2
"""Seconds between two pictures of the table."""


def main() -> int:
    """The executable `demo`."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--duration", type=float, help="seconds to measure; left out: until Ctrl-C")
    arguments = parser.parse_args()
    # A demo is nobody else's business on the network, unless its user has said so.
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)

    mock_arm_parameters = Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.yaml")
    processes = Processes(
        dynamics=["ros2_dyn.ros.dynamics_node", "--ros-args", "-r", "~/desired:=/mock_arm/reference"],
        mock_arm=["ros2_dyn.mock_arm.mock_arm_node", "--ros-args", "--params-file", str(mock_arm_parameters)],
    )
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    monitor = EffortMonitor()
    try:
        with processes:
            problem = watch(monitor, processes, arguments.duration)
    finally:
        rclpy.shutdown()
    if problem:
        print(problem, file=sys.stderr)
    print(json.dumps(summary(monitor)))
    return 1 if problem or monitor.messages == 0 else 0


def watch(monitor: EffortMonitor, processes: Processes, duration: float | None) -> str | None:
    """Listen and show until the time is up or Ctrl-C; what went wrong, if anything."""
    executor = SingleThreadedExecutor()
    executor.add_node(monitor)
    console = Console()
    started = shown = time.monotonic()
    counting_since: float | None = None
    with Live(console=console, auto_refresh=False, transient=False) as live:
        try:
            while True:
                executor.spin_once(timeout_sec=REFRESH)
                now = time.monotonic()
                if monitor.latest is None:
                    if now - started > PATIENCE:
                        return f"no efforts within {PATIENCE:g} s"
                elif counting_since is None:
                    counting_since = now + SETTLING
                if counting_since is not None and now < counting_since:
                    monitor.clear()
                elif counting_since is not None and duration is not None and now > counting_since + duration:
                    return None
                if now - shown > REFRESH:
                    shown = now
                    if console.is_terminal:
                        live.update(table(monitor), refresh=True)
                    failure = processes.failure()
                    if failure:
                        return failure
        except KeyboardInterrupt:
            return None
        finally:
            live.update(table(monitor), refresh=True)


def table(monitor: EffortMonitor) -> Table:
    """The latest instant, joint by joint."""
    picture = Table(
        title=f"ros2_dyn: a simulated arm and its dynamics, {monitor.rate:.0f} Hz",
        caption=f"{monitor.messages} messages, largest difference {monitor.max_abs_difference:.1e} N m",
    )
    picture.add_column("joint")
    for heading in ("position\nrad", "simulated\neffort N m", "inverse\ndynamics N m", "gravity\nN m", "Coriolis\nN m"):
        picture.add_column(heading, justify="right", min_width=9)
    picture.add_column("difference\nN m", justify="right", min_width=10)
    sample = monitor.latest
    if sample is not None:
        efforts = [sample.state.position, *(message.effort for message in sample)]
        for name, *values, difference in zip(sample.state.name, *efforts, sample.differences()):
            picture.add_row(name, *(f"{value:+.4f}" for value in values), f"{difference:+.1e}")
    return picture


def summary(monitor: EffortMonitor) -> dict[str, object]:
    """What is printed as the last line."""
    return {
        "messages": monitor.messages,
        "rate_hz": round(monitor.rate, 2),
        "joints": list(monitor.latest.state.name) if monitor.latest else [],
        "max_abs_difference": monitor.max_abs_difference,
    }


if __name__ == "__main__":
    sys.exit(main())
