# SPDX-License-Identifier: Apache-2.0
"""The interface of a demo: what it starts, does and measures. Its table, report and requirements are of one list."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rclpy.node import Node
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ros2_dyn_tools.demos.demo_runner import DemoRunner

BAR_WIDTH = 28
"""Width of a full bar, characters."""


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One quantity of a demo."""

    value: object
    """Number or text; None: not known yet."""
    label: str = ""
    """In the table; empty: it is not shown."""
    key: str = ""
    """In the report; empty: it is not reported."""
    unit: str = ""
    form: str = ".2f"
    """How the table writes a number."""
    full: float | None = None
    """Number whose bar is full; None: no bar."""
    least: float | None = None
    most: float | None = None
    """Range that is required."""

    def row(self) -> tuple[str, str, str]:
        """Return label, value and bar."""
        number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        text = "" if self.value is None else f"{self.value:{self.form}} {self.unit}" if number else str(self.value)
        return self.label, text, bar(float(self.value) / self.full) if number and self.full else ""  # type: ignore[arg-type]

    def problem(self) -> str | None:
        """Return which requirement is not met."""
        name, value = self.label.strip() or self.key, self.value
        if self.least is self.most is None:
            return None
        if not isinstance(value, (int, float)):
            return f"{name}: it was not measured"
        if self.least is not None and not value >= self.least:
            return f"{name} is {value:.4g} {self.unit}, at least {self.least:g} is required"
        if self.most is not None and not value <= self.most:
            return f"{name} is {value:.4g} {self.unit}, at most {self.most:g} is required"
        return None


class Demo(ABC):
    """A demo starts processes, acts on them, shows their state and reports its results."""

    title: str
    """Title of its table."""
    node: Node
    """The demo's own node, which subscribes and calls; made with the demo, after `rclpy.init`."""
    status = "Waiting for the arm and the node."
    """What is happening, in a line."""

    @abstractmethod
    def commands(self) -> Mapping[str, Sequence[str]]:
        """Return the processes to start, see `Processes`."""

    @abstractmethod
    def run(self, runner: DemoRunner) -> None:
        """Play the demo; errors as of `DemoRunner.wait_until`."""

    def stop(self, runner: DemoRunner) -> None:  # noqa: B027 (often there is nothing to do)
        """Bring the processes into a state in which they can end; errors as of `DemoRunner.wait_until`."""

    @abstractmethod
    def metrics(self) -> Iterable[Metric]:
        """Yield what is known by now, in SI units unless a key or a unit names another one."""

    def table(self) -> RenderableType:
        """Return what is shown while the demo runs; it fits into 80 columns."""
        table = Table(title=self.title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1), show_header=False)
        for justify, width in (("left", 23), ("right", 13), ("left", BAR_WIDTH)):
            table.add_column(justify=justify, min_width=width, no_wrap=True)  # type: ignore[arg-type]
        for metric in self.metrics():
            if metric.label:
                table.add_row(*metric.row())
        return Group(table, Text(f" {self.status}"))

    def report(self) -> dict[str, object]:
        """Return the results for the JSON line."""
        return {metric.key: metric.value for metric in self.metrics() if metric.key}

    def failure(self) -> str | None:
        """Return the first requirement that is not met; None: the demo worked."""
        return next(filter(None, (metric.problem() for metric in self.metrics())), None)


def bar(fraction: float) -> str:
    """Return a bar whose length is a fraction of `BAR_WIDTH`, or a thin one."""
    return "█" * round(BAR_WIDTH * min(max(fraction, 0.0), 1.0)) or "▏"
