# SPDX-License-Identifier: Apache-2.0
"""Mode monitor: the efforts that the node predicts are those of the simulated arm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from rich import box
from rich.table import Table

from ros2_dyn_tools.demos.demo import Demo
from ros2_dyn_tools.demos.effort_monitor import EffortMonitor
from ros2_dyn_tools.demos.runner import DemoRunner, Interrupted

SETTLING_TIME = 1.0
"""Time after the first complete instant that is shown but not counted, s: discovery may not be over."""


class MonitorDemo(Demo):
    """Compares both efforts for a number of seconds or until Ctrl-C. The arm runs in real time."""

    def __init__(self, duration: float) -> None:
        """Subscribe.

        Args:
            duration: time for which messages are counted, s; may be infinite.
        """
        self.node = self._monitor = EffortMonitor()
        self._duration = duration

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        mock_arm_parameters = Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.yaml")
        return {
            "dynamics": ["ros2_dyn.ros.dynamics_node", "--ros-args", "-r", "~/desired:=/mock_arm/reference"],
            "mock_arm": ["ros2_dyn.ros.mock_arm_node", "--ros-args", "--params-file", str(mock_arm_parameters)],
        }

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`; here Ctrl-C is the usual end."""
        monitor = self._monitor
        try:
            runner.wait_until(lambda: monitor.latest is not None, "efforts")
            runner.wait(SETTLING_TIME)
            monitor.clear()
            runner.wait(self._duration)
            runner.wait_until(lambda: monitor.messages > 0, "efforts")
        except Interrupted:
            return

    def table(self) -> Table:
        """See `Demo`: the latest instant, joint by joint."""
        monitor = self._monitor
        table = Table(
            title=f"A simulated arm and its dynamics over ROS 2, {monitor.rate:.0f} Hz",
            caption=f"{monitor.messages} messages, largest difference {monitor.max_abs_difference:.1e} N m",
            box=box.SIMPLE_HEAD,
            padding=0,
            show_edge=False,
        )
        table.add_column("joint", no_wrap=True)
        headings = "position", "simulated\neffort", "inverse\ndynamics", "gravity", "Coriolis", "difference"
        for heading, unit in zip(headings, ["rad", *["N m"] * 5]):
            table.add_column(f"{heading}\n{unit}", justify="right", vertical="bottom", no_wrap=True)
        if monitor.latest is not None:
            sample = monitor.latest
            columns = [sample.state.position, *(message.effort for message in sample)]
            for name, *values, difference in zip(sample.state.name, *columns, sample.differences()):
                table.add_row(name, *(f"{round(value, 2) + 0.0:+.2f}" for value in values), f"{difference:+.1e}")
        return table

    def report(self) -> dict[str, object]:
        """See `Demo`."""
        monitor = self._monitor
        return {
            "messages": monitor.messages,
            "rate_hz": round(monitor.rate, 2),
            "joints": list(monitor.latest.state.name) if monitor.latest else [],
            "max_abs_difference": monitor.max_abs_difference,
        }

    def failure(self) -> str | None:
        """See `Demo`."""
        return None if self._monitor.messages else "no efforts were counted"
