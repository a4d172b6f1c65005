# SPDX-License-Identifier: Apache-2.0
"""One node for the tests of several files that only listen to it and ask it."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from driver import Driver
    from ros_harness import Process


@pytest.fixture
def start() -> Iterator[Callable[..., "Process"]]:
    """Start processes, which end with the test."""
    from ros_harness import Process  # where ROS 2 is

    processes: list[Process] = []

    def start(module: str, *arguments: str, **environment: str) -> Process:
        processes.append(Process(module, *arguments, **environment))
        return processes[-1]

    yield start
    for process in processes:
        print(process.stop())


@pytest.fixture
def begin(listener: Any, start: Callable[..., "Process"]) -> Callable[..., "Driver"]:
    """Return a function that starts a node with parameters and returns its driver, with states answered."""
    from driver import Driver
    from robots import MOCK_ARM
    from ros_harness import words

    def begin(arm: Any = None, period: float = 0.01, answers: str = "dynamics/gravity", **parameters: Any) -> Driver:
        parameters = {"urdf_file": str(MOCK_ARM)} | parameters
        process = start("ros2_dyn.ros.dynamics_node", *words(**parameters))
        driver = Driver(listener, process, arm=arm, period=period, answers=answers)
        driver.begin()
        return driver

    return begin
