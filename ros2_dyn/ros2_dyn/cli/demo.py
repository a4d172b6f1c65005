"""The demo: a simulated arm and the node `dynamics` talk ROS 2 to each other, and a table shows what they say."""

from __future__ import annotations

import argparse
import json
import math
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import rclpy
from ament_index_python.packages import get_package_share_directory
from rclpy.executors import SingleThreadedExecutor
from rclpy.signals import SignalHandlerOptions
from rich import box
from rich.live import Live
from rich.table import Table

from ros2_dyn.cli.processes import Processes, stay_on_this_machine
from ros2_dyn.errors import ProcessError
from ros2_dyn.ros.effort_monitor import EffortMonitor

PATIENCE = 30.0
"""Seconds to wait for the first complete instant."""
SETTLING = 1.0
"""Seconds after it that are shown but not counted: discovery need not be over for every topic."""
REFRESH = 0.2
"""Seconds between two pictures of the table."""


def main() -> int:
    """The executable `demo`."""
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--duration", type=float, default=math.inf, help="seconds to count; left out: until Ctrl-C")
    duration = parser.parse_args().duration
    stay_on_this_machine()
    interrupted = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: interrupted.set())

    mock_arm_parameters = Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.yaml")
    processes = Processes(
        dynamics=["ros2_dyn.ros.dynamics_node", "--ros-args", "-r", "~/desired:=/mock_arm/reference"],
        mock_arm=["ros2_dyn.mock_arm.mock_arm_node", "--ros-args", "--params-file", str(mock_arm_parameters)],
    )
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    monitor = EffortMonitor()
    status = 0
    try:
        with processes, Live(auto_refresh=False) as live:
            Demo(monitor, processes, live, interrupted).run(duration)
    except ProcessError as error:
        print(error, file=sys.stderr)
        status = 1
    finally:
        rclpy.shutdown()
    print()
    print(json.dumps(summary(monitor)))
    return status if monitor.messages else 1


class Demo:
    """Listens to the two processes, and shows what they say."""

    def __init__(self, monitor: EffortMonitor, processes: Processes, live: Live, interrupted: threading.Event) -> None:
        self._interrupted = interrupted
        self._monitor = monitor
        self._processes = processes
        self._live = live
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(monitor)

    def run(self, duration: float) -> None:
        """Count for a number of seconds, or until interrupted.

        Raises:
            ProcessError: a process ended, or no efforts came.
        """
        try:
            self._listen(PATIENCE, until=lambda: self._monitor.latest is not None)
            if self._monitor.latest is None and not self._interrupted.is_set():
                raise ProcessError("dynamics", f"no efforts within {PATIENCE:g} s")
            self._listen(SETTLING)
            self._monitor.clear()
            self._listen(duration)
        finally:
            self._live.update(table(self._monitor), refresh=True)

    def _listen(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        """Listen until something is the case, the time is up, or Ctrl-C."""
        now = time.monotonic()
        deadline, refresh = now + seconds, now
        while now < deadline and not until() and not self._interrupted.is_set():
            self._executor.spin_once(timeout_sec=REFRESH)
            now = time.monotonic()
            if now >= refresh:
                refresh = now + REFRESH
                self._processes.check()
                if self._live.console.is_terminal:
                    self._live.update(table(self._monitor), refresh=True)


def table(monitor: EffortMonitor) -> Table:
    """The latest instant, joint by joint."""
    picture = Table(
        title=f"A simulated arm and its dynamics over ROS 2, {monitor.rate:.0f} Hz",
        caption=f"{monitor.messages} messages, largest difference {monitor.max_abs_difference:.1e} N m",
        box=box.SIMPLE_HEAD,
        padding=0,
        show_edge=False,
    )
    picture.add_column("joint", no_wrap=True)
    headings = "position", "simulated\neffort", "inverse\ndynamics", "gravity", "Coriolis", "difference"
    for heading, unit in zip(headings, ["rad", *["N m"] * 5]):
        picture.add_column(f"{heading}\n{unit}", justify="right", vertical="bottom", no_wrap=True)
    if monitor.latest is not None:
        sample = monitor.latest
        columns = [sample.state.position, *(message.effort for message in sample)]
        for name, *values, difference in zip(sample.state.name, *columns, sample.differences()):
            picture.add_row(name, *(f"{round(value, 2) + 0.0:+.2f}" for value in values), f"{difference:+.1e}")
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
