# SPDX-License-Identifier: Apache-2.0
"""What tests of nodes need: processes, and a node that publishes, subscribes and calls."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter
from rclpy.utilities import get_default_context
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from ros2_dyn.runtime.mode_entry_checks import FAILSAFE_SUFFIX

PATIENCE = 120.0
"""Wall time, s, that anything may take on a busy machine."""
SPIN_TIMEOUT = 0.01
"""Longest wait for one message, s."""


class Process:
    """A node in a process of its own."""

    def __init__(self, module: str, *arguments: str, **environment: str) -> None:
        """Start it.

        Args:
            module: the Python module of the node.
            arguments: ROS arguments.
            environment: variables that differ from those of the test.
        """
        command = [sys.executable, "-m", module, "--ros-args", *arguments]
        self._printed = tempfile.TemporaryFile("w+")  # noqa: SIM115 (a pipe that nobody reads would block it in the end)
        self.process = subprocess.Popen(
            command, stdout=self._printed, stderr=subprocess.STDOUT, text=True, env=os.environ | environment
        )

    def __del__(self) -> None:
        """What it printed may be read until nobody knows the process any more."""
        self._printed.close()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    @property
    def printed(self) -> str:
        """What it has printed so far."""
        with open(self._printed.fileno(), encoding="utf-8", closefd=False) as printed:
            printed.seek(0)
            return printed.read()

    def stop(self) -> str:
        """Interrupt it; return what it printed."""
        if self.alive:
            self.process.send_signal(signal.SIGINT)
        return self.ended()

    def ended(self) -> str:
        """Wait for its end; return what it printed."""
        try:
            self.process.wait(PATIENCE)
        finally:
            self.kill()
        return self.printed

    def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        self.process.wait()


class Listener:
    """A node of the test's own that publishes, subscribes and calls; in a context of its own, or in the default one."""

    def __init__(self, own_context: bool = True) -> None:
        self._own = Context() if own_context else None
        rclpy.init(context=self._own)
        self.context = self._own or get_default_context()
        self.node = rclpy.create_node("listener", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.received: dict[str, list] = {}

    def close(self) -> None:
        """End it."""
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._own)

    def listen(self, *topics: str, type: Any = JointState, qos: Any = 100) -> list:
        """Keep every message of some topics; return the list of those of the last."""
        for topic in topics:
            self.received[topic] = []
            self.node.create_subscription(type, topic, self.received[topic].append, qos)
        return self.received[topics[-1]]

    def serve(self, name: str) -> list[Trigger.Request]:
        """Offer a service that does nothing, with success; return the list of its requests."""
        requests: list[Trigger.Request] = []

        def answer(request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
            requests.append(request)
            response.success = True
            return response

        self.node.create_service(Trigger, name, answer)
        return requests

    def publisher(self, type: Any, topic: str, qos: Any = 10) -> Any:
        """Return a publisher that has a subscriber."""
        publisher = self.node.create_publisher(type, topic, qos)
        self.until(lambda: publisher.get_subscription_count() > 0, f"nobody subscribed to {topic}")
        return publisher

    def spin_once(self) -> None:
        """Let one message come, or a short time pass.

        The timeout is always the same: with another one the executor begins at its first subscription again, so that
        the last ones would starve.
        """
        self.executor.spin_once(timeout_sec=SPIN_TIMEOUT)

    def spin(self, seconds: float) -> None:
        """Let messages come and go for a wall time, s."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.spin_once()

    def known_failsafes(self, topic: str) -> int:
        """Return how many failsafe processes of the node `dynamics` are known to publish on a topic.

        The middleware knows those that were killed for a while.
        """
        publishers = self.node.get_publishers_info_by_topic(topic)
        return sum(info.node_name == "dynamics" + FAILSAFE_SUFFIX for info in publishers)

    def until(self, condition: Callable[[], Any], problem: str, timeout: float = PATIENCE) -> None:
        """Spin until a condition holds."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, problem
            self.spin_once()

    def call(self, type: Any, name: str, **request: Any) -> Any:
        """Call a service and return its response."""
        future = self.call_async(type, name, **request)
        self.until(future.done, f"no answer from {name}")
        return future.result()

    def call_async(self, type: Any, name: str, **request: Any) -> Any:
        """Call a service; return the future of its response."""
        known = [client for client in self.node.clients if client.srv_name == name]
        client = known[0] if known else self.node.create_client(type, name)
        self.until(client.service_is_ready, f"no service {name}")
        sent: list[Any] = []
        self.until(lambda: self._sends(client, type.Request(**request), sent), f"no request to {name} leaves")
        return sent[0]

    @staticmethod
    def _sends(client: Any, request: Any, sent: list[Any]) -> bool:
        """Send a request; return whether it left. A server that a busy machine holds up takes none for a while."""
        try:
            sent.append(client.call_async(request))
        except RuntimeError:  # rclpy's RCLError
            return False
        return True


def words(**parameters: Any) -> list[str]:
    """Return the ROS arguments that set parameters of a node."""
    return [word for name, value in parameters.items() for word in ("-p", f"{name}:={_text(value)}")]


def parameter_messages(**parameters: Any) -> list[Any]:
    """Return parameters as messages."""
    return [Parameter(name, value=value).to_parameter_msg() for name, value in parameters.items()]


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).replace("'", "")


def failsafe_of(node: int) -> int:
    """Return the failsafe process of a node, which may have compilers as children besides."""
    tasks = Path(f"/proc/{node}/task").iterdir()
    children = [child for task in tasks for child in (task / "children").read_text().split()]
    (failsafe,) = filter(_is_failsafe, map(int, children))
    return failsafe


def _is_failsafe(pid: int) -> bool:
    """Return whether a process is one; a compiler may have ended meanwhile."""
    try:
        return b"failsafe_node" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
