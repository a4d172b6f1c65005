"""Where the demos play: the processes, a node that listens and calls, the picture, and the ways to end."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rich.console import RenderableType
from rich.live import Live

from ros2_dyn.demos.processes import Processes
from ros2_dyn.errors import ProcessError

PATIENCE = 30.0
"""Seconds to wait for what should come soon, on a machine that may be busy."""
REFRESH = 0.2
"""Seconds between two pictures."""


class Interrupted(Exception):
    """Somebody pressed Ctrl-C."""


class Stage:
    """Lets time pass until something is the case, shows the picture meanwhile, and calls services."""

    def __init__(self, node: Node, processes: Processes, live: Live, interrupted: threading.Event) -> None:
        self.node, self.processes = node, processes
        self.picture: Callable[[], RenderableType] = lambda: ""
        """What is shown."""
        self.check: Callable[[], None] = lambda: None
        """Raises ProcessError where it makes no sense to go on."""
        self._live, self._interrupted = live, interrupted
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)
        self._refresh = 0.0

    def until(self, condition: Callable[[], bool], missing: str, patience: float = PATIENCE) -> None:
        """Listen until something is the case.

        Args:
            condition: looked at after every message.
            missing: what there is none of, if it never is the case.
            patience: how long to wait for it, s.

        Raises:
            ProcessError: it took too long, or something went wrong meanwhile.
            Interrupted: by Ctrl-C.
        """
        if not self._listen(patience, condition):
            raise ProcessError("demo", f"no {missing} within {patience:g} s")

    def listen(self, seconds: float = inf) -> None:
        """Listen for some time, or until Ctrl-C; raises as `until` does."""
        self._listen(seconds, lambda: False)

    def hear(self, kind: Any, topic: str) -> None:
        """Wait for a message of a topic; raises as `until` does."""
        heard: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, heard.append, qos_profile_sensor_data)
        self.until(lambda: bool(heard), topic)
        self.node.destroy_subscription(subscription)

    def call(self, kind: Any, service: str, **request: Any) -> Any:
        """The answer of a service; raises as `until` does."""
        client = self.node.create_client(kind, service)
        self.until(client.service_is_ready, f"service {service}")
        future = client.call_async(kind.Request(**request))
        self.until(future.done, f"answer from {service}")
        self.node.destroy_client(client)
        return future.result()

    def demand(self, kind: Any, service: str, **request: Any) -> Any:
        """The answer of a service that has to succeed; raises as `until` does, and where it does not."""
        answer = self.call(kind, service, **request)
        if not answer.success:
            raise ProcessError(service, answer.message)
        return answer

    def show(self) -> None:
        """The picture as it is now."""
        self._live.update(self.picture(), refresh=True)

    def _listen(self, seconds: float, until: Callable[[], bool]) -> bool:
        now = time.monotonic()
        deadline = now + seconds
        while not until():
            if self._interrupted.is_set():
                self._interrupted.clear()  # what follows ends in order, unless it is interrupted, too
                raise Interrupted
            if now >= deadline:
                return False
            self._executor.spin_once(timeout_sec=min(REFRESH, deadline - now))
            now = time.monotonic()
            if now >= self._refresh:
                self._refresh = now + REFRESH
                self.processes.check()
                self.check()
                if self._live.console.is_terminal:
                    self.show()
        return True


class Scenario(ABC):
    """A demo: what it starts, what it does, and what it has seen, at any time."""

    node: Node
    """That listens and calls; it is made with the scenario, when ROS 2 is there."""

    @abstractmethod
    def commands(self) -> Mapping[str, Sequence[str]]:
        """The processes, see `Processes`."""

    @abstractmethod
    def run(self, stage: Stage) -> None:
        """Do it; raises as `Stage.until` does."""

    def leave(self, stage: Stage) -> None:  # noqa: B027 (often there is nothing to leave)
        """End in order, however it went; raises as `Stage.until` does."""

    @abstractmethod
    def picture(self) -> RenderableType:
        """Of what is going on."""

    @abstractmethod
    def report(self) -> dict[str, object]:
        """For the JSON line: SI units, unless a name says otherwise."""

    @abstractmethod
    def shortfall(self) -> str:
        """What is not as it should be; empty: it worked."""
