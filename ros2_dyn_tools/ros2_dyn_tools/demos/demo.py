# SPDX-License-Identifier: Apache-2.0
"""The interface of a demo."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from rclpy.node import Node
from rich.console import RenderableType

from ros2_dyn_tools.demos.runner import DemoRunner


class Demo(ABC):
    """A demo starts processes, acts on them, shows their state and reports its results."""

    node: Node
    """The demo's own node, which subscribes and calls; made with the demo, after `rclpy.init`."""

    @abstractmethod
    def commands(self) -> Mapping[str, Sequence[str]]:
        """Return the processes to start, see `Processes`."""

    @abstractmethod
    def run(self, runner: DemoRunner) -> None:
        """Play the demo; errors as of `DemoRunner.wait_until`."""

    def stop(self, runner: DemoRunner) -> None:  # noqa: B027 (often there is nothing to do)
        """Bring the processes into a state in which they can end; errors as of `DemoRunner.wait_until`."""

    @abstractmethod
    def table(self) -> RenderableType:
        """Return what is shown while the demo runs."""

    @abstractmethod
    def report(self) -> dict[str, object]:
        """Return the results for the JSON line, in SI units unless a key names another unit."""

    @abstractmethod
    def failure(self) -> str | None:
        """Return the requirement that is not met; None: the demo worked."""
