# SPDX-License-Identifier: Apache-2.0
"""Mode monitor: the efforts that the node predicts are those of the simulated arm."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from rclpy.node import Node
from rich import box
from rich.table import Table
from sensor_msgs.msg import JointState

from ros2_dyn_tools.demos.demo import Demo, Metric
from ros2_dyn_tools.demos.demo_runner import DemoRunner, Interrupted
from ros2_dyn_tools.demos.effort_recorder import MEASURED, EffortRecorder

TERMS = ("inverse_dynamics", "gravity", "coriolis")
"""Topics of the node that are shown."""


class MonitorDemo(Demo):
    """Compares both efforts for a number of seconds or until Ctrl-C. The arm runs in real time."""

    def __init__(self, duration: float, pace: float) -> None:
        """Subscribe.

        Args:
            duration: time for which messages are counted, s; may be infinite.
            pace: not used: the arm runs in real time.
        """
        self.node = Node("effort_monitor")
        self._recorder = EffortRecorder(self.node, {name: f"dynamics/{name}" for name in TERMS}, self._count)
        self._duration = duration
        self._latest: dict[str, JointState] = {}
        self._differences: list[float] = []
        self._clear()

    def commands(self) -> Mapping[str, Sequence[str]]:
        """See `Demo`."""
        mock_arm_parameters = Path(get_package_share_directory("ros2_dyn"), "config", "mock_arm.yaml")
        return {
            "dynamics": ["ros2_dyn.ros.dynamics_node", "--ros-args", "-r", "~/desired:=/mock_arm/reference"],
            "mock_arm": ["ros2_dyn.ros.mock_arm_node", "--ros-args", "--params-file", str(mock_arm_parameters)],
        }

    def run(self, runner: DemoRunner) -> None:
        """See `Demo`; here Ctrl-C is the usual end."""
        try:
            runner.wait_until(lambda: bool(self._latest), "efforts")
            runner.wait(1.0)  # discovery may not be over: these messages are shown, and not counted
            self._clear()
            runner.wait(self._duration)
            runner.wait_until(lambda: self._messages > 0, "efforts")
        except Interrupted:
            return

    def _clear(self) -> None:
        self._messages, self._differing, self._max_difference = 0, 0, 0.0
        self._first = self._last = time.monotonic()

    def _count(self, instant: dict[str, JointState]) -> None:
        """Take the messages of one stamp."""
        self._latest, self._last = instant, time.monotonic()
        state, predicted = instant[MEASURED], instant["inverse_dynamics"]
        effort = dict(zip(predicted.name, predicted.effort))
        self._differences = [measured - effort[name] for name, measured in zip(state.name, state.effort)]
        self._first = self._last if self._messages == 0 else self._first
        self._messages += 1
        largest = max(map(abs, self._differences))
        self._differing += largest > 1e-6  # N m: a desired acceleration came too late to the node, and it took the last
        self._max_difference = max(self._max_difference, largest)

    def _rate(self) -> float:
        """Return complete instants a second since the first one counted, Hz."""
        elapsed = self._last - self._first
        return (self._messages - 1) / elapsed if elapsed > 0 else 0.0

    def table(self) -> Table:
        """See `Demo`: the latest instant, joint by joint."""
        table = Table(
            title=f"A simulated arm and its dynamics over ROS 2, {self._rate():.0f} Hz",
            caption=f"{self._messages} messages, largest difference {self._max_difference:.1e} N m",
            box=box.SIMPLE_HEAD,
            padding=0,
            show_edge=False,
        )
        table.add_column("joint", no_wrap=True)
        headings = "position", "simulated\neffort", "inverse\ndynamics", "gravity", "Coriolis", "difference"
        for heading, unit in zip(headings, ["rad", *["N m"] * 5]):
            table.add_column(f"{heading}\n{unit}", justify="right", vertical="bottom", no_wrap=True)
        if self._latest:
            state = self._latest[MEASURED]
            columns = [state.position, state.effort, *(self._latest[name].effort for name in TERMS)]
            for name, *values, difference in zip(state.name, *columns, self._differences):
                table.add_row(name, *(f"{round(value, 2) + 0.0:+.2f}" for value in values), f"{difference:+.1e}")
        return table

    def metrics(self) -> Iterator[Metric]:
        """See `Demo`."""
        yield Metric(key="messages", value=self._messages, least=1)
        yield Metric(key="rate_hz", value=round(self._rate(), 2))
        yield Metric(key="joints", value=list(self._latest[MEASURED].name) if self._latest else [])
        yield Metric(key="max_abs_difference", value=self._max_difference)
        yield Metric(key="differing", value=self._differing)
